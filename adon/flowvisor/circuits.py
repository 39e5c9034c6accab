"""Layer-2 circuits that somebody else provides: the states of one, as a table, and two providers.

Where a path crosses another operator's network its VLAN is a circuit that must be reserved first.  The
states follow the NSI Connection Service 2.1 (OGF GFD.237), in which a reservation is made in two steps
(held, then committed) and carries traffic only while it is provisioned; SENSE's orchestrator offers the same
steps.  GFD.237's three state machines (reservation, provision, lifecycle) are one here, since we never
modify a reservation, and release a circuit only to terminate it.

Nothing here waits or sends.  :func:`advanced` takes what happened and says what to ask the provider for; the
shell that does so tells of each answer, and, when :func:`due` says so, that there was none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol

from adon.errors import Conflict


class Stage(StrEnum):
    """How far a circuit has come; values follow GFD.237's state names where it has one."""

    RESERVING = "ReserveChecking"
    HELD = "ReserveHeld"
    COMMITTED = "Released"
    PROVISIONED = "Provisioned"
    TERMINATING = "Terminating"
    TERMINATED = "Terminated"
    FAILED = "Failed"

    @property
    def final(self) -> bool:
        """Whether nothing can happen to it any more."""
        return self in (Stage.TERMINATED, Stage.FAILED)


class Happening(StrEnum):
    """What the provider answered, what we want, or that time ran out."""

    RESERVED = "reserve.confirmed"
    COMMITTED = "commit.confirmed"
    PROVISIONED = "data plane is up"
    TERMINATED = "terminate.confirmed"
    REFUSED = "failed"
    DATA_PLANE_DOWN = "data plane is down"
    ENDED = "forced end"
    TIMED_OUT = "no answer in time"
    RELEASE = "no longer wanted"


class Ask(StrEnum):
    """What to ask the provider for."""

    RESERVE = "reserve"
    COMMIT = "reserveCommit"
    PROVISION = "provision"
    TERMINATE = "terminate"


TIME_OUTS_S: Mapping[Stage, float] = MappingProxyType(
    {
        Stage.RESERVING: 120.0,
        Stage.HELD: 60.0,
        Stage.COMMITTED: 300.0,
        Stage.TERMINATING: 120.0,
    }
)
"""Seconds a circuit may stay in a stage.  A provider drops what is held and not committed by itself."""

_GIVE_UP = {Happening.RELEASE: Ask.TERMINATE, Happening.TIMED_OUT: Ask.TERMINATE}

STEPS: Mapping[tuple[Stage, Happening], tuple[Stage, Ask | None]] = MappingProxyType(
    {
        (Stage.RESERVING, Happening.RESERVED): (Stage.HELD, Ask.COMMIT),
        (Stage.HELD, Happening.COMMITTED): (Stage.COMMITTED, Ask.PROVISION),
        (Stage.COMMITTED, Happening.PROVISIONED): (Stage.PROVISIONED, None),
        (Stage.PROVISIONED, Happening.DATA_PLANE_DOWN): (Stage.COMMITTED, None),
        (Stage.COMMITTED, Happening.DATA_PLANE_DOWN): (Stage.COMMITTED, None),
        (Stage.PROVISIONED, Happening.RELEASE): (Stage.TERMINATING, Ask.TERMINATE),
        (Stage.TERMINATING, Happening.TERMINATED): (Stage.TERMINATED, None),
        # Asked for, and nobody knows with what success: asked again until it is confirmed.
        (Stage.TERMINATING, Happening.TIMED_OUT): (Stage.TERMINATING, Ask.TERMINATE),
        (Stage.TERMINATING, Happening.RELEASE): (Stage.TERMINATING, None),
        # A refusal before anything was committed leaves nothing behind; afterwards the reservation stands.
        (Stage.RESERVING, Happening.REFUSED): (Stage.FAILED, None),
        (Stage.HELD, Happening.REFUSED): (Stage.TERMINATING, Ask.TERMINATE),
        (Stage.COMMITTED, Happening.REFUSED): (Stage.TERMINATING, Ask.TERMINATE),
        **{
            (stage, happening): (Stage.TERMINATING, ask)
            for stage in (Stage.RESERVING, Stage.HELD, Stage.COMMITTED)
            for happening, ask in _GIVE_UP.items()
        },
        **{(stage, Happening.ENDED): (Stage.FAILED, None) for stage in Stage if not stage.final},
        # An answer to what we do not want any more.
        **{
            (Stage.TERMINATING, late): (Stage.TERMINATING, None)
            for late in (
                Happening.RESERVED,
                Happening.COMMITTED,
                Happening.PROVISIONED,
                Happening.REFUSED,
                Happening.DATA_PLANE_DOWN,
            )
        },
    }
)
"""What follows when something happens to a circuit in a stage; what is not listed cannot happen there."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is wanted of a provider.

    :param circuit: our name for it.
    :param source, destination: service termination points, as the provider names them.
    :param capacity: bits/s.
    """

    circuit: str
    source: str
    destination: str
    vlan: int
    capacity: float


@dataclass(frozen=True, slots=True)
class Provided:
    """One ordered circuit.

    :param since: when it came to this stage.
    :param reason: what ended it early, in the provider's or our words.
    """

    order: Order
    stage: Stage
    since: float
    reason: str = ""

    @property
    def usable(self) -> bool:
        """Whether it carries traffic."""
        return self.stage is Stage.PROVISIONED


Answer = tuple[Provided, Ask | None]


def advanced(circuit: Provided, happening: Happening, now: float, reason: str = "") -> Answer:
    """The circuit after something happened, and what to ask the provider for.

    :raises Conflict: for what cannot happen in its stage; it is then as it was.
    """
    step = STEPS.get((circuit.stage, happening))
    if step is None:
        raise Conflict(f"circuit {circuit.order.circuit}", f"{happening!s} in stage {circuit.stage!s}")
    stage, ask = step
    # What was asked again begins to wait again.
    since = now if stage is not circuit.stage or ask is not None else circuit.since
    return replace(circuit, stage=stage, since=since, reason=reason or circuit.reason), ask


def due(circuit: Provided, time_outs: Mapping[Stage, float] = TIME_OUTS_S) -> float | None:
    """When its time runs out (then: :attr:`Happening.TIMED_OUT`); None in a stage that may last."""
    limit = time_outs.get(circuit.stage)
    return None if limit is None else circuit.since + limit


class CircuitProvider(Protocol):
    """Somebody who provides circuits, as far as deciding goes; sending is the shell's."""

    def ordered(self, order: Order, now: float) -> Answer:
        """A circuit that begins, and what to ask for."""
        ...

    def advanced(self, circuit: Provided, happening: Happening, now: float, reason: str = "") -> Answer:
        """What follows when something happens.

        :raises Conflict: for what cannot happen to this circuit now.
        """
        ...


class StaticProvider:
    """The default: VLANs that are configured already; there at once, gone at once, and nothing is asked."""

    def ordered(self, order: Order, now: float) -> Answer:
        """A circuit that is there."""
        return Provided(order, Stage.PROVISIONED, now), None

    def advanced(self, circuit: Provided, happening: Happening, now: float, reason: str = "") -> Answer:
        """Release ends it; nothing else happens to it.

        :raises Conflict: for anything else.
        """
        if happening is not Happening.RELEASE or circuit.stage.final:
            told = f"{happening!s} in stage {circuit.stage!s}: it is configured, not reserved"
            raise Conflict(f"circuit {circuit.order.circuit}", told)
        return replace(circuit, stage=Stage.TERMINATED, since=now, reason=reason), None


class ReservingProvider:
    """A provider in NSI's manner: reserve, commit, provision; terminate."""

    def ordered(self, order: Order, now: float) -> Answer:
        """A circuit that is to be reserved."""
        return Provided(order, Stage.RESERVING, now), Ask.RESERVE

    def advanced(self, circuit: Provided, happening: Happening, now: float, reason: str = "") -> Answer:
        """As the table says.

        :raises Conflict: for what cannot happen in its stage.
        """
        return advanced(circuit, happening, now, reason)
