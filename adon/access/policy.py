"""Access policy: the table of actions and roles, the grants of measurements, and the decision by both.

Every request is checked by :meth:`Policy.decide`.  A request that neither the table nor a grant allows is
refused.

[ADON] 2.2.1 (4) asks "Who can initiate measurements within/between iPlant, MU and ISI resources? Who can
view the measurement data of certain performance metrics?".  ``policy.measurement_access`` of the
configuration answers: without an entry for *start* (or *read*) the table decides.  With an entry, an actor
may start (or read) exactly the series that an entry grants, whatever the role.  Administrators may always.
An alarm, and what is derived from a series, is as readable as the series.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from adon.access.identity import Actor
from adon.errors import Forbidden, NotAuthenticated
from adon.values import Role
from measurement.model import Series

if TYPE_CHECKING:
    from adon.config.policy import MeasurementGrant

Item = TypeVar("Item")


class Scope(StrEnum):
    """Objects on which a role may do an action."""

    ANY = "any"
    OWN = "own"


Grant = Mapping[Role, Scope]
"""Roles that may do an action, with their scopes."""


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
    """Actions of requests, with the scopes of the roles that may do them.

    :ivar grant: scope of each role that may do it; other roles may not.
    """

    grant: Grant

    def __new__(cls, value: str, grant: Grant) -> Action:
        """Create a member; its value is the name of the action."""
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
"""Actions that need no identity."""


class OwnedObject(NamedTuple):
    """Object of a user.

    :param owner: the name of the user; None without a known owner.
    """

    owner: str | None


Subject = OwnedObject | Series | None
"""Subject of a request: an object of a user, a series of measurements, or None for shared objects."""


@dataclass(frozen=True, slots=True)
class Permission:
    """Decision about a request, with its reason."""

    allowed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Policy:
    """Access policy for every request.

    :param grants: ``policy.measurement_access`` of the configuration.
    """

    grants: Sequence[MeasurementGrant] = ()

    def _grants_of(self, action: Action) -> list[MeasurementGrant]:
        """Return the entries for starting, or reading, measurements; with entries, roles do not decide."""
        kind, _, deed = action.value.partition(".")
        return [grant for grant in self.grants if kind == "measurement" and grant.may == deed]

    def decide(self, actor: Actor | None, action: Action, subject: Subject = None) -> Permission:
        """Decide whether an actor may do an action on a subject.

        If grants decide and no series is given, the actor may request a series.

        :param actor: None for a request without identity.
        """
        if action in ANONYMOUS:
            return Permission(True, f"all users may do {action}")
        if actor is None:
            return Permission(False, f"{action} needs an identity")
        if actor.scope is not None and action not in actor.scope:
            return Permission(False, f"the token of {actor.name} does not allow {action}")
        grants = self._grants_of(action)
        if not grants or Role.ADMIN in actor.roles:
            return _decide_by_role(actor, action, subject.owner if isinstance(subject, OwnedObject) else None)
        if not isinstance(subject, Series):
            return Permission(True, f"measurement_access decides for each series who may do {action}")
        return _decide_by_grants(actor, action, subject, grants)

    def authorise(self, actor: Actor | None, action: Action, subject: Subject = None) -> None:
        """Check that :meth:`decide` allows the action.

        :raises NotAuthenticated: if an identity might help.
        :raises Forbidden: if the actor is known and may not.
        """
        permission = self.decide(actor, action, subject)
        if not permission.allowed:
            raise (NotAuthenticated if actor is None else Forbidden)(permission.reason)

    def readable(self, actor: Actor | None, items: Iterable[tuple[Series, Item]]) -> list[Item]:
        """Return the items whose series the actor may read; each series is checked once."""

        @cache
        def may_read(series: Series) -> bool:
            return self.decide(actor, Action.MEASUREMENT_READ, series).allowed

        return [item for series, item in items if may_read(series)]


def _decide_by_role(actor: Actor, action: Action, owner: str | None) -> Permission:
    kind = action.value.partition(".")[0]
    held = {role: action.grant[role] for role in Role if role in actor.roles and role in action.grant}
    for role, scope in held.items():
        if scope is Scope.ANY or (owner is not None and owner == actor.name):
            return Permission(True, f"{role} may do {action} on {scope} {kind}")
    if held:
        return Permission(False, f"{actor.name} may do {action} only on a {kind} of their own")
    roles = ", ".join(sorted(actor.roles)) or "no role"
    return Permission(False, f"{actor.name} ({roles}) may not do {action}")


def _decide_by_grants(
    actor: Actor, action: Action, series: Series, grants: Iterable[MeasurementGrant]
) -> Permission:
    what = f"{action.value.partition('.')[2]} {series.metric}"
    where = f"from {series.source} to {series.destination}" if series.destination else f"of {series.source}"
    for grant in grants:
        if grant.includes(actor.name, actor.roles, actor.groups) and grant.covers(series):
            return Permission(True, f"the configuration permits {actor.name} to {what} {where}")
    return Permission(False, f"no entry of measurement_access permits {actor.name} to {what} {where}")
