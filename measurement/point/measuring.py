"""Carrying out one run at the lead: which tool does which test, and what it needs of the other end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from measurement.errors import PointError
from measurement.point import owd
from measurement.point.children import Children, ToolFailed
from measurement.point.model import Run, Task
from measurement.point.peers import Peer
from measurement.point.specs import Latency, Throughput
from measurement.point.tools import iperf3, ping, traceroute

_AFTER_LAST_PACKET = 0.2


@dataclass(frozen=True, slots=True)
class Workplace:
    """What a run needs beside its specification."""

    children: Children
    peer: Callable[[str], Peer]


def measure(task: Task, run: Run, place: Workplace) -> dict[str, Any]:
    """The test's result, in pScheduler's form.

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
    spec: Latency = task.spec
    peer = place.peer(spec.dest_node if spec.dest_node is not None else spec.dest)
    name, port, token = peer.open_session(
        {
            "address": spec.dest,
            "source": spec.source,
            "packets": spec.packet_count,
            "lifetime": task.lasts + 5,
        }
    )
    try:
        owd.send(spec, port, token, place.children.pause)
        place.children.pause(max(spec.packet_timeout, _AFTER_LAST_PACKET))
    except OSError as error:
        peer.close_session(name)
        raise ToolFailed(f"cannot send from {spec.source}: {error.strerror}") from None
    return owd.result(peer.close_session(name), spec)


_MEASURES: Mapping[str, Callable[[Task, Run, Workplace], dict[str, Any]]] = {
    "throughput": _throughput,
    "rtt": _rtt,
    "latency": _latency,
    "trace": _trace,
}
