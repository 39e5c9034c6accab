"""Asking instances' agents about pairs: one connection to each, and what comes of an order as a value.

Part of the shell: whatever goes wrong with one agent is told with the pair that it was asked about.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from measurement.health.model import Found, Pair
from measurement.health.orders import Probing, both_ways, lasts, lasts_both_ways, order, read, split, together
from measurement.health.record import Failure, ProbeKind
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


Outcome = tuple[Found | None, tuple[Failure, ...], bool]
"""What was found, None if nobody could say; what was not; and whether that is for being busy."""


@dataclass(slots=True)
class Agents:
    """Those that are connected to.

    :param names: all instances by name.
    :param gone: who does not answer (any more), and why.
    :param translated: pairs between whose instances addresses are translated, as reports say.
    :param from_other_side: pairs whose round trips their destination took.
    """

    names: Mapping[str, Instance]
    connect: Connect
    probing: Probing
    connected: dict[str, Asked] = field(default_factory=dict)
    gone: dict[str, str] = field(default_factory=dict)
    translated: set[Pair] = field(default_factory=set)
    from_other_side: set[Pair] = field(default_factory=set)

    async def connect_to(self, sources: Iterable[str]) -> None:
        """Connect to so many; who cannot be is gone."""
        room = asyncio.Semaphore(CONNECTING_AT_ONCE)

        async def one(name: str) -> None:
            async with room:
                try:
                    self.connected[name] = await self.connect(self.names[name])
                except (ProbeError, OSError) as error:
                    self.gone[name] = str(error) or type(error).__name__

        await asyncio.gather(*map(one, sorted(sources)))

    async def close(self) -> None:
        """End all connections."""
        await asyncio.gather(*(agent.close() for agent in self.connected.values()), return_exceptions=True)

    async def ask(self, pair: Pair, kind: ProbeKind, *, with_light: bool = False) -> Outcome:
        """What comes of asking a pair's source.

        :param with_light: whether its light probes are asked for with its train.
        """
        asked, longest = self._order(pair, kind, with_light=with_light)
        try:
            report = await self._report(pair, asked, longest)
            return self._outcome(pair, asked, report)
        except _Untold as error:
            return error.outcome(pair, kind)
        except ValueError as error:
            return _Untold(str(error)).outcome(pair, kind)

    async def ask_both_ways(self, pair: Pair) -> Mapping[Pair, Outcome]:
        """What comes of asking a pair's source about both ways; who is not in it is to be asked."""
        if not self.gone.keys().isdisjoint(pair):
            return {}
        back, how = pair.back, self.probing
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
                return await self.connected[pair.source].probe(asked)
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

    def _order(self, pair: Pair, kind: ProbeKind, *, with_light: bool) -> tuple[Order, float]:
        """What to ask about a pair, and how long to wait for it."""
        target, how = self.names[pair.destination], self.probing
        if with_light:
            return together(target, how), lasts(ProbeKind.LIGHT, how) + lasts(kind, how)
        return order(kind, target, how), lasts(kind, how)


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
