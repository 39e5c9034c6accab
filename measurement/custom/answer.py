"""What a command printed, read as numbers: pure.

Either one number, or a JSON object; each number in it is a value, named by the keys that lead to it.  Texts
and lists are not taken: what leaves the host is numbers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from measurement.errors import InvalidValue

MOST_VALUES = 100
_DEEPEST = 8
_NOT_A_NAME = re.compile(r"[^a-z0-9]+")


def read_answer(text: str) -> dict[str, float]:
    """The values in a program's output, by their dotted names; "" is the name of a bare number.

    :raises ValueError: for anything else, saying what; never with the output's own words.
    """
    values: dict[str, float] = {}
    for name, value in _numbers(_document(text), (), _DEEPEST):
        if name in values:
            raise InvalidValue(f"printed two values that are both named {name[:60]!r}", "duplicate")
        if len(values) == MOST_VALUES:
            raise InvalidValue(f"printed more than {MOST_VALUES} values", "wrong-length")
        values[name] = value
    if not values:
        raise InvalidValue("printed no number", "wrong-type")
    return values


def _document(text: str) -> object:
    if not text.lstrip().startswith("{"):
        try:
            return float(text.strip())
        except ValueError:
            raise InvalidValue("printed neither a number nor a JSON object", "malformed") from None
    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidValue("did not print JSON", "malformed") from None
    return document


def _numbers(part: object, keys: tuple[str, ...], deep: int) -> Iterator[tuple[str, float]]:
    if isinstance(part, bool | int | float):
        yield ".".join(keys), _finite(part)
    elif isinstance(part, dict) and deep > 0:
        for key, inner in part.items():
            yield from _numbers(inner, (*keys, _name(key)), deep - 1)


def _name(key: str) -> str:
    return _NOT_A_NAME.sub("_", key.lower()) if key else "_"


def _finite(value: float) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise InvalidValue("printed a number that is not finite", "out-of-range")
    return number
