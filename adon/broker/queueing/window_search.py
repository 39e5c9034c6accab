"""Bandwidth reserved in advance: "25 GB tonight, done by 06:00".

A request with ``not_before`` asks for a rate on one path of its own choosing from some time on::

    rate = max(throughput bound, size · (1 + headroom) / (deadline - not_before))
    lasts = size · (1 + headroom) / rate

with whichever of bound and deadline is there.  It gets the earliest window of this length, between
``not_before`` and the deadline, in which the reservable part of some path has that rate left
(:mod:`adon.broker.queueing.calendar`); among equals the path that the configuration names first.  If there is
none it is refused at once, with what would do.

At its begin the flow is placed on its path before everybody else who waits, whatever throughput a test shows
at that moment: the calendar has kept the bandwidth, and a test shows a share.  Every other bound of its QSpec
counts as always.  From ``not_before`` on it may start earlier, like anybody.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from adon.broker import use_grants
from adon.broker.choice import Choice
from adon.broker.decision_records import choose_path
from adon.broker.effects import Announce, Effect, SaveFlow
from adon.broker.events import Event
from adon.broker.flow import Flow, FlowState
from adon.broker.queueing.booking import Booking
from adon.broker.queueing.calendar import carries, committed_bandwidth
from adon.broker.world import World
from adon.errors import InvalidInput
from adon.flowvisor.selection.assessment import CandidateRecord, MetricRecord, Verdict
from adon.reasons import Reason
from adon.step_function import StepFunction, round_up
from adon.timestamps import format_minutes
from adon.units import format_rate
from measurement.model import Metric, PathKey


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be reserved: a rate in bits/s for so many seconds, within a time.

    :param named_by: the field of the request that asks for the rate.
    """

    rate: float
    lasts: float
    since: float
    until: float
    named_by: str


@dataclass(frozen=True, slots=True)
class Place:
    """A path that a booking may be on: what is taken of it, and up to how much may be."""

    key: PathKey
    taken: StepFunction[int]
    limit: int


def wish_of(bits: float, bound: float, since: float, deadline: float | None, headroom: float) -> Wish:
    """What a transfer of so many bits asks to have reserved.

    :param bound: its throughput bound in bits/s, 0 without one.
    :raises InvalidInput: if neither a bound nor a deadline says how much.
    """
    bits *= 1 + headroom
    needed = 0.0 if deadline is None else bits / (deadline - since)
    rate = max(bound, needed)
    if not rate > 0:
        raise InvalidInput.of(
            "not_before", "says when, but a deadline or qspec.throughput.min has to say how much to reserve"
        )
    named_by = "deadline" if needed > bound else "qspec.throughput.min"
    until = math.inf if deadline is None else deadline
    lasts = bits / rate
    # The whole time is needed where the deadline makes the rate; the sum may be off by a rounding.
    return Wish(rate, lasts, since, max(until, since + lasts) if needed > bound else until, named_by)


def find_window(wish: Wish, places: Iterable[Place]) -> Booking | None:
    """The earliest window for a wish; None if there is none."""
    amount, best = round_up(wish.rate), None
    for place in places:
        begins = place.taken.earliest(amount, place.limit, wish.lasts, wish.since, wish.until)
        if begins is not None and (best is None or begins < best.begins):
            best = Booking(place.key.path, wish.rate, begins, begins + wish.lasts)
    return best


def reserve_window(
    world: World, flow: Flow, now: float, kept: Mapping[str, Reason] = MappingProxyType({})
) -> Flow:
    """A requested flow, with what it asks for in advance reserved.

    :param kept: the paths that are kept for somebody who has waited long: what would be reserved there now
        would be taken from them.
    :raises InvalidInput: if that cannot be had: what is in the way, and what would do instead.
    """
    if flow.not_before is None:
        return flow
    policy = world.configuration.policy.queue
    bound, choice = world.flows.bound(flow), choose_path(world, flow, now)[1]
    keys = [PathKey(path, *world.flows.ends(flow)) for path in suitable(world, flow, choice)]
    free = [key for key in keys if key.path not in kept]
    since = max(now, flow.not_before)
    wish = wish_of(flow.left * 8, bound, since, flow.deadline, policy.headroom)
    places = [
        Place(key, committed_bandwidth(world, key, now), int(policy.reservable * carries(world, key, now)))
        for key in free
    ]
    booking = find_window(wish, places)
    if booking is None and len(free) < len(keys):
        why = "; ".join(f"{key.path}: {kept[key.path]}" for key in keys if key.path in kept)
        raise InvalidInput.of("not_before", f"this cannot be reserved at present: {why}")
    if booking is None:
        raise _refuse(wish, places)
    return replace(flow, booking=booking)


def suitable(world: World, flow: Flow, choice: Choice) -> list[str]:
    """The candidates that lack nothing for good, as far as is known; those that work now, if there are any.

    Maintenance and what others have reserved is in the calendar, and closes a path for a time only.
    """
    source, destination = flow.hosts
    works = {one.key.path: one.usable for one in world.network.topology.candidates(source, destination)}
    fitting = [record.path for record in choice.selection.records if not lacks_more(record)]
    barred = use_grants.closed_paths(world, flow, world.flows.need(flow), fitting)
    fitting = [path for path in fitting if path not in barred]
    return [path for path in fitting if works.get(path)] or fitting


def lacks_more(record: CandidateRecord) -> bool:
    """Whether a path misses a bound that reserved bandwidth does not mend."""
    return any(one.bound_met is False and one.metric != Metric.THROUGHPUT for one in record.metrics)


def _refuse(wish: Wish, places: list[Place]) -> InvalidInput:
    """Why nothing can be reserved, with the best that there is."""
    if not places:
        return InvalidInput.of("not_before", "no path between these sites keeps the QSpec's other bounds")
    widest = max(places, key=lambda place: place.limit)
    asked = format_rate(wish.rate)
    if wish.rate > widest.limit:
        most = f"{format_rate(widest.limit)} of {widest.key.path} is the most that can be reserved"
        return InvalidInput.of(wish.named_by, f"{asked} can never be reserved: {most}")
    later = find_window(replace(wish, until=math.inf), places)
    instead = (
        "it is never free for that long"
        if later is None
        else f"the earliest window is {format_minutes(later.begins)} to {format_minutes(later.ends)} "
        f"on {later.path}: a deadline from then on suffices"
    )
    listed = "; ".join(_describe_free(wish, place) for place in places)
    endless = math.isinf(wish.until)
    when = f"from {format_minutes(wish.since)} on"
    if not endless:
        when = f"between {format_minutes(wish.since)} and {format_minutes(wish.until)}"
    field = "not_before" if endless else "deadline"
    return InvalidInput.of(field, f"{asked} cannot be reserved {when}: {listed}; {instead}")


def _describe_free(wish: Wish, place: Place) -> str:
    free = max(0, place.limit - place.taken.most(wish.since, wish.until))
    return f"{place.key.path} has {format_rate(free)} left throughout"


# -- when its time has come -----------------------------------------------------------------------------


def under_way(flow: Flow, now: float) -> bool:
    """Whether what a flow has reserved has begun and is not over."""
    return flow.booking is not None and flow.booking.begins <= now < flow.booking.ends


def honour_booking(flow: Flow, choice: Choice, now: float) -> Choice:
    """The choice of a waiting flow, its reserved path taken if its time has come and nothing else lacks."""
    booking = flow.booking
    if booking is None or not under_way(flow, now) or flow.state.holds_rules:
        return choice
    record = choice.record(booking.path)
    if record is None or record.verdict is Verdict.EXCLUDED or lacks_more(record):
        return choice
    kept = _as_reserved(record, booking, now)
    records = tuple(kept if one is record else one for one in choice.selection.records)
    reason = Reason("reservation", f"{booking.path}: reserved, {booking.words}")
    return replace(
        choice, selection=replace(choice.selection, path=booking.path, records=records, reason=reason)
    )


def _as_reserved(record: CandidateRecord, booking: Booking, now: float) -> CandidateRecord:
    """What was found about a path, with the reserved rate for its throughput."""

    def metric(one: MetricRecord) -> MetricRecord:
        if one.metric != Metric.THROUGHPUT or (one.value is not None and one.value >= booking.rate):
            return one
        value, met = booking.rate, None if one.bound is None else booking.rate >= one.bound
        return replace(
            one,
            value=value,
            observed_at=now,
            age=0.0,
            source="the calendar of reservations",
            basis="reservation",
            unknown="",
            bound_met=met,
        )

    metrics = tuple(metric(one) for one in record.metrics)
    unknown = any(one.unknown for one in metrics)
    verdict = Verdict.UNKNOWN if unknown else Verdict.QUALIFIED
    why = f"reserved, {booking.words}"
    return replace(record, verdict=verdict, code="reservation", why=why, metrics=metrics)


def announce_lapsed(world: World, event: Event) -> list[Effect]:
    """Tell those who still wait when what they had reserved is over: from here on they wait like anybody."""
    effects: list[Effect] = []
    for number in world.bookings.over(event.at):
        flow = world.flows.get(number)
        if flow is None or flow.booking is None or flow.state is not FlowState.QUEUED:
            continue
        text = f"flow {flow.id} could not use its reservation, {flow.booking.words}; it stays queued"
        flow = world.flows.put(replace(flow, booking=None, reason=f"{text}: {flow.reason}"))
        effects += [SaveFlow(event.id, flow), Announce(event.id, "warning", "booking-unused", text, flow.id)]
    return effects
