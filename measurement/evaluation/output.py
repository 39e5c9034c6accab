"""What a test's programs are called with, and what is read from what they print."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping

from measurement.evaluation.document import PLACEHOLDERS, Measure

MOST = 120


def filled(words: tuple[str, ...], values: Mapping[str, str]) -> tuple[str, ...]:
    """A command with the placeholders of :class:`~measurement.evaluation.document.Measure` filled in.

    Each is replaced where it stands, once; braces around anything else stay.
    """
    return tuple(_filled(word, values) for word in words)


def _filled(word: str, values: Mapping[str, str]) -> str:
    pieces = word.split("{")
    found = pieces[0]
    for piece in pieces[1:]:
        name, closed, rest = piece.partition("}")
        known = closed and name in PLACEHOLDERS and name in values
        found += values[name] + rest if known else "{" + piece
    return found


def value_of(printed: str, measure: Measure) -> float:
    """A test's value, in the metric's unit.

    :raises ValueError: if what was printed holds none; it says what is there instead.
    """
    if measure.value is None:
        return _number(_only_number(printed), "it printed") * measure.factor
    try:
        found = json.loads(printed)
    except json.JSONDecodeError as error:
        raise ValueError(f"what it printed is not JSON: {error.msg}, line {error.lineno}") from None
    if isinstance(found, dict) and isinstance(found.get("error"), str):
        raise ValueError(f"it says: {found['error'][:MOST]}")  # as iperf3 tells of an error
    for step in measure.value.split("."):
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            raise ValueError(f"{measure.value}: it printed no {step!r}")
    return _number(found, measure.value) * measure.factor


def _only_number(printed: str) -> object:
    try:
        return float(printed.strip())
    except ValueError:
        return printed.strip()


def _number(found: object, name: str) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise ValueError(f"{name}: {str(found)[:MOST]!r} is no number")
    if not (math.isfinite(found) and found >= 0):
        raise ValueError(f"{name}: {found} is not a finite number from 0 on")
    return float(found)
