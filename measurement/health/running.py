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
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from measurement.health.agenda import Agenda
from measurement.health.couples import at_once as asked_at_once
from measurement.health.couples import couples
from measurement.health.model import Found, Pair
from measurement.health.orders import (
    USUAL,
    Probing,
    both_ways,
    joined,
    lasts,
    lasts_both_ways,
    order,
    read,
    split,
    together,
)
from measurement.health.planning import FREE, Limits, Plan
from measurement.health.record import Failure, ProbeKind, RoundRecord
from measurement.instances import Instance
from measurement.probes.findings import Failed, Finding, ProbeError, Report
from measurement.probes.findings import Failure as Cause
from measurement.probes.orders import Order, SandwichBack

CONNECTING_AT_ONCE = 32
GONE = "its agent does not answer any more"
ITS_END = frozenset({Cause.UNREACHABLE, Cause.VANISHED, Cause.DENIED, Cause.VERSION})
"""After these nothing more can be asked over a connection."""


class Asked(Protocol):
    """An instance's agent, connected to (:class:`measurement.probes.client.Agent`)."""

    async def probe(self, order: Order) -> Report:
        """Have it probe another.

        :raises ProbeError: if it does not answer itself, or not such an order.
        """

    async def close(self) -> None:
        """End the connection."""


Connect = Callable[[Instance], Awaitable[Asked]]


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
        paths whoever asks, are then taken once.  Each of the two has no other train meanwhile.  If nothing
        came, or one of the two agents is gone, each direction is asked for by itself.  Implies ``together``.
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
    connect: Connect,
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
    work = _Work(names, connect, how, stopped, progress)
    try:
        await work.do(plan)
    finally:
        await work.close()
    verifying = [pair for its in plan.transfers for pair in its]
    in_trains = {pair for its in plan.trains for pair in its}
    verified = {pair: work.carried[pair] for pair in verifying if pair in work.carried and pair in in_trains}
    by_transfer = {pair: work.carried[pair] for pair in work.carried.keys() - in_trains}
    found = dict(work.found)
    for pair, rates in by_transfer.items():
        found[pair] = replace(found.get(pair, Found()), throughput=rates)
    return RoundRecord(
        began,
        max(began, clock()),
        tuple(instances),
        plan.pairs,
        found,
        profile,
        frozenset(by_transfer),
        translated=frozenset(work.translated),
        verified=verified,
        failures=tuple(sorted(work.failures, key=lambda one: (one.pair, one.kind))),
        interrupted="it was stopped" if stopped.is_set() else "",
        from_other_side=frozenset(work.from_other_side),
    )


@dataclass(slots=True)
class _Work:
    """A round under way.

    :param agents: who was connected to; None for who is gone.
    :param carried: what transfers gave, by pair.
    :param with_trains: pairs whose light probes are asked for with their trains.
    :param coupled: pairs that are still to be asked for with their way back.
    """

    names: Mapping[str, Instance]
    connect: Connect
    how: Running
    stop: asyncio.Event
    progress: Callable[[Progress], None]
    agents: dict[str, Asked] = field(default_factory=dict)
    gone: dict[str, str] = field(default_factory=dict)
    found: dict[Pair, Found] = field(default_factory=dict)
    carried: dict[Pair, tuple[float, ...]] = field(default_factory=dict)
    translated: set[Pair] = field(default_factory=set)
    from_other_side: set[Pair] = field(default_factory=set)
    with_trains: set[Pair] = field(default_factory=set)
    coupled: set[Pair] = field(default_factory=set)
    failures: list[Failure] = field(default_factory=list)

    async def do(self, plan: Plan) -> None:
        """All of it, or what there is time for until it is stopped."""
        await self._unless_stopped(partial(self._connect, {pair.source for pair in plan.pairs}))
        if self.how.together or self.how.both_ways:
            self.with_trains = {pair for its in plan.trains for pair in its} & {*plan.light}
        if self.how.both_ways:
            self.coupled = {*couples(self.with_trains)}
        light = [pair for pair in plan.light if pair not in self.with_trains]
        if light:
            await self._unless_stopped(partial(self._light, light))
        for kind, its, at_once in (
            (ProbeKind.TRAIN, plan.trains, self.how.trains_at_once),
            (ProbeKind.TRANSFER, plan.transfers, self.how.transfers_at_once),
        ):
            pairs = [pair for each in its for pair in each]
            if pairs:
                await self._unless_stopped(partial(self._loading, kind, pairs, at_once))

    async def close(self) -> None:
        """End all connections."""
        await asyncio.gather(*(agent.close() for agent in self.agents.values()), return_exceptions=True)

    async def _unless_stopped(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do something until it is done, or all is stopped."""
        if self.stop.is_set():
            return
        doing = asyncio.ensure_future(work())
        waiting = asyncio.ensure_future(self.stop.wait())
        try:
            await asyncio.wait((doing, waiting), return_when=asyncio.FIRST_COMPLETED)
            if not doing.done():
                doing.cancel()
            await asyncio.gather(doing, return_exceptions=self.stop.is_set())
        finally:
            for each in (doing, waiting):
                each.cancel()

    async def _connect(self, sources: Iterable[str]) -> None:
        room = asyncio.Semaphore(CONNECTING_AT_ONCE)

        async def one(name: str) -> None:
            async with room:
                try:
                    self.agents[name] = await self.connect(self.names[name])
                except (ProbeError, OSError) as error:
                    self.gone[name] = str(error) or type(error).__name__

        await asyncio.gather(*map(one, sorted(sources)))

    async def _light(self, pairs: Sequence[Pair]) -> None:
        count = _Count(self, ProbeKind.LIGHT, len(pairs))
        room = {name: asyncio.Semaphore(self.how.light_at_once) for name in self.names}

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
                self._failed(pair, kind, "is left out: the other timed out")
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
        under_way: dict[asyncio.Task[tuple[Pair, ...]], Pair] = {}
        try:
            while True:
                for pair in agenda.begin():
                    under_way[asyncio.ensure_future(self._entry(pair, kind, busy))] = pair
                if not under_way:
                    return
                done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    pair = under_way.pop(task)
                    agenda.done(pair)
                    count.one_more(sum(each not in busy for each in await task))
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _entry(
        self, pair: Pair, kind: ProbeKind, busy: dict[Pair, tuple[Failure, ...]]
    ) -> tuple[Pair, ...]:
        """Ask for a pair, or for a couple; which pairs that was."""
        if kind is not ProbeKind.TRAIN or pair not in self.coupled:
            await self._probe(pair, kind, busy)
            return (pair,)
        self.coupled.discard(pair)
        outcomes: Mapping[Pair, Outcome] = {}
        if self.gone.keys().isdisjoint(pair):
            outcomes = await self._asked_both_ways(pair)
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
        self._take(pair, kind, await self._asked(pair, kind), busy)

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

    async def _asked(self, pair: Pair, kind: ProbeKind) -> Outcome:
        """What came of asking for a pair."""
        asked, longest = self._order(pair, kind)
        try:
            report = await self._report(pair, asked, longest)
            return self._outcome(pair, asked, report)
        except _Untold as error:
            return error.outcome(pair, kind)
        except ValueError as error:
            return _Untold(str(error)).outcome(pair, kind)

    async def _asked_both_ways(self, pair: Pair) -> Mapping[Pair, Outcome]:
        """What came of asking a pair's source about both ways; of who is not there nobody could say."""
        back, how = pair.back, self.how.probing
        asked = both_ways(self.names[pair.destination], how)
        try:
            report = await self._report(pair, asked, lasts_both_ways(how))
            its, of_back = split(asked, report)
            there = self._outcome(pair, *its)
            if there[0] is not None and there[0].timed_out:
                return {pair: there}  # perhaps the other can say more
            other = _read(back, *of_back)
        except _Untold as error:
            if not error.refused:  # the other is still to be asked
                return {pair: error.outcome(pair, ProbeKind.TRAIN)}
            return {each: error.outcome(each, ProbeKind.TRAIN) for each in (pair, back)}
        except ValueError as error:
            return {pair: _Untold(str(error)).outcome(pair, ProbeKind.TRAIN)}
        if _refused_before_its_train(*of_back):
            return {pair: there, back: (None, other[1], True)}
        self.from_other_side.add(back)
        return {pair: there, back: other}

    async def _report(self, pair: Pair, asked: Order, longest: float) -> Report:
        """What a pair's source says.

        :raises _Untold: why it says nothing.
        """
        if pair.source in self.gone:
            raise _Untold(self.gone[pair.source])
        try:
            async with asyncio.timeout(longest):
                return await self.agents[pair.source].probe(asked)
        except TimeoutError:
            raise _Untold("no report came in time") from None
        except (ProbeError, OSError) as error:
            if isinstance(error, OSError) or error.why in ITS_END:
                self.gone.setdefault(pair.source, GONE)
            refused = isinstance(error, ProbeError) and error.why is Cause.BUSY
            raise _Untold(str(error) or type(error).__name__, refused=refused) from None

    def _outcome(self, pair: Pair, asked: Order, report: Report) -> Outcome:
        outcome = _read(pair, asked, report)
        if report.own and report.seen and report.translated:
            self.translated.add(pair)
        return outcome

    def _order(self, pair: Pair, kind: ProbeKind) -> tuple[Order, float]:
        """What to ask about a pair, and how long to wait for it."""
        target, how = self.names[pair.destination], self.how.probing
        if kind is ProbeKind.TRAIN and pair in self.with_trains:
            return together(target, how), lasts(ProbeKind.LIGHT, how) + lasts(kind, how)
        return order(kind, target, how), lasts(kind, how)

    def _keep(self, pair: Pair, kind: ProbeKind, found: Found, failures: Iterable[Failure]) -> None:
        self.failures += failures
        if kind is ProbeKind.TRANSFER:
            if any(found.throughput):
                self.carried[pair] = found.throughput
            found = replace(found, throughput=())
        if kind is ProbeKind.LIGHT or found != Found():
            self.found[pair] = joined(self.found.get(pair, Found()), found)

    def _failed(self, pair: Pair, kind: ProbeKind, why: str) -> None:
        self.failures.append(Failure(pair, kind, why))


Outcome = tuple[Found | None, tuple[Failure, ...], bool]
"""What was found, None if nobody could say; what was not; and whether that is for being busy."""


class _Untold(Exception):
    """Why who was asked says nothing.

    :param refused: whether for being busy with others.
    """

    def __init__(self, why: str, *, refused: bool = False) -> None:
        super().__init__(why)
        self.refused = refused

    def outcome(self, pair: Pair, kind: ProbeKind) -> Outcome:
        """Nothing of a pair."""
        return None, (Failure(pair, kind, f"{pair.source}: {self}"),), self.refused


def _read(pair: Pair, asked: Order, report: Report) -> Outcome:
    found, failures = read(asked, report, pair)
    return found, failures, any(_is_busy(finding) for finding in report.findings)


def _refused_before_its_train(asked: Order, report: Report) -> bool:
    """Whether a way back was refused its sandwich, too, which is not asked for again with a train alone."""
    answers = zip(asked.probes, report.findings, strict=True)
    return any(isinstance(probe, SandwichBack) and _is_busy(finding) for probe, finding in answers)


def _is_busy(finding: Finding) -> bool:
    return isinstance(finding, Failed) and finding.why is Cause.BUSY


class _Count:
    """How many of a kind are done, told as it grows."""

    def __init__(self, work: _Work, kind: ProbeKind, of: int) -> None:
        self._work, self._kind, self._of, self._done = work, kind, of, 0

    def one_more(self, count: int = 1) -> None:
        """So many more."""
        self._done += count
        self._work.progress(Progress(self._kind, self._done, self._of, len(self._work.failures)))
