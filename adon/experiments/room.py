"""Whether a workload fits: into the time of a trial, the memory and the disk.

Only what surely does not fit is refused: every flow is taken to have the fastest path to itself.  Bytes go
from memory to memory, and what is written is the results; except what a flow stores on disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from adon.experiments import sweeping
from adon.experiments.document import Experiment
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
    """What does not fit at one combination; what the file names must be there."""
    rows = {entry.name: row for row, entry in enumerate(at.workload)}
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
            found += [(("workload", rows[flow.group]), cause) for cause in _slow(flow, at, surroundings)]
        if surroundings.machine is not None:
            found += _machine(flows, at, surroundings, surroundings.machine)
        yield from found
        if found:
            return


def _slow(flow: PlannedFlow, at: Experiment, surroundings: Surroundings) -> Iterator[str]:
    if (flow.at or 0.0) >= at.limit:
        yield f"{flow.name!r} comes after {flow.at:g} s, when the trial is over (limit {at.limit:g} s)"
        return
    best = surroundings.best(flow.source, flow.destination, flow.path)
    rate = best if flow.rate is None else min(best, flow.rate)
    takes = seconds(flow, surroundings)
    if (flow.at or 0.0) + takes > at.limit:
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
    """Bytes that the flows need that are under way at the same time, both ends of each."""
    # What has no time of its own may meet anything, so it is counted throughout.
    always = sum(_memory(flow) for flow in flows if flow.at is None)
    changes: list[tuple[float, int]] = []
    for flow in flows:
        if flow.at is not None:
            begins, takes = flow.at, seconds(flow, surroundings)
            changes += [(begins, _memory(flow))]
            changes += [(begins + takes, -_memory(flow))] if takes else []
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return always + most


def _memory(flow: PlannedFlow) -> int:
    return 2 * (PROCESS + flow.streams * (flow.window or WINDOW))
