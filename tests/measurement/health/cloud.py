"""A cloud that is only thought of: agents that answer orders from a table, and note who met whom."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from measurement.health.model import Pair
from measurement.instances import Instance
from measurement.probes.findings import (
    FailureCause,
    Finding,
    ProbeError,
    ProbeFailure,
    ProbeReport,
    RoundTrips,
    SandwichDelays,
    TrainResult,
    TransferResult,
)
from measurement.probes.probe_types import (
    Probe,
    ProbeOrder,
    Sandwich,
    SandwichBack,
    Throughput,
    Train,
    TrainBack,
)

THERE, BACK = (Train, Throughput), (TrainBack, SandwichBack)


@dataclass(slots=True)
class Cloud:
    """Its instances and what they see of each other.

    :param rtt, rate, widened: of a pair; the last is what sandwiches find.
    :param seen: as whom others see somebody, if not as who it is.
    :param dead: who answers nobody; their agents are gone, too.
    :param unheard: pairs whose sources hear nothing of the other, though it is there.
    :param after: so many orders after which an instance is gone.
    :param busy: so many trains and transfers of a pair that are refused first.
    :param refuses: whether the order is, rather than the probe in it.
    """

    names: Collection[str]
    rtt: Callable[[Pair], float] = lambda _: 0.01
    rate: Callable[[Pair], float] = lambda _: 1e9
    widened: Callable[[Pair], float] = lambda _: 1e-4
    dead: set[str] = field(default_factory=set)
    unheard: set[Pair] = field(default_factory=set)
    after: dict[str, int] = field(default_factory=dict)
    busy: dict[Pair, int] = field(default_factory=dict)
    refuses: bool = False
    takes: float = 0.0
    seen: dict[str, str] = field(default_factory=dict)
    loading: set[Pair] = field(default_factory=set)
    met: list[frozenset[Pair]] = field(default_factory=list)
    lights: int = 0
    most_lights: int = 0
    connected: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    orders: list[tuple[str, ProbeOrder]] = field(default_factory=list)

    @property
    def instances(self) -> tuple[Instance, ...]:
        return tuple(Instance(name, f"192.0.2.{number}") for number, name in enumerate(self.names, 1))

    async def connect(self, instance: Instance) -> Agent:
        if instance.name in self.dead:
            raise ProbeError(FailureCause.UNREACHABLE, "nobody is there")
        self.connected.append(instance.name)
        return Agent(self, instance.name)


@dataclass(slots=True)
class Agent:
    cloud: Cloud
    name: str

    async def probe(self, order: ProbeOrder) -> ProbeReport:
        cloud, pair = self.cloud, Pair(self.name, order.target.name)
        if self.name in cloud.after:
            cloud.after[self.name] -= 1
            if cloud.after[self.name] < 0:
                cloud.dead.add(self.name)
        if self.name in cloud.dead:
            raise ProbeError(FailureCause.VANISHED, "the connection is closed")
        cloud.orders.append((self.name, order))
        heavy = any(isinstance(one, Train | Throughput) for one in order.probes)
        refused = tuple[type, ...]()
        for way, kinds in ((pair, THERE), (pair.back, BACK)):
            if any(isinstance(one, kinds) for one in order.probes) and cloud.busy.get(way, 0) > 0:
                cloud.busy[way] -= 1
                refused += kinds
        if refused:
            if cloud.refuses:
                raise ProbeError(FailureCause.BUSY, "as many as may are under way")
            busy = ProbeFailure(FailureCause.BUSY, "others are under way")
            findings = (
                busy if isinstance(one, refused) else self._finding(one, pair) for one in order.probes
            )
            return ProbeReport(tuple(findings), 0.0, 1.0)
        if heavy:
            cloud.loading.add(pair)
            cloud.met.append(frozenset(cloud.loading))
        cloud.lights += not heavy
        cloud.most_lights = max(cloud.most_lights, cloud.lights)
        await asyncio.sleep(cloud.takes)
        cloud.lights -= not heavy
        cloud.loading.discard(pair)
        seen = cloud.seen.get(self.name, self.name)
        return ProbeReport(tuple(self._finding(one, pair) for one in order.probes), 0.0, 1.0, self.name, seen)

    async def close(self) -> None:
        self.cloud.closed.append(self.name)

    def _finding(self, probe: Probe, pair: Pair) -> Finding:
        cloud = self.cloud
        gone = pair.destination in cloud.dead or pair in cloud.unheard
        match probe:
            case Train(shape=shape) | TrainBack(shape=shape):
                rate = cloud.rate(pair if isinstance(probe, Train) else pair.back)
                if gone:
                    return ProbeFailure(FailureCause.VANISHED, "no answer")
                return TrainResult(rate, rate, 0.0, False, "", shape, 0.01, 0.1, 0, ())
            case Throughput(intervals=count, interval=length):
                if gone:
                    return ProbeFailure(FailureCause.UNREACHABLE, "no answer")
                return TransferResult(length, (int(cloud.rate(pair) * length / 8),) * count)
            case Sandwich(count=count):
                return SandwichDelays((None if gone else cloud.widened(pair),) * count, 1472)
            case SandwichBack() if gone:
                return ProbeFailure(FailureCause.VANISHED, "no answer")
            case SandwichBack(count=count):
                return SandwichDelays((cloud.widened(pair.back),) * count, 1472)
            case _:
                rtt = None if gone else cloud.rtt(pair)
                return RoundTrips((rtt,) * getattr(probe, "count", 1))


def conflicts(met: Iterable[Collection[Pair]]) -> list[Collection[Pair]]:
    """Of those that went on at the same time, who had an instance in common."""
    return [its for its in met if len({name for pair in its for name in pair}) < 2 * len(its)]
