"""A snapshot, taken: the shell around trains, trials and what is inferred from them.

Each instance's agent is connected to once.  First all hops are counted, for they say which pairs could meet
on a link; then every pair has a train, as many at a time as do not meet; then some paths have a transfer,
alone, and then together, for what they share; at last some paths are looked at for others' traffic, by one
connection and then by two.  A transfer is compared with a transfer, and a path that had one has its rate from
there; where others' traffic is known, a path's rate is that of its narrowest link, of which one connection
has a (c + 1)th.  What goes wrong with one pair is written down with it; the rest goes on, and what there is
is kept also when it is stopped.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import permutations

from measurement.health.model import Pair
from measurement.health.round_schedule import rounds as mesh_rounds
from measurement.instances import Instance
from measurement.job_queue import run_jobs, run_until_stopped
from measurement.probes.agent_client import AgentPool, ConnectAgent, MissingReport
from measurement.probes.findings import (
    CrossTrafficResult,
    HopCount,
    ProbeFailure,
    ProbeReport,
    TrainResult,
    TransferResult,
)
from measurement.probes.probe_types import LONGEST, CrossTraffic, Hops, Probe, ProbeOrder, Throughput, Train
from measurement.snapshot.bottlenecks import Shared, Tried, infer
from measurement.snapshot.concurrent import Trial, plan, rounds
from measurement.snapshot.cross_traffic_paths import sample
from measurement.snapshot.model import Snapshot
from measurement.snapshot.racks import Level, Tree, tree
from measurement.snapshot.snapshot_options import USUAL, SnapshotOptions, SnapshotResult
from measurement.snapshot.turns import Turns

PATIENCE_S = 20.0
"""How long a report may take beyond what its probes do."""
HOPS_AT_ONCE = 4
"""Of one instance."""
LONGEST_BULK_S = LONGEST / 2
"""Of each of the two transfers that look for others' traffic."""
SAMPLE_S = 0.1
"""Only their mean counts, but that leaves out TCP's beginning, so one sample would be too few."""
ALONE_LIMITED = "a second connection takes nothing from the first"


async def take_snapshot(
    instances: Sequence[Instance],
    connect: ConnectAgent,
    how: SnapshotOptions = USUAL,
    *,
    stop: asyncio.Event | None = None,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    clock: Callable[[], float] = time.time,
) -> SnapshotResult:
    """Measure all pairs.

    :param stop: when it is set nothing more is begun, what is under way is left, and the rest is kept.
    :param progress: told what is done, how much of it, and of how much.
    """
    work = _Work(AgentPool({one.name: one for one in instances}, connect), how, progress)
    began, stopped = clock(), stop or asyncio.Event()
    try:
        await run_until_stopped(stopped, work.all)
    finally:
        await work.agents.close()
    return work.taken(began, stopped.is_set())


@dataclass(slots=True)
class _Work:
    """A snapshot under way."""

    agents: AgentPool
    how: SnapshotOptions
    progress: Callable[[str, int, int], None]
    trains: dict[Pair, float] = field(default_factory=dict)
    alone: dict[Pair, float] = field(default_factory=dict)
    rtts: dict[Pair, float] = field(default_factory=dict)
    hops: dict[Pair, int] = field(default_factory=dict)
    missing: dict[Pair, str] = field(default_factory=dict)
    tried: list[Tried] = field(default_factory=list)
    trials: int = 0
    crossing: dict[Pair, float] = field(default_factory=dict)
    links: dict[Pair, float] = field(default_factory=dict)
    uncrossed: dict[Pair, str] = field(default_factory=dict)

    async def all(self) -> None:
        """Everything, in its order."""
        await self.agents.connect_to(self.agents.names)
        pairs = [pair for its in mesh_rounds(self._pairs()) for pair in its]
        await self._count_hops(pairs)
        found = self._tree()
        await self._each("trains", Turns(found, pairs, self.how.trains_at_once), self._train)
        if self.how.width:
            trials = plan(found, self.trains, self.how.width)
            self.trials = len(trials)
            paths = dict.fromkeys(path for trial in trials for path in trial.paths)
            turns = Turns(found, paths, self.how.transfers_at_once)
            await self._each("transfers", turns, self._transfer_alone)
            await self._try(found, trials)
        if self.how.crossing:
            paths = dict.fromkeys(sample({**self.trains, **self.alone}, self.how.crossing))
            turns = Turns(found, paths, self.how.transfers_at_once)
            await self._each("others' traffic", turns, self._cross)

    def taken(self, at: float, stopped: bool) -> SnapshotResult:
        """What there is so far."""
        rates = {**self.trains, **self.alone, **self.links}
        known = [each for each in self.tried if len(each.together) > 1]
        shared = infer(self.alone, known) if known else Shared({}, frozenset(), ())
        found = self._tree()
        transferred = self.alone.keys() | self.links.keys()
        missing = {
            pair: self.missing.get(pair, "was not measured") for pair in self._pairs() if pair not in rates
        }
        snapshot = Snapshot(
            at,
            tuple(self.agents.names),
            rates,
            rtts=self.rtts,
            hops=self.hops,
            crossing=self.crossing,
            hoses=shared.hoses,
            bottlenecks=shared.bottlenecks(rates),
            racks=tuple(group for group in found.groups[Level.RACK] if len(group) > 1),
            how={pair: "transfer" if pair in transferred else "train" for pair in rates},
            missing=missing,
        )
        failed = self.trials - len(known)
        return SnapshotResult(
            snapshot, found.faults, shared.constant, self.trials, failed, self.uncrossed, stopped
        )

    def _pairs(self) -> list[Pair]:
        return [Pair(*each) for each in permutations(self.agents.names, 2)]

    def _tree(self) -> Tree:
        return tree([*self.agents.names], self.hops)

    async def _count_hops(self, pairs: Sequence[Pair]) -> None:
        """A packet or few for each pair: they may overlap."""
        room = {name: asyncio.Semaphore(HOPS_AT_ONCE) for name in self.agents.names}
        done = 0

        async def one(pair: Pair) -> None:
            nonlocal done
            async with room[pair.source]:
                report = await self._ask(pair, (Hops(),))
            match report.findings if report is not None else ():
                case (HopCount(count=int(count)),):
                    self.hops[pair] = count
            done += 1
            self.progress("hops", done, len(pairs))

        await asyncio.gather(*map(one, pairs))

    async def _each(self, what: str, turns: Turns, one: Callable[[Pair], Awaitable[None]]) -> None:
        """Something for each path when its turn comes."""
        of, done = len(turns), 0

        def ended(_: None) -> None:
            nonlocal done
            done += 1
            self.progress(what, done, of)

        await run_jobs(turns, one, ended)

    async def _train(self, pair: Pair) -> None:
        report = await self._ask(pair, (Train(self.how.shape),))
        if report is None:
            return
        for finding in report.findings:
            match finding:
                case TrainResult(rate=rate, rtt=rtt, why=why):
                    if rtt is not None:
                        self.rtts[pair] = rtt
                    if rate is None:
                        self.missing[pair] = f"train: {why}"
                    else:
                        self.trains[pair] = rate
                case ProbeFailure(why=why, text=text):
                    self.missing[pair] = f"train: {text or why}"

    async def _transfer_alone(self, pair: Pair) -> None:
        rate = await self._transfer(pair)
        if rate is not None:
            self.alone[pair] = rate

    async def _try(self, found: Tree, trials: Sequence[Trial]) -> None:
        """The trials, those of a round at the same time."""
        made = 0
        for its in rounds(found, trials):
            # One trial's connections are together or are no trial, however many may be at once.
            at_once = len(its) if self.how.transfers_at_once is None else 1
            for start in range(0, len(its), at_once):
                self.tried += await asyncio.gather(*map(self._together, its[start : start + at_once]))
            made += len(its)
            self.progress("trials", made, len(trials))

    async def _together(self, trial: Trial) -> Tried:
        # Who has no rate alone has nothing to be compared with.
        paths = [path for path in trial.paths if path in self.alone]
        rates = await asyncio.gather(*map(self._transfer, paths))
        found = {path: rate for path, rate in zip(paths, rates, strict=True) if rate is not None}
        # Where one was missing the others had more than they will have.
        return Tried(trial, found if len(found) == len(trial.paths) else {})

    async def _transfer(self, pair: Pair) -> float | None:
        report = await self._ask(pair, (Throughput(self.how.intervals, self.how.interval),))
        match report.findings if report is not None else ():
            case (TransferResult(rates=rates),) if any(rates):
                return statistics.median(rates[1:])
        return None

    async def _cross(self, pair: Pair) -> None:
        seconds = min(LONGEST_BULK_S, 2 * self.how.intervals * self.how.interval)
        report = await self._ask(pair, (CrossTraffic(seconds, SAMPLE_S),), 2 * seconds, self.uncrossed)
        for finding in report.findings if report is not None else ():
            match finding:
                case CrossTrafficResult(link=float(link), mean=float(mean)):
                    self.links[pair], self.crossing[pair] = link, mean
                case CrossTrafficResult(rates=rates):
                    self.uncrossed[pair] = ALONE_LIMITED if any(rates) else "nothing came through"
                case ProbeFailure(why=why, text=text):
                    self.uncrossed[pair] = text or why

    async def _ask(
        self,
        pair: Pair,
        probes: tuple[Probe, ...],
        seconds: float | None = None,
        missing: dict[Pair, str] | None = None,
    ) -> ProbeReport | None:
        """A report, or the reason why there is none written down.

        :param seconds: that the probes take, if not as long as a transfer.
        :param missing: where the reason belongs, if not to the path's rate.
        """
        reasons = self.missing if missing is None else missing
        takes = self.how.intervals * self.how.interval if seconds is None else seconds
        try:
            order = ProbeOrder(self.agents.names[pair.destination], probes)
            return await self.agents.request_report(pair.source, order, PATIENCE_S + takes)
        except MissingReport as error:
            reasons.setdefault(pair, str(error))
            return None
