from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement.errors import BadAnswer, PointError, RunFailed
from measurement.model import Metric
from measurement.pscheduler import results, specs
from measurement.pscheduler.client import Run
from measurement.pscheduler.document import Document
from measurement.pscheduler.results import Reading, Refused
from measurement.pscheduler.states import RunState

ENDS = specs.Ends("192.0.2.1", "192.0.2.2", "a.example.net", "b.example.net")
NOW = 2_000_000_000.0

TCP = {
    "succeeded": True,
    "summary": {
        "summary": {"start": 0, "end": 10.0003, "throughput-bits": 941e6, "throughput-bytes": 1176250000,
                    "retransmits": 12, "receiver-throughput-bits": 939.5e6},
        "streams": [],
    },
}  # fmt: skip
UDP = {
    "succeeded": True,
    "summary": {
        "summary": {"throughput-bits": 10e6, "lost": 0, "jitter": 0, "sent": 100},
        "streams": [{"sent": 60, "lost": 40, "jitter": 2.0}, {"sent": 40, "lost": 15, "jitter": 4.0}],
    },
}
RTT = {"succeeded": True, "sent": 3, "lost": 0, "loss": 0.0, "mean": "PT0.0026S", "roundtrips": []}
LATENCY = {
    "succeeded": True, "packets-sent": 600, "packets-lost": 2,
    "max-clock-error": 0.35, "histogram-latency": {"12.30": 401, "12.31": 150, "13.00": 47},
}  # fmt: skip


def run_of(merged: Any, state: str = "finished", end: float = NOW, **more: Any) -> Run:
    document = Document("ps-a", "run", {"state": state, "result-merged": merged, **more})
    return Run("r", "https://ps-a/r", RunState(state), end - 10, end, document)


def read(merged: Any, test: specs.TestRequest, **more: Any) -> dict[Metric, Reading | Refused]:
    return {found.metric: found for found in results.read(run_of(merged, **more), test, NOW - 20)}


def value(found: Reading | Refused) -> float:
    assert isinstance(found, Reading), found
    return found.value


TCP_TEST = specs.throughput(ENDS, 10, 4)
UDP_TEST = specs.throughput(ENDS, 10, 2, 10_000_000)
RTT_TEST = specs.rtt(ENDS, 3)
LATENCY_TEST = specs.latency(ENDS, 600, 0.01)


def test_throughput_is_the_receivers() -> None:
    found = read(TCP, TCP_TEST)[Metric.THROUGHPUT]
    assert value(found) == 939.5e6
    assert isinstance(found, Reading)
    assert found.parameters["side"] == "receiver"
    assert found.parameters["streams"] == 4


@pytest.mark.parametrize("missing", [{}, {"receiver-throughput-bits": None}])
def test_without_a_receivers_report_the_senders_counts_and_says_so(missing: dict[str, Any]) -> None:
    summary = {"throughput-bits": 5e6, **missing}
    found = read({"succeeded": True, "summary": {"summary": summary}}, TCP_TEST)[Metric.THROUGHPUT]
    assert value(found) == 5e6
    assert isinstance(found, Reading)
    assert found.parameters["side"] == "sender"


def test_udp_loss_and_jitter_come_from_the_streams_not_from_the_summary() -> None:
    found = read(UDP, UDP_TEST)
    assert value(found[Metric.LOSS]) == pytest.approx(0.55)
    assert value(found[Metric.JITTER]) == pytest.approx(0.003)


def test_rtt_is_the_mean_in_seconds() -> None:
    found = read(RTT, RTT_TEST)
    assert value(found[Metric.RTT]) == pytest.approx(0.0026)
    assert value(found[Metric.LOSS]) == 0


def test_total_loss_is_a_good_loss_and_no_rtt() -> None:
    found = read({"succeeded": True, "sent": 3, "loss": 1.0}, RTT_TEST)
    assert value(found[Metric.LOSS]) == 1
    assert isinstance(found[Metric.RTT], Refused)


def test_a_loss_of_100_with_nothing_sent_is_counted_from_the_round_trips() -> None:
    trips = [
        {"seq": 1, "rtt": "PT0.1S"},
        {"seq": 1, "rtt": "PT0.2S"},
        {"seq": 2, "error": "host-unreachable"},
    ]
    found = read(
        {"succeeded": True, "sent": 0, "loss": 100.0, "mean": "PT0.1S", "roundtrips": trips}, RTT_TEST
    )
    assert value(found[Metric.LOSS]) == pytest.approx(2 / 3)


def test_one_way_delay_is_the_median_and_a_key_counts_bucket_widths() -> None:
    assert value(read(LATENCY, LATENCY_TEST)[Metric.ONE_WAY_DELAY]) == pytest.approx(0.0123)
    wide = specs.TestRequest(specs.Kind.LATENCY, {**LATENCY_TEST.spec, "bucket-width": 0.01}, 1)
    assert value(read(LATENCY, wide)[Metric.ONE_WAY_DELAY]) == pytest.approx(0.123)


def test_a_median_between_two_buckets_is_their_middle() -> None:
    even = {**LATENCY, "histogram-latency": {"10.00": 2, "20.00": 2}}
    assert value(read(even, LATENCY_TEST)[Metric.ONE_WAY_DELAY]) == pytest.approx(0.015)


def test_jitter_is_the_mean_step_between_packets_in_the_order_sent() -> None:
    tick = 2**32 // 1000
    base = 3_900_000_000 * 2**32
    delays = {0: 10, 3: 40, 1: 20, 2: None}
    packets = [
        {"seq-num": n, "src-ts": base + n, "dst-ts": 0 if d is None else base + n + d * tick}
        for n, d in delays.items()
    ]
    found = read({**LATENCY, "raw-packets": packets}, LATENCY_TEST)[Metric.JITTER]
    assert value(found) == pytest.approx((0.010 + 0.020) / 2, rel=1e-6)


@settings(max_examples=50)
@given(st.lists(st.integers(0, 500), min_size=2, max_size=30))
def test_jitter_from_a_histogram_is_the_mean_difference_of_two_packets(delays: list[int]) -> None:
    histogram: dict[str, int] = {}
    for delay in delays:
        histogram[f"{delay:.2f}"] = histogram.get(f"{delay:.2f}", 0) + 1
    pairs = [abs(a - b) for i, a in enumerate(delays) for b in delays[:i]]
    found = read({**LATENCY, "histogram-latency": histogram}, LATENCY_TEST)[Metric.JITTER]
    assert value(found) == pytest.approx(sum(pairs) / len(pairs) / 1000, abs=1e-9)


def test_clocks_that_differ_spoil_the_delay_and_nothing_else() -> None:
    found = read({**LATENCY, "histogram-latency": {"-5.00": 10}}, LATENCY_TEST)
    assert isinstance(found[Metric.ONE_WAY_DELAY], Refused)
    assert value(found[Metric.JITTER]) == 0
    assert value(found[Metric.LOSS]) == pytest.approx(2 / 600)


def test_no_packet_at_all_is_a_loss_of_one() -> None:
    nothing = {"succeeded": True, "packets-sent": 10, "packets-lost": 10, "histogram-latency": {}}
    found = read(nothing, LATENCY_TEST)
    assert value(found[Metric.LOSS]) == 1
    assert isinstance(found[Metric.JITTER], Refused)


def summary(**fields: Any) -> dict[str, Any]:
    return {"succeeded": True, "summary": {"summary": fields}}


@pytest.mark.parametrize(
    ("merged", "test", "field"),
    [
        (summary(**{"throughput-bits": float("nan")}), TCP_TEST, "throughput-bits: is nan"),
        (summary(**{"throughput-bits": -1}), TCP_TEST, "throughput-bits: is negative"),
        (summary(**{"throughput-bits": "1e9"}), TCP_TEST, "throughput-bits: expected a number"),
        (summary(**{"throughput-bits": True}), TCP_TEST, "throughput-bits: expected a number"),
        (summary(**{"throughput-bits": 10**400}), TCP_TEST, "throughput-bits: is too large"),
        (summary(), TCP_TEST, "summary.summary.throughput-bits: is missing"),
        ({"succeeded": True}, TCP_TEST, "result-merged.summary: is missing"),
        ({"succeeded": True, "summary": []}, TCP_TEST, "summary: expected an object"),
        ({"succeeded": True, "sent": 3, "loss": 0.0}, RTT_TEST, "mean: is missing"),
        ({**RTT, "mean": "fast"}, RTT_TEST, "mean: 'fast' is not a duration"),
        ({**RTT, "loss": -0.5}, RTT_TEST, "loss: is negative"),
        ({**LATENCY, "packets-lost": 601}, LATENCY_TEST, "601 packets lost of 600"),
        ({**LATENCY, "histogram-latency": {"nan": 1}}, LATENCY_TEST, "histogram-latency.nan: is not a delay"),
        ({**LATENCY, "histogram-latency": {"x": 1}}, LATENCY_TEST, "histogram-latency.x: is not a delay"),
        ({}, RTT_TEST, "succeeded: is missing"),
        (None, RTT_TEST, "result-merged: is missing"),
    ],
)  # fmt: skip
def test_a_bad_answer_names_host_and_field(merged: Any, test: specs.TestRequest, field: str) -> None:
    with pytest.raises(BadAnswer) as caught:
        read(merged, test)
    assert field in str(caught.value)
    assert caught.value.host == "ps-a"


@pytest.mark.parametrize(
    "state", ["nonstart", "missed", "preempted", "canceled", "failed", "overdue", "running"]
)
def test_only_a_finished_run_has_values(state: str) -> None:
    with pytest.raises(RunFailed, match=f"the run is {state}: no free slot"):
        read(RTT, RTT_TEST, state=state, errors="no free slot")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"merged": {"succeeded": False, "error": "E1"}}, "E1"),
        ({"merged": {"succeeded": False}, "result-full": [None, {"error": "unknown host"}]}, "unknown host"),
        ({"merged": {"succeeded": False}, "result-full": [{"diags": "exit 2"}]}, "exit 2"),
        ({"merged": {"succeeded": False}, "errors": "stderr"}, "stderr"),
        ({"merged": {"succeeded": False}}, "no reason given"),
    ],
)
def test_the_reason_of_a_failure_is_found_wherever_it_is(more: dict[str, Any], reason: str) -> None:
    merged = more.pop("merged")
    with pytest.raises(RunFailed, match=reason):
        read(merged, RTT_TEST, **more)


def test_a_run_that_ended_before_it_was_asked_for_is_refused() -> None:
    with pytest.raises(BadAnswer, match="end-time: is 80 s before"):
        read(RTT, RTT_TEST, end=NOW - 100)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


RAW = {
    **LATENCY,
    "raw-packets": [{"seq-num": 0, "src-ts": 1, "dst-ts": 2}, {"seq-num": 1, "src-ts": 5, "dst-ts": 9}],
}
TRIPS = {**RTT, "loss": 100.0, "roundtrips": [{"seq": 1, "rtt": "PT1S"}]}


def spoiled(value: Any, data: st.DataObject) -> Any:
    """The value with something, at any depth, replaced by any JSON."""
    inside = (
        list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    )
    if not inside or data.draw(st.booleans()):
        return data.draw(JSON)
    place = data.draw(st.sampled_from(inside))
    copy = value.copy()
    copy[place] = spoiled(value[place], data)
    return copy


@settings(max_examples=100)
@given(
    st.sampled_from(
        [(TCP, TCP_TEST), (UDP, UDP_TEST), (RTT, RTT_TEST), (TRIPS, RTT_TEST), (RAW, LATENCY_TEST)]
    ),
    st.data(),
)
def test_whatever_a_field_becomes_nothing_but_a_point_error_comes_out(
    example: tuple[dict[str, Any], specs.TestRequest], data: st.DataObject
) -> None:
    document, test = example
    try:
        found = read(spoiled(document, data), test)
    except PointError:
        return
    assert all(isinstance(reading, Reading | Refused) for reading in found.values())
