"""Which controller may write to which switch: the decisions, as a table and functions of values.

Two things make one controller of several the only writer: a lease in the database they share
(:mod:`adon.store.lease`), and OpenFlow's roles (OpenFlow 1.3.5, 6.3.6), which make every *switch* refuse a
controller that has been replaced, even one that does not know it yet.

- A connection begins as EQUAL, which may write.  So nothing is sent to a switch before it has granted the
  role we asked for, with the generation of our lease; a switch refuses a generation older than it has seen
  (OFPRRFC_STALE), and lets only one connection be MASTER.
- A switch that another controller drives as well (``control: shared``) knows us as EQUAL: its roles protect
  nothing, the lease alone decides.
- A standby is SLAVE everywhere: connected, silent, ready.
- Our own clock may stop us before the database does: who could not renew for a lease less a margin
  sends no more, which is *before* anybody else can take it.  That clock must also run while the machine
  sleeps.

::

                 lease got            state loaded
    STANDBY ───────────────► CANDIDATE ───────────► ACTIVE
                                  │                    │   lease lost, taken or not renewed in time;
                                  └────────┬───────────┘   a switch has seen a later generation,
                                           ▼               or made another controller its master
                                     STEPPING_DOWN         (the process ends, and begins as STANDBY)

Without high availability (:func:`alone`) there is no lease to lose and nobody to give way to: a controller
begins as CANDIDATE with a generation of its own, and one that is replaced at a switch leaves that switch
alone, aloud (R21), and goes on with the others.

No clock, thread or socket here: times are arguments, in seconds of a clock that only grows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum, StrEnum
from typing import Literal

from adon.values import FrozenMap

Control = Literal["exclusive", "shared"]

MARGIN = 0.2
"""Share of a lease that its holder leaves unused: it stops sending so much earlier than another may begin."""


class Standing(StrEnum):
    """What a controller is among its like."""

    STANDBY = "standby"
    CANDIDATE = "candidate"
    ACTIVE = "active"
    STEPPING_DOWN = "stepping_down"


class ControllerRole(Enum):
    """Roles of a connection (7.3.9), with their numbers on the wire."""

    EQUAL = 1
    MASTER = 2
    SLAVE = 3


# -- what can happen ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _OfSwitch:
    """What is about one switch."""

    dpid: int


@dataclass(frozen=True, slots=True)
class LeaseGot:
    """The lease is ours from now on, until this time of our own clock (:func:`until`)."""

    generation: int
    until: float


@dataclass(frozen=True, slots=True)
class LeaseSeen:
    """A standby has read whose lease runs."""

    generation: int


@dataclass(frozen=True, slots=True)
class LeaseRenewed:
    """The lease runs on, until this time of our own clock."""

    until: float


@dataclass(frozen=True, slots=True)
class LeaseLost:
    """The database says that the lease is not ours any more."""

    why: str


@dataclass(frozen=True, slots=True)
class StateLoaded:
    """What the one before us has saved is loaded: decisions can be made."""


class SwitchArrived(_OfSwitch):
    """A switch completed its handshake."""


class SwitchLeft(_OfSwitch):
    """The connection to a switch ended."""


@dataclass(frozen=True, slots=True)
class RoleGranted:
    """A switch answered a role request with the role that we have now."""

    dpid: int
    role: ControllerRole


class RoleStale(_OfSwitch):
    """A switch has seen a later generation than ours (OFPRRFC_STALE)."""


@dataclass(frozen=True, slots=True)
class RoleUnknown:
    """A switch knows no roles (OFPRRFC_UNSUP), or did not answer."""

    dpid: int
    why: str


class RoleTaken(_OfSwitch):
    """A switch made us slave because another controller became its master."""


@dataclass(frozen=True, slots=True)
class TimePassed:
    """It is now so late on our own clock."""

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


# -- what is to be done -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AskRole:
    """Ask a switch for this role."""

    dpid: int
    role: ControllerRole
    generation: int


class Use(_OfSwitch):
    """This switch takes our rules: the broker may hear of it."""


@dataclass(frozen=True, slots=True)
class Leave:
    """Send nothing to this switch any more, and end its connection; it will come again."""

    dpid: int
    why: str


@dataclass(frozen=True, slots=True)
class StepDown:
    """End the process; it starts again as standby."""

    why: str


RoleEffect = AskRole | Use | Leave | StepDown


# -- state, and how it changes ------------------------------------------------------------------------------

STEPS: Mapping[Standing, frozenset[Standing]] = {
    Standing.STANDBY: frozenset({Standing.CANDIDATE}),
    Standing.CANDIDATE: frozenset({Standing.ACTIVE, Standing.STEPPING_DOWN}),
    Standing.ACTIVE: frozenset({Standing.STEPPING_DOWN}),
    Standing.STEPPING_DOWN: frozenset(),
}
"""Which standing may follow which; the picture above."""


@dataclass(frozen=True, slots=True)
class Roles:
    """What a controller knows of its role.

    :param control: how each configured switch is driven, by datapath id.
    :param single: there is no other controller to give way to.
    :param generation: of our lease; of the one we stand by for; None before anything is known.
    :param until: when, on our own clock, our lease stops counting; None: never.
    :param switches: the connected ones, and which role each has granted.
    """

    control: Mapping[int, Control]
    single: bool = False
    standing: Standing = Standing.STANDBY
    generation: int | None = None
    until: float | None = None
    switches: Mapping[int, ControllerRole | None] = FrozenMap()

    def may_send(self, dpid: int, now: float) -> bool:
        """Whether something may be sent to this switch at this time of our own clock."""
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
    """A controller that has no lease yet."""
    return Roles(control)


def alone(control: Mapping[int, Control], generation: int) -> Roles:
    """The only controller there is, with a generation above that of its last run."""
    return Roles(control, single=True, standing=Standing.CANDIDATE, generation=generation)


def until(asked_at: float, lease: float) -> float:
    """When a lease of so many seconds that was asked for at this time of our clock stops counting for us.

    Counted from before the asking: the database began to count later.
    """
    return asked_at + lease * (1 - MARGIN)


def step(roles: Roles, event: RoleEvent) -> Change:
    """What an event makes of the roles, and what is to be done.

    :raises ValueError: for a lease event that cannot happen now.
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
    # Between lease and state the role stays what it was; a standby that knows no generation waits for one.
    if roles.generation is None or roles.standing is Standing.CANDIDATE:
        return ()
    return (AskRole(dpid, roles._desired_role(dpid), roles.generation),)


def _follow_generation(roles: Roles, generation: int) -> Change:
    """A standby learns whose turn it is: switches that have not made it slave yet are asked (again)."""
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
        return roles._with(dpid, None), ()  # asked again once the later generation is seen
    if roles.single:
        return roles._without(dpid), (Leave(dpid, why),)
    return _step_down(roles, why)


def _handle_no_roles(roles: Roles, dpid: int, why: str) -> Change:
    """A switch without roles can be shared; one that is to be ours alone is left (R21)."""
    if roles.control.get(dpid) == "shared" and roles.standing is Standing.ACTIVE:
        return _apply_answer(roles, RoleGranted(dpid, ControllerRole.EQUAL))
    return roles._without(dpid), (Leave(dpid, f"it grants no role: {why}"),)


def _step_down(roles: Roles, why: str) -> Change:
    if roles.standing is Standing.STANDBY:
        raise ValueError("a standby has no lease to lose")
    return roles._step(Standing.STEPPING_DOWN), (StepDown(why),)
