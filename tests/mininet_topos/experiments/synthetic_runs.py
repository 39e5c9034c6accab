"""Runs that a small generator makes, so that readers of runs need no testbed.

The streams of all flows on a path share its goodput evenly; a flow's rate deviates by noise from its trial's
seed.  A flow takes its pinned path, the path of ``always``, or layer 2.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from mininet_topos.experiments.document import Moment, Phase
from mininet_topos.experiments.loading import ExperimentFile, parse_experiment
from mininet_topos.experiments.plan import PlannedFlow, Trial, plan_trials, size_divisor
from mininet_topos.experiments.results import (
    ROWS,
    DecisionRow,
    EventRow,
    FlowRow,
    FlowState,
    MeasurementRow,
    MomentRow,
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
  contended-10-gb: {of: completion_time, flow: soykb, where: {case: contended, soykb.size: 10 GB}}
checks:
  - check: 25 GB over layer 3 beats contended layer 2
    ratio: [contended, routed]
    between: [1.15, 3]
    paper: 1.3
  - check: larger takes longer
    ratio: [contended, contended-10-gb]
    between: [1, null]
  - check: layer 3 is as fast as layer 2
    value: routed
    between: [null, 10 s]
    paper: 308 s
    discrepancy: no publication claims this
plots:
  - plot: Time by size
    y: time
    x: soykb.size
    by: case
  - plot: Throughput by size
    y: rate
    x: soykb.size
    by: case
  - plot: Second by second
    kind: timeline
"""


def join_tables(*tables: Tables) -> Tables:
    """Return the rows of several tables, one after the other."""
    return Tables(*([row for one in tables for row in getattr(one, name)] for name in ROWS))


def load_figure_21(text: str = FIGURE_21) -> ExperimentFile:
    """Return an experiment from its text."""
    return parse_experiment(text, "figure-21.yaml")


@dataclass
class _Schedule:
    """Start and end of each flow of a trial, in seconds.

    :param rates: bits/s of each flow.
    """

    flows: dict[str, PlannedFlow]
    rates: dict[str, float]

    def start(self, name: str) -> float:
        flow = self.flows[name]
        return flow.at or 0.0 if flow.after is None else self.time_of(flow.after)

    def end(self, name: str) -> float:
        flow = self.flows[name]
        if flow.size is not None:
            return self.start(name) + flow.size * 8 / self.rates[name]
        if flow.lasts is not None:
            return self.start(name) + flow.lasts
        assert flow.until is not None
        return self.time_of(flow.until)

    def time_of(self, moment: Moment) -> float:
        find = self.end if moment.what is Phase.ENDS else self.start
        return find(moment.of) + moment.wait


def run_trial(trial: Trial, topo: CampusTopo, noise: float = 0.02) -> tuple[TrialRecord, Tables]:
    """Return a trial's record and rows."""
    chance = random.Random(trial.seed)
    path = trial.policy.removeprefix("always ") if trial.policy.startswith("always ") else "al2s"
    paths = {flow.name: flow.path or path for flow in trial.flows}
    shares = {
        flow.name: flow.streams
        / sum(one.streams for one in trial.flows if paths[one.name] == paths[flow.name])
        for flow in trial.flows
    }
    rates = {
        name: topo.paths[paths[name]].goodput * share * (1 + noise * chance.uniform(-1, 1))
        for name, share in shares.items()
    }
    schedule = _Schedule({flow.name: flow for flow in trial.flows}, rates)
    flows, seconds, decisions = [], [], []
    for flow in trial.flows:
        start, end = schedule.start(flow.name), schedule.end(flow.name)
        row = _row(trial, flow, paths[flow.name], start, end, rates[flow.name])
        flows.append(row)
        decisions.append(
            DecisionRow(trial.number, start, flow.name, "admit", row.paths, None, 7.5, "it is best")
        )
        for second in range(int(end - start)):
            received = round(rates[flow.name] / 8)
            seconds.append(ThroughputRow(trial.number, start + second, flow.name, row.paths, received))
    last = max(row.ended or 0.0 for row in flows)
    tests = [
        MeasurementRow(trial.number, float(at), path, "mu", "osu", "throughput", way.goodput)
        for at in range(0, int(last), 20)
        for path, way in topo.paths.items()
    ]
    events = [
        EventRow(trial.number, event.at or 5.0, event.name, "begins", "as ordered", "")
        for event in trial.events
    ]
    done = TrialRecord(
        trial.number, trial.key, trial.policy, trial.point, trial.repetition, trial.seed, BEGAN, last
    )
    moments = [moment for row in flows for moment in list_moments(row)]
    return done, Tables(flows, seconds, tests, decisions, moments, events)


def list_moments(row: FlowRow) -> list[MomentRow]:
    """Return the moments of a flow that its row has."""
    times = {Phase.ASKED: row.asked, Phase.BEGINS: row.began, Phase.ENDS: row.ended}
    return [MomentRow(row.trial, at, row.flow, what) for what, at in times.items() if at is not None]


def _row(trial: Trial, flow: PlannedFlow, path: str, start: float, end: float, rate: float) -> FlowRow:
    return FlowRow(
        trial=trial.number,
        flow=flow.name,
        template=flow.template,
        source=flow.source,
        destination=flow.destination,
        state=FlowState.FINISHED,
        paths=path,
        asked=start,
        began=start + 0.2,
        ended=end,
        size=flow.size,
        received=flow.size or round(rate / 8 * (end - start)),
        streams=flow.streams,
        priority=flow.priority,
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
        partial="",
        platform={"name": "synthetic"},
        machine={"processors": "2", "adon": "0.1.0"},
    )


def make_run(its: ExperimentFile, *, noise: float = 0.02, only: int | None = None) -> RunResult:
    """Return a run; only its first trials if ``only`` is given."""
    trials = plan_trials(its.experiment, mu_osu())
    found = [run_trial(trial, mu_osu(), noise) for trial in trials[:only]]
    info = replace(describe_run(its), trials=tuple(record for record, _ in found))
    if len(found) < len(trials):
        info = replace(info, partial="interrupted")
    return RunResult(info, join_tables(*(tables for _, tables in found)))


def make_row(name: str = "a", **changes: Any) -> FlowRow:
    """Return the row of a flow that ended."""
    row = FlowRow(
        trial=1, flow=name, template="t", source="mu-dtn", destination="osu-dtn",
        state=FlowState.FINISHED, paths="al2s", asked=1.0, began=2.0, ended=12.0,
        size=1000, received=1000, streams=1, window=None, priority=500, floor=None,
        packets_sent=None, packets_lost=None, jitter=None, problem="",
    )  # fmt: skip
    return row._replace(**changes)
