"""Who may do what: one table, and the one function that reads it.

Every request is checked by :func:`may`, whoever makes it and wherever it comes in.  A new action, role or
kind of owner is an entry in :class:`Action`.  What the table does not grant is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from adon.access.identity import Actor
from adon.errors import Forbidden, NotAuthenticated


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


class Action(StrEnum):
    """Everything that a request can ask for, with the roles that may do it.

    :ivar grant: on which objects each role may do it; a missing role may not.
    """

    grant: Grant

    def __new__(cls, value: str, grant: Grant) -> Action:
        """Make a member; its value is the name of the action."""
        action = str.__new__(cls, value)
        action._value_ = value
        action.grant = grant
        return action

    HEALTH_READ = "health.read", _EVERYBODY
    PSCONFIG_READ = "psconfig.read", _EVERYBODY
    FLOW_SUBMIT = "flow.submit", _OWN_OR_OPERATORS
    FLOW_READ = "flow.read", _OWN_OR_STAFF
    FLOW_CANCEL = "flow.cancel", _OWN_OR_OPERATORS
    FLOW_REPORT = "flow.report", _OWN_OR_OPERATORS
    TEMPLATE_ADD = "template.add", _ENGINEERS
    TEMPLATE_READ = "template.read", _EVERYBODY
    TEMPLATE_CHECK = "template.check", _EVERYBODY
    TEMPLATE_BACKTEST = "template.backtest", _ENGINEERS
    PATH_READ = "path.read", _EVERYBODY
    MEASUREMENT_READ = "measurement.read", _EVERYBODY
    MEASUREMENT_START = "measurement.start", _ACTING_STAFF
    ALARM_READ = "alarm.read", _EVERYBODY
    ALARM_ACKNOWLEDGE = "alarm.acknowledge", _ACTING_STAFF
    SUBSCRIPTION_ADD = "subscription.add", _OWN_OR_ADMIN
    SUBSCRIPTION_READ = "subscription.read", _OWN_OR_ADMIN
    SUBSCRIPTION_DELETE = "subscription.delete", _OWN_OR_ADMIN
    DECISION_READ = "decision.read", _OWN_OR_STAFF
    RULE_READ = "rule.read", _OWN_OR_STAFF
    NETWORK_READ = "network.read", _STAFF
    NETWORK_SYNC = "network.sync", _OPERATORS
    MAINTENANCE_READ = "maintenance.read", _EVERYBODY
    MAINTENANCE_ADD = "maintenance.add", _ACTING_STAFF
    MAINTENANCE_CANCEL = "maintenance.cancel", _ACTING_STAFF
    WHAT_IF = "network.what_if", _STAFF
    RESERVATION_ADD = "reservation.add", _OWN_OR_OPERATORS
    RESERVATION_READ = "reservation.read", _OWN_OR_STAFF
    RESERVATION_RELEASE = "reservation.release", _OWN_OR_OPERATORS
    FORECAST_READ = "forecast.read", _STAFF
    COMPUTE_READ = "compute.read", _EVERYBODY
    JOB_SUBMIT = "job.submit", _OWN_OR_OPERATORS
    JOB_READ = "job.read", _OWN_OR_STAFF
    JOB_CANCEL = "job.cancel", _OWN_OR_OPERATORS
    STUDY_READ = "study.read", _EVERYBODY
    STUDY_ADD = "study.add", _ACTING_STAFF
    STUDY_DELETE = "study.delete", _ACTING_STAFF
    METRICS_READ = "metrics.read", _STAFF
    TOKEN_CREATE = "token.create", _OWN_OR_ADMIN
    TOKEN_READ = "token.read", _OWN_OR_AUDITORS
    TOKEN_REVOKE = "token.revoke", _OWN_OR_ADMIN
    SESSION_READ = "session.read", _OWN_OR_AUDITORS
    SESSION_END = "session.end", _OWN_OR_ADMIN
    USER_READ = "user.read", _OWN_OR_AUDITORS
    USER_CHANGE = "user.change", _ADMIN
    ROLE_READ = "role.read", _EVERYBODY
    AUDIT_READ = "audit.read", _AUDITORS


ANONYMOUS: frozenset[Action] = frozenset({Action.HEALTH_READ, Action.PSCONFIG_READ})
"""What nobody needs an identity for."""

SECRET_ANSWERS: frozenset[Action] = frozenset({Action.TOKEN_CREATE})
"""What is answered once and must be kept nowhere: not in a cache, nor for a repeated request."""


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


def may(actor: Actor | None, action: Action, obj: Object) -> Permission:
    """Whether an actor may do this to that; None is somebody without identity."""
    if action in ANONYMOUS:
        return Permission(True, f"everybody may do {action}")
    if actor is None:
        return Permission(False, f"{action} needs an identity")
    if actor.scope is not None and action not in actor.scope:
        return Permission(False, f"the token of {actor.name} is not good for {action}")
    held = {role: action.grant[role] for role in Role if role in actor.roles and role in action.grant}
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
    raise (NotAuthenticated if actor is None else Forbidden)(permission.reason)
