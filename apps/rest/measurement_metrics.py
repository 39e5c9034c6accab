"""What Prometheus is told of measuring: alarms in force, executed runs, overlaps, the age of values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from adon.access.identity import Actor
from adon.errors import Unavailable
from apps.rest.measurement_access import MOST_READ, alarms, executions, overlaps
from apps.rest.runs import LOST, Fate, classify_loss, fate_of
from apps.rest.services import Services
from measurement.anomaly.model import Severity

RECENT_S = 3600.0
KEY = ("path", "source", "destination", "metric")


class Measuring(Collector):
    """Reads the figures that an actor may see when it is asked for them."""

    def __init__(self, parts: Services, actor: Actor | None) -> None:
        self._parts = parts
        self._actor = actor

    def collect(self) -> Iterable[Metric]:
        """The figures, as of now."""
        yield GaugeMetricFamily(
            "adon_collector_up",
            "Whether the collector is reachable.",
            float(self._parts.collector.connected),
        )
        try:
            yield self._alarms()
            yield from self._runs()
            yield self._ages()
        except Unavailable:
            return  # the archive cannot be read: no number is better than an old one

    def _alarms(self) -> Metric:
        found = alarms(self._parts, self._actor, open_only=True)
        counts = Counter(alarm.severity for alarm in found)
        family = GaugeMetricFamily("adon_alarms", "Alarms in force, by severity.", labels=["severity"])
        for severity in Severity:
            family.add_metric([severity.value], counts[severity])
        return family

    def _runs(self) -> Iterable[Metric]:
        since = self._parts.clock() - RECENT_S
        found = executions(self._parts, self._actor, since=since, limit=MOST_READ)
        counts = Counter(fate_of(execution.outcome) for execution in found)
        text = "Planned runs of the last hour, by what became of them."
        family = GaugeMetricFamily("adon_measurement_runs", text, labels=["outcome"])
        for one in Fate:
            family.add_metric([one.value], counts[one])
        yield family
        lost = Counter(classify_loss(execution.outcome) for execution in found)
        text = "Planned runs of the last hour without a value, by the reason."
        family = GaugeMetricFamily("adon_measurement_runs_lost", text, labels=["reason"])
        for reason in LOST:
            family.add_metric([reason], lost[reason])
        yield family
        yield GaugeMetricFamily(
            "adon_measurement_overlaps",
            "Pairs of conflicting runs of the last hour that ran at the same time.",
            len(overlaps(self._parts, self._actor, since)),
        )

    def _ages(self) -> Metric:
        now = self._parts.clock()
        latest = self._parts.measurements.ask(lambda archive: archive.latest())
        text = "Seconds since the latest value of a metric of a path was observed."
        family = GaugeMetricFamily("adon_measurement_age_seconds", text, labels=KEY)
        for value in self._parts.policy.readable(self._actor, ((one.series, one) for one in latest)):
            family.add_metric(list(value.series), value.age(now))
        return family
