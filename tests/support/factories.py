"""Values of the public border for tests, one factory each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from adon.broker.decision import Decision, Outcome
from adon.broker.flow import Flow, FlowRequest
from adon.flowvisor.rules.switch_features import SwitchFeatures, TableCapacity
from adon.templates_catalog.builtin_templates import builtin_templates, scale_template
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import Template
from adon.values import FrozenMap
from measurement.anomaly.alarm import Alarm, Kind
from measurement.anomaly.model import Direction, Evidence, Sample, Severity
from measurement.model import Measurement, Metric, PathKey, Series

FIELDS = frozenset(
    {"in_port", "eth_type", "ip_proto", "ip_src", "ip_dst", "tp_src", "tp_dst", "metadata", "vlan"}
)
"""The match fields of a switch that can match all that ADON asks for."""
AL2S = PathKey("al2s", "mu", "osu")
ALL_GROUPS = FrozenMap({"all": 100, "fast_failover": 100})


def make_catalog() -> Catalog:
    """Return the built-in templates at the example network's scale of 1:100."""
    return Catalog.of(scale_template(template, 0.01) for template in builtin_templates())


def make_template(**fields: Any) -> Template:
    """Return a template that weighs throughput only."""
    return Template.model_validate({"name": "soykb", "weights": {"throughput": 1.0}, **fields})


def make_request(**fields: Any) -> FlowRequest:
    """Return a request for 1 GB from mu to osu."""
    body = {"source": "mu-dtn", "destination": "osu-dtn", "size": "1 GB", "template": "soykb"}
    return FlowRequest.model_validate({**body, **fields})


def make_flow(**fields: Any) -> Flow:
    """Return a flow as it is when it was requested; ``request`` is one of :func:`make_request`."""
    body = {"number": 1, "requester": "ann", "template": "soykb@1", "submitted_at": 1000.0}
    return Flow(**{"request": make_request(), **body, **fields})


def make_decision(**fields: Any) -> Decision:
    """Return a decision that admits flow f-1 to al2s."""
    body: dict[str, Any] = {
        "id": "d-1",
        "flow": "f-1",
        "at": 1000.0,
        "cause": "e-1",
        "outcome": Outcome.ADMIT,
        "path": "al2s",
        "previous_path": None,
        "code": "best-score",
        "reason": "highest Q",
        "template": "soykb@1",
        "weights": {"throughput": 1.0},
    }
    return Decision(**{**body, **fields})


def make_measurement(
    *,
    key: PathKey = AL2S,
    metric: Metric = Metric.THROUGHPUT,
    value: float = 58e6,
    observed_at: float = 1_000_000.0,
    lasted: float = 1.0,
    **fields: Any,
) -> Measurement:
    """Return the result of a test that lasted so many seconds, by default of throughput from mu to osu."""
    body = {"started_at": observed_at - lasted, "source": "run/1", "tool": "iperf3"}
    return Measurement(key, metric, value, observed_at=observed_at, **{**body, **fields})


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
    tables = FrozenMap({n: TableCapacity(0, most, fields) for n in range(min(n_tables, 3))})
    return SwitchFeatures(4, n_tables, tables, **{"groups": ALL_GROUPS, "meters": 1000, **more})
