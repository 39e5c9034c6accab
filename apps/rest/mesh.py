"""The mesh: for each pair of sites what was measured last, how old it is, and whether that is good.  Pure.

A value is held against ``policy.thresholds``; for a metric without an entry there, against what the
catalog's templates ask for: good keeps every bound, a warning keeps some, critical keeps none.  A value
that is three times as old as its test's period is *stale*; what was never measured is *no_data*, which is
no verdict on the network.  Of several paths between two sites the best one counts: it can be taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from adon.api.measurements import Verdict
from adon.config import Configuration
from adon.config.policy import Threshold
from adon.templates_catalog.model import Template
from measurement.model import Measurement, Metric, PathKey

MISSED = 3.0
"""So many periods without a value, and the last one is stale."""
UNPLANNED = 3600.0
"""Seconds for which a value is fresh that no test of ours yields."""


_ORDER = {verdict: rank for rank, verdict in enumerate(Verdict)}


@dataclass(frozen=True, slots=True)
class Limits:
    """What values of one metric are held against.

    :param configured: ``policy.thresholds``, which goes first.
    :param bounds: the templates' hard bounds, by the template's reference.
    """

    configured: Threshold[float] | None
    bounds: Mapping[str, float]

    @classmethod
    def of(cls, metric: Metric, configuration: Configuration, templates: Iterable[Template]) -> Limits:
        """What the configuration, else the catalog, says of a metric."""
        bounds = {one.reference: one.qspec.bound(metric) for one in templates}
        known = {name: bound for name, bound in bounds.items() if bound is not None}
        return cls(configuration.policy.thresholds.of(metric), known)


@dataclass(frozen=True, slots=True)
class Cell:
    """One directed path between two sites, with its latest value if there is one."""

    key: PathKey
    verdict: Verdict
    why: str
    measured: Measurement | None = None
    fresh_for: float = UNPLANNED


def cell(
    key: PathKey, metric: Metric, measured: Measurement | None, limits: Limits, fresh_for: float, now: float
) -> Cell:
    """The verdict on the latest value of a directed path."""
    if measured is None:
        return Cell(key, Verdict.NO_DATA, "never measured", None, fresh_for)
    if measured.age(now) > fresh_for:
        return Cell(key, Verdict.STALE, "no value came when one was due", measured, fresh_for)
    verdict, why = judged(metric, measured.value, limits)
    return Cell(key, verdict, why, measured, fresh_for)


def judged(metric: Metric, value: float, limits: Limits) -> tuple[Verdict, str]:
    """Whether a value is good, and by what."""
    sign = -1.0 if metric.higher_is_better else 1.0
    if limits.configured is not None:
        if sign * value > sign * limits.configured.critical:
            return Verdict.CRITICAL, "past the critical threshold"
        if sign * value > sign * limits.configured.warning:
            return Verdict.WARNING, "past the warning threshold"
        return Verdict.GOOD, "within the thresholds"
    if not limits.bounds:
        return Verdict.UNJUDGED, "no threshold is configured, and no template bounds it"
    missed = sorted(name for name, bound in limits.bounds.items() if sign * value > sign * bound)
    if not missed:
        return Verdict.GOOD, "keeps the bound of every template"
    named = ", ".join(missed[:3]) + (", ..." if len(missed) > 3 else "")
    if len(missed) == len(limits.bounds):
        return Verdict.CRITICAL, f"misses the bound of every template: {named}"
    return Verdict.WARNING, f"misses the bound of {named}"


def best(verdicts: Iterable[Verdict]) -> Verdict:
    """The best of some verdicts; *no_data* without any."""
    return min(verdicts, key=_ORDER.__getitem__, default=Verdict.NO_DATA)


def fresh_for(key: PathKey, metric: Metric, configuration: Configuration) -> float:
    """Seconds after which a value of a directed path is stale, by the tests that are configured."""
    periods = list(_periods(key, metric, configuration))
    return MISSED * min(periods) if periods else UNPLANNED


def _periods(key: PathKey, metric: Metric, configuration: Configuration) -> Iterable[float]:
    for test in configuration.measurements.tests:
        if test.key == key:
            match metric:
                case Metric.THROUGHPUT:
                    period = test.throughput_period
                case Metric.RTT:
                    period = test.rtt_period
                case _:
                    period = test.latency_period
            if period is not None:
                yield period
    for running in configuration.measurements.background:
        if running.key == key and metric not in (Metric.THROUGHPUT, Metric.RTT):
            yield running.period


def directions(
    configuration: Configuration, circuits: Iterable[tuple[str, str, str]], known: Iterable[PathKey]
) -> list[PathKey]:
    """Every directed path: configured, computed (name and two ends), or with values from before; in order."""
    ends = [(name, *path.ends) for name, path in configuration.paths.items()]
    keys = [
        PathKey(name, *pair)
        for name, one, other in (*ends, *circuits)
        for pair in ((one, other), (other, one))
    ]
    sites = set(configuration.sites)
    keys += sorted(key for key in known if key.source in sites and key.destination in sites)
    return list(dict.fromkeys(keys))


def by_pair(cells: Sequence[Cell]) -> dict[tuple[str, str], list[Cell]]:
    """The directed paths of each pair of sites, source first."""
    found: dict[tuple[str, str], list[Cell]] = {}
    for one in cells:
        found.setdefault((one.key.source, one.key.destination), []).append(one)
    return found
