"""Who may do what: one table, and the one function that reads it.

Every request is checked by :func:`may`, whoever makes it and wherever it comes in.  A new action, role or
kind of owner is an entry in :data:`GRANTS`.  What the table does not grant is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
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


_EVERY_ROLE: Mapping[Role, Scope] = dict.fromkeys(Role, Scope.ANY)
_OWN_OR_STAFF: Mapping[Role, Scope] = {**_EVERY_ROLE, Role.RESEARCHER: Scope.OWN}
_STAFF: Mapping[Role, Scope] = {role: Scope.ANY for role in Role if role is not Role.RESEARCHER}
_ACTING_STAFF: Mapping[Role, Scope] = dict.fromkeys(
    (Role.ADMIN, Role.OPERATOR, Role.PERFORMANCE_ENGINEER), Scope.ANY
)

ANONYMOUS: frozenset[Action] = frozenset({Action.HEALTH_READ, Action.PSCONFIG_READ})
"""What nobody needs an identity for."""

GRANTS: Mapping[Action, Mapping[Role, Scope]] = {
    Action.HEALTH_READ: _EVERY_ROLE,
    Action.PSCONFIG_READ: _EVERY_ROLE,
    Action.FLOW_SUBMIT: {
        Role.ADMIN: Scope.ANY,
        Role.OPERATOR: Scope.ANY,
        Role.PERFORMANCE_ENGINEER: Scope.OWN,
        Role.RESEARCHER: Scope.OWN,
    },
    Action.FLOW_READ: _OWN_OR_STAFF,
    Action.FLOW_CANCEL: {
        Role.ADMIN: Scope.ANY,
        Role.OPERATOR: Scope.ANY,
        Role.PERFORMANCE_ENGINEER: Scope.OWN,
        Role.RESEARCHER: Scope.OWN,
    },
    Action.FLOW_REPORT: {
        Role.ADMIN: Scope.ANY,
        Role.OPERATOR: Scope.ANY,
        Role.PERFORMANCE_ENGINEER: Scope.OWN,
        Role.RESEARCHER: Scope.OWN,
    },
    Action.TEMPLATE_ADD: {Role.ADMIN: Scope.ANY, Role.PERFORMANCE_ENGINEER: Scope.ANY},
    Action.TEMPLATE_READ: _EVERY_ROLE,
    Action.TEMPLATE_CHECK: _EVERY_ROLE,
    Action.TEMPLATE_BACKTEST: {Role.ADMIN: Scope.ANY, Role.PERFORMANCE_ENGINEER: Scope.ANY},
    Action.PATH_READ: _EVERY_ROLE,
    Action.MEASUREMENT_READ: _EVERY_ROLE,
    Action.MEASUREMENT_START: _ACTING_STAFF,
    Action.ALARM_READ: _EVERY_ROLE,
    Action.ALARM_ACKNOWLEDGE: _ACTING_STAFF,
    Action.SUBSCRIPTION_ADD: {**dict.fromkeys(Role, Scope.OWN), Role.ADMIN: Scope.ANY},
    Action.SUBSCRIPTION_READ: {**dict.fromkeys(Role, Scope.OWN), Role.ADMIN: Scope.ANY},
    Action.SUBSCRIPTION_DELETE: {**dict.fromkeys(Role, Scope.OWN), Role.ADMIN: Scope.ANY},
    Action.DECISION_READ: _OWN_OR_STAFF,
    Action.RULE_READ: _OWN_OR_STAFF,
    Action.NETWORK_READ: _STAFF,
    Action.NETWORK_SYNC: {Role.ADMIN: Scope.ANY, Role.OPERATOR: Scope.ANY},
    Action.MAINTENANCE_READ: _EVERY_ROLE,
    Action.MAINTENANCE_ADD: _ACTING_STAFF,
    Action.MAINTENANCE_CANCEL: _ACTING_STAFF,
    Action.WHAT_IF: _STAFF,
    Action.RESERVATION_ADD: {
        Role.ADMIN: Scope.ANY,
        Role.OPERATOR: Scope.ANY,
        Role.PERFORMANCE_ENGINEER: Scope.OWN,
        Role.RESEARCHER: Scope.OWN,
    },
    Action.RESERVATION_READ: _OWN_OR_STAFF,
    Action.RESERVATION_RELEASE: {
        Role.ADMIN: Scope.ANY,
        Role.OPERATOR: Scope.ANY,
        Role.PERFORMANCE_ENGINEER: Scope.OWN,
        Role.RESEARCHER: Scope.OWN,
    },
    Action.FORECAST_READ: _STAFF,
    Action.COMPUTE_READ: _EVERY_ROLE,
    Action.JOB_SUBMIT: {
        Role.ADMIN: Scope.ANY,
        Role.OPERATOR: Scope.ANY,
        Role.PERFORMANCE_ENGINEER: Scope.OWN,
        Role.RESEARCHER: Scope.OWN,
    },
    Action.JOB_READ: _OWN_OR_STAFF,
    Action.JOB_CANCEL: {
        Role.ADMIN: Scope.ANY,
        Role.OPERATOR: Scope.ANY,
        Role.PERFORMANCE_ENGINEER: Scope.OWN,
        Role.RESEARCHER: Scope.OWN,
    },
    Action.STUDY_READ: _EVERY_ROLE,
    Action.STUDY_ADD: _ACTING_STAFF,
    Action.STUDY_DELETE: _ACTING_STAFF,
    Action.METRICS_READ: _STAFF,
    Action.TOKEN_CREATE: {**dict.fromkeys(Role, Scope.OWN), Role.ADMIN: Scope.ANY},
    Action.TOKEN_READ: {**dict.fromkeys(Role, Scope.OWN), Role.ADMIN: Scope.ANY, Role.AUDITOR: Scope.ANY},
    Action.TOKEN_REVOKE: {**dict.fromkeys(Role, Scope.OWN), Role.ADMIN: Scope.ANY},
    Action.SESSION_READ: {**dict.fromkeys(Role, Scope.OWN), Role.ADMIN: Scope.ANY, Role.AUDITOR: Scope.ANY},
    Action.SESSION_END: {**dict.fromkeys(Role, Scope.OWN), Role.ADMIN: Scope.ANY},
    Action.USER_READ: {**dict.fromkeys(Role, Scope.OWN), Role.ADMIN: Scope.ANY, Role.AUDITOR: Scope.ANY},
    Action.USER_CHANGE: {Role.ADMIN: Scope.ANY},
    Action.ROLE_READ: _EVERY_ROLE,
    Action.AUDIT_READ: {Role.ADMIN: Scope.ANY, Role.AUDITOR: Scope.ANY},
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
