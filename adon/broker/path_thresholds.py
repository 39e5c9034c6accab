"""How a path stands for a flow that is on it, as a function of the flow's own throughput.

All flows of one kind on one path share every other metric there.  What is left per flow is one value;
verdict, Q and quality follow from it as :func:`adon.flowvisor.selection.assessment.assess` and
:func:`~adon.flowvisor.selection.assessment.path_quality` have them, without a record in words.  A test keeps
them equal.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from adon.flowvisor.selection.assessment import CandidateRecord, QualityWord, Verdict, path_quality
from adon.flowvisor.topology.path import CandidatePath
from adon.templates_catalog.lookup import LookupTable
from adon.templates_catalog.model import QSpec
from measurement.model import Metric


@dataclass(frozen=True, slots=True)
class OwnPath:
    """A path for the flows of one kind that are on it.

    :param asked: whether throughput matters to them at all.
    :param excluded: whether the path cannot be used.
    :param missed, unknown: whether another metric misses its bound, or is not known.
    :param quality: the quality that the other metrics allow.
    :param parts: their weighted scores.
    :param bound, target, weight, table: those of throughput.
    :param until: when one of the other metrics grows too old.
    """

    path: CandidatePath
    asked: bool
    excluded: bool
    missed: bool
    unknown: bool
    quality: QualityWord
    parts: tuple[float, ...]
    bound: float | None
    target: float | None
    weight: float
    table: LookupTable | None
    until: float

    @classmethod
    def of(
        cls,
        path: CandidatePath,
        found: CandidateRecord,
        tables: Mapping[Metric, LookupTable],
        qspec: QSpec,
        until: float,
    ) -> Self:
        """From what was found about the path without its throughput.

        :param found: as :func:`adon.flowvisor.selection.assessment.assess` gives it.
        """
        others = tuple(m for m in found.metrics if m.metric != Metric.THROUGHPUT)
        throughput = next((m for m in found.metrics if m.metric == Metric.THROUGHPUT), None)
        record = CandidateRecord(found.path, found.layer, found.verdict, found.code, "", None, others)
        return cls(
            path=path,
            asked=throughput is not None,
            excluded=found.verdict is Verdict.EXCLUDED,
            missed=any(m.bound_met is False for m in others),
            unknown=any(m.unknown for m in others),
            quality=path_quality(record, qspec),
            parts=tuple(m.weight * m.score for m in others if m.weight > 0 and m.score is not None),
            bound=None if throughput is None else throughput.bound,
            target=qspec.target(Metric.THROUGHPUT),
            weight=0.0 if throughput is None else throughput.weight,
            table=tables.get(Metric.THROUGHPUT),
            until=until,
        )

    def misses(self, value: float | None) -> bool:
        """Whether a bound is missed, given the flow's own throughput in bits/s, None if it is unknown."""
        return self.missed or (value is not None and self.bound is not None and value < self.bound)

    def judge(self, value: float | None) -> tuple[Verdict, float | None, QualityWord]:
        """Verdict, Q and quality, given the flow's own throughput."""
        unscored = self.weight > 0 and self.table is None
        unknown = self.unknown or (self.asked and (value is None or unscored))
        q = None if unknown else math.fsum((*self.parts, *self._part(value)))
        missed = self.misses(value)
        return self._verdict(missed, unknown), q, self._quality(missed, value)

    def _part(self, value: float | None) -> tuple[float, ...]:
        if value is None or self.table is None or self.weight <= 0:
            return ()
        return (self.weight * self.table.score(value),)

    def _verdict(self, missed: bool, unknown: bool) -> Verdict:
        if self.excluded:
            return Verdict.EXCLUDED
        if missed:
            return Verdict.UNQUALIFIED
        return Verdict.UNKNOWN if unknown else Verdict.QUALIFIED

    def _quality(self, missed: bool, value: float | None) -> QualityWord:
        if missed:
            return "violated"
        if self.quality == "unknown" or (self.bound is not None and value is None):
            return "unknown"
        if self.bound is None or self.target is None or value is None:
            return self.quality
        return "degraded" if value < self.target else self.quality
