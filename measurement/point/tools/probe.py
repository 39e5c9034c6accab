"""Probes of another host's agent (``measurement.probes``): packet trains and the indicators of health.  Pure.

The measurement is a process of its own like every tool, so that it can be ended and costs the point nothing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from measurement.point.children import Completed, ToolFailed
from measurement.point.specs import HealthSpec, TrainSpec
from measurement.probes.documents import from_document, to_document
from measurement.probes.findings import ProbeFailure, ProbeReport, TrainResult
from measurement.probes.probe_types import Probe, Throughput, Train, TrainShape, light_probes
from measurement.pscheduler.iso8601 import format_duration

INTERVAL = 0.01
"""Seconds between two requests, at least."""


def argv(spec: TrainSpec | HealthSpec, key: Path, probes: tuple[Probe, ...]) -> list[str]:
    """The argument list; the key itself is in no list, only its file's name."""
    words = [sys.executable, "-m", "measurement.probes.main", "--key", str(key.absolute())]
    words += ["--target", spec.dest, "--port", str(spec.dest_port)]
    return [*words, "--probes", json.dumps([to_document(each) for each in probes])]


def train(spec: TrainSpec) -> tuple[Probe, ...]:
    """What an ``adon-train`` test probes."""
    return (Train(TrainShape(spec.packet_length, spec.burst, spec.bursts, spec.pause)),)


def health(spec: HealthSpec) -> tuple[Probe, ...]:
    """What an ``adon-health`` test probes; the throughput last, so that it disturbs none of the others."""
    indicators = light_probes(spec.count, INTERVAL, spec.timeout)
    return (*indicators, Throughput(spec.intervals)) if spec.intervals else indicators


def train_result(done: Completed) -> dict[str, Any]:
    """A train's result: rates in bits/s, as TCP would have them and as the paper's equation does.

    :raises ToolFailed: if there is no rate.
    """
    (found,) = _report(done).findings
    if isinstance(found, ProbeFailure):
        raise ToolFailed(f"{found.why}: {found.text}")
    if not isinstance(found, TrainResult) or found.rate is None or found.paper is None:
        raise ToolFailed(found.why if isinstance(found, TrainResult) else "the probe found something else")
    return {
        "schema": 1,
        "succeeded": True,
        "throughput": found.rate,
        "throughput-unrefined": found.paper,
        "limited-by-loss": found.limited,
        "loss": found.lost,
        "rtt": None if found.rtt is None else format_duration(found.rtt),
        "duration": format_duration(found.took),
    }


def health_result(done: Completed, probes: tuple[Probe, ...]) -> dict[str, Any]:
    """Each indicator with what was asked and found; it succeeded if any found something.

    :raises ToolFailed: if the tool did not answer.
    """
    report = _report(done)
    return {
        "schema": 1,
        "succeeded": any(not isinstance(found, ProbeFailure) for found in report.findings),
        "indicators": [
            {"probe": to_document(asked), "finding": to_document(found)}
            for asked, found in zip(probes, report.findings, strict=True)
        ],
        "address": report.own,
        "address-seen": report.seen,
    }


def _report(done: Completed) -> ProbeReport:
    if done.status != 0:
        raise ToolFailed(done.stderr.strip()[-500:] or "the probe ended without a word")
    try:
        return from_document(ProbeReport, json.loads(done.stdout), "report")
    except ValueError as error:
        raise ToolFailed(f"the probe's answer makes no sense: {error}") from None
