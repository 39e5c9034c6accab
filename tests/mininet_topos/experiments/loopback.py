"""A testbed whose hosts are all this machine: trials without switches, with real programs and bytes."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from types import SimpleNamespace
from typing import Any, cast

from adon.api.measurements import MeasurementView, OverlapView
from measurement.model import Metric
from mininet_topos.experiments.loading import parse_experiment
from mininet_topos.experiments.plan import Trial, plan_trials
from mininet_topos.experiments.references import check_references
from mininet_topos.experiments.trial_setup import TestLog, TrialSetup
from mininet_topos.testbed import LinkChange, Testbed
from mininet_topos.topologies.campus_topo import CampusTopo
from mininet_topos.topology_catalog import load_topology
from tests.mininet_topos.traffic import loopback

HERE = str(IPv4Address("127.64.0.0") + os.getpid() % (1 << 22))
"""All of 127.0.0.0/8 is loopback.  A trial's seed draws its ports, so each process needs its own address."""


def loopback_topology() -> CampusTopo:
    """Return mu_osu with one loopback address for every DTN."""
    topo = load_topology("mu_osu")
    for campus in topo.campuses.values():
        for dtn in campus.dtns.values():
            dtn.address = HERE
    for path in topo.paths.values():
        path.addresses = dict.fromkeys(path.addresses, HERE)
    return topo


UNDO = LinkChange(up=True, rate=42.0)


@dataclass
class LoopbackTestbed:
    """Runs programs here; keeps the rules and changes of circuits that it is given."""

    topo: CampusTopo = field(default_factory=loopback_topology)
    rules: list[tuple[str, ...]] = field(default_factory=list)
    changes: list[tuple[str, LinkChange]] = field(default_factory=list)

    popen = staticmethod(loopback.popen)

    @property
    def switches(self) -> Any:
        """Switches whose ``ovs-ofctl`` only keeps its arguments."""
        return SimpleNamespace(ofctl=lambda *words: self.rules.append(words) or "")

    def change_link(self, circuit: str, change: LinkChange) -> LinkChange:
        """Keep the change, and return another one to undo it."""
        self.changes.append((circuit, change))
        return UNDO


@dataclass
class Archive:
    """Answers as ADON's API does, from a list of test results."""

    results: list[MeasurementView] = field(default_factory=list)
    overlapping: list[OverlapView] = field(default_factory=list)

    def measurements(self, **_query: str) -> list[MeasurementView]:
        """Return the results, the newest first."""
        return self.results[::-1]

    def overlaps(self, since: str) -> list[OverlapView]:
        """Return pairs of runs."""
        return self.overlapping

    def add(self, path: str, started: float, value: float = 1e6) -> None:
        """Add a throughput test."""
        self.results.append(
            MeasurementView(
                path=path,
                source="mu",
                destination="osu",
                metric=Metric.THROUGHPUT,
                value=value,
                unit="bit/s",
                started_at=started,
                observed_at=started + 0.1,
                origin="test",
                tool="iperf3",
                parameters={},
            )
        )


def make_trial(
    workload: str,
    events: str = "[]",
    policy: str = "always al2s",
    *,
    limit: str = "60 s",
    rest: str = "measuring: {throughput: null, rtt: null, latency: null}",
) -> Trial:
    """Return the only trial of a document."""
    text = f"""
experiment: loop
title: On loopback
network: mu_osu
templates: [soykb]
policies: [{policy}]
limit: {limit}
repetitions: 1
workload: {workload}
events: {events}
{rest}
"""
    read = parse_experiment(text, "loop.yaml")
    check_references(read, loopback_topology())
    (trial,) = plan_trials(read.experiment, loopback_topology())
    return trial


def make_setup(trial: Trial, testbed: LoopbackTestbed, archive: Archive | None = None) -> TrialSetup:
    """Return a trial that is ready, whose policy pins its flows."""
    return TrialSetup(cast(Testbed, testbed), testbed.topo, trial, TestLog(cast(Any, archive), 0.0))
