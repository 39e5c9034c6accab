"""Documents of measurements, alarms, runs and meshes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adon.api.alarms import AlarmView, EvidenceView
from adon.api.base import UNITS
from adon.api.measurements import (
    BucketView,
    ExecutionView,
    LimitsView,
    MeasurementView,
    MeshCell,
    MeshValue,
    MeshView,
    SeriesView,
)
from apps.rest.mesh import Cell, Limits, best
from measurement.anomaly.alarm import Alarm
from measurement.anomaly.model import Evidence
from measurement.archive import Bucket
from measurement.model import Measurement, Metric
from measurement.scheduling import Execution

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


_NAMES = tuple(f"{share:g}" for share in QUANTILES)


def to_evidence_view(evidence: Evidence) -> EvidenceView:
    """As it is answered."""
    samples = [(sample.at, sample.value) for sample in evidence.samples]
    return EvidenceView(mean=evidence.mean, deviation=evidence.deviation, samples=samples)


def to_alarm_view(alarm: Alarm) -> AlarmView:
    """As it is answered."""
    return AlarmView(
        id=alarm.id,
        series=SeriesView(**alarm.series._asdict()),
        kind=alarm.kind.value,
        direction=None if alarm.direction is None else alarm.direction.value,
        bad=alarm.bad,
        severity=alarm.severity.value,
        text=alarm.text,
        raised_at=alarm.raised_at,
        cleared_at=alarm.cleared_at,
        acknowledged_by=alarm.acknowledged_by,
        acknowledged_at=alarm.acknowledged_at,
        before=to_evidence_view(alarm.before),
        after=None if alarm.after is None else to_evidence_view(alarm.after),
    )


def to_bucket_view(bucket: Bucket) -> BucketView:
    """As it is answered."""
    return BucketView(
        start=bucket.start,
        seconds=bucket.width,
        count=bucket.count,
        minimum=bucket.minimum,
        mean=bucket.mean,
        maximum=bucket.maximum,
        quantiles=dict(zip(_NAMES, bucket.quantiles(QUANTILES), strict=True)),
    )


def to_execution_view(execution: Execution) -> ExecutionView:
    """As it is answered."""
    return ExecutionView(
        task=execution.task,
        planned_start=execution.planned_start,
        started=execution.started,
        ended=execution.ended,
        outcome=execution.outcome,
    )


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
    same = ("metric", "value", "started_at", "observed_at", "tool")
    return MeasurementView(
        **{name: getattr(measurement, name) for name in same},
        path=measurement.key.path,
        source=measurement.key.source,
        destination=measurement.key.destination,
        unit=UNITS[measurement.metric],
        origin=measurement.source,
        parameters=dict(measurement.parameters),
    )
