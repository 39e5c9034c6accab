"""Controller roles: the permission to write to each switch, as a table and functions of values.

Two mechanisms make one of several controllers the only writer: a lease in their shared database
(:mod:`adon.store.lease`), and OpenFlow's roles (OpenFlow 1.3.5, 6.3.6).  By the roles every *switch* refuses
a replaced controller, even if that controller has not noticed its replacement yet.

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

Without high availability (:func:`single_controller`) there is no lease and no other controller.  The
controller starts as CANDIDATE with a generation of its own.  If another controller replaces it at a switch,
it disconnects from that switch with a warning (R21), and continues with the others.

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


class ControllerState(StrEnum):
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
class _SwitchRecord:
    """An event or effect of one switch."""

    dpid: int


@dataclass(frozen=True, slots=True)
class LeaseAcquired:
    """Acquisition of the lease by this controller, until a time of its own clock (:func:`lease_end`)."""

    generation: int
    until: float


@dataclass(frozen=True, slots=True)
class LeaseObserved:
    """Generation of the current lease, as a standby controller read it."""

    generation: int


@dataclass(frozen=True, slots=True)
class LeaseRenewed:
    """Extension of the lease, until a time of the own clock."""

    until: float


@dataclass(frozen=True, slots=True)
class LeaseLost:
    """Report of the database that this controller has lost the lease."""

    why: str


@dataclass(frozen=True, slots=True)
class StateLoaded:
    """Completion of the load of the saved state, after which decisions are possible."""


class SwitchArrived(_SwitchRecord):
    """Completion of a switch's handshake."""


class SwitchLeft(_SwitchRecord):
    """End of the connection to a switch."""


@dataclass(frozen=True, slots=True)
class RoleGranted:
    """Answer of a switch to a role request, with the present role."""

    dpid: int
    role: ControllerRole


class RoleStale(_SwitchRecord):
    """Refusal of a generation by a switch that knows a later one (OFPRRFC_STALE)."""


@dataclass(frozen=True, slots=True)
class RoleUnknown:
    """Missing support of roles in a switch (OFPRRFC_UNSUP), or a missing answer."""

    dpid: int
    why: str


class RoleLost(_SwitchRecord):
    """Loss of the master role at a switch: another controller became its master."""


@dataclass(frozen=True, slots=True)
class ClockTick:
    """Present time of the own clock."""

    now: float


RoleEvent = (
    LeaseAcquired
    | LeaseObserved
    | LeaseRenewed
    | LeaseLost
    | StateLoaded
    | SwitchArrived
    | SwitchLeft
    | RoleGranted
    | RoleStale
    | RoleUnknown
    | RoleLost
    | ClockTick
)


# -- effects ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RequestRole:
    """Request for a role, to a switch."""

    dpid: int
    role: ControllerRole
    generation: int


class UseSwitch(_SwitchRecord):
    """Permission for the broker to use a switch: the switch accepts rules."""


@dataclass(frozen=True, slots=True)
class DisconnectSwitch:
    """Command to send nothing more to a switch and to close its connection; the switch connects again."""

    dpid: int
    why: str


@dataclass(frozen=True, slots=True)
class StepDown:
    """Command to end the process, which starts again as standby."""

    why: str


RoleEffect = RequestRole | UseSwitch | DisconnectSwitch | StepDown


# -- state and its transitions ------------------------------------------------------------------------------

TRANSITIONS: Mapping[ControllerState, frozenset[ControllerState]] = {
    ControllerState.STANDBY: frozenset({ControllerState.CANDIDATE}),
    ControllerState.CANDIDATE: frozenset({ControllerState.ACTIVE, ControllerState.STEPPING_DOWN}),
    ControllerState.ACTIVE: frozenset({ControllerState.STEPPING_DOWN}),
    ControllerState.STEPPING_DOWN: frozenset(),
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
    standing: ControllerState = ControllerState.STANDBY
    generation: int | None = None
    until: float | None = None
    switches: Mapping[int, ControllerRole | None] = FrozenMap()

    def may_send(self, dpid: int, now: float) -> bool:
        """Return whether the controller may send to a switch at a time of its own clock."""
        in_time = self.until is None or now < self.until
        granted = self.switches.get(dpid)
        return self.standing is ControllerState.ACTIVE and in_time and granted is self._desired_role(dpid)

    def _desired_role(self, dpid: int) -> ControllerRole:
        if self.standing is not ControllerState.ACTIVE:
            return ControllerRole.SLAVE
        shared = self.control.get(dpid) == "shared"
        return ControllerRole.EQUAL if shared else ControllerRole.MASTER

    def _step(self, to: ControllerState) -> Roles:
        if to not in TRANSITIONS[self.standing]:
            raise ValueError(f"a controller in state {self.standing} cannot become {to}")
        return replace(self, standing=to)

    def _with(self, dpid: int, role: ControllerRole | None) -> Roles:
        return replace(self, switches=FrozenMap({**self.switches, dpid: role}))

    def _without(self, dpid: int) -> Roles:
        rest = {known: role for known, role in self.switches.items() if known != dpid}
        return replace(self, switches=FrozenMap(rest))


Change = tuple[Roles, tuple[RoleEffect, ...]]


def standby_controller(control: Mapping[int, Control]) -> Roles:
    """Return the roles of a controller without a lease."""
    return Roles(control)


def single_controller(control: Mapping[int, Control], generation: int) -> Roles:
    """Return the roles of a controller without others; its generation is above that of its last run."""
    return Roles(control, single=True, standing=ControllerState.CANDIDATE, generation=generation)


def lease_end(asked_at: float, lease: float) -> float:
    """Return the end of a lease on the own clock.

    :param asked_at: time of the request on the own clock; the database starts to count later.
    :param lease: length of the lease in seconds.
    """
    return asked_at + lease * (1 - MARGIN)


def step(roles: Roles, event: RoleEvent) -> Change:
    """Return the roles after an event, and the effects.

    :raises ValueError: for a lease event that is impossible in this state.
    """
    if roles.standing is ControllerState.STEPPING_DOWN:
        return roles, ()
    match event:
        case LeaseAcquired(generation, end):
            return replace(roles._step(ControllerState.CANDIDATE), generation=generation, until=end), ()
        case LeaseObserved(generation):
            return _follow_generation(roles, generation)
        case LeaseRenewed(end):
            return replace(roles, until=end), ()
        case LeaseLost(why):
            return _step_down(roles, why)
        case StateLoaded():
            active = roles._step(ControllerState.ACTIVE)
            return active, tuple(ask for dpid in active.switches for ask in _request_role(active, dpid))
        case ClockTick(now):
            late = roles.until is not None and now >= roles.until
            return _step_down(roles, "the lease could not be renewed in time") if late else (roles, ())
        case SwitchArrived(dpid):
            arrived = roles._with(dpid, None)
            return arrived, _request_role(arrived, dpid)
        case SwitchLeft(dpid):
            return roles._without(dpid), ()
        case _:
            return _apply_answer(roles, event) if event.dpid in roles.switches else (roles, ())


def _request_role(roles: Roles, dpid: int) -> tuple[RoleEffect, ...]:
    # A candidate keeps its role until the state is loaded; a standby without a generation waits for one.
    if roles.generation is None or roles.standing is ControllerState.CANDIDATE:
        return ()
    return (RequestRole(dpid, roles._desired_role(dpid), roles.generation),)


def _follow_generation(roles: Roles, generation: int) -> Change:
    """Store the generation of the active controller, and request SLAVE from the remaining switches."""
    if roles.standing is not ControllerState.STANDBY or generation == roles.generation:
        return roles, ()
    later = replace(roles, generation=generation)
    waiting = [dpid for dpid, role in later.switches.items() if role is None]
    return later, tuple(ask for dpid in waiting for ask in _request_role(later, dpid))


def _apply_answer(roles: Roles, event: RoleGranted | RoleStale | RoleUnknown | RoleLost) -> Change:
    match event:
        case RoleGranted(dpid, role):
            granted = roles._with(dpid, role)
            wanted = role is roles._desired_role(dpid) and roles.standing is ControllerState.ACTIVE
            first = wanted and roles.switches[dpid] is not role
            return granted, (UseSwitch(dpid),) if first else ()
        case RoleStale(dpid):
            return _yield_switch(roles, dpid, "the switch knows a controller of a later generation")
        case RoleLost(dpid):
            if roles.switches[dpid] is not ControllerRole.MASTER:
                return roles, ()
            return _yield_switch(roles, dpid, "another controller became the switch's master")
        case RoleUnknown(dpid, why):
            return _handle_no_roles(roles, dpid, why)


def _yield_switch(roles: Roles, dpid: int, why: str) -> Change:
    if roles.standing is ControllerState.STANDBY:
        return roles._with(dpid, None), ()  # the request is repeated with the later generation
    if roles.single:
        return roles._without(dpid), (DisconnectSwitch(dpid, why),)
    return _step_down(roles, why)


def _handle_no_roles(roles: Roles, dpid: int, why: str) -> Change:
    """Use a shared switch without roles; leave an exclusive one (R21)."""
    if roles.control.get(dpid) == "shared" and roles.standing is ControllerState.ACTIVE:
        return _apply_answer(roles, RoleGranted(dpid, ControllerRole.EQUAL))
    return roles._without(dpid), (DisconnectSwitch(dpid, f"the switch grants no role: {why}"),)


def _step_down(roles: Roles, why: str) -> Change:
    if roles.standing is ControllerState.STANDBY:
        raise ValueError("a standby controller has no lease")
    return roles._step(ControllerState.STEPPING_DOWN), (StepDown(why),)
