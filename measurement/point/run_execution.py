"""Carrying out one run at the lead: which tool does which test, and what it needs of the other end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measurement.errors import PointError
from measurement.point import latency
from measurement.point.children import Children, Completed, ToolFailed
from measurement.point.metrics import Metrics
from measurement.point.model import Run, Task
from measurement.point.peers import Peer
from measurement.point.specs import Throughput
from measurement.point.tools import iperf3, ping, probe, traceroute
from measurement.probes.probe_types import Probe


@dataclass(frozen=True, slots=True)
class Workplace:
    """What a run needs beside its specification.

    :param metrics: this host's own.
    :param report: takes each result of a run that has many.
    :param probe_key: file of the key that is shared with other hosts' probe agents.
    """

    children: Children
    peer: Callable[[str], Peer]
    metrics: Metrics
    report: Callable[[dict[str, Any]], None]
    probe_key: Path | None = None


def measure(task: Task, run: Run, place: Workplace) -> dict[str, Any] | None:
    """The test's result, in pScheduler's form; None of a run that has reported many.

    :raises ToolFailed: when it could not be measured.
    :raises RunCanceled: when it was cancelled.
    """
    try:
        return _MEASURES[task.test.name](task, run, place)
    except PointError as error:
        raise ToolFailed(f"the other participant: {error}") from None


def _throughput(task: Task, run: Run, place: Workplace) -> dict[str, Any]:
    spec: Throughput = task.spec
    port = place.peer(task.participants[1]).serve(task.uuid, run.uuid)
    done = place.children.execute(iperf3.client_argv(spec, port), task.lasts + 5)
    return iperf3.parse(done.stdout, spec)


def _rtt(task: Task, _: Run, place: Workplace) -> dict[str, Any]:
    return ping.parse(place.children.execute(ping.argv(task.spec), task.lasts + 5))


def _trace(task: Task, _: Run, place: Workplace) -> dict[str, Any]:
    return traceroute.parse(place.children.execute(traceroute.argv(task.spec), task.lasts + 5))


def _latency(task: Task, _: Run, place: Workplace) -> dict[str, Any]:
    return latency.once(task.spec, place.children.pause, place.peer)


def _latencybg(task: Task, _: Run, place: Workplace) -> None:
    latency.continuous(task.spec, place.children.pause, place.peer, place.report)


def _train(task: Task, _: Run, place: Workplace) -> dict[str, Any]:
    return probe.train_result(_run_probes(task, place, probe.train(task.spec)))


def _health(task: Task, _: Run, place: Workplace) -> dict[str, Any]:
    probes = probe.health(task.spec)
    return probe.health_result(_run_probes(task, place, probes), probes)


def _run_probes(task: Task, place: Workplace, probes: tuple[Probe, ...]) -> Completed:
    if place.probe_key is None:
        raise ToolFailed("this point has no key for probe agents: start it with --probe-key")
    return place.children.execute(probe.argv(task.spec, place.probe_key, probes), task.lasts + 5)


def _metric(task: Task, _: Run, place: Workplace) -> None:
    place.metrics.observe(task.spec, place.children.pause, place.report)


_MEASURES: Mapping[str, Callable[[Task, Run, Workplace], dict[str, Any] | None]] = {
    "throughput": _throughput,
    "rtt": _rtt,
    "latency": _latency,
    "latencybg": _latencybg,
    "trace": _trace,
    "adon-train": _train,
    "adon-health": _health,
    "adon-metric": _metric,
}
