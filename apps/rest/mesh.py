"""Mesh: the latest value of a metric between each pair of sites, with its age and verdict.  Pure.

A value is compared with ``policy.thresholds``, or with the bounds of the catalog's templates: good keeps
every bound, a warning keeps some, critical keeps none.  A value is *stale* at three times the period of its
test, and *no_data* was never measured.  The best of several paths between two sites counts, because a flow
can take it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from adon.api.base import UNITS
from adon.api.measurements import LimitsView, MeshCell, MeshValue, MeshView, Verdict
from adon.config import Configuration
from adon.templates_catalog.model import Template
from measurement.model import Measurement, Metric, PathKey

MISSED = 3.0
"""Number of periods without a value, after which the last one is stale."""
UNPLANNED = 3600.0
"""Seconds for which a value of no planned test is fresh."""
_ORDER = list(Verdict)


def build_mesh(
    metric: Metric,
    configuration: Configuration,
    templates: Iterable[Template],
    keys: Iterable[PathKey],
    known: Mapping[PathKey, Measurement],
    now: float,
) -> MeshView:
    """Return the mesh of a metric.

    :param keys: the directed paths that it shows.
    :param known: the latest value of each directed path.
    """
    sites = list(configuration.sites)
    limits = find_limits(metric, configuration, templates)
    pairs: dict[tuple[str, str], list[MeshValue]] = {}
    for key in sorted(keys, key=lambda one: (sites.index(one.source), sites.index(one.destination))):
        fresh_s = find_fresh_time(key, metric, configuration)
        value = judge_path(key.path, metric, known.get(key), limits, fresh_s, now)
        pairs.setdefault((key.source, key.destination), []).append(value)
    cells = [
        MeshCell(
            source=source,
            destination=destination,
            verdict=min((one.verdict for one in values), key=_ORDER.index),
            paths=values,
        )
        for (source, destination), values in pairs.items()
    ]
    return MeshView(
        at=now,
        metric=metric,
        unit=UNITS[metric],
        higher_is_better=metric.higher_is_better,
        limits=limits,
        sites=sites,
        items=cells,
    )


def find_limits(metric: Metric, configuration: Configuration, templates: Iterable[Template]) -> LimitsView:
    """Return the limits of a metric by the configuration and the templates."""
    threshold = configuration.policy.thresholds.of(metric)
    bounds = {one.reference: one.qspec.bound(metric) for one in templates}
    return LimitsView(
        warning=None if threshold is None else threshold.warning,
        critical=None if threshold is None else threshold.critical,
        templates={name: bound for name, bound in bounds.items() if bound is not None},
    )


def judge_path(
    path: str, metric: Metric, measured: Measurement | None, limits: LimitsView, fresh_s: float, now: float
) -> MeshValue:
    """Return the latest value of a directed path with its verdict."""
    if measured is None:
        verdict, why = Verdict.NO_DATA, "never measured"
    elif measured.age(now) > fresh_s:
        verdict, why = Verdict.STALE, "no value came when one was due"
    else:
        verdict, why = judge_value(metric, measured.value, limits)
    return MeshValue(
        path=path,
        verdict=verdict,
        why=why,
        value=None if measured is None else measured.value,
        observed_at=None if measured is None else measured.observed_at,
        age_seconds=None if measured is None else measured.age(now),
        fresh_seconds=fresh_s,
    )


def judge_value(metric: Metric, value: float, limits: LimitsView) -> tuple[Verdict, str]:
    """Return the verdict on a value, and the reason."""
    sign = -1.0 if metric.higher_is_better else 1.0
    if limits.critical is not None and limits.warning is not None:
        if sign * value > sign * limits.critical:
            return Verdict.CRITICAL, "past the critical threshold"
        if sign * value > sign * limits.warning:
            return Verdict.WARNING, "past the warning threshold"
        return Verdict.GOOD, "within the thresholds"
    if not limits.templates:
        return Verdict.UNJUDGED, "no threshold is configured, and no template bounds it"
    missed = sorted(name for name, bound in limits.templates.items() if sign * value > sign * bound)
    if not missed:
        return Verdict.GOOD, "keeps the bound of every template"
    named = ", ".join(missed[:3]) + (", ..." if len(missed) > 3 else "")
    if len(missed) == len(limits.templates):
        return Verdict.CRITICAL, f"misses the bound of every template: {named}"
    return Verdict.WARNING, f"misses the bound of {named}"


def find_fresh_time(key: PathKey, metric: Metric, configuration: Configuration) -> float:
    """Return the seconds after which a value of a directed path is stale, by the configured tests."""
    return MISSED * min(_periods(key, metric, configuration), default=UNPLANNED / MISSED)


def _periods(key: PathKey, metric: Metric, configuration: Configuration) -> Iterator[float]:
    for test in configuration.measurements.tests:
        periods = {Metric.THROUGHPUT: test.throughput_period, Metric.RTT: test.rtt_period}
        period = periods.get(metric, test.latency_period)
        if test.key == key and period is not None:
            yield period
    for running in configuration.measurements.background:
        if running.key == key and metric not in (Metric.THROUGHPUT, Metric.RTT):
            yield running.period


def list_directions(
    configuration: Configuration, circuits: Iterable[tuple[str, str, str]], known: Iterable[PathKey]
) -> list[PathKey]:
    """Return every directed path: configured, computed (name and two ends), or with stored values."""
    ends = [(name, *path.ends) for name, path in configuration.paths.items()]
    keys = [
        PathKey(name, *pair)
        for name, one, other in (*ends, *circuits)
        for pair in ((one, other), (other, one))
    ]
    sites = set(configuration.sites)
    keys += sorted(key for key in known if key.source in sites and key.destination in sites)
    return list(dict.fromkeys(keys))
