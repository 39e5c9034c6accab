"""What is not known about path and hosts, what cannot be said without it, and how to find out."""

from __future__ import annotations

from collections.abc import Iterator

from adon.broker.tuning.facts import HostFacts, PathFacts
from adon.broker.tuning.item import Gap
from adon.broker.tuning.window import LONGEST_RTT, RECEIVE, SEND, planning_rtt
from adon.units import format_duration

_BUFFERS = "buffers and the number of streams"


def missing(path: PathFacts, sender: HostFacts, receiver: HostFacts, target: float | None) -> Iterator[Gap]:
    """The gaps that no single piece of advice tells."""
    yield from _round_trip(path)
    if target is None:
        yield Gap(
            "what the path carries", _BUFFERS, "the capacity in the configuration, or a throughput test"
        )
    for host in (sender, receiver):
        if host.triple(RECEIVE) is None or host.triple(SEND) is None:
            how = (
                f"adon advice check FILE --host {host.name}, or the metric host.tcp of its measurement point"
            )
            yield Gap(f"present buffers of {host.name}", "what is gained, and whether they must change", how)
        if host.memory is None:
            yield Gap(f"memory of {host.name}", "how many buffers it holds", "the metric host of its point")


def _round_trip(path: PathFacts) -> Iterator[Gap]:
    if path.rtt is None:
        yield Gap("RTT of the path", _BUFFERS, "a test with rtt_period, or ping between the hosts")
    elif path.rtt.mean <= 0:
        yield Gap("RTT of the path: 0 s was measured, which no path has", _BUFFERS, "measure it again")
    elif planning_rtt(path.rtt) is None:
        what = (
            f"RTT of the path: {format_duration(path.rtt.mean)} is longer than {format_duration(LONGEST_RTT)}"
        )
        yield Gap(what, _BUFFERS, "measure it again on an idle path; if it stays, a queue on it is broken")
