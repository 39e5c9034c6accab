"""What the API answers about the mesh, about boxes, and about which series there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

from pydantic import Field

from apps.rest.measuring_models import BucketView, SeriesView
from apps.rest.mesh import Cell, Limits, Verdict, best
from apps.rest.models import UNITS, ListView, View
from apps.rest.times import Time
from measurement.model import Metric


class MeshValue(View):
    """One directed path with its latest value; without one it was never measured."""

    path: str
    verdict: Verdict
    why: str
    value: float | None
    observed_at: Time | None
    age_seconds: float | None
    fresh_seconds: float = Field(description="after so long without another value it is stale")

    @classmethod
    def of(cls, cell: Cell, now: float) -> Self:
        """As it is answered."""
        known = cell.measured
        return cls(
            path=cell.key.path,
            verdict=cell.verdict,
            why=cell.why,
            value=None if known is None else known.value,
            observed_at=None if known is None else known.observed_at,
            age_seconds=None if known is None else known.age(now),
            fresh_seconds=cell.fresh_for,
        )


class MeshCell(View):
    """All paths from one site to another; the verdict is that of the best one."""

    source: str
    destination: str
    verdict: Verdict
    paths: list[MeshValue]


class LimitsView(View):
    """What values are held against, in the metric's unit; the configuration goes first."""

    warning: float | None
    critical: float | None
    templates: dict[str, float] = Field(description="hard bounds of the catalog's latest versions")


class MeshView(View):
    """Every site to every other: what was measured last, and whether that is good."""

    at: Time
    metric: Metric
    unit: str
    higher_is_better: bool
    limits: LimitsView
    sites: list[str]
    items: list[MeshCell] = Field(description="pairs with at least one path, by source and destination")

    @classmethod
    def of(
        cls,
        metric: Metric,
        limits: Limits,
        sites: Sequence[str],
        pairs: Mapping[tuple[str, str], Sequence[Cell]],
        now: float,
    ) -> Self:
        """The mesh as it is answered."""
        chosen = limits.configured
        order = {name: place for place, name in enumerate(sites)}
        cells = [
            MeshCell(
                source=source,
                destination=destination,
                verdict=best(one.verdict for one in found),
                paths=[MeshValue.of(one, now) for one in found],
            )
            for (source, destination), found in sorted(
                pairs.items(), key=lambda item: (order[item[0][0]], order[item[0][1]])
            )
        ]
        return cls(
            at=now,
            metric=metric,
            unit=UNITS[metric],
            higher_is_better=metric.higher_is_better,
            limits=LimitsView(
                warning=None if chosen is None else chosen.warning,
                critical=None if chosen is None else chosen.critical,
                templates=dict(limits.bounds),
            ),
            sites=list(sites),
            items=cells,
        )


class SeriesBoxes(View):
    """One series in boxes, the oldest first; a stretch without values has none."""

    series: SeriesView
    unit: str
    boxes: list[BucketView]


class BoxList(ListView):
    """Series in boxes, by path, source, destination and metric."""

    group: str
    since: Time
    until: Time
    items: list[SeriesBoxes]


class SeriesList(ListView):
    """Series of which something is kept, in order."""

    items: list[SeriesView]
