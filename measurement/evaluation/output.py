"""What a test's programs are called with, and what is read from what they print."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping

from measurement.errors import InvalidValue
from measurement.evaluation.document import PLACEHOLDER, Measure

MOST = 120


def filled(words: Iterable[str], values: Mapping[str, str]) -> tuple[str, ...]:
    """A command with ``{name}`` replaced by the value of that name, once; braces around others stay."""
    return tuple(PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), word) for word in words)


def value_of(printed: str, measure: Measure) -> float:
    """A test's value, in the metric's unit.

    :raises ValueError: if what was printed holds none; it says what is there instead.
    """
    if measure.value is None:
        return _number(_only_number(printed), "it printed") * measure.factor
    try:
        found = json.loads(printed)
    except json.JSONDecodeError as error:
        raise InvalidValue(
            f"what it printed is not JSON: {error.msg}, line {error.lineno}", "malformed"
        ) from None
    if isinstance(found, dict) and isinstance(found.get("error"), str):
        raise ValueError(f"it says: {_last_line(found['error'])}")
    for step in measure.value.split("."):
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            raise InvalidValue(f"{measure.value}: it printed no {step!r}", "missing")
    return _number(found, measure.value) * measure.factor


def complaint(stderr: str, stdout: str) -> str:
    """Why a program failed, in one line, as far as it says.

    Programs that print JSON tell of an error there (``{"error": "..."}``, as iperf3 does).
    """
    if stderr.strip():
        return _last_line(stderr)
    try:
        found = json.loads(stdout)
    except json.JSONDecodeError:
        return _last_line(stdout)
    told = found.get("error") if isinstance(found, dict) else None
    return _last_line(told) if isinstance(told, str) else ""


def _last_line(text: str) -> str:
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    return lines[-1][:MOST] if lines else ""


def _only_number(printed: str) -> object:
    try:
        return float(printed.strip())
    except ValueError:
        return printed.strip()


def _number(found: object, name: str) -> float:
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise InvalidValue(f"{name}: {str(found)[:MOST]!r} is no number", "wrong-type")
    if not (math.isfinite(found) and found >= 0):
        raise InvalidValue(f"{name}: {found} is not a finite number from 0 on", "out-of-range")
    return float(found)
