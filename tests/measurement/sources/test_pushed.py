from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.model import Measurement, Metric, Observation, PathKey
from measurement.poller import PathTest, Point, Poller
from measurement.pscheduler import specs
from measurement.pscheduler.client import PSchedulerClient
from measurement.pscheduler.iso8601 import format_timestamp
from measurement.sources.pushed import Reporter, read
from measurement.sources.received import AHEAD, Received
from tests.measurement.sources import messages
from tests.measurement.sources.messages import BACK, KEY, LATENCY, NOW, POINT_A, POINT_B, RTT, STRANGER, TCP
from tests.measurement.standin import reply, stand_in

RUN = "22222222-2222-4222-8222-222222222222"


def received(payload: Any, reporter: Reporter | None = POINT_A) -> Received:
    return read(payload, reporter, messages.resolve, NOW)


def values(found: Received) -> dict[Metric, float]:
    assert found.kept
    return {each.metric: each.value for each in found.kept if isinstance(each, Measurement)}


def cause(found: Received) -> str:
    assert not found.kept
    assert len(found.refused) == 1
    return str(found.refused[0])


def test_a_message_gives_the_values_of_its_run() -> None:
    found = received(messages.message(name=RUN))
    assert values(found) == {Metric.RTT: pytest.approx(0.0026), Metric.LOSS: 0.0}
    first = found.kept[0]
    assert isinstance(first, Measurement)
    assert first.key == KEY
    assert (first.started_at, first.observed_at) == (NOW - 15, NOW - 5)
    assert first.tool == "ping"
    assert first.origin == RUN


def test_the_run_as_it_was_counts_not_the_slot_that_was_planned() -> None:
    without = received(messages.message(name=RUN, run=None))
    assert {value.observed_at for value in without.kept} == {NOW}  # 21 s after the start is later than now
    assert {value.origin for value in without.kept} == {RUN}


@pytest.mark.parametrize(
    ("test", "spec", "key"),
    [
        ("rtt", {"reverse": True}, KEY),
        ("latency", {"reverse": True}, BACK),
        ("latency", {"flip": True}, KEY),
        ("throughput", {"reverse": True}, BACK),
        ("throughput", {"reverse-connections": True}, KEY),
    ],
)
def test_the_direction_is_that_of_the_packets(test: str, spec: dict[str, Any], key: PathKey) -> None:
    result = {"rtt": RTT, "latency": LATENCY, "throughput": TCP}[test]
    found = received(messages.message(test, result, spec), None)
    assert {value.key for value in found.kept if isinstance(value, Measurement)} == {key}


def test_a_result_of_a_test_that_is_not_read_is_refused() -> None:
    found = received(messages.message("http", {"succeeded": True, "time": "PT1S"}))
    assert "http" in cause(found)


@pytest.mark.parametrize(
    ("test", "spec", "reporter", "may"),
    [
        ("rtt", {}, POINT_A, True),
        ("rtt", {}, POINT_B, False),  # it only echoed
        ("rtt", {}, STRANGER, False),
        ("rtt", {"source-node": "PS-A.example.net."}, POINT_A, True),
        ("throughput", {}, POINT_B, True),
        ("throughput", {}, STRANGER, False),
        ("throughput", {"single-ended": True}, POINT_B, False),
        ("latency", {}, POINT_B, False),
        ("latency", {"flip": True}, POINT_B, True),
        ("latency", {"flip": True}, POINT_A, False),
        ("latencybg", {"flip": "yes"}, POINT_B, False),
    ],
)
def test_a_point_reports_only_runs_that_it_took_part_in(
    test: str, spec: dict[str, Any], reporter: Reporter, may: bool
) -> None:
    result = {"rtt": RTT, "latency": LATENCY, "latencybg": LATENCY, "throughput": TCP}[test]
    found = received(messages.message(test, result, spec), reporter)
    assert bool(found.kept) is may
    assert may or reporter.name in found.refused[0].cause


def test_claiming_to_be_a_participant_does_not_help() -> None:
    claimed = messages.message(participants=["ps-c.example.net"])
    assert STRANGER.name in cause(received(claimed, STRANGER))


@pytest.mark.parametrize(
    ("participants", "may"), [([None], True), (["ps-a.example.net"], True), (["x"], False)]
)
def test_without_a_source_the_lead_measured(participants: list[str | None], may: bool) -> None:
    payload = messages.message(participants=participants)
    del payload["test"]["spec"]["source"]
    assert any(POINT_A.name in one.cause for one in received(payload).refused) is not may


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        (messages.message(ended=NOW + AHEAD + 1), "future"),
        (messages.message(ended=20.0), "clock"),
        (messages.message(spec={"dest": "203.0.113.1"}), "203"),
        (messages.message(result={"succeeded": False, "error": "connect failed"}), "connect failed"),
        (messages.message(result={"succeeded": "yes"}), "succeed"),
        (messages.message(result={"succeeded": True}), "loss:"),
        (messages.message(result={**RTT, "mean": "-PT1S"}), "mean"),
        (messages.message(id="7"), "id:"),
        (messages.message(id=None), "id:"),
        (messages.message(id=RUN), "URL"),
        (messages.message("../etc"), "test"),
        ({**messages.message(), "result": []}, "result:"),
        (messages.message(participants="ps-a"), "participants:"),
        (messages.message(run={"start-time": "x", "end-time": "y"}), "run.start-time"),
        ([], "object"),
        (None, "object"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_leaves_one_line(payload: Any, shown: str) -> None:
    line = cause(received(payload))
    assert shown in line
    assert "\n" not in line
    assert "secret-key" not in line


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (messages.message(ended=NOW + 3600), "in-future"),
        (messages.message(ended=20.0), "out-of-range"),
        (messages.message(spec={"dest": "203.0.113.1"}), "unknown-name"),
        (messages.message(spec={"dest": ""}), "missing"),
        (messages.message("disk-to-disk"), "unknown-value"),
        (messages.message(result={"succeeded": False, "error": "connect failed"}), "run-failed"),
        (messages.message(id="7"), "malformed"),
    ],
)
def test_refusal_has_a_code(payload: Any, code: str) -> None:
    assert [one.code for one in received(payload).refused] == [code]


def test_the_reason_of_a_failed_ping_is_in_the_participants_own_result() -> None:
    payload = messages.message(result={"schema": 1, "succeeded": False})
    payload["run"]["result-full"] = [{"diags": "ping: EAI_NONAME"}]
    assert "ping: EAI_NONAME" in cause(received(payload))


def test_a_clock_a_little_fast_makes_no_value_from_the_future() -> None:
    found = received(messages.message(ended=NOW + 30))
    assert {value.observed_at for value in found.kept} == {NOW}


def test_total_loss_is_a_value_and_a_line() -> None:
    lost = {"succeeded": True, "sent": 3, "received": 0, "lost": 3, "loss": 1.0}
    found = received(messages.message(result=lost))
    assert values(found) == {Metric.LOSS: 1.0}
    assert "no reply" in str(found.refused[0])


def test_halfping_measures_no_one_way_delay() -> None:
    found = received(messages.message("latency", LATENCY, tool={"name": "halfping"}))
    assert set(values(found)) == {Metric.LOSS, Metric.JITTER}
    assert "halfping" in str(found.refused[0])


def observed(
    metric: str = "host.cpu", at: float = NOW - 6, host: str = "ps-a", **fields: Any
) -> dict[str, Any]:
    key = {"path": "", "source": host, "destination": "/scratch"}
    source = f"custom:{host}/{metric}"
    return {"key": key, "metric": metric, "value": 0.5, "observed_at": at, "source": source, **fields}


def host_metrics(*observations: Any) -> dict[str, Any]:
    payload = messages.message("adon-metric", {"succeeded": True, "observations": list(observations)})
    payload["test"]["spec"] = {}
    return payload


def test_a_point_tells_of_its_own_host_only() -> None:
    found = received(host_metrics(observed(), observed(at=NOW + 9), observed("host.disk", host="remote")))
    assert [
        (str(value.series), value.observed_at) for value in found.kept if isinstance(value, Observation)
    ] == [
        (":campus>/scratch/host.cpu", NOW - 6),
        (":campus>/scratch/host.cpu", NOW),
        (":campus>/scratch/host.disk", NOW - 6),
    ]
    assert POINT_B.name in cause(received(host_metrics(observed()), POINT_B))


@pytest.mark.parametrize(
    ("observation", "shown"),
    [
        (observed("rtt"), "metric"),
        (observed("Host CPU"), "metric"),
        (observed(at=NOW + 3600), "future"),
        (observed(at=0), "2017"),
        (observed(value="much"), "value"),
        (observed(value=None), "observation"),
        ({"key": {"path": "", "source": "", "destination": ""}}, "metric:"),
        ("x", "object"),
    ],
)
def test_an_observation_that_is_none_is_refused(observation: Any, shown: str) -> None:
    assert shown in cause(received(host_metrics(observation)))


def test_a_url_is_kept_without_what_could_be_secret() -> None:
    payload = messages.message(name=RUN)
    payload["run"]["href"] = f"https://me:secret@ps-a/pscheduler/tasks/t/runs/{RUN}?key=secret#x"
    [one, _] = received(payload).kept
    assert one.source == f"https://ps-a/pscheduler/tasks/t/runs/{RUN}"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
PLACES = ["id", "schedule", "test", "tool", "participants", "result", "run"]
INSIDE = [
    "type",
    "spec",
    "source",
    "dest",
    "href",
    "start-time",
    "end-time",
    "succeeded",
    "loss",
    "mean",
    "sent",
]


@given(st.sampled_from(PLACES), st.sampled_from([None, *INSIDE]), JSON)
def test_nothing_that_is_sent_raises(place: str, inside: str | None, junk: Any) -> None:
    payload = messages.message()
    if inside is None or not isinstance(payload[place], dict):
        payload[place] = junk
    else:
        payload[place] = {**payload[place], inside: junk}
    for reporter in (POINT_A, None):
        for refusal in received(payload, reporter).refused:
            assert "\n" not in str(refusal)


@pytest.mark.parametrize("kind", ["rtt", "throughput", "latency"])
def test_the_same_run_pulled_and_pushed_is_the_same_measurement(kind: str) -> None:
    """A poller asks a server on loopback; the archiver of the same server sends the same run."""
    ends = specs.Ends(messages.A, messages.B, "ps-a.example.net", "ps-b.example.net")
    request, result = {
        "rtt": (specs.rtt(ends, 3), RTT),
        "throughput": (specs.throughput(ends, 10, 4), TCP),
        "latency": (specs.latency(ends, 600, 0.01), LATENCY),
    }[kind]
    with stand_in() as server:
        server.result = result
        server.tool = "the-tool"
        server.run = {"start-time": format_timestamp(NOW - 10), "end-time": format_timestamp(NOW)}
        clock = {"time": format_timestamp(NOW), "synchronized": True}
        server.misbehave["GET /clock"] = lambda handler: reply(handler, 200, clock)
        client = PSchedulerClient(server.url, clock=lambda: NOW, pause=lambda _: None)
        poller = Poller({"campus": Point(client, "ps-a.example.net")}, clock=lambda: NOW)
        pulled = poller.run(PathTest(KEY, request, tuple(Metric))).outcomes
    payload = messages.message(
        kind, result, ended=NOW, name=RUN, tool={"name": "the-tool"}, test=request.document
    )
    pushed = received(payload).kept
    assert pushed
    assert len(pushed) == len(pulled)
    for ours, theirs in zip(pushed, pulled, strict=True):
        assert isinstance(ours, Measurement)
        assert isinstance(theirs, Measurement)
        assert ours.origin == theirs.origin == RUN
        assert ours.source != theirs.source
        assert ours == replace(theirs, source=ours.source)
