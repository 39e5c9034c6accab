"""Who may do what: one table, and the one function that reads it.

Every request is checked by :func:`may`, whoever makes it and wherever it comes in.  A new action, role or
kind of owner is an entry in :data:`GRANTS`.  What the table does not grant is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from adon.access.identity import Actor
from adon.errors import Forbidden, NotAuthenticated


class Action(StrEnum):
    """Everything a request can ask for."""

    HEALTH_READ = "health.read"
    PSCONFIG_READ = "psconfig.read"
    FLOW_SUBMIT = "flow.submit"
    FLOW_READ = "flow.read"
    FLOW_CANCEL = "flow.cancel"
    FLOW_REPORT = "flow.report"
    TEMPLATE_ADD = "template.add"
    TEMPLATE_READ = "template.read"
    TEMPLATE_CHECK = "template.check"
    TEMPLATE_BACKTEST = "template.backtest"
    PATH_READ = "path.read"
    MEASUREMENT_READ = "measurement.read"
    MEASUREMENT_START = "measurement.start"
    ALARM_READ = "alarm.read"
    ALARM_ACKNOWLEDGE = "alarm.acknowledge"
    SUBSCRIPTION_ADD = "subscription.add"
    SUBSCRIPTION_READ = "subscription.read"
    SUBSCRIPTION_DELETE = "subscription.delete"
    DECISION_READ = "decision.read"
    RULE_READ = "rule.read"
    NETWORK_READ = "network.read"
    NETWORK_SYNC = "network.sync"
    MAINTENANCE_READ = "maintenance.read"
    MAINTENANCE_ADD = "maintenance.add"
    MAINTENANCE_CANCEL = "maintenance.cancel"
    WHAT_IF = "network.what_if"
    RESERVATION_ADD = "reservation.add"
    RESERVATION_READ = "reservation.read"
    RESERVATION_RELEASE = "reservation.release"
    FORECAST_READ = "forecast.read"
    COMPUTE_READ = "compute.read"
    JOB_SUBMIT = "job.submit"
    JOB_READ = "job.read"
    JOB_CANCEL = "job.cancel"
    STUDY_READ = "study.read"
    STUDY_ADD = "study.add"
    STUDY_DELETE = "study.delete"
    METRICS_READ = "metrics.read"
    TOKEN_CREATE = "token.create"  # noqa: S105 - the name of an action
    TOKEN_READ = "token.read"  # noqa: S105
    TOKEN_REVOKE = "token.revoke"  # noqa: S105
    SESSION_READ = "session.read"
    SESSION_END = "session.end"
    USER_READ = "user.read"
    USER_CHANGE = "user.change"
    ROLE_READ = "role.read"
    AUDIT_READ = "audit.read"


class Role(StrEnum):
    """The roles of [ADON] 3.1 (researcher, performance engineer) and of running a network."""

    ADMIN = "admin"
    PERFORMANCE_ENGINEER = "performance_engineer"
    RESEARCHER = "researcher"
    OPERATOR = "operator"
    AUDITOR = "auditor"


class Scope(StrEnum):
    """On which objects a role may do it."""

    ANY = "any"
    OWN = "own"


@dataclass(frozen=True, slots=True)
class Object:
    """What a request is about.

    :param kind: the sort of thing (``flow``), for the reason's words.
    :param owner: the name of the actor it belongs to; None for what belongs to nobody.
    """

    kind: str
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Permission:
    """The answer, and why."""

    allowed: bool
    reason: str


Grant = Mapping[Role, Scope]
"""The roles that may do an action, and on which objects."""


def _grant(any_: Iterable[Role], own: Iterable[Role] = ()) -> Grant:
    return {**dict.fromkeys(own, Scope.OWN), **dict.fromkeys(any_, Scope.ANY)}


_EVERYBODY = _grant(Role)
_STAFF = _grant(role for role in Role if role is not Role.RESEARCHER)
_OWN_OR_STAFF = _grant(_STAFF, Role)
_ACTING_STAFF = _grant((Role.ADMIN, Role.OPERATOR, Role.PERFORMANCE_ENGINEER))
_OPERATORS = _grant((Role.ADMIN, Role.OPERATOR))
_ENGINEERS = _grant((Role.ADMIN, Role.PERFORMANCE_ENGINEER))
_OWN_OR_OPERATORS = _grant(_OPERATORS, (Role.PERFORMANCE_ENGINEER, Role.RESEARCHER))
_ADMIN = _grant((Role.ADMIN,))
_AUDITORS = _grant((Role.ADMIN, Role.AUDITOR))
_OWN_OR_ADMIN = _grant(_ADMIN, Role)
_OWN_OR_AUDITORS = _grant(_AUDITORS, Role)

ANONYMOUS: frozenset[Action] = frozenset({Action.HEALTH_READ, Action.PSCONFIG_READ})
"""What nobody needs an identity for."""

GRANTS: Mapping[Action, Grant] = {
    Action.HEALTH_READ: _EVERYBODY,
    Action.PSCONFIG_READ: _EVERYBODY,
    Action.FLOW_SUBMIT: _OWN_OR_OPERATORS,
    Action.FLOW_READ: _OWN_OR_STAFF,
    Action.FLOW_CANCEL: _OWN_OR_OPERATORS,
    Action.FLOW_REPORT: _OWN_OR_OPERATORS,
    Action.TEMPLATE_ADD: _ENGINEERS,
    Action.TEMPLATE_READ: _EVERYBODY,
    Action.TEMPLATE_CHECK: _EVERYBODY,
    Action.TEMPLATE_BACKTEST: _ENGINEERS,
    Action.PATH_READ: _EVERYBODY,
    Action.MEASUREMENT_READ: _EVERYBODY,
    Action.MEASUREMENT_START: _ACTING_STAFF,
    Action.ALARM_READ: _EVERYBODY,
    Action.ALARM_ACKNOWLEDGE: _ACTING_STAFF,
    Action.SUBSCRIPTION_ADD: _OWN_OR_ADMIN,
    Action.SUBSCRIPTION_READ: _OWN_OR_ADMIN,
    Action.SUBSCRIPTION_DELETE: _OWN_OR_ADMIN,
    Action.DECISION_READ: _OWN_OR_STAFF,
    Action.RULE_READ: _OWN_OR_STAFF,
    Action.NETWORK_READ: _STAFF,
    Action.NETWORK_SYNC: _OPERATORS,
    Action.MAINTENANCE_READ: _EVERYBODY,
    Action.MAINTENANCE_ADD: _ACTING_STAFF,
    Action.MAINTENANCE_CANCEL: _ACTING_STAFF,
    Action.WHAT_IF: _STAFF,
    Action.RESERVATION_ADD: _OWN_OR_OPERATORS,
    Action.RESERVATION_READ: _OWN_OR_STAFF,
    Action.RESERVATION_RELEASE: _OWN_OR_OPERATORS,
    Action.FORECAST_READ: _STAFF,
    Action.COMPUTE_READ: _EVERYBODY,
    Action.JOB_SUBMIT: _OWN_OR_OPERATORS,
    Action.JOB_READ: _OWN_OR_STAFF,
    Action.JOB_CANCEL: _OWN_OR_OPERATORS,
    Action.STUDY_READ: _EVERYBODY,
    Action.STUDY_ADD: _ACTING_STAFF,
    Action.STUDY_DELETE: _ACTING_STAFF,
    Action.METRICS_READ: _STAFF,
    Action.TOKEN_CREATE: _OWN_OR_ADMIN,
    Action.TOKEN_READ: _OWN_OR_AUDITORS,
    Action.TOKEN_REVOKE: _OWN_OR_ADMIN,
    Action.SESSION_READ: _OWN_OR_AUDITORS,
    Action.SESSION_END: _OWN_OR_ADMIN,
    Action.USER_READ: _OWN_OR_AUDITORS,
    Action.USER_CHANGE: _ADMIN,
    Action.ROLE_READ: _EVERYBODY,
    Action.AUDIT_READ: _AUDITORS,
}
"""Per action, the roles that may do it and on which objects."""

SECRET_ANSWERS: frozenset[Action] = frozenset({Action.TOKEN_CREATE})
"""What is answered once and must be kept nowhere: not in a cache, nor for a repeated request."""


def may(actor: Actor | None, action: Action, obj: Object) -> Permission:
    """Whether an actor may do this to that; None is somebody without identity."""
    if action in ANONYMOUS:
        return Permission(True, f"everybody may do {action}")
    if actor is None:
        return Permission(False, f"{action} needs an identity")
    if actor.scope is not None and action not in actor.scope:
        return Permission(False, f"the token of {actor.name} is not good for {action}")
    grants = GRANTS.get(action, {})
    held = {role: grants[role] for role in Role if role in actor.roles and role in grants}
    for role, scope in held.items():
        if scope is Scope.ANY or (obj.owner is not None and obj.owner == actor.name):
            return Permission(True, f"{role} may do {action} on {scope} {obj.kind}")
    if held:
        return Permission(False, f"{actor.name} may do {action} only on a {obj.kind} of their own")
    roles = ", ".join(sorted(actor.roles)) or "no role"
    return Permission(False, f"{actor.name} ({roles}) may not do {action}")


def authorise(actor: Actor | None, action: Action, obj: Object) -> Actor:
    """The actor, if :func:`may` allows it.

    Where everybody is allowed and nobody is known, that is an actor without name and roles.

    :raises NotAuthenticated: if an identity might help.
    :raises Forbidden: if the actor is known and may not.
    """
    permission = may(actor, action, obj)
    if permission.allowed:
        return Actor("", frozenset(), via="anonymous") if actor is None else actor
    if actor is None:
        raise NotAuthenticated(permission.reason)
    raise Forbidden(permission.reason)
