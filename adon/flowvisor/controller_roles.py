"""Controller roles: the permission to write to each switch, as a table and functions of values.

Two mechanisms make one of several controllers the only writer: a lease in their shared database
(:mod:`adon.store.lease`), and OpenFlow's roles (OpenFlow 1.3.5, 6.3.6).  By the roles every *switch* refuses
a replaced controller, even one that does not know about its replacement yet.

- A connection starts as EQUAL, which may write.  Therefore the controller sends nothing to a switch before
  the switch grants the requested role with the generation of the lease.  A switch refuses a generation older
  than the latest one (OFPRRFC_STALE), and has at most one MASTER connection.
- A switch with other controllers (``control: shared``) has this controller as EQUAL: its roles protect
  nothing, only the lease decides.
- A standby is SLAVE everywhere: connected, without writes.
- The own clock limits the lease: a controller that could not renew for a lease less a margin stops sending,
  *before* another controller can take the lease.  That clock must also run while the machine sleeps.

::

                 lease got            state loaded
    STANDBY ───────────────► CANDIDATE ───────────► ACTIVE
                                  │                    │   lease lost, taken or not renewed in time;
                                  └────────┬───────────┘   a switch has seen a later generation,
                                           ▼               or made another controller its master
                                     STEPPING_DOWN         (the process ends, and starts as STANDBY)

Without high availability (:func:`alone`) there is no lease and no other controller.  The controller starts as
CANDIDATE with a generation of its own.  If another controller replaces it at a switch, it disconnects from
that switch with a warning (R21), and continues with the others.

The module has no clock, thread or socket: times are arguments, in seconds of a monotonic clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from typing import Literal

from adon.values import FrozenMap

Control = Literal["exclusive", "shared"]

MARGIN = 0.2
"""Share of a lease that its holder does not use: the gap between its last message and the next holder."""


class Standing(StrEnum):
    """State of a controller among the controllers of its network."""

    STANDBY = "standby"
    CANDIDATE = "candidate"
    ACTIVE = "active"
    STEPPING_DOWN = "stepping_down"


class ControllerRole(Enum):
    """Roles of a connection (7.3.9), with their numbers on the wire."""

    EQUAL = 1
    MASTER = 2
    SLAVE = 3


# -- events ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _OfSwitch:
    """An event or effect of one switch."""

    dpid: int


@dataclass(frozen=True, slots=True)
class LeaseGot:
    """This controller got the lease, until a time of its own clock (:func:`until`)."""

    generation: int
    until: float


@dataclass(frozen=True, slots=True)
class LeaseSeen:
    """A standby read the generation of the current lease."""

    generation: int


@dataclass(frozen=True, slots=True)
class LeaseRenewed:
    """The lease was extended, until a time of the own clock."""

    until: float


@dataclass(frozen=True, slots=True)
class LeaseLost:
    """The database reports that this controller no longer has the lease."""

    why: str


@dataclass(frozen=True, slots=True)
class StateLoaded:
    """The saved state of the previous holder is loaded: decisions are possible."""


class SwitchArrived(_OfSwitch):
    """A switch completed its handshake."""


class SwitchLeft(_OfSwitch):
    """The connection to a switch ended."""


@dataclass(frozen=True, slots=True)
class RoleGranted:
    """A switch answered a role request with the present role."""

    dpid: int
    role: ControllerRole


class RoleStale(_OfSwitch):
    """A switch refused a generation because it knows a later one (OFPRRFC_STALE)."""


@dataclass(frozen=True, slots=True)
class RoleUnknown:
    """A switch does not support roles (OFPRRFC_UNSUP), or did not answer."""

    dpid: int
    why: str


class RoleTaken(_OfSwitch):
    """A switch made us slave because another controller became its master."""


@dataclass(frozen=True, slots=True)
class TimePassed:
    """The time of the own clock."""

    now: float


RoleEvent = (
    LeaseGot
    | LeaseSeen
    | LeaseRenewed
    | LeaseLost
    | StateLoaded
    | SwitchArrived
    | SwitchLeft
    | RoleGranted
    | RoleStale
    | RoleUnknown
    | RoleTaken
    | TimePassed
)


# -- effects ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AskRole:
    """Request a role from a switch."""

    dpid: int
    role: ControllerRole
    generation: int


class Use(_OfSwitch):
    """The switch accepts rules; the broker may use it."""


@dataclass(frozen=True, slots=True)
class Leave:
    """Stop sending to a switch and end its connection; the switch connects again."""

    dpid: int
    why: str


@dataclass(frozen=True, slots=True)
class StepDown:
    """End the process; it starts again as standby."""

    why: str


RoleEffect = AskRole | Use | Leave | StepDown


# -- state and its transitions ------------------------------------------------------------------------------

STEPS: Mapping[Standing, frozenset[Standing]] = {
    Standing.STANDBY: frozenset({Standing.CANDIDATE}),
    Standing.CANDIDATE: frozenset({Standing.ACTIVE, Standing.STEPPING_DOWN}),
    Standing.ACTIVE: frozenset({Standing.STEPPING_DOWN}),
    Standing.STEPPING_DOWN: frozenset(),
}
"""Allowed transitions, as in the picture above."""


@dataclass(frozen=True, slots=True)
class Roles:
    """State of a controller's role.

    :param control: control mode of each configured switch, by datapath id.
    :param single: True without other controllers.
    :param generation: generation of the own lease, or of the active controller's; None if unknown.
    :param until: end of the lease on the own clock; None for never.
    :param switches: role that each connected switch granted.
    """

    control: Mapping[int, Control]
    single: bool = False
    standing: Standing = Standing.STANDBY
    generation: int | None = None
    until: float | None = None
    switches: Mapping[int, ControllerRole | None] = FrozenMap()

    def may_send(self, dpid: int, now: float) -> bool:
        """Return whether the controller may send to a switch at a time of its own clock."""
        in_time = self.until is None or now < self.until
        granted = self.switches.get(dpid)
        return self.standing is Standing.ACTIVE and in_time and granted is self._desired_role(dpid)

    def _desired_role(self, dpid: int) -> ControllerRole:
        if self.standing is not Standing.ACTIVE:
            return ControllerRole.SLAVE
        shared = self.control.get(dpid) == "shared"
        return ControllerRole.EQUAL if shared else ControllerRole.MASTER

    def _step(self, to: Standing) -> Roles:
        if to not in STEPS[self.standing]:
            raise ValueError(f"{self.standing} does not become {to}")
        return replace(self, standing=to)

    def _with(self, dpid: int, role: ControllerRole | None) -> Roles:
        return replace(self, switches=FrozenMap({**self.switches, dpid: role}))

    def _without(self, dpid: int) -> Roles:
        rest = {known: role for known, role in self.switches.items() if known != dpid}
        return replace(self, switches=FrozenMap(rest))


Change = tuple[Roles, tuple[RoleEffect, ...]]


def stand_by(control: Mapping[int, Control]) -> Roles:
    """Return the roles of a controller without a lease."""
    return Roles(control)


def alone(control: Mapping[int, Control], generation: int) -> Roles:
    """Return the roles of the only controller, with a generation above that of its last run."""
    return Roles(control, single=True, standing=Standing.CANDIDATE, generation=generation)


def until(asked_at: float, lease: float) -> float:
    """Return the end of a lease on the own clock.

    :param asked_at: time of the request on the own clock; the database starts to count later.
    :param lease: length of the lease in seconds.
    """
    return asked_at + lease * (1 - MARGIN)


def step(roles: Roles, event: RoleEvent) -> Change:
    """Return the roles after an event, and the effects.

    :raises ValueError: for a lease event that is impossible in this state.
    """
    if roles.standing is Standing.STEPPING_DOWN:
        return roles, ()
    match event:
        case LeaseGot(generation, end):
            return replace(roles._step(Standing.CANDIDATE), generation=generation, until=end), ()
        case LeaseSeen(generation):
            return _follow_generation(roles, generation)
        case LeaseRenewed(end):
            return replace(roles, until=end), ()
        case LeaseLost(why):
            return _step_down(roles, why)
        case StateLoaded():
            active = roles._step(Standing.ACTIVE)
            return active, tuple(ask for dpid in active.switches for ask in _ask(active, dpid))
        case TimePassed(now):
            late = roles.until is not None and now >= roles.until
            return _step_down(roles, "the lease could not be renewed in time") if late else (roles, ())
        case SwitchArrived(dpid):
            arrived = roles._with(dpid, None)
            return arrived, _ask(arrived, dpid)
        case SwitchLeft(dpid):
            return roles._without(dpid), ()
        case _:
            return _apply_answer(roles, event) if event.dpid in roles.switches else (roles, ())


def _ask(roles: Roles, dpid: int) -> tuple[RoleEffect, ...]:
    # A candidate keeps its role until the state is loaded; a standby without a generation waits for one.
    if roles.generation is None or roles.standing is Standing.CANDIDATE:
        return ()
    return (AskRole(dpid, roles._desired_role(dpid), roles.generation),)


def _follow_generation(roles: Roles, generation: int) -> Change:
    """Store the generation of the active controller, and request SLAVE from the remaining switches."""
    if roles.standing is not Standing.STANDBY or generation == roles.generation:
        return roles, ()
    later = replace(roles, generation=generation)
    waiting = [dpid for dpid, role in later.switches.items() if role is None]
    return later, tuple(ask for dpid in waiting for ask in _ask(later, dpid))


def _apply_answer(roles: Roles, event: RoleGranted | RoleStale | RoleUnknown | RoleTaken) -> Change:
    match event:
        case RoleGranted(dpid, role):
            granted = roles._with(dpid, role)
            wanted = role is roles._desired_role(dpid) and roles.standing is Standing.ACTIVE
            first = wanted and roles.switches[dpid] is not role
            return granted, (Use(dpid),) if first else ()
        case RoleStale(dpid):
            return _yield_switch(roles, dpid, "the switch has seen a controller of a later generation")
        case RoleTaken(dpid):
            if roles.switches[dpid] is not ControllerRole.MASTER:
                return roles, ()
            return _yield_switch(roles, dpid, "another controller became the switch's master")
        case RoleUnknown(dpid, why):
            return _handle_no_roles(roles, dpid, why)


def _yield_switch(roles: Roles, dpid: int, why: str) -> Change:
    if roles.standing is Standing.STANDBY:
        return roles._with(dpid, None), ()  # the request is repeated with the later generation
    if roles.single:
        return roles._without(dpid), (Leave(dpid, why),)
    return _step_down(roles, why)


def _handle_no_roles(roles: Roles, dpid: int, why: str) -> Change:
    """Use a shared switch without roles; leave an exclusive one (R21)."""
    if roles.control.get(dpid) == "shared" and roles.standing is Standing.ACTIVE:
        return _apply_answer(roles, RoleGranted(dpid, ControllerRole.EQUAL))
    return roles._without(dpid), (Leave(dpid, f"it grants no role: {why}"),)


def _step_down(roles: Roles, why: str) -> Change:
    if roles.standing is Standing.STANDBY:
        raise ValueError("a standby has no lease to lose")
    return roles._step(Standing.STEPPING_DOWN), (StepDown(why),)
