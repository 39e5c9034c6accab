"""Asking instances' agents about pairs: what comes of an order, as a value.

Part of the shell: whatever goes wrong with one agent is told with the pair that it was asked about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from measurement.health.model import Found, Pair
from measurement.health.orders import Probing, both_ways, lasts, lasts_both_ways, order, read, split, together
from measurement.health.record import Failure, ProbeKind
from measurement.probes.agent_client import AgentPool, MissingReport
from measurement.probes.findings import FailureCause as Cause
from measurement.probes.findings import Finding, ProbeFailure, ProbeReport
from measurement.probes.probe_types import ProbeOrder, SandwichBack

Outcome = tuple[Found | None, tuple[Failure, ...], bool]
"""The results, None without any; the failures; and whether an agent was busy."""


@dataclass(slots=True)
class Agents:
    """Those that are connected to.

    :param translated: pairs between whose instances addresses are translated, as reports say.
    :param from_other_side: pairs whose round trips their destination took.
    """

    connections: AgentPool
    probing: Probing
    translated: set[Pair] = field(default_factory=set)
    from_other_side: set[Pair] = field(default_factory=set)

    async def ask(self, pair: Pair, kind: ProbeKind, *, with_light: bool = False) -> Outcome:
        """What comes of asking a pair's source.

        :param with_light: whether its light probes are asked for with its train.
        """
        asked, longest = self._order(pair, kind, with_light=with_light)
        try:
            return self._outcome(
                pair, asked, await self.connections.request_report(pair.source, asked, longest)
            )
        except MissingReport as error:
            return _nothing(pair, kind, str(error), busy=error.busy)
        except ValueError as error:
            return _nothing(pair, kind, f"{pair.source}: {error}")

    async def ask_both_ways(self, pair: Pair) -> Mapping[Pair, Outcome]:
        """What comes of asking a pair's source about both ways; who is not in it is to be asked."""
        if not self.connections.gone.keys().isdisjoint(pair):
            return {}
        back, how = pair.back, self.probing
        asked = both_ways(self.connections.names[pair.destination], how)
        try:
            report = await self.connections.request_report(pair.source, asked, lasts_both_ways(how))
            its, of_back = split(asked, report)
            there = self._outcome(pair, *its)
            if there[0] is not None and there[0].timed_out:
                return {pair: there}  # perhaps the other can say more
            other = _read(back, *of_back)
        except MissingReport as error:
            untold = (pair, back) if error.busy else (pair,)  # otherwise the other is still to be asked
            return {each: _nothing(each, ProbeKind.TRAIN, str(error), busy=error.busy) for each in untold}
        except ValueError as error:
            return {pair: _nothing(pair, ProbeKind.TRAIN, f"{pair.source}: {error}")}
        if _refused_before_its_train(*of_back):
            return {pair: there, back: (None, other[1], True)}
        self.from_other_side.add(back)
        return {pair: there, back: other}

    def _outcome(self, pair: Pair, asked: ProbeOrder, report: ProbeReport) -> Outcome:
        outcome = _read(pair, asked, report)
        if report.own and report.seen and report.translated:
            self.translated.add(pair)
        return outcome

    def _order(self, pair: Pair, kind: ProbeKind, *, with_light: bool) -> tuple[ProbeOrder, float]:
        """What to ask about a pair, and how long to wait for it."""
        target, how = self.connections.names[pair.destination], self.probing
        if with_light:
            return together(target, how), lasts(ProbeKind.LIGHT, how) + lasts(kind, how)
        return order(kind, target, how), lasts(kind, how)


def _nothing(pair: Pair, kind: ProbeKind, why: str, *, busy: bool = False) -> Outcome:
    return None, (Failure(pair, kind, why),), busy


def _read(pair: Pair, asked: ProbeOrder, report: ProbeReport) -> Outcome:
    found, failures = read(asked, report, pair)
    return found, failures, any(_is_busy(finding) for finding in report.findings)


def _refused_before_its_train(asked: ProbeOrder, report: ProbeReport) -> bool:
    """Whether a way back was refused its sandwich, too, which is not asked for again with a train alone."""
    answers = zip(asked.probes, report.findings, strict=True)
    return any(isinstance(probe, SandwichBack) and _is_busy(finding) for probe, finding in answers)


def _is_busy(finding: Finding) -> bool:
    return isinstance(finding, ProbeFailure) and finding.why is Cause.BUSY
