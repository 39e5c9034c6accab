"""Documents of decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.api.base import UNITS
from adon.api.decisions import DecisionSummary, DecisionView
from adon.broker.decision import Decision
from adon.store.decision_rows import DecisionInShort
from apps.rest.forecast_views import to_forecast_view

_TERMS = {
    **{name: f"{name}_seconds" for name in ("total", "queue", "compute", "network", "duplication")},
    **{name: f"{name}_bytes" for name in ("compute_size", "transfer_size")},
    **{name: f"{name}_bps" for name in ("node_rate", "theoretical", "available")},
    "basis": "available_basis",
}


def to_decision_summary(decision: DecisionInShort) -> DecisionSummary:
    """The decision in short."""
    same = {name: getattr(decision, name) for name in DecisionSummary.model_fields if name != "candidates"}
    return DecisionSummary(**same, candidates=len(decision.candidates))


def to_decision_view(decision: Decision) -> DecisionView:
    """The decision as it is answered."""
    body = decision.body()
    body["candidates"] = [_candidate(candidate) for candidate in body["candidates"]]
    body["compute"] = [_site_cost(site) for site in body["compute"]]
    body["forecast"] = to_forecast_view(body["forecast"])
    return DecisionView.model_validate(body)


def _site_cost(body: Mapping[str, Any]) -> dict[str, Any]:
    return {_TERMS.get(name, name): value for name, value in body.items()}


def _candidate(body: Mapping[str, Any]) -> dict[str, Any]:
    metrics = [
        {**metric, "unit": UNITS.get(metric["metric"], ""), "age_seconds": metric["age"]}
        for metric in body["metrics"]
    ]
    return {**body, "metrics": metrics}
