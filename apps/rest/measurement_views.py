"""Documents of measurements, alarms, runs and meshes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adon.api.base import UNITS
from adon.api.measurements import (
    BucketView,
    LimitsView,
    MeasurementView,
    MeshCell,
    MeshValue,
    MeshView,
)
from apps.rest.mesh import Cell, Limits, best
from measurement.archive import Bucket
from measurement.model import Measurement, Metric

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


_NAMES = tuple(f"{share:g}" for share in QUANTILES)


def to_bucket_view(bucket: Bucket) -> BucketView:
    """As it is answered."""
    quantiles = dict(zip(_NAMES, bucket.quantiles(QUANTILES), strict=True))
    return BucketView.of(bucket, seconds=bucket.width, quantiles=quantiles)


def to_mesh_value(cell: Cell, now: float) -> MeshValue:
    """As it is answered."""
    known = cell.measured
    return MeshValue(
        path=cell.key.path,
        verdict=cell.verdict,
        why=cell.why,
        value=None if known is None else known.value,
        observed_at=None if known is None else known.observed_at,
        age_seconds=None if known is None else known.age(now),
        fresh_seconds=cell.fresh_for,
    )


def to_mesh_view(
    metric: Metric,
    limits: Limits,
    sites: Sequence[str],
    pairs: Mapping[tuple[str, str], Sequence[Cell]],
    now: float,
) -> MeshView:
    """The mesh as it is answered."""
    chosen = limits.configured
    order = {name: place for place, name in enumerate(sites)}
    cells = [
        MeshCell(
            source=source,
            destination=destination,
            verdict=best(one.verdict for one in found),
            paths=[to_mesh_value(one, now) for one in found],
        )
        for (source, destination), found in sorted(
            pairs.items(), key=lambda item: (order[item[0][0]], order[item[0][1]])
        )
    ]
    return MeshView(
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


def to_measurement_view(measurement: Measurement) -> MeasurementView:
    """The measurement as it is answered; ``origin`` is where it came from (a run's URL)."""
    key, unit = measurement.key._asdict(), UNITS[measurement.metric]
    return MeasurementView.of(measurement, **key, unit=unit, origin=measurement.source)
