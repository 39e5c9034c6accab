"""JSON that a stranger sent, made safe to read on: bounded, finite, and text that can be stored.

Python's parser takes more than RFC 8259 allows (``NaN``, ``1e999``) and strings that no database stores
(U+0000, lone surrogates).  What would only fail later, in the archive, is refused here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

LARGEST = 8 * 2**20
_SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")


def parse(
    data: bytes, most: int = LARGEST, make_object: Callable[[list[tuple[str, Any]]], Any] | None = None
) -> object:
    """The value that ``data`` is the JSON text of.

    :param most: bytes allowed.
    :param make_object: makes an object of its keys and values, which can have a key twice.
    :raises ValueError: when it is too large, no JSON, or holds what cannot be kept; says which.
    """
    if len(data) > most:
        raise ValueError(f"{len(data)} bytes, allowed are {most}")
    try:
        value: object = json.loads(
            data.decode("utf-8"),
            parse_constant=_no_constant,
            parse_float=_finite,
            object_pairs_hook=make_object,
        )
    except UnicodeDecodeError:
        raise ValueError("not UTF-8") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at byte {error.pos} of {len(data)}") from None
    except RecursionError:
        raise ValueError("not JSON that can be read: nested too deeply") from None
    if _SUSPECT.search(data):
        _check_texts(value)
    return value


def _no_constant(name: str) -> float:
    raise ValueError(f"not JSON: {name} is no number")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"not JSON that can be read: {text[:20]} is too large")
    return number


def _check_texts(value: object) -> None:
    for text in _texts(value):
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise ValueError("text with U+0000 or half a surrogate pair")


def _texts(value: object) -> Iterator[str]:
    pending = [value]
    while pending:
        found = pending.pop()
        if isinstance(found, str):
            yield found
        elif isinstance(found, dict):
            pending += [*found, *found.values()]
        elif isinstance(found, list):
            pending += found
