from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.errors import BadAnswer, PointError
from measurement.model import Metric
from measurement.pscheduler import results, specs
from measurement.pscheduler.client import Run
from measurement.pscheduler.document import Document
from measurement.pscheduler.layouts import latency
from measurement.pscheduler.results import Reading, Refused
from measurement.pscheduler.states import RunState
from tests.support.refusals import refused

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


GOOD_INTERVAL = {"summary": {"start": 0, "end": 1, "throughput-bits": 9e8, "retransmits": 0}}


@pytest.mark.parametrize(
    ("result", "spec", "ignored"),
    [
        ({"intervals": [GOOD_INTERVAL, {"summary": {"throughput-bits": -1}}]}, {}, ["intervals"]),
        ({"intervals": [GOOD_INTERVAL, 7]}, {}, ["intervals"]),
        ({"intervals": "many"}, {}, ["intervals"]),
        ({"intervals": [{"summary": {**GOOD_INTERVAL["summary"], "end": "late"}}]}, {}, ["intervals"]),
        ({"streams": [{"throughput-bits": "fast"}]}, {}, ["streams"]),
        ({"streams": {}}, {}, ["retransmits", "streams"]),
        ({"streams": [{"rtt": -5}]}, {}, ["streams"]),
        ({}, {"duration": "ten"}, ["duration"]),
        ({}, {"parallel": -1}, ["parallel"]),
        ({}, {"bandwidth": "all"}, ["bandwidth"]),
        ({"intervals": 1, "streams": [1]}, {}, ["retransmits", "streams", "intervals"]),
    ],
)  # fmt: skip
def test_wrong_detail_does_not_discard_a_good_summary(
    result: dict[str, Any], spec: dict[str, Any], ignored: list[str]
) -> None:
    merged = summary(**{"throughput-bits": 941e6})
    merged["summary"] |= {key: result[key] for key in result if key == "streams"}
    merged |= {key: result[key] for key in result if key == "intervals"}
    request = specs.TestRequest(specs.Kind.THROUGHPUT, {**TCP_TEST.spec, **spec}, 10)
    found = read(merged, request)[Metric.THROUGHPUT]
    assert value(found) == 941e6
    assert isinstance(found, Reading)
    assert found.parameters["ignored"] == ignored


def test_wrong_stream_of_udp_leaves_the_receivers_rate() -> None:
    merged = summary(**{"throughput-bits": 10e6, "receiver-throughput-bits": 9e6})
    merged["summary"]["streams"] = [{"sent": 100, "lost": "few"}]
    found = read(merged, UDP_TEST)
    rate = found[Metric.THROUGHPUT]
    assert value(rate) == 9e6
    assert isinstance(rate, Reading)
    assert rate.parameters["ignored"] == ["streams"]
    assert {metric for metric, one in found.items() if isinstance(one, Refused)} == {
        Metric.LOSS,
        Metric.JITTER,
    }
    del merged["summary"]["summary"]["receiver-throughput-bits"]  # the sender's rate is not the network's
    with refused("bad-answer"):
        read(merged, UDP_TEST)


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
        (summary(**{"throughput-bits": float("nan")}), TCP_TEST, "throughput-bits:"),
        (summary(**{"throughput-bits": -1}), TCP_TEST, "throughput-bits:"),
        (summary(**{"throughput-bits": "1e9"}), TCP_TEST, "throughput-bits:"),
        (summary(**{"throughput-bits": True}), TCP_TEST, "throughput-bits:"),
        (summary(**{"throughput-bits": 10**400}), TCP_TEST, "throughput-bits:"),
        (summary(), TCP_TEST, "summary.summary.throughput-bits:"),
        ({"succeeded": True}, TCP_TEST, "result-merged.summary:"),
        ({"succeeded": True, "summary": []}, TCP_TEST, "summary:"),
        ({"succeeded": True, "sent": 3, "loss": 0.0}, RTT_TEST, "mean:"),
        ({**RTT, "mean": "fast"}, RTT_TEST, "mean:"),
        ({**RTT, "loss": -0.5}, RTT_TEST, "loss:"),
        ({**LATENCY, "packets-lost": 601}, LATENCY_TEST, "601 packets"),
        ({**LATENCY, "histogram-latency": {"nan": 1}}, LATENCY_TEST, "histogram-latency.nan:"),
        ({**LATENCY, "histogram-latency": {"x": 1}}, LATENCY_TEST, "histogram-latency.x:"),
        ({}, RTT_TEST, "succeeded:"),
        (None, RTT_TEST, "result-merged:"),
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
    with refused("run-failed"):
        read(RTT, RTT_TEST, state=state, errors="no free slot")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"merged": {"succeeded": False, "error": "E1"}}, "E1"),
        ({"merged": {"succeeded": False}, "result-full": [None, {"error": "unknown host"}]}, "unknown host"),
        ({"merged": {"succeeded": False}, "result-full": [{"diags": "exit 2"}]}, "exit 2"),
        ({"merged": {"succeeded": False}, "errors": "stderr"}, "stderr"),
        ({"merged": {"succeeded": False}}, ""),
    ],
)
def test_the_reason_of_a_failure_is_found_wherever_it_is(more: dict[str, Any], reason: str) -> None:
    merged = more.pop("merged")
    with refused("run-failed") as caught:
        read(merged, RTT_TEST, **more)
    assert reason in str(caught.error)


def test_a_run_that_ended_before_it_was_asked_for_is_refused() -> None:
    with refused("bad-answer", "run.end-time"):
        read(RTT, RTT_TEST, end=NOW - 100)


def parameters(found: Reading | Refused) -> dict[str, Any]:
    assert isinstance(found, Reading), found
    return dict(found.parameters)


def test_intervals_streams_and_retransmits_are_kept_beside_the_rate() -> None:
    streams = [
        {"stream-id": 5, "throughput-bits": 4e8, "retransmits": 2, "rtt": 4100},
        {"stream-id": "7", "throughput-bits": 5e8, "retransmits": 3, "rtt": 3900},
    ]
    intervals = [
        {"summary": {"throughput-bits": 1e8, "retransmits": 9, "omitted": True}},
        {"summary": {"throughput-bits": 8e8, "retransmits": 1, "omitted": False}},
        {"summary": None},
        {"summary": {"throughput-bits": 9e8, "retransmits": 4}},
    ]
    merged = {
        "succeeded": True,
        "summary": {"summary": {"throughput-bits": 9e8}, "streams": streams},
        "intervals": intervals,
    }
    found = parameters(read(merged, TCP_TEST)[Metric.THROUGHPUT])
    assert found["interval_bits"] == [8e8, 9e8]
    assert found["interval_retransmits"] == [1, 4]
    assert found["stream_bits"] == [4e8, 5e8]
    assert found["retransmits"] == 5
    assert found["tcp_rtt"] == pytest.approx(0.004)
    assert found["seconds"] == 10


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([(0, 0.5), (0.5, 1.0), (1.0, 1.500123)], 0.5),
        ([(0, 1.0001), (1.0001, 2.0), (2.0, 2.04)], 1.0),
        ([(0, 1.0), (1.0, None)], None),
    ],
)
def test_the_length_of_intervals_is_kept_where_all_tell_it(
    times: list[tuple[float, float | None]], expected: float | None
) -> None:
    summaries = [
        {"throughput-bits": 8e8, "start": start, **({} if end is None else {"end": end})}
        for start, end in times
    ]
    merged = {
        "succeeded": True,
        "summary": {"summary": {"throughput-bits": 8e8}, "streams": []},
        "intervals": [{"summary": one} for one in summaries],
    }
    found = parameters(read(merged, TCP_TEST)[Metric.THROUGHPUT])
    assert found.get("interval_seconds") == expected


def test_what_a_udp_sender_offers_is_not_what_arrives() -> None:
    found = read(UDP, UDP_TEST)[Metric.THROUGHPUT]
    assert value(found) == pytest.approx(10e6 * 0.45)
    assert parameters(found)["side"].startswith("sender")
    at_receiver = {**UDP, "summary": {**UDP["summary"], "summary": {"receiver-throughput-bits": 4e6}}}
    assert value(read(at_receiver, UDP_TEST)[Metric.THROUGHPUT]) == 4e6


def test_a_udp_summary_alone_gives_no_loss() -> None:
    silent = {"succeeded": True, "summary": {"summary": {"throughput-bits": 1e7, "lost": 0}, "streams": []}}
    found = read(silent, UDP_TEST)
    assert isinstance(found[Metric.LOSS], Refused)
    assert isinstance(found[Metric.JITTER], Refused)


def test_quantiles_come_with_the_delay() -> None:
    delays = {f"{10 * n}.00": 1 for n in range(1, 101)}  # buckets of 0.1 ms
    background = specs.latency_in_background(ENDS, 100, 0.1, 3600)
    found = read({**LATENCY, "histogram-latency": delays}, background)
    spread = parameters(found[Metric.ONE_WAY_DELAY])["quantiles"]
    assert isinstance(spread, dict)
    assert {name: round(1000 * delay) for name, delay in spread.items()} == {
        "minimum": 1, "p05": 5, "p25": 25, "p50": 50, "p75": 75, "p95": 95, "p99": 99, "maximum": 100,
    }  # fmt: skip
    assert value(found[Metric.JITTER]) == pytest.approx(0.101 / 3)
    assert parameters(found[Metric.JITTER])["from"] == "histogram"


@given(st.dictionaries(st.integers(-50, 50), st.integers(1, 9), min_size=1, max_size=20))
def test_quantiles_are_delays_of_packets_in_order(counts: dict[int, int]) -> None:
    delays = sorted((key / 1000, count) for key, count in counts.items())
    found = list(latency.quantiles(delays).values())
    assert found == sorted(found)
    assert set(found) <= {delay for delay, _ in delays}


HOPS = [
    {"ip": "192.0.2.254", "rtt": "PT0.0004S", "as": {"number": 64500, "owner": "EXAMPLE"}},
    {},
    {"ip": "192.0.2.2", "hostname": "b.example.net", "rtt": "PT0.0061S"},
]
TRACE = {"schema": 1, "succeeded": True, "paths": [HOPS]}
TRACE_TEST = specs.trace(ENDS)


def test_a_trace_is_its_hops_and_the_way_to_the_last() -> None:
    found = read(TRACE, TRACE_TEST)[Metric.RTT]
    assert value(found) == pytest.approx(0.0061)
    assert parameters(found)["hop_count"] == 3
    assert parameters(found)["hops"] == [
        {"ip": "192.0.2.254", "rtt": 0.0004, "as": 64500},
        {},
        {"ip": "192.0.2.2", "hostname": "b.example.net", "rtt": 0.0061},
    ]


@pytest.mark.parametrize(
    "hops",
    [
        [],
        HOPS[:2],
        HOPS[:1],
        [*HOPS[:2], {**HOPS[2], "error": "host-unreachable"}],
        [*HOPS[:2], {"ip": "198.51.100.1", "rtt": "P0D"}],
    ],
)
def test_a_trace_that_ends_elsewhere_has_no_round_trip(hops: list[Any]) -> None:
    assert isinstance(read({"succeeded": True, "paths": [hops]}, TRACE_TEST)[Metric.RTT], Refused)


def test_a_result_is_read_whichever_way_it_came() -> None:
    (pushed,) = results.read_result("throughput", TCP_TEST.spec, TCP, "ps-a")
    assert pushed == read(TCP, TCP_TEST)[Metric.THROUGHPUT]
    assert results.read_result("dns", {"query": "x"}, {"succeeded": True, "record": []}, "ps-a") == []
    with refused("run-failed"):
        results.read_result("rtt", {}, {"succeeded": False, "error": "unknown host"}, "ps-a")
    with refused("bad-answer", "result.succeeded"):
        results.read_result("rtt", {}, {}, "ps-a")


def test_a_specification_that_says_little_is_read_with_the_defaults() -> None:
    (found,) = results.read_result("throughput", {"dest": "b"}, TCP, "ps-a")
    assert parameters(found)["seconds"] == 10
    (found,) = results.read_result("throughput", {"dest": "b", "duration": 20}, TCP, "ps-a")
    assert parameters(found)["seconds"] == 20  # archives make numbers of durations
    loss, _ = results.read_result("rtt", {"dest": "b"}, RTT, "ps-a")
    assert parameters(loss)["count"] == 3
    with refused("bad-answer", "result.loss"):
        results.read_result("rtt", {"dest": "b"}, {**RTT, "sent": 0, "loss": 100.0}, "ps-a")


@pytest.mark.parametrize(
    ("test", "spec", "expected"),
    [
        ("throughput", {"reverse": True}, True),
        ("throughput", {"reverse": False}, False),
        ("latency", {"reverse": True}, True),
        ("latency", {"flip": True}, False),
        ("rtt", {"reverse": True}, False),
    ],
)
def test_a_reversed_test_measures_the_other_direction(
    test: str, spec: dict[str, Any], expected: bool
) -> None:
    assert results.reverses(test, spec) is expected


def test_halfping_is_believed_for_loss_only() -> None:
    delay, lost = Reading(Metric.ONE_WAY_DELAY, 0.01), Reading(Metric.LOSS, 0.0)
    assert isinstance(results.by_tool(delay, "halfping"), Refused)
    assert results.by_tool(delay, "owping") == delay
    assert results.by_tool(lost, "halfping") == lost


def test_a_result_from_the_future_is_refused() -> None:
    with refused("bad-answer", "run.end-time"):
        results.read(run_of(RTT), RTT_TEST, NOW - 100, NOW - 60)
    assert results.read(run_of(RTT), RTT_TEST, NOW - 100, NOW - 4)


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


DETAILED = {
    **TCP,
    "intervals": [{"summary": {"throughput-bits": 1.0, "retransmits": 1, "omitted": False}}],
}


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


@given(
    st.sampled_from(
        [
            (TCP, TCP_TEST),
            (UDP, UDP_TEST),
            (RTT, RTT_TEST),
            (TRIPS, RTT_TEST),
            (RAW, LATENCY_TEST),
            (DETAILED, TCP_TEST),
            (TRACE, TRACE_TEST),
        ]
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
