"""Text of documents with a kind and a version: what one program writes, and another reads years later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeVar

import pydantic_core

from measurement.model import from_json, to_json

LARGEST = 64 * 2**20
"""Bytes of a document: more than two thousand instances' pairs, and nothing that fills a machine."""
T = TypeVar("T")


def dumps(value: object) -> str:
    """Return a value as text: a field per line, and a line per element of its lists, for people and diff."""
    fields = [f"  {json.dumps(name)}: {_text(part)}" for name, part in to_json(value).items()]
    return "{\n" + ",\n".join(fields) + "\n}\n"


def loads(kind: type[T], text: str | bytes) -> T:
    """Return the value of a text that anybody may have written.

    :raises ValueError: if it is too large, no JSON, of another kind or version, or a field is wrong; it names
        the fields.
    """
    if len(text) > LARGEST:
        raise ValueError(f"document: more than {LARGEST} bytes")
    try:
        data = pydantic_core.from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise ValueError(f"document: is no JSON: {error}") from None
    if not isinstance(data, Mapping):
        raise ValueError("document: is no JSON object")
    return from_json(kind, data)


def _text(value: object) -> str:
    if isinstance(value, list) and any(isinstance(each, list | dict) for each in value):
        return "[\n" + ",\n".join(f"    {json.dumps(each)}" for each in value) + "\n  ]"
    return json.dumps(value)
