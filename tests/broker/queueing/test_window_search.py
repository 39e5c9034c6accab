"""Bandwidth reserved in advance, as transcripts; and the calendar by itself, whatever is asked of it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker.events import MaintenanceAsked, Tick
from adon.broker.flow import FlowState
from adon.broker.maintenance import WindowRequest
from adon.broker.queueing.booking import Booking
from adon.broker.queueing.window_search import Place, find_window, wish_of
from adon.errors import InvalidInput
from adon.step_function import Span, round_up, sum_of_spans
from measurement.model import PathKey
from tests.broker.queueing.scenes import HOUR, TONIGHT, reserve_tonight, why
from tests.depth import DEPTH
from tests.support.refusals import refused
from tests.support.stage import OSU_EDGE, Stage, know, make_stage


def keep(stage: Stage, seconds: float, **mbps: float) -> None:
    """Let time pass, and measure now and then."""
    for _ in range(int(seconds // 120)):
        stage.pass_time(120)
        know(stage, **{"al2s": 58.0, "internet": 6.5, **mbps})


# -- transcripts ----------------------------------------------------------------------------------------


def test_data_for_tonight_waits_until_then_and_then_goes() -> None:
    stage = make_stage()
    began = stage.now
    flow = reserve_tonight(stage)
    assert flow.state is FlowState.QUEUED
    assert flow.booking == Booking("al2s", 20e6, began + HOUR, began + HOUR + 9e9 * 8 * 1.1 / 20e6)
    assert why(stage, flow)["phase"] == "asleep"
    keep(stage, HOUR - 120)
    assert stage.flow(flow).state is FlowState.QUEUED
    stage.pass_time(121)
    assert (stage.flow(flow).state, stage.flow(flow).path) == (FlowState.ACTIVE, "al2s")


def test_a_deadline_without_a_bound_says_how_much() -> None:
    stage = make_stage()
    flow = stage.submit("neuroblastoma", size="9 GB", qspec={"throughput": {"min": "1 Mbps"}}, **TONIGHT)
    assert flow.booking.rate == pytest.approx(9e9 * 8 * 1.1 / (2 * HOUR))
    assert flow.booking.ends - flow.booking.begins == pytest.approx(2 * HOUR)


def test_at_its_begin_it_goes_before_others_whatever_a_test_shows_then() -> None:
    """The path has carried 58; just now a test of one stream among many sees 3."""
    stage = make_stage()
    flow = reserve_tonight(stage)
    keep(stage, HOUR - 120)
    stage.pass_time(60)
    know(stage, al2s=3.0, internet=3.0)
    other = stage.submit()
    assert other.state is FlowState.QUEUED
    stage.pass_time(61)
    stage.expect(flow, state="active", path="al2s", code="reservation")
    (throughput,) = (
        one
        for record in stage.decision(flow).candidates
        if record.path == "al2s"
        for one in record.metrics
        if one.metric == "throughput"
    )
    assert (throughput.value, throughput.basis) == (20e6, "reservation")


def test_others_are_kept_off_when_they_would_still_be_there() -> None:
    stage = make_stage()
    reserve_tonight(stage)
    late = stage.submit(size="100 GB", qspec={"throughput": {"min": "40 Mbps"}})
    stage.expect(late, state="queued", why={"al2s": "reserved"})
    early = stage.submit(size="1 GB", qspec={"throughput": {"min": "40 Mbps"}})
    assert early.path == "al2s"


def test_what_does_not_fit_beside_others_is_refused_with_the_earliest_window() -> None:
    stage = make_stage()
    reserve_tonight(stage)
    reserve_tonight(stage)
    with refused(InvalidInput, "deadline"):
        reserve_tonight(stage, not_before="1 h", deadline="2.2 h")
    assert len(stage.saved.flows) == 2
    third = reserve_tonight(stage, not_before="1 h", deadline="9 h")
    assert third.booking.begins == stage.saved.flows[1].booking.ends


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"deadline": "30 min"}, "deadline"),
        ({"not_before": "10000 h"}, "not_before"),
        ({"deadline": "2020-01-01T00:00:00Z", "not_before": None}, "deadline"),
        ({"qspec": {"throughput": {"min": "50 Mbps"}}}, "qspec.throughput.min"),
        ({"size": "90 GB", "deadline": "2 h"}, "deadline"),
    ],
)
def test_what_can_never_be_is_refused_at_once(fields: dict[str, Any], field: str) -> None:
    stage = make_stage()
    stage.now = 1_700_000_000.0
    know(stage, al2s=58.0, internet=6.5)
    body = {name: value for name, value in {**TONIGHT, **fields}.items() if value is not None}
    body = {"size": "9 GB", "qspec": {"throughput": {"min": "20 Mbps"}}, **body}
    with refused(InvalidInput, field):
        stage.submit(**body)
    assert stage.saved.flows == {}


def test_a_deadline_that_no_path_can_meet_is_refused() -> None:
    with refused(InvalidInput, "deadline"):
        make_stage().submit("neuroblastoma", size="1 TB", deadline="1 h")


def test_without_a_bound_and_a_deadline_nobody_knows_how_much() -> None:
    with refused(InvalidInput, field="not_before"):
        wish_of(8e9, 0.0, 0.0, None, 0.1)


def test_a_reservation_survives_a_restart() -> None:
    stage = make_stage()
    flow = reserve_tonight(stage)
    stage.restart()
    know(stage, al2s=58.0, internet=6.5)
    late = stage.submit(size="100 GB", qspec={"throughput": {"min": "40 Mbps"}})
    stage.expect(late, why={"al2s": "reserved"})
    keep(stage, HOUR)
    assert stage.flow(flow).state is FlowState.ACTIVE


def test_a_reservation_that_is_cancelled_makes_room_at_once() -> None:
    stage = make_stage()
    flow = reserve_tonight(stage)
    late = stage.submit(size="100 GB", qspec={"throughput": {"min": "40 Mbps"}})
    assert late.state is FlowState.QUEUED
    stage.cancel(flow)
    assert stage.flow(late).state is FlowState.ACTIVE
    assert "booking" not in stage.memory_of(flow)


def test_a_path_that_is_down_when_its_time_comes_is_told_and_the_flow_goes_when_it_is_back() -> None:
    stage = make_stage()
    flow = reserve_tonight(stage)
    keep(stage, HOUR - 120)
    stage.disconnect(OSU_EDGE)
    stage.pass_time(130)
    assert stage.flow(flow).state is FlowState.QUEUED
    assert ("booking-late", "warning", flow.id) in stage.announcements()
    said = stage.announcements("booking-late")
    stage.pass_time(60)
    assert stage.announcements("booking-late") == said, "it is told once"
    stage.connect(OSU_EDGE)
    assert stage.flow(flow).state is FlowState.ACTIVE


def test_a_reservation_that_nobody_could_use_is_over_and_the_flow_waits_like_anybody() -> None:
    stage = make_stage()
    flow = reserve_tonight(stage, size="1 GB", deadline="9 h")
    keep(stage, HOUR - 120)
    stage.disconnect(OSU_EDGE)
    stage.pass_time(900)
    assert stage.flow(flow).booking is None
    assert ("booking-unused", "warning", flow.id) in stage.announcements()
    stage.connect(OSU_EDGE)
    know(stage, al2s=58.0)
    assert stage.flow(flow).state is FlowState.ACTIVE


def test_nothing_is_reserved_in_a_maintenance_window() -> None:
    stage = make_stage()
    now = stage.now
    wish = {"scope": "path", "name": "al2s", "begins": now + HOUR, "ends": now + 2 * HOUR}
    stage.command(MaintenanceAsked, WindowRequest.model_validate(wish), "ann")
    assert reserve_tonight(stage, deadline="9 h").booking.begins == now + 2 * HOUR


def test_a_deadline_that_passes_while_it_waits_is_told() -> None:
    stage = make_stage(al2s=1.0, internet=1.0)
    flow = stage.submit(deadline="1 min")
    stage.pass_time(61)
    assert stage.flow(flow).state is FlowState.EXPIRED


@pytest.mark.parametrize("state", ["asleep", "due"])
def test_a_reserved_flow_can_be_cancelled_in_every_state(state: str) -> None:
    stage = make_stage()
    flow = reserve_tonight(stage)
    if state == "due":
        keep(stage, HOUR - 120)
        stage.disconnect(OSU_EDGE)
        stage.pass_time(130)
    assert stage.cancel(flow).state is FlowState.CANCELLED
    assert not stage.memory_of(flow) & {"queue", "booking"}


def test_reserved_bandwidth_does_not_give_way() -> None:
    stage = make_stage()
    flow = reserve_tonight(stage, priority=100, streams=12)
    keep(stage, HOUR)
    assert stage.flow(flow).state is FlowState.ACTIVE
    stage.pass_time(20)
    know(stage, al2s=4.5, internet=2.0)
    assert stage.submit(priority=900).state is FlowState.QUEUED
    assert stage.flow(flow).path == "al2s"


# -- the calendar alone ---------------------------------------------------------------------------------

KEYS = [PathKey(name, "mu", "osu") for name in ("al2s", "internet")]
LIMITS = {"al2s": 50, "internet": 20}
ASKED = st.tuples(
    st.floats(1, 400), st.floats(0, 30), st.floats(0, 100), st.none() | st.floats(1, 300), st.booleans()
)


@given(st.lists(ASKED, max_size=12), st.floats(0, 1))
def test_whatever_is_asked_nothing_is_over_booked(
    asked: list[tuple[float, float, float, float | None, bool]], headroom: float
) -> None:
    """Also if some give theirs back; and who was granted has the room at every moment of it."""
    booked: dict[int, Booking] = {}
    for number, (bits, bound, since, left, gives_back) in enumerate(asked):
        deadline = None if left is None else since + left
        if bound == 0 and deadline is None:
            continue
        wish = wish_of(bits, bound, since, deadline, headroom)
        places = []
        for key in KEYS:
            held = [b for b in booked.values() if b.path == key.path]
            spans = [Span(b.begins, b.ends, round_up(b.rate)) for b in held]
            places.append(Place(key, sum_of_spans(spans), LIMITS[key.path]))
        granted = find_window(wish, places)
        if granted is None:
            continue
        assert granted.begins >= since
        assert deadline is None or granted.ends <= deadline + 1e-6
        assert granted.rate * (granted.ends - granted.begins) >= bits * (1 - 1e-9)
        booked[number] = granted
        if gives_back and booked:
            del booked[min(booked)]
        for path, limit in LIMITS.items():
            mine = [b for b in booked.values() if b.path == path]
            moments = [b.begins for b in mine]
            for at in moments:
                assert math.fsum(b.rate for b in mine if b.begins <= at < b.ends) <= limit


@settings(max_examples=15 * DEPTH)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["1 GB", "5 GB", "20 GB"]),
            st.sampled_from(["5 Mbps", "12 Mbps", "30 Mbps"]),
            st.sampled_from(["5 min", "20 min"]),
            st.booleans(),
        ),
        max_size=7,
    )
)
def test_what_was_granted_begins_on_time_while_the_network_is_as_it_was(
    asked: list[tuple[str, str, str, bool]],
) -> None:
    """Others come and go meanwhile, with and without reservations."""
    stage = make_stage()
    booked = []
    for size, bound, wait, ahead in asked:
        fields: dict[str, Any] = {"size": size, "qspec": {"throughput": {"min": bound}}}
        if ahead:
            fields |= {"not_before": wait, "deadline": "9 h"}
        try:
            flow = stage.submit("neuroblastoma", **fields)
        except InvalidInput:
            continue
        if flow.booking is not None:
            booked.append(flow)
    for flow in sorted(booked, key=lambda one: one.booking.begins):
        stage.now = max(stage.now, flow.booking.begins)
        stage.feed(Tick(*stage.stamp()))
        mine = stage.flow(flow)
        assert mine.state.holds_rules or mine.state.final, (mine.reason, mine.booking)
