"""The book of one direction of a path: bandwidth that flows are bound to get, and that is reserved.

A flow with a throughput bound holds that much of its path until its forecast is over; one without a bound
holds nothing, because it has no promise.  A reservation keeps bandwidth from being *promised* to others: no
other flow is admitted or rerouted where its bound does not fit beside the reservation.  It does
not keep the packets of others from using what is idle; that is what the queue ladder is for
(:mod:`adon.flowvisor.rules.queue_ladder`).  A path without reservations is asked nothing here: whether a
bound is kept there, is decided from measurements (spec section 2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from adon.broker.flow import Flow
from adon.broker.resources.amounts import Amounts, Limits, Place, whole_rate
from adon.broker.resources.book import Book, Hold, Who
from adon.broker.resources.reservation import Reservation, period_text
from adon.broker.world import World
from adon.reasons import Reason
from measurement.model import PathKey


def book_of(world: World, key: PathKey) -> Book:
    """The book of one direction of a path, from the flows that are on it."""
    capacity = world.network.topology.capacity_of(key.path)
    load = world.flows.loads((key.source, key.destination)).get(key.path)
    holds = {} if load is None else dict(_holds(world, load.numbers))
    limits = Limits(bandwidth=0 if capacity is None else math.floor(capacity))
    reserved = (*world.ledger.along(Place.along(key)), *_bookings(world, key))
    return Book.of(limits, holds, reserved)


def _bookings(world: World, key: PathKey) -> Iterable[Reservation]:
    """What waiting flows have reserved there by their own ``not_before`` (:mod:`adon.broker.queueing`)."""
    for number, where, booking in world.bookings:
        flow = world.flows.get(number)
        if where == key and flow is not None:
            amounts = Amounts(bandwidth=whole_rate(booking.rate))
            place, owner = Place.along(key), flow.requester
            yield Reservation(0, place, amounts, booking.begins, booking.ends, owner, number)


def _holds(world: World, numbers: Iterable[int]) -> Iterable[tuple[int, Hold]]:
    for number in numbers:
        flow = world.flows.get(number)
        if flow is not None and world.flows.bound(flow) > 0:
            yield number, hold_of(flow, Amounts(bandwidth=whole_rate(world.flows.bound(flow))))


def hold_of(flow: Flow, amounts: Amounts) -> Hold:
    """What a flow holds, until it is expected to be over at the latest."""
    until = math.inf if flow.ends_by is None else flow.ends_by
    return Hold(amounts, Who(flow.requester, flow.number), until)


def closed_paths(world: World, flow: Flow, now: float) -> dict[str, Reason]:
    """Per path name why reservations of others keep a flow off it; the path it is on is never closed."""
    if not world.ledger.elsewhere:
        return {}
    ends, bound = world.flows.ends(flow), world.flows.bound(flow)
    reasons: dict[str, Reason] = {}
    for name in dict.fromkeys(one.place.path for one in world.ledger.elsewhere):
        key = PathKey(name, *ends)
        kept = world.ledger.along(Place.along(key))
        if kept and name != flow.path and bound > 0:
            book, who = book_of(world, key), Who(flow.requester, flow.number)
            short = book.lacking(
                Amounts(bandwidth=whole_rate(bound)), now, now, now + _stay(flow, bound), who
            )
            if short:
                reasons[name] = Reason("reserved", short[0].words + _describe(kept, who))
    return reasons


def _stay(flow: Flow, bound: float) -> float:
    """For how long a flow will be there if it gets its bound, in seconds."""
    size = flow.transfer_size if flow.transfer_size > 0 else flow.request.size
    return max(0, size - flow.bytes_delivered) * 8 / bound


def _describe(reservations: Iterable[Reservation], who: Who) -> str:
    others = [one for one in reservations if (one.owner, one.flow) not in (who, Who(who.owner))]
    return "".join(
        f"; {one.id} keeps {one.amounts.words}, {period_text(one.begins, one.ends)}" for one in others
    )


def kept_free(world: World, key: PathKey, now: float) -> int:
    """Return the reserved bits/s of a path that no flow uses now."""
    if not world.ledger.along(Place.along(key)):
        return 0
    book = book_of(world, key)
    everybody, held = book.free(now, now, now, Who("")), book.held.bandwidth
    free = everybody.bandwidth
    limit = book.limits.bandwidth
    return 0 if free is None or limit is None else max(0, limit - held - free)
