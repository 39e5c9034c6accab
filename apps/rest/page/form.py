"""The form for a flow: from what was typed to a request as the API takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from adon.errors import InvalidInput, Problem
from measurement.model import Metric

WEIGHT = "weight-"
"""How the names of the weights' fields begin."""
PLAIN = ("template", "source", "destination", "size", "label", "not_before", "deadline")


def wish(typed: Mapping[str, str]) -> dict[str, Any]:
    """The request that a filled-in form makes; what was left empty is left out.

    Whether it can be granted is not asked here; the controller says so.

    :raises InvalidInput: for a weight, a priority or a port that is no number.
    """
    request: dict[str, Any] = {name: typed[name].strip() for name in PLAIN if typed.get(name, "").strip()}
    problems: list[Problem] = []
    weights = {
        metric.value: _number(typed[WEIGHT + metric], f"weights.{metric}", problems)
        for metric in Metric
        if typed.get(WEIGHT + metric, "").strip()
    }
    if weights:
        request["weights"] = weights
    if typed.get("priority", "").strip():
        request["priority"] = _whole(typed["priority"], "priority", problems)
    ports = typed.get("ports", "").replace(",", " ").split()
    if ports:
        request["ports"] = [_whole(port, "ports", problems) for port in ports]
    if problems:
        raise InvalidInput(problems)
    return request


def _number(text: str, field: str, problems: list[Problem]) -> float:
    try:
        return float(text)
    except ValueError:
        problems.append(Problem(field, f"{text[:40]!r} is not a number"))
        return 0.0


def _whole(text: str, field: str, problems: list[Problem]) -> int:
    if text.strip().isdecimal() and len(text) <= 9:
        return int(text)
    problems.append(Problem(field, f"{text[:40]!r} is not a whole number"))
    return 0
