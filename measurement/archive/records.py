"""The flat form of a value, one row of a CSV file; pure.

One table holds both kinds.  An observation has no ``started_at``.  ``origin`` is the value's ``source`` (the
run's URL), since ``source`` is where the path begins.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from measurement.archive.rows import Value, sample_row
from measurement.model import Measurement, Metric, Observation, PathKey

_NUMBER = re.compile(r"[-+0-9.eE]+", re.ASCII)


class Record(NamedTuple):
    """One row; see the module."""

    kind: str
    path: str
    source: str
    destination: str
    metric: str
    value: float | None
    started_at: float | None
    observed_at: float | None
    origin: str
    tool: str
    parameters: str


NUMBERS = ("value", "started_at", "observed_at")


def record(value: Value) -> Record:
    """A value as a row; the inverse of :func:`value_of`."""
    started_at = value.started_at if isinstance(value, Measurement) else None
    kind = "observation" if started_at is None else "measurement"
    numbers = (value.value, started_at, value.observed_at)
    parameters = json.dumps(dict(value.parameters))
    return Record(kind, *value.series, *numbers, value.source, value.tool, parameters)


def value_of(row: Record) -> Value:
    """The value of a row, fit to be kept.

    :raises ValueError: naming the field and what is wrong with it.
    """
    found = _value_of(row)
    sample_row(found)
    return found


def _value_of(row: Record) -> Value:
    parameters, key = _json(row.parameters), PathKey(row.path, row.source, row.destination)
    observed_at, tail = _require("observed_at", row.observed_at), (row.origin, row.tool)
    if row.kind == "measurement":
        value, started_at = _require("value", row.value), _require("started_at", row.started_at)
        return Measurement(key, _metric(row.metric), value, started_at, observed_at, *tail, parameters)
    if row.kind == "observation":
        return Observation(key, row.metric, _require("value", row.value), observed_at, *tail, parameters)
    raise ValueError(f"kind: {row.kind[:60]!r} is neither measurement nor observation")


def number(field: str, text: str) -> float | None:
    """A number written as text; None where there is nothing.

    :raises ValueError: for what is no decimal number.
    """
    if text == "":
        return None
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{field}: {text[:60]!r} is not a number")
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{field}: {text[:60]!r} is not a number") from None


def _require(field: str, value: float | None) -> float:
    if value is None:
        raise ValueError(f"{field}: is missing")
    return value


def _metric(text: str) -> Metric:
    try:
        return Metric(text)
    except ValueError:
        raise ValueError(f"metric: {text[:60]!r} is none of {', '.join(Metric)}") from None


def _json(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"parameters: is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError("parameters: is not a JSON object")
    return found


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number")
