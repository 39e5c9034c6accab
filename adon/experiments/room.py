"""Whether a workload fits: into the time of a trial, the memory and the disk.

Only what surely does not fit is refused: every flow is taken to have the fastest path to itself, and what
comes after something to come as soon as it can.  Bytes go from memory to memory, and what is written is the
results; except what a flow stores on disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter

from adon.experiments import sweeping
from adon.experiments.document import Experiment
from adon.experiments.naming import AFTER_THE_END, every_moment
from adon.experiments.ordering import comes, earliest
from adon.experiments.planned import PlannedFlow
from adon.experiments.scaling import flows_of
from adon.experiments.surroundings import Machine, Surroundings
from adon.experiments.workload import MAX_FLOWS
from adon.templates_catalog.model import Template
from adon.units import format_duration, format_rate, format_size

PROCESS = 15_000_000
"""Bytes of one end of a transfer: an interpreter with sockets."""
WINDOW = 4 * 2**20
"""Bytes that a connection's buffer grows to where no window is said (Linux, ``tcp_wmem``'s last value)."""
TRIAL = 5_000_000
"""Bytes that a trial leaves whatever it does: ADON's store, logs, the tables' frames."""
SECOND = 40
"""Bytes per flow and second in the tables, before they are compressed."""

Finding = tuple[sweeping.Place, str]


def room(at: Experiment, templates: Mapping[str, Template], surroundings: Surroundings) -> Iterator[Finding]:
    """What does not fit at one combination; what the file names must be there, and nothing be in a circle."""
    rows = {entry.name: row for row, entry in enumerate(at.workload)}
    begin = earliest(at)
    yield from _late(at, begin)
    for repetition in range(1, at.repetitions + 1):
        flows = list(flows_of(at, templates, surroundings, repetition))
        drawn = {flow.group for flow in flows}
        if len(flows) > MAX_FLOWS:
            yield ("workload",), f"is {len(flows)} flows; at most {MAX_FLOWS} are carried out in a trial"
            return
        found: list[Finding] = [
            (("workload", row), f"draws no request in repetition {repetition} with seed {at.seed}")
            for row, entry in enumerate(at.workload)
            if entry.name not in drawn and not entry.absent
        ]
        for flow in flows:
            begins = begin[flow.name] if flow.at is None else flow.at
            found += [
                (("workload", rows[flow.group]), cause) for cause in _slow(flow, begins, at, surroundings)
            ]
        if surroundings.machine is not None:
            found += _machine(flows, at, surroundings, surroundings.machine)
        yield from found
        if found:
            return


def _late(at: Experiment, begin: Mapping[str, float]) -> Iterator[Finding]:
    """Events, and ends that wait for something, that cannot come within a trial."""
    for row, event in enumerate(at.events):
        if event.absent:
            continue
        begins = begin[event.name]
        if begins >= at.limit:
            field = "at" if event.after is None else "after"
            yield ("events", row, field), _over(event.name, begins, at)
        elif event.lasts is not None and begins + event.lasts > at.limit:
            until = format_duration(begins + event.lasts)
            cause = (
                f"{event.name!r} lasts until {until}; a trial may take {format_duration(at.limit)} (limit)"
            )
            yield ("events", row, event.kind, "for"), cause
    for one, place, moment in every_moment(at):
        if place[-1] == "until" and not one.absent and comes(moment, at, begin) >= at.limit:
            yield place, _over(one.name, comes(moment, at, begin), at, "the end of ")


def _over(name: str, comes_at: float, at: Experiment, what: str = "") -> str:
    return f"{what}{name!r} comes after {comes_at:g} s, when the trial is over (limit {at.limit:g} s)"


def _slow(flow: PlannedFlow, begins: float, at: Experiment, surroundings: Surroundings) -> Iterator[str]:
    """Why a flow that begins at the earliest after so many seconds cannot be over in time."""
    if begins >= at.limit:
        yield _over(flow.name, begins, at)
        return
    best = surroundings.best(flow.source, flow.destination, flow.path)
    rate = best if flow.rate is None else min(best, flow.rate)
    takes = seconds(flow, surroundings)
    if begins + takes > at.limit:
        size = "" if flow.size is None else f"{format_size(flow.size)} take "
        yield (
            f"{flow.name!r}: {size}{format_duration(takes)} alone at {format_rate(rate)}; "
            f"a trial may take {format_duration(at.limit)} (limit)"
        )


def seconds(flow: PlannedFlow, surroundings: Surroundings) -> float:
    """How long a flow takes at least; 0 where it lasts until something else happens."""
    if flow.size is None:
        return flow.lasts or 0.0
    best = surroundings.best(flow.source, flow.destination, flow.path)
    rate = best if flow.rate is None else min(best, flow.rate)
    return flow.size * 8 / rate


def _machine(
    flows: Sequence[PlannedFlow], at: Experiment, surroundings: Surroundings, machine: Machine
) -> Iterator[Finding]:
    trials = sweeping.count(at) * len(at.policies) * at.repetitions
    results = trials * (TRIAL + round(SECOND * sum(seconds(flow, surroundings) for flow in flows)))
    stored = sum(flow.size or 0 for flow in flows if flow.store == "disk")
    if results + stored > machine.disk:
        kept = f", and {format_size(stored)} that its flows store," if stored else ""
        cause = f"{trials} trials leave about {format_size(results)}{kept} and the disk has "
        yield ("workload",), f"{cause}{format_size(machine.disk)} free"
    memory = memory_needed(flows, surroundings)
    if memory > machine.memory:
        cause = f"needs about {format_size(memory)} of memory at once, and there are "
        yield ("workload",), f"{cause}{format_size(machine.memory)}"


def memory_needed(flows: Sequence[PlannedFlow], surroundings: Surroundings) -> int:
    """Bytes that the flows need that are under way at the same time, both ends of each.

    A flow that comes after another's end is not there together with it.  Whatever else has no time of its own
    may meet anything, so it is counted throughout.
    """
    before = _ending_before(flows, surroundings)
    waits = {flow.name: [before[flow.name]] if flow.name in before else [] for flow in flows}
    by_name = {flow.name: flow for flow in flows}
    after = dict.fromkeys(by_name, 0)
    # From the last of each chain on: what a flow needs, or if that is more, all that come after its end.
    for name in reversed(list(TopologicalSorter(waits).static_order())):
        if name in before:
            after[before[name]] += max(_memory(by_name[name]), after[name])
    always = 0
    changes: list[tuple[float, int]] = []
    for flow in flows:
        own, later = _memory(flow), after[flow.name]
        takes = seconds(flow, surroundings)
        if flow.at is not None and takes:
            changes += [(flow.at, own), (flow.at + takes, later - own)]
        elif flow.at is not None:
            changes += [(flow.at, max(own, later))]
        elif flow.name not in before:
            always += max(own, later)
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return always + most


def _ending_before(flows: Sequence[PlannedFlow], surroundings: Surroundings) -> dict[str, str]:
    """Per flow that comes after the end of another: that one; of a group the one that ends last."""
    last: dict[str, tuple[float, str]] = {}
    for flow in flows:
        ends = (flow.at or 0.0) + seconds(flow, surroundings), flow.name
        last[flow.group] = max(ends, last.get(flow.group, ends))
    return {
        flow.name: last[flow.after.of][1]
        for flow in flows
        if flow.after is not None and flow.after.what in AFTER_THE_END and flow.after.of in last
    }


def _memory(flow: PlannedFlow) -> int:
    return 2 * (PROCESS + flow.streams * (flow.window or WINDOW))
