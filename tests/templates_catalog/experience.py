"""A template and an outcome of one of its flows."""

from __future__ import annotations

from typing import Any

from adon.broker.outcomes import FlowOutcome
from adon.frozenmap import FrozenMap
from adon.templates_catalog.model import Template


def a_template(**changes: Any) -> Template:
    """At least 700 Mbps over TCP, up to 10 Gbps; throughput weighs 0.8, loss 0.2."""
    fields: dict[str, Any] = {
        "name": "soykb",
        "qspec": {"throughput": {"min": "700 Mbps"}, "loss": {"max": "0.1 %"}},
        "rspec": {"bandwidth_ceiling": "10 Gbps"},
        "weights": {"throughput": 0.8, "loss": 0.2},
        "tables": {"throughput": {"points": [["700 Mbps", 1], ["10 Gbps", 10]]}},
    }
    return Template.model_validate({**fields, **changes})


def an_outcome(number: int = 1, **changes: Any) -> FlowOutcome:
    fields: dict[str, Any] = {
        "flow": number,
        "template": "soykb@1",
        "source": "mu-dtn",
        "destination": "osu-dtn",
        "state": "finished",
        "submitted_at": 1000.0 * number,
        "admitted_at": 1000.0 * number,
        "ended_at": 1000.0 * number + 100,
        "requested_bytes": 10**9,
        "transferred_bytes": 10**9,
        "throughput": 1e9,
        "quality": FrozenMap({"met": 100.0}),
        "conditions": FrozenMap({"throughput": 2e9, "loss": 1e-4}),
    }
    return FlowOutcome(**{**fields, **changes})
