"""Agents of a network that is known: they measure what max-min shares give whoever sends just then."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, field

from measurement.health.model import Pair
from measurement.instances import Instance
from measurement.probes.findings import (
    CrossTrafficResult,
    FailureCause,
    Finding,
    HopCount,
    ProbeError,
    ProbeFailure,
    ProbeReport,
    TrainResult,
    TransferResult,
)
from measurement.probes.probe_types import CrossTraffic, Hops, Probe, ProbeOrder, Throughput, Train
from measurement.probes.sequence_analysis import find_shared_link
from tests.measurement.snapshot.trees import Network


@dataclass
class Agents:
    """All of a network's.

    :param dead: who answers nobody; :param after: so many orders after which somebody is gone.
    :param alone_only: transfers that come to nothing where their source has another under way.
    :param others: c of a path; None where a second connection takes nothing from the first.
    :param under_way: who sends to whom now.
    :param met: the sets of those that did so at the same time.
    """

    network: Network
    dead: set[str] = field(default_factory=set)
    after: dict[str, int] = field(default_factory=dict)
    under_way: list[Pair] = field(default_factory=list)
    met: list[frozenset[Pair]] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    alone_only: set[Pair] = field(default_factory=set)
    others: dict[Pair, float | None] = field(default_factory=dict)
    asked: int = 0
    crossed: list[Pair] = field(default_factory=list)
    asked_of: Counter[str] = field(default_factory=Counter)

    @property
    def instances(self) -> tuple[Instance, ...]:
        return tuple(Instance(name, f"192.0.2.{number}") for number, name in enumerate(self.network.names, 1))

    async def connect(self, instance: Instance) -> Agent:
        if instance.name in self.dead:
            raise ProbeError(FailureCause.UNREACHABLE, "nobody is there")
        return Agent(self, instance.name)


@dataclass
class Agent:
    """One of them."""

    agents: Agents
    name: str

    async def probe(self, order: ProbeOrder) -> ProbeReport:
        agents, pair = self.agents, Pair(self.name, order.target.name)
        agents.asked += 1
        agents.asked_of[self.name] += 1
        if self.name in agents.after:
            agents.after[self.name] -= 1
            if agents.after[self.name] < 0:
                agents.dead.add(self.name)
        if self.name in agents.dead:
            raise ProbeError(FailureCause.VANISHED, "the connection is closed")
        return ProbeReport(tuple([await self._finding(probe, pair) for probe in order.probes]), 0.0, 1.0)

    async def close(self) -> None:
        self.agents.closed.append(self.name)

    async def _finding(self, probe: Probe, pair: Pair) -> Finding:
        agents = self.agents
        if pair.destination in agents.dead:
            return ProbeFailure(FailureCause.UNREACHABLE, f"{pair.destination} does not answer")
        if isinstance(probe, Hops):
            return HopCount(agents.network.hops()[pair])
        agents.under_way.append(pair)
        try:
            await asyncio.sleep(0)  # those that are to be together begin
            await asyncio.sleep(0)
            agents.met.append(frozenset(agents.under_way))
            if pair in agents.alone_only and sum(one.source == pair.source for one in agents.under_way) > 1:
                return ProbeFailure(FailureCause.BUSY, "another is under way")
            rate = agents.network.together([*agents.under_way])[pair]
            await asyncio.sleep(0.001)
        finally:
            agents.under_way.remove(pair)
        if isinstance(probe, Train | Throughput):
            rate /= (agents.others.get(pair) or 0.0) + 1
        match probe:
            case CrossTraffic(sample=sample):
                agents.crossed.append(pair)
                return self._load(rate, sample, agents.others.get(pair, 0.0))
            case Train(shape=shape):
                return TrainResult(rate, rate, 0.0, False, "", shape, 0.01, 0.1, 0, ())
            case Throughput(intervals=count, interval=length):
                return TransferResult(length, (0, *[int(rate * length / 8)] * (count - 1)))
        raise AssertionError(probe)

    def _load(self, link: float, sample: float, others: float | None) -> CrossTrafficResult:
        if others is None:
            return CrossTrafficResult((link,), sample, None, (), None)
        alone, each = link / (others + 1), link / (others + 2)
        found = find_shared_link(alone, each)
        assert found is not None
        return CrossTrafficResult((alone,), sample, found.rate, (found.others,), found.others)
