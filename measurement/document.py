"""Documents with a kind and a version: what one program writes as JSON, and another reads years later."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import from_json

from measurement.model import list_problems

LARGEST = 64 * 2**20
"""Bytes of a document: more than two thousand instances' pairs, and nothing that fills a machine."""


class Part(BaseModel):
    """A part of a document: fields of exactly their types, none unknown, numbers finite."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class Document(Part):
    """What every document begins with; subclasses narrow both to what they are."""

    kind: str
    version: int


D = TypeVar("D", bound=Document)


def parsed(text: str | bytes) -> Mapping[str, object]:
    """Return the JSON object of a text that anybody may have written.

    :raises ValueError: if it is too large, or no JSON object.
    """
    if len(text) > LARGEST:
        raise ValueError(f"document: more than {LARGEST} bytes")
    try:
        data = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise ValueError(f"document: is no JSON: {error}") from None
    if not isinstance(data, Mapping):
        raise ValueError("document: is no JSON object")
    return data


def read(text: str | bytes, model: type[D], kind: str, version: int) -> D:
    """A document that may have been written by anybody.

    :raises ValueError: if it is too large, no JSON, of another kind or version, or a field is wrong; it names
        the fields.
    """
    data = parsed(text)
    if data.get("kind") != kind:
        raise ValueError(f"kind: {str(data.get('kind'))[:40]!r} is not {kind!r}")
    if data.get("version") != version:
        its = str(data.get("version"))[:40]
        raise ValueError(f"version: {its!r} is not {version}, which is what this program reads and writes")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise ValueError("; ".join(list_problems(error, "document"))) from None


def written(data: Mapping[str, object]) -> str:
    """A document as text: a field per line, and a line per element of its lists, for people and for diff."""
    fields = [f"  {json.dumps(name)}: {_value(value)}" for name, value in data.items()]
    return "{\n" + ",\n".join(fields) + "\n}\n"


def _value(value: object) -> str:
    if isinstance(value, list) and any(isinstance(each, list | dict) for each in value):
        return "[\n" + ",\n".join(f"    {json.dumps(each)}" for each in value) + "\n  ]"
    return json.dumps(value)
