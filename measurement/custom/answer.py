"""What a command printed, read as numbers: pure.

Either one number, or a JSON document that a JSON Schema (draft 2020-12) describes; each number in it is a
value, named by the keys that lead to it.  Texts and lists are not taken: what leaves the host is numbers.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
import referencing

MOST_VALUES = 100
_DEEPEST = 8
_NOT_A_NAME = re.compile(r"[^a-z0-9]+")

Schema = Mapping[str, Any]


def check_schema(schema: Schema) -> None:
    """Refuse a schema that is none, or refers to another document.

    :raises ValueError: saying what is wrong with it.
    """
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise ValueError(f"schema: {error.message}") from None
    for reference in _references(schema):
        if not reference.startswith("#"):
            raise ValueError(f"schema: {reference[:60]!r} is in another document, which is never fetched")


def _references(schema: object) -> Iterator[str]:
    if isinstance(schema, Mapping):
        for name, part in schema.items():
            if name in ("$ref", "$dynamicRef") and isinstance(part, str):
                yield part
            yield from _references(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _references(part)


def read_answer(text: str, schema: Schema | None) -> dict[str, float]:
    """The values in a program's output, by their dotted names; "" is the name of a bare number.

    :param schema: what the output must satisfy; None: one number and nothing else.
    :raises ValueError: for anything else, saying what; never with the output's own words.
    """
    document = _number(text) if schema is None else _document(text, schema)
    values: dict[str, float] = {}
    for name, value in _numbers(document, (), _DEEPEST):
        if name in values:
            raise ValueError(f"printed two values that are both named {name[:60]!r}")
        if len(values) == MOST_VALUES:
            raise ValueError(f"printed more than {MOST_VALUES} values")
        values[name] = value
    if not values:
        raise ValueError("printed no number")
    return values


def _number(text: str) -> float:
    try:
        return float(text.strip())
    except ValueError:
        raise ValueError("did not print a number") from None


def _document(text: str, schema: Schema) -> object:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("did not print JSON") from None
    # An empty registry: no reference of a schema ever makes this program fetch a document.
    validator = jsonschema.Draft202012Validator(schema, registry=referencing.Registry())
    try:
        error = jsonschema.exceptions.best_match(validator.iter_errors(document))
    except RecursionError:
        raise ValueError("printed JSON that is nested too deeply") from None
    if error is not None:
        where = ".".join(map(str, error.absolute_path)) or "the document"
        raise ValueError(f"printed JSON in which {where[:60]} is not as its schema says ({error.validator})")
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
        raise ValueError("printed a number that is not finite")
    return number
