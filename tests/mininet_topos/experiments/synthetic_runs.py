"""Runs that a small generator makes, so that readers of runs need no testbed.

Each second the streams on a path share its goodput evenly; a flow's rate deviates by noise from its trial's
seed.  A flow takes its pinned path, the path of ``always``, or the path with the most left per stream.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from mininet_topos.experiments.document import Moment, Phase
from mininet_topos.experiments.loading import ExperimentFile, parse_experiment
from mininet_topos.experiments.plan import PlannedFlow, Trial, paths_between, plan_trials, size_divisor
from mininet_topos.experiments.results import (
    ROWS,
    Completion,
    DecisionRow,
    EventRow,
    FlowRow,
    FlowState,
    MeasurementRow,
    RunInfo,
    RunResult,
    Tables,
    ThroughputRow,
    TrialRecord,
)
from mininet_topos.topologies.campus_topo import CampusTopo
from mininet_topos.topology_catalog import load_topology

BEGAN = 1_795_000_000.0


@cache
def mu_osu(scale: float = 100.0) -> CampusTopo:
    """Return the topology that the documents name."""
    return load_topology("mu_osu", scale)


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
  alone: {soykb.path: al2s, neuroblastoma.path: internet}
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


def join_tables(*tables: Tables) -> Tables:
    """Return the rows of several tables, one after the other."""
    return Tables(*([row for one in tables for row in getattr(one, name)] for name in ROWS))


def load_figure_21(text: str = FIGURE_21) -> ExperimentFile:
    """Return an experiment from its text."""
    return parse_experiment(text, "figure-21.yaml")


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
    topo: CampusTopo
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
        ways = paths_between(self.topo, flow.source, flow.destination)
        return max(ways, key=lambda name: ways[name].goodput / (1 + self.streams(name)))

    def streams(self, path: str) -> int:
        return sum(m.flow.streams for m in self.moving.values() if m.path == path and m.ended is None)

    def time_of(self, moment: Moment) -> float | None:
        moving = self.moving.get(moment.of)
        if moving is None:
            return None
        at = moving.ended if moment.what is Phase.ENDS else moving.began
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
        share = self.topo.paths[one.path].goodput * one.flow.streams / self.streams(one.path)
        return share if one.flow.rate is None else min(share, one.flow.rate)


def run_trial(
    trial: Trial, topo: CampusTopo, noise: float = 0.02, limit: float = 900.0
) -> tuple[TrialRecord, Tables]:
    """Return a trial's record and rows."""
    chance = random.Random(trial.seed)
    world = _World(trial, topo, noise)
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
        for path, way in topo.paths.items()
    ]
    events = [
        EventRow(trial.number, event.at or 5.0, event.name, event.kind, "begins", "as ordered", "")
        for event in trial.events
    ]
    done = TrialRecord(
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
        state=state,
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
        floor=flow.floor,
        packets_sent=None,
        packets_lost=None,
        jitter=None,
        problem="",
    )


def describe_run(its: ExperimentFile, topo: CampusTopo | None = None) -> RunInfo:
    """Return what a run of an experiment says before its first trial."""
    experiment, topo = its.experiment, topo or mu_osu()
    return RunInfo(
        experiment=experiment.experiment,
        scale=topo.scale,
        sizes=size_divisor(experiment, topo),
        planned=len(plan_trials(experiment, topo)),
        began_at=BEGAN,
        ended_at=BEGAN + 60,
        completion=Completion.COMPLETE,
        platform={"name": "synthetic"},
        versions={"adon": "0.1.0"},
        machine={"processors": "2"},
    )


def make_run(its: ExperimentFile, *, noise: float = 0.02, only: int | None = None) -> RunResult:
    """Return a run; only its first trials if ``only`` is given."""
    trials = plan_trials(its.experiment, mu_osu())
    found = [run_trial(trial, mu_osu(), noise) for trial in trials[:only]]
    info = replace(describe_run(its), trials=tuple(record for record, _ in found))
    if len(found) < len(trials):
        info = replace(info, completion=Completion.PARTIAL, reason="interrupted")
    return RunResult(info, join_tables(*(tables for _, tables in found)))


def make_row(name: str = "a", **changes: Any) -> FlowRow:
    """Return the row of a flow that ended."""
    row = FlowRow(
        trial=1, flow=name, flow_id="f", template="t", source="mu-dtn", destination="osu-dtn",
        state=FlowState.FINISHED, path="al2s", paths="al2s", asked=1.0, decided=1.5, began=2.0, ended=12.0,
        size=1000, received=1000, streams=1, window=None, priority=500, floor=None,
        packets_sent=None, packets_lost=None, jitter=None, problem="",
    )  # fmt: skip
    return row._replace(**changes)
