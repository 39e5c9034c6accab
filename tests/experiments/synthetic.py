"""Runs made up by a small generator, so that what reads runs can be tried without a testbed.

Every second the streams under way on a path share its goodput evenly; what a flow gets deviates by a noise
that its trial's seed draws.  Whoever decides takes the pinned path, the path of ``always``, or the one with
most left per stream.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from adon.experiments.parts import Moment, What
from adon.experiments.plan import plan
from adon.experiments.planned import Plan, PlannedFlow, Trial
from adon.experiments.reading import Source, parse
from adon.experiments.results import (
    About,
    DecisionRow,
    EventRow,
    FlowRow,
    FlowState,
    MeasurementRow,
    Run,
    State,
    Tables,
    ThroughputRow,
    TrialDone,
)
from adon.experiments.surroundings import Surroundings, Way
from apps.experiments.folder import Folder
from apps.experiments.named_files import named_files

BEGAN = 1_795_000_000.0
MU_OSU = Surroundings(
    network="mu_osu",
    scale=100.0,
    sites={"mu": ("mu-dtn",), "osu": ("osu-dtn",)},
    ways={"al2s": Way(("mu", "osu"), 58e6), "internet": Way(("mu", "osu"), 6.5e6)},
    links=frozenset({"line-t1", "core-mu"}),
)

FIGURE_21 = """\
experiment: figure-21
title: 25 GB beside contending traffic
about: A transfer on layer 2 alone, on layer 2 beside fourteen streams, and on layer 3.
source: "[ADON] figure 21"
follows: thesis
network: mu_osu
scale: 100
sizes: 1000
templates: [soykb, neuroblastoma]
repetitions: 3
seed: 21
workload:
  - flow: neuroblastoma
    template: neuroblastoma
    from: mu
    to: osu
    until: [soykb, ends]
    streams: 14
    path: al2s
  - flow: soykb
    after: [neuroblastoma, begins, 2 s]
    template: soykb
    from: mu
    to: osu
    size: 25 GB
    streams: 1
cases:
  contended: {soykb.path: al2s}
  alone: {soykb.path: al2s, neuroblastoma.absent: true}
  layer-3: {soykb.path: internet}
sweep:
  soykb.size: [5 GB, 10 GB, 25 GB]
figures:
  time: {of: completion_time, flow: soykb, about: time of the transfer}
  rate: {of: throughput, flow: soykb}
  contended: {of: completion_time, flow: soykb, where: {case: contended, soykb.size: 25 GB}, paper: 400 s}
  routed: {of: completion_time, flow: soykb, where: {case: layer-3, soykb.size: 25 GB}, paper: 308 s}
checks:
  - check: 25 GB over layer 3 beats contended layer 2
    ratio: [contended, routed]
    between: [1.15, 3]
    paper: 1.3
  - check: larger takes longer
    order: contended-by-size
    over: soykb.size
    is: rising
  - check: layer 3 is as fast as layer 2
    value: routed
    between: [null, 10 s]
    paper: 308 s
    discrepancy: nobody claims this; it is here to be seen not to hold
plots:
  - plot: Time by size
    y: time
    x: soykb.size
    by: case
    paper:
      - {x: 25 GB, y: 400 s, by: contended}
      - {x: 25 GB, y: 308 s, by: layer-3}
  - plot: Throughput by size
    kind: bar
    y: rate
    x: soykb.size
    by: case
  - plot: Second by second
    kind: timeline
    where: {soykb.size: 25 GB}
"""
FIGURE_21 = FIGURE_21.replace(
    "checks:",
    "  contended-by-size: {of: completion_time, flow: soykb, where: {case: contended}}\nchecks:",
    1,
)


def with_more(tables: Tables, more: Tables) -> Tables:
    """These rows, and those after them."""
    return Tables(*((*one, *other) for one, other in zip(tables.all(), more.all(), strict=True)))


def source(text: str = FIGURE_21) -> Source:
    """An experiment from its text."""
    return parse(text, "figure-21.yaml")


@dataclass
class _Moving:
    """A flow under way."""

    flow: PlannedFlow
    path: str
    began: float
    left: float
    moved: float = 0.0
    ended: float | None = None


@dataclass
class _World:
    trial: Trial
    surroundings: Surroundings
    noise: float
    now: float = 0.0
    moving: dict[str, _Moving] = field(default_factory=dict)
    rows: list[ThroughputRow] = field(default_factory=list)
    decisions: list[DecisionRow] = field(default_factory=list)

    def chosen(self, flow: PlannedFlow) -> str:
        if flow.path is not None:
            return flow.path
        if self.trial.policy.startswith("always "):
            return self.trial.policy.removeprefix("always ")
        ways = self.surroundings.between(flow.source, flow.destination)
        return max(ways, key=lambda name: ways[name].goodput / (1 + self.streams(name)))

    def streams(self, path: str) -> int:
        return sum(m.flow.streams for m in self.moving.values() if m.path == path and m.ended is None)

    def time_of(self, moment: Moment) -> float | None:
        moving = self.moving.get(moment.of)
        if moving is None:
            return None
        at = moving.ended if moment.what is What.ENDS else moving.began
        return None if at is None else at + moment.wait

    def start(self, flow: PlannedFlow) -> None:
        path = self.chosen(flow)
        self.decisions.append(
            DecisionRow(self.trial.number, self.now, flow.name, "admit", path, None, 7.5, f"{path} is best")
        )
        size = float("inf") if flow.size is None else float(flow.size)
        self.moving[flow.name] = _Moving(flow, path, self.now + 0.2, size)

    def step(self, chance: random.Random) -> None:
        for flow in self.trial.flows:
            begins = flow.at if flow.after is None else self.time_of(flow.after)
            if flow.name not in self.moving and begins is not None and begins <= self.now:
                self.start(flow)
        under_way = [m for m in self.moving.values() if m.ended is None]
        rates = {m.flow.name: self.rate(m) for m in under_way}
        for one in under_way:
            bytes_ = rates[one.flow.name] / 8 * max(0.0, 1 + self.noise * chance.gauss(0, 1))
            sent = min(one.left, bytes_)
            one.left -= sent
            one.moved += sent
            self.rows.append(ThroughputRow(self.trial.number, self.now, one.flow.name, one.path, round(sent)))
            over = None if one.flow.until is None else self.time_of(one.flow.until)
            lasted = one.flow.lasts is not None and self.now - one.began >= one.flow.lasts
            if one.left <= 0 or over is not None or lasted:
                one.ended = self.now + (sent / bytes_ if bytes_ else 1.0)
        self.now += 1.0

    def rate(self, one: _Moving) -> float:
        share = self.surroundings.ways[one.path].goodput * one.flow.streams / self.streams(one.path)
        return share if one.flow.rate is None else min(share, one.flow.rate)


def carried_out(
    trial: Trial, surroundings: Surroundings = MU_OSU, noise: float = 0.02, limit: float = 900.0
) -> tuple[TrialDone, Tables]:
    """A trial, and what it left."""
    chance = random.Random(trial.seed)
    world = _World(trial, surroundings, noise)
    while world.now < limit:
        world.step(chance)
        started = len(world.moving) == len(trial.flows)
        if started and all(m.ended is not None for m in world.moving.values()):
            break
    flows = [_row(trial, flow, world.moving.get(flow.name)) for flow in trial.flows]
    tests = [
        MeasurementRow(
            trial.number, float(at), path, "mu", "osu", "throughput", way.goodput * chance.uniform(0.9, 1)
        )
        for at in range(0, int(world.now), 20)
        for path, way in surroundings.ways.items()
    ]
    events = [
        EventRow(trial.number, event.at or 5.0, event.name, event.kind, "begins", "as ordered", "")
        for event in trial.events
    ]
    done = TrialDone(
        trial.number, trial.key, trial.policy, trial.point, trial.repetition, trial.seed, BEGAN, world.now
    )
    return done, Tables(flows, world.rows, tests, world.decisions, events)


def _row(trial: Trial, flow: PlannedFlow, one: _Moving | None) -> FlowRow:
    ended = None if one is None else one.ended
    state = FlowState.WAITING if one is None else FlowState.RUNNING if ended is None else FlowState.FINISHED
    return FlowRow(
        trial=trial.number,
        flow=flow.name,
        flow_id=f"{trial.number:04x}-{flow.name}",
        template=flow.template,
        source=flow.source,
        destination=flow.destination,
        state=state.value,
        path=None if one is None else one.path,
        paths="" if one is None else one.path,
        asked=None if one is None else one.began - 0.2,
        decided=None if one is None else one.began - 0.1,
        began=None if one is None else one.began,
        ended=ended,
        size=flow.size,
        received=0 if one is None else round(one.moved),
        streams=flow.streams,
        window=flow.window,
        priority=flow.priority,
        deadline=flow.deadline,
        floor=flow.floor,
        packets_sent=None,
        packets_lost=None,
        rtt=None,
        jitter=None,
        trouble="",
    )


def planned(its: Source, surroundings: Surroundings = MU_OSU) -> Plan:
    """The plan of an experiment."""
    return plan(its.experiment, its.templates, surroundings)


def about(its: Source, whole: Plan, name: str = "first") -> About:
    """What a run of it says before its first trial."""
    return About(
        experiment=its.experiment.name,
        run=name,
        title=its.experiment.title,
        source=its.experiment.source,
        follows=its.experiment.follows,
        seed=its.experiment.seed,
        scale=whole.scale,
        sizes=whole.sizes,
        repetitions=its.experiment.repetitions,
        policies=its.experiment.policies,
        began_at=BEGAN,
        ended_at=BEGAN + 60,
        planned=len(whole.trials),
        digest=its.digest(),
        state=State.COMPLETE,
        platform={"name": "synthetic", "why": "made up by a generator", "lacks": "everything"},
        versions={"adon": "0.1.0", "Open vSwitch": "3.1.0"},
        machine={"processors": "2", "kernel": "Linux 6.1"},
    )


def run(
    its: Source | None = None,
    surroundings: Surroundings = MU_OSU,
    *,
    name: str = "first",
    noise: float = 0.02,
    only: int | None = None,
) -> Run:
    """A whole run.

    :param only: as if it had been interrupted after so many trials.
    """
    its = source() if its is None else its
    whole = planned(its, surroundings)
    found = [carried_out(trial, surroundings, noise) for trial in whole.trials[:only]]
    tables = Tables()
    for _, more in found:
        tables = with_more(tables, more)
    said = replace(about(its, whole, name), trials=tuple(done for done, _ in found))
    if only is not None and only < len(whole.trials):
        said = replace(said, state=State.PARTIAL, why="interrupted")
    return Run(said, tables)


def make_row(name: str = "a", **changes: Any) -> FlowRow:
    """Return the row of a flow that ended."""
    row = FlowRow(
        trial=1, flow=name, flow_id="f", template="t", source="mu-dtn", destination="osu-dtn",
        state="finished", path="al2s", paths="al2s", asked=1.0, decided=1.5, began=2.0, ended=12.0,
        size=1000, received=1000, streams=1, window=None, priority=500, deadline=None, floor=None,
        packets_sent=None, packets_lost=None, rtt=None, jitter=None, trouble="",
    )  # fmt: skip
    return row._replace(**changes)


def write_run(path: Path, run: Run, *, over: bool = True) -> Folder:
    """Write a run to a folder, trial by trial."""
    its = source()
    made = Folder(path, its.text, run.about, named_files(its))
    rows = run.tables.by_trial()
    for trial in run.about.trials:
        made.add(trial, rows[trial.number])
    if over:
        made.finish(run.about.ended_at)
    return made
