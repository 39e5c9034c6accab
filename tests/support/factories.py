"""Values of the public border for tests, one factory each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from adon.flowvisor.features import Room, SwitchFeatures
from adon.frozenmap import FrozenMap
from adon.templates_catalog.builtins import builtin_templates, scaled
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import Template
from measurement.anomaly.alarm import Alarm, Kind
from measurement.anomaly.model import Direction, Evidence, Sample, Severity
from measurement.model import Metric, Series

FIELDS = frozenset(
    {"in_port", "eth_type", "ip_proto", "ip_src", "ip_dst", "tp_src", "tp_dst", "metadata", "vlan"}
)
"""The match fields of a switch that can match all that ADON asks for."""
ALL_GROUPS = FrozenMap({"all": 100, "fast_failover": 100})


def make_catalog() -> Catalog:
    """Return the built-in templates at the example network's scale of 1:100."""
    return Catalog.of(scaled(template, 0.01) for template in builtin_templates())


def make_template(name: str, selection: Mapping[str, Any], **fields: Any) -> Template:
    """Return a bulk transfer; ``selection`` says how eager it is to move."""
    body = {
        "name": name,
        "title": name,
        "qspec": {"throughput": {"min": "1 bps"}},
        "weights": {"throughput": 1.0},
        "tables": {"throughput": {"points": [["1 bps", 1], ["100 Gbps", 10]]}},
        "selection": selection,
    }
    return Template.model_validate({**body, **fields})


def make_alarm(
    at: float,
    name: str = "a-1",
    path: str = "al2s",
    metric: Metric | str = Metric.THROUGHPUT,
    *,
    since: float | None = None,
    bad: bool = True,
    critical: bool = True,
    kind: str = "plateau",
    ends: tuple[str, str] = ("mu", "osu"),
) -> Alarm:
    """Return an alarm that was raised at ``at``, by default a critical one on throughput from mu to osu.

    :param since: when the first sample that showed it was observed; without it there is no sample.
    """
    samples = () if since is None else (Sample(since, 1e6), Sample(at, 1e6))
    return Alarm(
        id=name,
        series=Series(path, *ends, str(metric)),
        kind=Kind(kind),
        direction=Direction.DOWN,
        bad=bad,
        severity=Severity.CRITICAL if critical else Severity.WARNING,
        raised_at=at,
        before=Evidence(58e6, 1e6),
        after=Evidence(1e6, 1e5, samples=samples),
        text="throughput fell from 58 to 1 Mbps",
    )


def clear_alarm(raised: Alarm, at: float) -> Alarm:
    """Return an alarm as it is when it is cleared."""
    return replace(raised, cleared_at=at)


def make_features(
    n_tables: int = 254, most: int = 1_000_000, fields: frozenset[str] = FIELDS, **more: Any
) -> SwitchFeatures:
    """Return a switch of so many tables with room for ``most`` rules each, groups and meters."""
    tables = FrozenMap({n: Room(0, most, fields) for n in range(min(n_tables, 3))})
    return SwitchFeatures(4, n_tables, tables, **{"groups": ALL_GROUPS, "meters": 1000, **more})
