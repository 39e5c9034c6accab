"""JSON schemas of files, for editors, and valid examples of fields, for error messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema

from adon.units import HELD_IN, UNITS

TEXTS = ("soykb", "dtn1.example.edu", "adon@example.edu", "f-17", "0000000000000a01")
"""Examples of texts: a name, the name of a host, an address of mail, a flow, and a switch."""
FORMATS = {
    "date-time": "2026-11-21T06:00:00Z",
    "ipv4": "10.1.0.10",
    "ipv4network": "10.1.0.0/16",
    "ipv6": "2001:db8::10",
    "ipv6network": "2001:db8::/32",
}
"""Examples of texts by the ``format`` of their schema."""

Schema = Mapping[str, Any]


class _Generator(GenerateJsonSchema):
    # A schema cannot state an empty mapping as default; its key is optional nevertheless.
    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012


def json_schema(model: type[BaseModel], title: str) -> dict[str, Any]:
    """Return the JSON schema (2020-12) of files of this model.

    It states each key, its type and its bounds.  Only the parser of the file checks relations between keys,
    and references to names.
    """
    found = model.model_json_schema(schema_generator=_Generator)
    return {"$schema": _Generator.schema_dialect, **found, "title": title}


def find_example(model: type[BaseModel], place: Sequence[str | int]) -> str:
    """Return a valid value of a field as YAML on one line: its default, or an example; empty if it has none.

    :param place: keys from the root to the field.
    """
    schema = _schema_of(model)
    fields = _schemas_at(schema, place)
    defaults = (_default(one) for one in fields)
    examples = (_example(kind, schema) for one in fields for kind in _kinds(one, schema))
    value = next((one for one in (*defaults, *examples) if one not in (None, "", {}, [])), "")
    return value if isinstance(value, str) else json.dumps(value)


def _default(schema: Schema) -> Any:
    default = schema.get("default")
    if schema.get("format") in HELD_IN and isinstance(default, int | float):
        _, write = UNITS[HELD_IN[schema["format"]]]
        return write(default)
    return default if isinstance(default, str | int | float) else None


def find_keys(model: type[BaseModel], place: Sequence[str | int]) -> list[str]:
    """Return the keys that a mapping may have.

    :param place: keys from the root to the mapping.
    """
    schema = _schema_of(model)
    found = (kind for one in _schemas_at(schema, place) for kind in _kinds(one, schema))
    return sorted({key for one in found for key in one.get("properties", ())})


def _schemas_at(schema: Schema, place: Sequence[str | int]) -> list[Schema]:
    found = [schema]
    for step in place:
        kinds = (kind for one in found for kind in _kinds(one, schema))
        found = [child for kind in kinds if (child := _child(kind, step)) is not None]
    return found


@cache
def _schema_of(model: type[BaseModel]) -> Schema:
    return json_schema(model, model.__name__)


def _kinds(schema: Schema, whole: Schema) -> Iterator[Schema]:
    """Yield the alternatives of a schema with resolved references, or the schema itself."""
    if "examples" in schema:
        yield schema
    elif "$ref" in schema:
        yield from _kinds(whole["$defs"][schema["$ref"].rpartition("/")[2]], whole)
    elif alternatives := schema.get("anyOf", schema.get("oneOf", schema.get("allOf"))):
        for one in alternatives:
            yield from _kinds(one, whole)
    else:
        yield schema


def _child(schema: Schema, step: str | int) -> Schema | None:
    if isinstance(step, int):
        places = schema.get("prefixItems", ())
        return places[step] if step < len(places) else schema.get("items")
    found: Schema | None = schema.get("properties", {}).get(step)
    return _values(schema) if found is None else found


def _values(schema: Schema) -> Schema | None:
    """Return the schema of the values of a mapping with any keys."""
    found = (schema.get("additionalProperties"), *schema.get("patternProperties", {}).values())
    return next((one for one in found if isinstance(one, Mapping)), None)


def _example(schema: Schema, whole: Schema) -> Any:
    for key in ("examples", "enum"):
        if schema.get(key):
            return schema[key][0]
    if "const" in schema:
        return schema["const"]
    match schema.get("type"):
        case "integer" | "number":
            return _number(schema)
        case "boolean":
            return True
        case "array":
            items = schema.get("prefixItems", [schema.get("items", {})])
            return [_example(next(_kinds(item, whole)), whole) for item in items]
        case "object":
            return _object(schema, whole)
        case "string":
            if schema.get("format") in FORMATS:
                return FORMATS[schema["format"]]
            pattern = schema.get("pattern", "")
            return next((text for text in TEXTS if re.search(pattern, text)), None)
    return None


def _number(schema: Schema) -> float:
    low: float = schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
    high: float = schema.get("maximum", 1)
    return max(low, min(1, high))


def _object(schema: Schema, whole: Schema) -> Any:
    if (values := _values(schema)) is not None:
        key = next(_kinds(schema.get("propertyNames", {"examples": ["name"]}), whole))
        return {_example(key, whole): _example(next(_kinds(values, whole)), whole)}
    properties = schema.get("properties", {})
    required = {name: next(_kinds(properties[name], whole)) for name in schema.get("required", ())}
    return {name: _example(kind, whole) for name, kind in required.items()}
