"""Which running flows a result can change anything for; the others need not be decided about.

To decide about a flow costs the scoring of all its candidates and a record in words.  Most results change
nothing for most flows, and that is seen from a few numbers: how the flow's own path stands for it, and the
best Q that another path has for its kind.  A flow is *calm* when a full look would leave it as it is: its
quality is what it was and no move is advised (:func:`adon.flowvisor.selection.selection.advise_reroute`).

Flows of one kind on one path form a group (:class:`adon.broker.register.Group`).  What keeps them calm is
kept per group as its :class:`Outlook`: the lowest own Q among them, and until when none of their values is
too old and no dwell ends.  A group is gone through again when something about its own path has changed (a
result, the load), when the best other Q has come to exceed the lowest by more than the margin, or when the
time is over.  Between those only its flows that changed by themselves, or are not calm, are looked at.
So a result costs as much as there are flows on *its* path, and one comparison per group.

The answer is exact: who is not named here would be left as it is by a full look.  A test compares both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

from adon.broker.choice import Situation, held_back, knowledge, record_of
from adon.broker.decision_records import situation
from adon.broker.flow import Flow, FlowState
from adon.broker.memo import SLACK_S, Stamp, good_until
from adon.broker.path_thresholds import OwnPath
from adon.broker.register import Ends, Group, Kind
from adon.broker.world import World
from adon.flowvisor.selection.assessment import Verdict
from adon.flowvisor.topology.path import CandidatePath, KnownValue
from measurement.model import Metric, PathKey


@dataclass(slots=True)
class Outlook:
    """What keeps a group's flows calm.

    :param stamp: what was known of its own path.
    :param until: when a value grows too old, or a dwell ends.
    :param lowest: the lowest own Q among the calm flows that have one.
    :param captive: whether a flow is calm only as long as no other path qualifies.
    :param restless: the flows that are not calm.
    """

    stamp: Stamp
    own: OwnPath
    until: float
    lowest: float = math.inf
    captive: bool = False
    restless: set[int] = field(default_factory=set)

    def holds(self, stamp: Stamp, now: float, best: float | None, margin: float) -> bool:
        """Whether the calm flows are still calm."""
        if not self.stamp.same(stamp) or now >= self.until:
            return False
        return best is None or (not self.captive and best - self.lowest <= margin)


class _Calm(NamedTuple):
    """Why a flow is calm: its own Q, if another Q could exceed it, and until when."""

    q: float | None
    captive: bool
    until: float


class Watch:
    """See the module's text.

    :param world: what the broker holds; nothing in it is changed here.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._outlooks: WeakKeyDictionary[Group, Outlook] = WeakKeyDictionary()

    def uneasy(self, ends: Ends, now: float, measured: PathKey | None) -> Iterator[Flow]:
        """The flows between these sites that something may change for, by number.

        What is done about one may make another uneasy: a flow is judged by what holds when its turn comes.

        :param measured: the path that there is a result of; None if it is something else that happened.
        """
        last, flows = 0, self._world.flows
        numbers = self._uneasy(ends, now, measured, last)
        while numbers:
            stay = flows.moved
            for number in numbers:
                flow, last = flows.get(number), number
                if flow is not None and flow.state.holds_rules:
                    yield flow
                if flows.moved != stay:
                    break
            else:
                return
            numbers = self._uneasy(ends, now, measured, last)

    def look_ahead(self, now: float) -> None:
        """Go through the groups in which something changed, so that the next result need not."""
        for ends in self._world.flows.directions():
            self._uneasy(ends, now, None, 0)

    def _uneasy(self, ends: Ends, now: float, measured: PathKey | None, after: int) -> list[int]:
        s = situation(self._world, ends, now)
        best: dict[Kind, list[tuple[float, CandidatePath]]] = {}
        found: list[int] = []
        for group in self._world.flows.groups(ends):
            if group.kind not in best:
                best[group.kind] = self._qualifying_paths(group.kind, s)
            concerned = measured is not None and measured.path == group.path
            found += self._look(group, s, best[group.kind], measured if concerned else None, after)
        found += self._busy(ends)
        return sorted({number for number in found if number > after})

    def _busy(self, ends: Ends) -> list[int]:
        """The flows whose rules are being changed: they are told apart when that is done."""
        flows = self._world.flows
        busy = (flows.owner(owner) for owner in self._world.network.changing())
        return [flow.number for flow in busy if flow is not None and flows.ends(flow) == ends]

    def _qualifying_paths(self, kind: Kind, s: Situation) -> list[tuple[float, CandidatePath]]:
        """The candidates that qualify for flows of this kind that are not on them, the highest Q first."""
        world = self._world
        surveyed = world.memo.survey(kind, s, world.performance)
        standings = [world.memo.standing(kind, c, s, world.performance) for c in surveyed.found]
        ranked = [
            (standing.record.q, candidate.path)
            for standing, candidate in zip(standings, surveyed.found, strict=True)
            if standing.record.verdict is Verdict.QUALIFIED
            and standing.record.q is not None
            and candidate.path is not None
        ]
        return sorted(ranked, key=lambda one: -one[0])

    # -- one group --------------------------------------------------------------------------------------

    def _look(
        self,
        group: Group,
        s: Situation,
        qualified: Sequence[tuple[float, CandidatePath]],
        measured: PathKey | None,
        after: int,
    ) -> list[int]:
        """The numbers of its flows that are not calm.

        :param measured: its own path, if that is what the result is about.
        :param after: numbers up to this one had their turn.
        """
        best = next((q for q, path in qualified if _may_go(group, path, s)), None)
        margin = group.kind.need.template.selection.switch_margin
        outlook = self._outlooks.get(group)
        fresh = self._outlook(group, s)
        if fresh is None:
            return sorted(group.numbers)
        if outlook is not None and outlook.holds(fresh.stamp, s.now, best, margin) and measured is None:
            numbers = sorted(group.unseen | outlook.restless)
        elif after == 0:
            numbers, outlook = sorted(group.numbers), fresh
            self._outlooks[group] = fresh
        else:  # only who has not had a turn: nothing is kept that is found about a part
            numbers = sorted(n for n in group.numbers if n > after)
            return self._go_through(numbers, fresh, s, best, measured)
        group.unseen.clear()
        return self._go_through(numbers, outlook, s, best, measured)

    def _go_through(
        self,
        numbers: Sequence[int],
        outlook: Outlook,
        s: Situation,
        best: float | None,
        measured: PathKey | None,
    ) -> list[int]:
        uneasy: list[int] = []
        readings: dict[tuple[bool, ...], tuple[float | None, float]] = {}
        for number in numbers:
            flow = self._world.flows.get(number)
            calm = (
                None
                if flow is None
                else self._calm(flow, outlook.own, s, best, measured is not None, readings)
            )
            if calm is None:
                outlook.restless.add(number)
                uneasy.append(number)
                continue
            outlook.restless.discard(number)
            outlook.until = min(outlook.until, calm.until)
            outlook.captive = outlook.captive or calm.captive
            outlook.lowest = outlook.lowest if calm.q is None else min(outlook.lowest, calm.q)
        return uneasy

    def _outlook(self, group: Group, s: Situation) -> Outlook | None:
        """An outlook on no flow yet; None if its path is no candidate any more."""
        world, kind = self._world, group.kind
        surveyed = world.memo.survey(kind, s, world.performance)
        candidate = next((c for c in surveyed.found if c.key.path == group.path), None)
        if candidate is None or candidate.path is None:
            return None
        stamp = world.memo.stamp(kind, candidate, s, world.performance)
        held = self._outlooks.get(group)
        if held is not None and held.stamp.same(stamp) and s.now < held.own.until:
            own = held.own
        else:
            fixed = [metric for metric in kind.need.metrics if metric is not Metric.THROUGHPUT]
            record = record_of(candidate, None, kind.need, stamp.tables, s, fixed)
            until = good_until(record, kind)
            own = OwnPath.of(candidate.path, record, stamp.tables, kind.need.qspec, until)
        return Outlook(stamp, own, own.until)

    # -- one flow ---------------------------------------------------------------------------------------

    def _calm(
        self,
        flow: Flow,
        own: OwnPath,
        s: Situation,
        best: float | None,
        measured: bool,
        readings: dict[tuple[bool, ...], tuple[float | None, float]],
    ) -> _Calm | None:
        """Why a full look would leave a flow as it is; None if it might not."""
        if flow.state is FlowState.INSTALLING or self._world.network.busy(flow.id):
            return None
        if self._world.damping.given_up(flow.number) or self._world.windows.next_change(s.now) is not None:
            return None
        value, until = self._throughput(flow, own, s, readings) if own.asked else (None, math.inf)
        verdict, q, quality = own.judge(value)
        if quality != flow.quality or verdict is Verdict.EXCLUDED:  # without a path it looks for a refuge
            return None
        if measured and (flow.misses or own.misses(value)):
            return None
        policy = self._world.flows.need(flow).template.selection
        captive = verdict is Verdict.UNQUALIFIED and flow.misses >= policy.patience
        if best is None or not (captive or (q is not None and best - q > policy.switch_margin)):
            return _Calm(q, captive, until)
        if flow.path_since is None:
            return None
        dwell = self._world.damping.dwell(flow.number, policy.min_dwell)
        if s.now - flow.path_since < dwell:
            return _Calm(None, False, min(until, flow.path_since + dwell - SLACK_S))
        return None

    def _throughput(
        self,
        flow: Flow,
        own: OwnPath,
        s: Situation,
        readings: dict[tuple[bool, ...], tuple[float | None, float]],
    ) -> tuple[float | None, float]:
        """What the flow has on its own path, and until when that can be said."""
        counters = self._world.flows.counters(flow)
        kind = self._world.flows.kind(flow)
        if counters.has_rates:
            return _value(
                knowledge(Metric.THROUGHPUT, own.path, flow, kind.need, replace(s, own=counters)), kind
            )
        sides = self._sides(flow, own.path, s)
        if sides not in readings:
            found = knowledge(Metric.THROUGHPUT, own.path, flow, kind.need, replace(s, own=counters))
            readings[sides] = _value(found, kind)
        return readings[sides]

    def _sides(self, flow: Flow, path: CandidatePath, s: Situation) -> tuple[bool, ...]:
        """All that tells flows of one group apart which have no rate of their own: when they came."""
        since = flow.path_since
        if since is None:
            return ()
        tested = self._world.performance.latest(path.key, Metric.THROUGHPUT)
        load = s.loads.get(path.key.path)
        used = None if load is None else load.used_bandwidth()
        return (
            tested is not None and since >= tested.started_at,
            used is not None and since >= used.observed_at,
        )


def _value(found: object, kind: Kind) -> tuple[float | None, float]:
    if isinstance(found, KnownValue):
        return found.value, found.observed_at + kind.need.template.selection.max_age - SLACK_S
    return None, math.inf


def _may_go(group: Group, path: CandidatePath, s: Situation) -> bool:
    """Whether flows of this group could go to that path, as far as the paths themselves say."""
    hosts = (group.kind.source, group.kind.destination)
    return path.key.path != group.path and not held_back(path, group.path, hosts, s.topology)
