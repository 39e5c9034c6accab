"""What was found about a candidate path for one kind of flow, kept as long as nothing it rests on changes.

Flows that need the same between the same hosts (a :class:`~adon.broker.register.Kind`) find the same of
every path but the one they are on: so it is worked out once for all of them.  What it rests on is written
down with it, as a :class:`Stamp`: the topology, the results heard of this path, the load on it, whether it
is shunned, and the scoring tables.  A value also grows too old at some time; until then the verdict and Q
stand, though not the ages that a record tells.

Nothing here decides: a memo that is forgotten costs time, and changes no outcome.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from weakref import WeakKeyDictionary

from adon.broker.choice import Situation, Survey, record_of, survey
from adon.broker.heard import Heard
from adon.broker.register import Kind
from adon.flowvisor.selection.assessment import CandidateRecord
from adon.flowvisor.topology.topology import Candidate, Topology
from adon.reasons import Reason
from adon.templates_catalog.lookup import LookupTable
from measurement.model import Metric

SLACK_S = 1e-3
"""How much earlier than it could a value is taken to be too old: times are floating-point numbers."""

_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, eq=False)
class Stamp:
    """What a finding about one path rests on."""

    topology: Topology
    tables: Mapping[Metric, LookupTable]
    performance: Heard
    heard: int
    load: int | None
    shunned: Reason | None

    def same(self, other: Stamp) -> bool:
        """Whether a finding of the one is a finding of the other."""
        mine = (self.heard, self.load, self.shunned)
        return (
            self.topology is other.topology
            and self.tables is other.tables
            and self.performance is other.performance
            and mine == (other.heard, other.load, other.shunned)
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """How a candidate stands for a kind of flow that is not on it.

    :param at: when that was found; :param until: when a value it rests on grows too old.
    """

    stamp: Stamp
    record: CandidateRecord
    at: float
    until: float


@dataclass(slots=True)
class _Kept:
    """What is kept per kind: candidates with tables and what those rest on, and findings by path."""

    survey: Survey
    topology: Topology
    performance: Heard
    version: int
    hour: int
    standings: dict[str, Standing] = field(default_factory=dict)


class Memo:
    """See the module's text."""

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[Kind, _Kept] = WeakKeyDictionary()

    def survey(self, kind: Kind, situation: Situation, performance: Heard) -> Survey:
        """The candidates of a kind of flow and the tables that score them, the same object while equal."""
        hour = math.floor((situation.now - situation.window) / _HOUR_S)
        kept = self._kept.get(kind)
        if kept is not None and kept.topology is situation.topology and kept.performance is performance:
            if (kept.version, kept.hour) != (performance.version, hour):
                kept.survey = _equal_or_new(kept.survey, survey(kind.need, kept.survey.found, situation))
                kept.version, kept.hour = performance.version, hour
            return kept.survey
        found = situation.topology.candidates(kind.source, kind.destination)
        fresh = survey(kind.need, found, situation)
        self._kept[kind] = _Kept(fresh, situation.topology, performance, performance.version, hour)
        return fresh

    def stamp(self, kind: Kind, candidate: Candidate, s: Situation, performance: Heard) -> Stamp:
        """What a finding about this candidate would rest on now."""
        tables = self.survey(kind, s, performance).tables
        load = s.loads.get(candidate.key.path)
        shunned = s.shunned.get(candidate.key.path)
        there = None if load is None else load.version
        return Stamp(s.topology, tables, performance, performance.of(candidate.key), there, shunned)

    def standing(self, kind: Kind, candidate: Candidate, s: Situation, performance: Heard) -> Standing:
        """How this candidate stands for such a flow on another path, its ages perhaps those of earlier."""
        stamp = self.stamp(kind, candidate, s, performance)
        kept = self._kept[kind].standings
        held = kept.get(candidate.key.path)
        if held is None or not held.stamp.same(stamp) or s.now >= held.until:
            record = record_of(candidate, None, kind.need, stamp.tables, s)
            held = Standing(stamp, record, s.now, good_until(record, kind))
            kept[candidate.key.path] = held
        return held

    def record(self, kind: Kind, candidate: Candidate, s: Situation, performance: Heard) -> CandidateRecord:
        """What is found about this candidate at this very time."""
        held = self.standing(kind, candidate, s, performance)
        if held.at != s.now:
            record = record_of(candidate, None, kind.need, held.stamp.tables, s)
            held = Standing(held.stamp, record, s.now, held.until)
            self._kept[kind].standings[candidate.key.path] = held
        return held.record


def good_until(record: CandidateRecord, kind: Kind) -> float:
    """When the first of the values of a finding grows too old."""
    max_age = kind.need.template.selection.max_age
    known = [m.observed_at for m in record.metrics if m.observed_at is not None]
    return min(known, default=math.inf) + max_age - SLACK_S


def _equal_or_new(held: Survey, fresh: Survey) -> Survey:
    return replace(fresh, tables=held.tables) if held.tables == fresh.tables else fresh
