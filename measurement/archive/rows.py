"""Between the archive's values and rows of its tables; pure.

What comes from a network may hold text that one of the databases cannot (NUL, half of a surrogate pair),
numbers that JSON has not, or megabytes.  It is refused here, value by value, before a transaction begins.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, NamedTuple

from pydantic_core import from_json

from measurement.model import Measurement, Metric, Observation, PathKey, Series

Value = Measurement | Observation
"""What the archive keeps."""

NAME_BYTES = 255
TEXT_BYTES = 4096
PARAMETER_BYTES = 65_536
DOCUMENT_BYTES = 16 * 1024 * 1024
NETWORK = frozenset(metric.value for metric in Metric)
"""The metrics whose values are :class:`Measurement`; all others are :class:`Observation`."""


class SampleRow(NamedTuple):
    """A row of ``sample``, its series not yet a number."""

    series: Series
    observed_at: float
    value: float
    started_at: float | None
    identity: bytes
    source: str
    tool: str
    parameters: str


def sample_row(value: Measurement | Observation) -> SampleRow:
    """The row of a value.

    :raises ValueError: naming the field that cannot be kept.
    """
    for name, text in zip(("path", "source", "destination", "metric"), value.series, strict=True):
        _check(f"key.{name}", text, NAME_BYTES)
    _check("source", value.source, TEXT_BYTES)
    _check("tool", value.tool, NAME_BYTES)
    started_at = value.started_at if isinstance(value, Measurement) else None
    return SampleRow(
        value.series,
        value.observed_at,
        value.value,
        started_at,
        _digest(value.origin),
        value.source,
        value.tool,
        to_json("parameters", value.parameters, PARAMETER_BYTES),
    )


def _digest(origin: str) -> bytes:
    # Sixteen bytes in the index instead of a URL; two in 10^9 values are equal once in 10^21 archives.
    return blake2b(origin.encode(), digest_size=16).digest()


def _check(field: str, text: str, most: int) -> None:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ValueError(f"{field}: is not text") from None
    if "\0" in text:
        raise ValueError(f"{field}: holds a NUL character")
    if size > most:
        raise ValueError(f"{field}: {size} bytes, {most} can be kept")


def to_json(field: str, value: Mapping[str, object], most: int) -> str:
    """JSON as text; equal values give equal texts.

    :raises ValueError: naming the field, if it is not JSON or too long.
    """
    try:
        text = json.dumps(dict(value), allow_nan=False, sort_keys=True)
        if "\\ud" in text:  # pairs are text; a half of one could be kept, and not be read again
            from_json(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{field}: is not JSON: {error}") from None
    if len(text) > most:
        raise ValueError(f"{field}: {len(text)} bytes, {most} can be kept")
    return text


def measurement(row: Any) -> Measurement:
    """The value of a joined row of ``sample`` and ``series``."""
    return Measurement(
        _key(row),
        Metric(row.metric),
        row.value,
        row.started_at,
        row.observed_at,
        row.origin,
        row.tool,
        from_json(row.parameters),
    )


def observation(row: Any) -> Observation:
    """The value of a joined row of ``sample`` and ``series``."""
    return Observation(
        _key(row), row.metric, row.value, row.observed_at, row.origin, row.tool, from_json(row.parameters)
    )


def _key(row: Any) -> PathKey:
    return PathKey(row.path, row.source, row.destination)
