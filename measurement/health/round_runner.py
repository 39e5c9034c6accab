"""A round of probes, put to work: the shell around plan, agenda and orders.

Each instance's agent is connected to once, and asked for all its pairs over that connection.  Light probes
come first, several at a time for each instance, or together with the pair's train (:class:`Running`); then
trains and transfers, as the agenda has them.  One that an agent refused, being busy with others, is tried
once more when the rest is done.  Whatever goes wrong with one pair is written down with it; the round goes
on, and what it has found is kept also when it is stopped.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from measurement.health.agenda import Agenda
from measurement.health.couples import at_once as asked_at_once
from measurement.health.couples import couples
from measurement.health.model import Found, Pair
from measurement.health.order_outcomes import Agents, Outcome
from measurement.health.orders import USUAL, Probing, join_results
from measurement.health.record import Failure, ProbeKind, RoundRecord
from measurement.health.round_schedule import FREE, Limits, Plan
from measurement.instances import Instance
from measurement.job_queue import run_jobs, run_until_stopped
from measurement.probes.agent_client import AgentPool, ConnectAgent


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a round is."""

    kind: ProbeKind
    done: int
    of: int
    failures: int


@dataclass(frozen=True, slots=True)
class Running:
    """How a round is run.

    :param probing: what each probe is.
    :param limits: what may go on at the same time.
    :param light_at_once: light orders of one instance at a time.
    :param busy_pause: seconds that who was busy has, before it is asked again.
    :param together: a pair's light probes are asked for with its train, in one order.  That spares an agent
        one of two connections to the other, a good part of what the probes of a pair cost; but the two have
        no other train meanwhile, so where round trips are long the round takes longer.
    :param both_ways: where a plan has a pair and its way back, with light probes and trains, one of the two
        is asked about both in one order: half as many connections.  Round trips, which go over the same two
        paths in both directions, are then measured once.  Each of the two has no other train meanwhile.  If
        nothing came, or one of the two agents is gone, each direction is asked for by itself.  Implies
        ``together``.
    :param lights_at_once, trains_at_once, transfers_at_once: of all instances together; None for as many as
        are free.  Where the instances share a few processors, more at a time disturb each other's clocks.
    """

    probing: Probing = USUAL
    limits: Limits = FREE
    light_at_once: int = 4
    busy_pause: float = 1.0
    together: bool = False
    both_ways: bool = False
    lights_at_once: int | None = None
    trains_at_once: int | None = None
    transfers_at_once: int | None = None


async def run(
    plan: Plan,
    instances: Sequence[Instance],
    connect: ConnectAgent,
    how: Running = Running(),
    *,
    profile: str = "mesh",
    stop: asyncio.Event | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    clock: Callable[[], float] = time.time,
) -> RoundRecord:
    """Do what a plan says; what was found, without scores.

    :param stop: when it is set nothing more is begun, what is under way is left, and the rest is kept.
    :raises ValueError: for a pair of the plan that is none of the instances.
    """
    began = clock()
    names = {one.name: one for one in instances}
    for pair in plan.pairs:
        if not {*pair} <= names.keys():
            raise ValueError(f"plan: {pair.source} > {pair.destination} is no pair of the instances")
    stopped = stop or asyncio.Event()
    agents = Agents(AgentPool(names, connect), how.probing)
    work = _Work(agents, how, stopped, progress)
    try:
        await work.do(plan)
    finally:
        await agents.connections.close()
    verifying = [pair for its in plan.transfers for pair in its]
    in_trains = {pair for its in plan.trains for pair in its}
    verified = {pair: work.carried[pair] for pair in verifying if pair in work.carried and pair in in_trains}
    by_transfer = {pair: work.carried[pair] for pair in work.carried.keys() - in_trains}
    found = dict(work.found)
    for pair, rates in by_transfer.items():
        found[pair] = replace(found.get(pair, Found()), throughput=rates)
    return RoundRecord.of(
        began,
        max(began, clock()),
        tuple(instances),
        plan.pairs,
        found,
        profile,
        frozenset(by_transfer),
        translated=frozenset(agents.translated),
        verified=verified,
        failures=tuple(sorted(work.failures, key=lambda one: (one.pair, one.kind))),
        interrupted="it was stopped" if stopped.is_set() else "",
        from_other_side=frozenset(agents.from_other_side),
    )


@dataclass(slots=True)
class _Work:
    """A round under way.

    :param agents: who is asked.
    :param carried: what transfers gave, by pair.
    :param with_trains: pairs whose light probes are asked for with their trains.
    :param coupled: pairs that are still to be asked for with their way back.
    """

    agents: Agents
    how: Running
    stop: asyncio.Event
    progress: Callable[[Progress], None]
    found: dict[Pair, Found] = field(default_factory=dict)
    carried: dict[Pair, tuple[float, ...]] = field(default_factory=dict)
    with_trains: set[Pair] = field(default_factory=set)
    coupled: set[Pair] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)

    async def do(self, plan: Plan) -> None:
        """All of it, or what there is time for run_until_stopped it is stopped."""
        await run_until_stopped(
            self.stop, partial(self.agents.connections.connect_to, {pair.source for pair in plan.pairs})
        )
        if self.how.together or self.how.both_ways:
            self.with_trains = {pair for its in plan.trains for pair in its} & {*plan.light}
        if self.how.both_ways:
            self.coupled = {*couples(self.with_trains)}
        light = [pair for pair in plan.light if pair not in self.with_trains]
        if light:
            await run_until_stopped(self.stop, partial(self._light, light))
        for kind, its, at_once in (
            (ProbeKind.TRAIN, plan.trains, self.how.trains_at_once),
            (ProbeKind.TRANSFER, plan.transfers, self.how.transfers_at_once),
        ):
            pairs = [pair for each in its for pair in each]
            if pairs:
                await run_until_stopped(self.stop, partial(self._loading, kind, pairs, at_once))

    async def _light(self, pairs: Sequence[Pair]) -> None:
        count = _Count(self, ProbeKind.LIGHT, len(pairs))
        room = {name: asyncio.Semaphore(self.how.light_at_once) for name in self.agents.connections.names}

        everybody = asyncio.Semaphore(self.how.lights_at_once or len(pairs) or 1)

        async def one(pair: Pair) -> None:
            async with room[pair.source], everybody:
                await self._probe(pair, ProbeKind.LIGHT)
            count.one_more()

        await asyncio.gather(*map(one, pairs))

    async def _loading(self, kind: ProbeKind, pairs: Sequence[Pair], at_once: int | None) -> None:
        """Trains or transfers; who has timed out, or is gone, is not loaded."""
        count = _Count(self, kind, len(pairs))
        for pair in pairs:
            if self.found.get(pair, Found()).timed_out:
                self._record_failure(pair, kind, "is left out: the other timed out")
        # A transfer's acknowledgements share the way of another's data.
        limits = self.how.limits if kind is ProbeKind.TRAIN else replace(self.how.limits, duplex=False)
        left = [pair for pair in pairs if not self.found.get(pair, Found()).timed_out]
        count.one_more(len(pairs) - len(left))
        busy: dict[Pair, tuple[Failure, ...]] = {}
        entries = [*asked_at_once(left, self.coupled)]
        if self.coupled:  # trains go both ways, one after the other
            limits = replace(limits, duplex=False)
        try:
            await self._in_turn(kind, Agenda(entries, limits, at_once), count, busy)
            if busy:
                await asyncio.sleep(self.how.busy_pause)
                await self._in_turn(kind, Agenda([*busy], limits, at_once), count, busy)
        finally:
            for failures in busy.values():  # stopped before they could be tried again
                self.failures += failures

    async def _in_turn(
        self, kind: ProbeKind, agenda: Agenda, count: _Count, busy: dict[Pair, tuple[Failure, ...]]
    ) -> None:
        """Each when nothing is in its way.

        :param busy: who was refused for the first time, which does not count as done, and with what words;
            who is tried again is taken out.
        """
        await run_jobs(
            agenda,
            partial(self._entry, kind=kind, busy=busy),
            lambda pairs: count.one_more(sum(each not in busy for each in pairs)),
        )

    async def _entry(
        self, pair: Pair, kind: ProbeKind, busy: dict[Pair, tuple[Failure, ...]]
    ) -> tuple[Pair, ...]:
        """Ask for a pair, or for a couple; which pairs that was."""
        if kind is not ProbeKind.TRAIN or pair not in self.coupled:
            await self._probe(pair, kind, busy)
            return (pair,)
        self.coupled.discard(pair)
        outcomes = await self.agents.ask_both_ways(pair)
        for each in (pair, pair.back):
            if each in outcomes:
                self._take(each, kind, outcomes[each], busy)
            else:
                await self._probe(each, kind, busy)
        return pair, pair.back

    async def _probe(
        self, pair: Pair, kind: ProbeKind, busy: dict[Pair, tuple[Failure, ...]] | None = None
    ) -> None:
        """Ask, and keep what came of it.

        :param busy: where a first refusal is written down instead, if there will be a second try.
        """
        with_light = kind is ProbeKind.TRAIN and pair in self.with_trains
        self._take(pair, kind, await self.agents.ask(pair, kind, with_light=with_light), busy)

    def _take(
        self, pair: Pair, kind: ProbeKind, outcome: Outcome, busy: dict[Pair, tuple[Failure, ...]] | None
    ) -> None:
        """Keep what came of it."""
        found, failures, refused = outcome
        first = busy is not None and busy.pop(pair, None) is None
        if refused and first and busy is not None:
            busy[pair] = tuple(one for one in failures if one.kind is kind)
            if found is not None:  # light probes that came with it are done
                self.with_trains.discard(pair)
                self._keep(pair, kind, found, (one for one in failures if one.kind is not kind))
        elif found is None:
            self.failures += failures
        else:
            self._keep(pair, kind, found, failures)

    def _keep(self, pair: Pair, kind: ProbeKind, found: Found, failures: Iterable[Failure]) -> None:
        self.failures += failures
        if kind is ProbeKind.TRANSFER:
            if any(found.throughput):
                self.carried[pair] = found.throughput
            if pair in self.found and self.found[pair].throughput:
                return  # it verifies a train: it counts in no score, nor does its silence
            found = replace(found, throughput=())
        if kind is ProbeKind.LIGHT or found != Found():
            self.found[pair] = join_results(self.found.get(pair, Found()), found)

    def _record_failure(self, pair: Pair, kind: ProbeKind, why: str) -> None:
        self.failures.append(Failure(pair, kind, why))


class _Count:
    """How many of a kind are done, told as it grows."""

    def __init__(self, work: _Work, kind: ProbeKind, of: int) -> None:
        self._work, self._kind, self._of, self._done = work, kind, of, 0

    def one_more(self, count: int = 1) -> None:
        """So many more."""
        self._done += count
        self._work.progress(Progress(self._kind, self._done, self._of, len(self._work.failures)))
