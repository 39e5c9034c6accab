"""Why not, in words and as plain JSON values."""

from __future__ import annotations

import math
from collections.abc import Mapping

from adon.broker.decision import Decision
from adon.broker.flipping.nearest import Alternative, Flip, Searched, WhyNot
from adon.broker.flipping.quantity import Kind, Quantity
from adon.flowvisor.selection.assessment import value_text
from adon.templates_catalog.lookup import UNITS
from adon.units import format_duration, format_size
from measurement.model import Metric


def as_json(found: Searched) -> Mapping[str, object]:
    """All that was found, as plain JSON values; values in the units of the metrics, ``s``, ``B``."""
    return {
        "decision": found.decision.id,
        "outcome": found.decision.outcome.value,
        "path": found.chosen[0],
        "compute_site": found.chosen[1],
        "alternatives": [_alternative(found, one) for one in found.whynots],
        "searched": [_range(one) for one in found.looked_at],
        "left_out": [_range(one) for one in found.left_out],
        "decisions_made": found.made,
    }


def _alternative(found: Searched, one: WhyNot) -> dict[str, object]:
    decision, wanted = found.decision, one.alternative
    record = next((each for each in decision.candidates if each.path == wanted.path), None)
    return {
        "path": wanted.path,
        "site": wanted.site,
        "verdict": None if record is None else record.verdict.value,
        "q": None if record is None else record.q,
        "why": _why(decision, wanted),
        "text": text_of(found, one),
        "flips": [_flip(wanted, flip) for flip in one.flips],
    }


def _why(decision: Decision, wanted: Alternative) -> str:
    """What was said of it then."""
    record = next((one for one in decision.candidates if one.path == wanted.path), None)
    path = "" if record is None else record.why
    cost = next((one for one in decision.compute if (one.path, one.site) == (wanted.path, wanted.site)), None)
    return "; ".join(filter(None, (path, "" if cost is None else cost.why)))


def _flip(wanted: Alternative, flip: Flip) -> dict[str, object]:
    quantity = flip.quantity
    return {
        "kind": quantity.kind.value,
        "name": quantity.name,
        "path": quantity.path,
        "unit": _unit(quantity),
        "value": quantity.value,
        "needed": flip.needed,
        "short_of": flip.short_of,
        "told": flip.told,
        "size": flip.size if math.isfinite(flip.size) else None,
        "text": sentence(wanted, flip),
    }


def _range(quantity: Quantity) -> dict[str, object]:
    return {
        "kind": quantity.kind.value,
        "name": quantity.name,
        "path": quantity.path,
        "unit": _unit(quantity),
        "value": quantity.value,
        "low": quantity.low,
        "high": quantity.high,
    }


def _unit(quantity: Quantity) -> str:
    known = {metric.value: unit for metric, unit in UNITS.items()}
    return known.get(quantity.unit, quantity.unit)


def text_of(found: Searched, one: WhyNot) -> str:
    """The smallest change in one sentence, or that there is none."""
    if one.flips:
        return sentence(one.alternative, one.flips[0])
    more = f"; {len(found.left_out)} quantities were not searched" if found.left_out else ""
    counted = f"none of {len(found.looked_at)} quantities" if found.looked_at else "no quantity"
    return f"{_name(one.alternative)}: {counted} selects it by a single change within its range{more}"


def sentence(wanted: Alternative, flip: Flip) -> str:
    """``al2s would have been taken if the rtt of internet had been 62 ms or more instead of 48 ms``."""
    return f"{_name(wanted)} would have been taken if {_condition(flip)}"


def _name(wanted: Alternative) -> str:
    return wanted.path if wanted.site is None else f"{wanted.site} by {wanted.path}"


def _condition(flip: Flip) -> str:
    quantity = flip.quantity
    if quantity.kind is Kind.CLOSED:
        return f"{quantity.path} had not been excluded: {quantity.name}"
    needed = _text(quantity, flip.told)
    if quantity.value is None:
        side = "or more" if quantity.better >= quantity.high else "or less"
        return f"{_subject(quantity)} had been known to be {needed} {side}"
    side = "or more" if flip.needed > quantity.value else "or less"
    return f"{_subject(quantity)} had been {needed} {side} instead of {_text(quantity, quantity.value)}"


def _subject(quantity: Quantity) -> str:
    name = quantity.name.replace("_", "-" if quantity.name.startswith("one_way") else " ")
    name = name.replace("one-way-delay", "one-way delay")
    match quantity.kind:
        case Kind.METRIC:
            return f"the {name} measured on {quantity.path}"
        case Kind.WEIGHT:
            return f"the weight of {name}"
        case Kind.BOUND:
            return f"the bound of {name}"
        case Kind.PRIORITY:
            return "the flow's priority"
        case Kind.SIZE:
            return "the size"
        case Kind.MARGIN:
            return "the template's switch margin"
        case Kind.PATIENCE:
            return "the patience of the template"
        case _:
            return "the minimum dwell time of the flow"


def _text(quantity: Quantity, value: float) -> str:
    """A value in the unit people read, with as many digits as tell it from what is beside it."""
    if quantity.unit in {metric.value for metric in Metric}:
        return value_text(Metric(quantity.unit), value)
    if quantity.unit == "B":
        return format_size(value)
    if quantity.unit == "s":
        return format_duration(value)
    return f"{value:.4g}" if not quantity.whole else f"{value:.0f}"
