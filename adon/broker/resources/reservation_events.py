"""What is done about reservations: taken in or refused, released, begun, over.

A reservation is refused if at any instant it asks for more than would then be free, naming what is lacking
and from when on it would fit; what no place will ever have is refused as wrong input, naming the most there
is.  Nothing running is moved for a reservation.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from adon.broker.effects import Announce, Answer, Effect, SaveReservation
from adon.broker.events import Event, ReservationAsked, ReservationReleased
from adon.broker.flow_placement import Placing
from adon.broker.resources.amounts import Amounts, Place, Shortage
from adon.broker.resources.book import Book, Who
from adon.broker.resources.paths import book_of
from adon.broker.resources.reservation import (
    FARTHEST_S,
    LONGEST_S,
    Reservation,
    ReservationRequest,
    Stage,
    moment_text,
)
from adon.broker.world import World
from adon.errors import Conflict, InvalidInput, Problem
from adon.units import format_duration

MOST_EACH = 100
"""Reservations that one person may have at a time."""


def handle_reservation(world: World, event: ReservationAsked) -> list[Effect]:
    """Take a new reservation.

    :raises InvalidInput: for a place that is not there, times that cannot be, or more than there ever is.
    :raises Conflict: if it does not fit, saying what is lacking and when it would.
    """
    request = event.request
    begins = event.at if request.begins is None else max(event.at, request.begins)
    _check(world, request, begins, event.at)
    if sum(one.owner == event.requester for one in world.ledger.reservations) >= MOST_EACH:
        raise Conflict("reservation", f"{event.requester} has {MOST_EACH} already; release some")
    who = Who(event.requester, _flow(world, request, event.requester))
    # Nodes that the policy keeps free cannot be reserved.
    of_a_site = request.compute is not None and request.worker_nodes > 0
    kept = world.configuration.policy.reserve_nodes if of_a_site else 0
    _fits(_book(world, request.place), request.amounts, kept, event.at, begins, request.ends, who)
    reservation = Reservation(
        number=world.ledger.last + 1,
        place=request.place,
        amounts=request.amounts,
        begins=begins,
        ends=request.ends,
        owner=event.requester,
        flow=who.flow,
        note=request.note,
        asked_at=event.at,
    )
    world.ledger = world.ledger.reserve(reservation)
    return [
        SaveReservation(event.id, reservation),
        Announce(event.id, "info", "reservation-made", f"{reservation.words} is made"),
        Answer(event.id, event.command, as_json(reservation, event.at)),
    ]


def handle_release(world: World, placing: Placing, event: ReservationReleased) -> list[Effect]:
    """End a reservation before its time; what it kept may be had by others.

    :raises Conflict, NotFound: as :meth:`~adon.broker.resources.ledger.Ledger.reservation`.
    """
    reservation = replace(world.ledger.reservation(event.number), released_at=event.at)
    world.ledger = world.ledger.drop([event.number])
    text = f"{reservation.words}: released by {event.requester}"
    return [
        SaveReservation(event.id, reservation),
        Announce(event.id, "info", "reservation-released", text),
        *placing.resources_freed([reservation], event),
        Answer(event.id, event.command, as_json(reservation, event.at)),
    ]


def handle_boundaries(world: World, placing: Placing, since: float, event: Event) -> list[Effect]:
    """Say which reservations have begun or are over since then, and give on what they kept."""
    kept = world.ledger.reservations
    over = [one for one in kept if one.stage(event.at) is Stage.OVER]
    begun = [one for one in kept if since < one.begins <= event.at and one not in over]
    world.ledger = world.ledger.drop(one.number for one in over)
    told = [one for one in over if since < one.ends]  # of others, an earlier run has told
    effects: list[Effect] = [
        Announce(event.id, "info", "reservation-ended", f"{one.words} has ended") for one in told
    ]
    for one in begun:
        short = _book(world, one.place).find_shortages(event.at)
        late = "; ".join(each.words for each in short)
        if short:
            text = f"{one.words} begins, but late flows still use it: {late}"
            effects.append(Announce(event.id, "warning", "reservation-overdrawn", text))
        else:
            effects.append(Announce(event.id, "info", "reservation-begun", f"{one.words} begins"))
    return [*effects, *placing.resources_freed(over, event)] if over else effects


def next_change(world: World, now: float) -> float | None:
    """Time at which :func:`handle_boundaries` must run next."""
    times = [at for one in world.ledger.reservations for at in (one.begins, one.ends) if at > now]
    return min(times, default=None)


# -- what can be reserved ---------------------------------------------------------------------------------


def _check(world: World, request: ReservationRequest, begins: float, now: float) -> None:
    wrong: list[Problem] = []
    if request.ends <= now:
        wrong.append(Problem("ends", "is in the past"))
    elif request.ends <= begins:
        wrong.append(Problem("ends", "is not after begins; expected a later time, for example 24 h"))
    elif request.ends - begins > LONGEST_S:
        wrong.append(
            Problem(
                "ends",
                f"is too late: a reservation lasts at most {format_duration(LONGEST_S)}; for example 24 h",
            )
        )
    elif request.ends - now > FARTHEST_S:
        wrong.append(Problem("ends", "is more than a year ahead"))
    if request.compute is not None and request.compute not in world.ledger.sites:
        wrong.append(Problem("compute", f"there is no compute site {request.compute!r}"))
    if request.path is not None and not _leads(world, request.place):
        wrong.append(Problem("path", f"no path {request.place.words} is configured"))
    if wrong:
        raise InvalidInput(wrong)


def _leads(world: World, place: Place) -> bool:
    ends = world.network.topology.ends_of(place.path)
    return ends is not None and ends == {place.source, place.destination}


def _flow(world: World, request: ReservationRequest, requester: str) -> int | None:
    """The number of the flow that it is for, if it is for one.

    :raises InvalidInput: if there is no such flow of this person's, or it has ended.
    """
    if request.flow is None:
        return None
    flow = world.flows.get(request.flow)
    if flow is None or flow.state.final or flow.requester != requester:
        raise InvalidInput.of("flow", f"no flow f-{request.flow} of {requester} runs or waits")
    return request.flow


def _fits(book: Book, asked: Amounts, kept: int, now: float, begins: float, ends: float, who: Who) -> None:
    """Refuse what is not free.

    :param kept: worker nodes that the policy keeps free beside it.
    :raises InvalidInput: for more than there ever is.
    :raises Conflict: saying what is lacking, and when it would fit.
    """
    wanted = asked + Amounts(nodes=kept)
    most = book.limits.lacks(wanted)
    if most:
        raise InvalidInput(
            Problem(
                _field(one.kind),
                f"{_describe_request(one, kept)} exceeds the total of {one.there}{_describe_kept(one, kept)}",
            )
            for one in most
        )
    short = book.lacking(wanted, now, begins, ends, who, reserving=True)
    if not short:
        return
    text = "; ".join(
        f"{one.there} free, {_describe_request(one, kept)} needed{_describe_kept(one, kept)}" for one in short
    )
    opens = book.earliest(wanted, now, begins, ends - begins, who)
    if opens is None or not math.isfinite(opens):
        raise Conflict("reservation", f"does not fit: {text}; the time when it fits is unknown")
    raise Conflict("reservation", f"does not fit: {text}; it fits from {moment_text(opens)} on")


def _describe_request(short: Shortage, kept: int) -> str:
    """What the requester asked for, without what is kept beside it."""
    return str(short.asked - kept) if short.kind == "nodes" else short.needed


def _describe_kept(short: Shortage, kept: int) -> str:
    return f", {kept} kept in reserve" if short.kind == "nodes" and kept else ""


def _field(kind: str) -> str:
    return "worker_nodes" if kind == "nodes" else kind


def _book(world: World, place: Place) -> Book:
    """The book of a place.

    :raises NotFound: for a site that is not configured.
    """
    key = place.key
    return world.ledger.book(place.compute) if key is None else book_of(world, key)


# -- for the answer ---------------------------------------------------------------------------------------


def as_json(reservation: Reservation, now: float) -> Mapping[str, object]:
    """A reservation as plain JSON values; times in seconds since the epoch, SI units."""
    place, amounts = reservation.place, reservation.amounts
    return {
        "id": reservation.id,
        "compute": place.compute or None,
        "path": place.path or None,
        "source": place.source or None,
        "destination": place.destination or None,
        "worker_nodes": amounts.nodes,
        "cores": amounts.cores,
        "memory": amounts.memory,
        "gpus": amounts.gpus,
        "storage": amounts.storage,
        "bandwidth": amounts.bandwidth,
        "begins": reservation.begins,
        "ends": reservation.ends,
        "owner": reservation.owner,
        "flow": None if reservation.flow is None else f"f-{reservation.flow}",
        "note": reservation.note,
        "stage": reservation.stage(now).value,
        "words": reservation.words,
    }
