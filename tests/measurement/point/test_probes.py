"""Tests of the point that ask another host's probe agent: specifications, arguments, results, a real one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from measurement.point.children import Completed, ToolFailed
from measurement.point.specs import HealthSpec, TrainSpec, parse_spec
from measurement.point.tools import probe
from measurement.probes.documents import to_document
from measurement.probes.findings import (
    FailureCause,
    Finding,
    ProbeFailure,
    ProbeReport,
    RoundTrips,
    TrainResult,
)
from measurement.probes.probe_types import IcmpEcho, Probe, Throughput, TrainShape, UdpEcho
from tests.apps.edge import eventually
from tests.measurement.point.running import A, B, RunningPoint, start, stop
from tests.measurement.probes.agent_processes import AgentProcess, make_key, run_agent
from tests.support.refusals import refused

TRAIN = TrainResult(9e8, 9.2e8, 0.0, False, "", TrainShape(), 0.0005, 0.02, 0, ())


def train_spec(**fields: Any) -> TrainSpec:
    found = parse_spec("adon-train", {"dest": "192.0.2.2", **fields})
    assert isinstance(found, TrainSpec)
    return found


def health_spec(**fields: Any) -> HealthSpec:
    found = parse_spec("adon-health", {"dest": "192.0.2.2", **fields})
    assert isinstance(found, HealthSpec)
    return found


def done(*findings: Finding) -> Completed:
    return Completed(0, json.dumps(to_document(ProbeReport(findings, 0.0, 1.0, A, A))), "")


@pytest.mark.parametrize(
    ("test", "fields", "field"),
    [
        ("adon-train", {}, "dest"),
        ("adon-train", {"dest": "b; rm"}, "dest"),
        ("adon-train", {"dest": B, "burst": 1}, "burst"),
        ("adon-train", {"dest": B, "burst": 5000, "bursts": 100}, "document"),
        ("adon-train", {"dest": B, "packet-length": 63}, "packet-length"),
        ("adon-train", {"dest": B, "dest-port": 0}, "dest-port"),
        ("adon-train", {"dest": B, "packets": 3}, "packets"),
        ("adon-health", {"dest": B, "count": 0}, "count"),
        ("adon-health", {"dest": B, "intervals": 61}, "intervals"),
        ("adon-health", {"dest": B, "timeout": "5"}, "timeout"),
        ("adon-health", {"dest": B, "timeout": "PT31S"}, "timeout"),
    ],
)
def test_bad_specifications_name_the_field(test: str, fields: dict[str, Any], field: str) -> None:
    with refused(ValueError, field):
        parse_spec(test, fields)


def test_a_train_is_as_specified(tmp_path: Path) -> None:
    spec = train_spec(
        **{"packet-length": 1000, "burst": 50, "bursts": 3, "pause": "PT0.01S", "dest-port": 99}
    )
    (asked,) = probe.train(spec)
    words = probe.argv(spec, tmp_path / "key", (asked,))
    assert words[words.index("--port") + 1] == "99"
    (told,) = json.loads(words[-1])
    assert told["shape"] == {"packet": 1000, "burst": 50, "bursts": 3, "pause": 0.01}


def test_health_asks_for_all_the_papers_indicators() -> None:
    kinds = [asked.kind for asked in probe.health(health_spec())]
    assert kinds == ["icmp"] * 3 + ["udp"] * 2 + ["sandwich", "connect", "tcp", "throughput"]
    assert "throughput" not in [asked.kind for asked in probe.health(health_spec(intervals=0))]
    echoes = [asked for asked in probe.health(health_spec()) if isinstance(asked, IcmpEcho | UdpEcho)]
    assert [asked.length for asked in echoes] == [64, 512, 4096, 64, 1024]


def test_how_often_and_how_long_is_the_specifications() -> None:
    first, *_, last = probe.health(health_spec(count=7, timeout="PT3S", intervals=4))
    assert isinstance(first, IcmpEcho)
    assert (first.count, first.timeout) == (7, 3.0)
    assert last == Throughput(4)


def test_a_trains_result() -> None:
    found = probe.train_result(done(TRAIN))
    assert (found["throughput"], found["throughput-unrefined"], found["rtt"]) == (9e8, 9.2e8, "PT0.0005S")


@pytest.mark.parametrize(
    ("completed", "shown"),
    [
        (done(ProbeFailure(FailureCause.DENIED, "it does not know our key")), "denied:"),
        (done(RoundTrips(())), ""),
        (done(replace(TRAIN, rate=None, why="too little came")), "too little"),
        (Completed(1, "", "key: mode 644"), "key:"),
        (Completed(1, "", ""), ""),
        (Completed(0, "{", ""), ""),
        (Completed(0, "{}", ""), ""),
    ],
)
def test_why_there_is_no_result(completed: Completed, shown: str) -> None:
    with pytest.raises(ToolFailed) as caught:
        probe.train_result(completed)
    assert shown in str(caught.value)


def test_health_succeeds_if_anything_was_found() -> None:
    probes: tuple[Probe, ...] = probe.health(health_spec(intervals=0))[:2]
    failed = ProbeFailure(FailureCause.VANISHED, "gone")
    found = probe.health_result(done(RoundTrips((0.001,)), failed), probes)
    assert found["succeeded"]
    assert [each["finding"]["kind"] for each in found["indicators"]] == ["round-trips", "failed"]
    assert not probe.health_result(done(failed, failed), probes)["succeeded"]


@pytest.mark.integration
def test_a_real_point_and_a_real_agent(tmp_path: Path) -> None:
    key = make_key(tmp_path)
    point = start(tmp_path / "point", A, "--probe-key", str(key))
    try:
        with run_agent("b", key, B) as other:
            trained = result(point, other, "adon-train", burst=96, bursts=3)
            looked = result(point, other, "adon-health", intervals=0, count=2)
        assert trained["result-merged"]["throughput"] > 1e6
        kinds = [each["finding"]["kind"] for each in looked["result-merged"]["indicators"]]
        assert kinds[3:] == ["round-trips", "round-trips", "widened", "round-trips", "round-trips"]
    finally:
        assert stop(point) == 0


@pytest.mark.integration
def test_a_point_without_a_key_says_so(tmp_path: Path) -> None:
    point = start(tmp_path / "point", A)
    try:
        with run_agent("b", make_key(tmp_path), B) as other:
            found = result(point, other, "adon-train", burst=96, bursts=3)
        assert found["state"] == "failed"
        assert "--probe-key" in found["errors"]
    finally:
        assert stop(point) == 0


def result(point: RunningPoint, other: AgentProcess, test: str, **fields: Any) -> dict[str, Any]:
    instance = other.instance
    spec = {
        "schema": 1,
        "dest": instance.address,
        "dest-port": instance.port,
        "source-node": point.node,
        **fields,
    }
    body = {"schema": 1, "schedule": {"slip": "PT1M"}, "test": {"type": test, "spec": spec}}
    posted = point.post("/tasks", body)
    assert posted.status_code == 200, posted.text
    task = posted.json().split("/pscheduler")[1]

    def ended() -> dict[str, Any] | None:
        answer = point.get(f"{task}/runs/first", wait=1)
        found: dict[str, Any] = answer.json() if answer.ok else {}
        return found if found.get("state") in ("finished", "failed", "nonstart") else None

    run: dict[str, Any] = eventually(ended, "no result")
    return run
