"""Orders and reports as JSON, checked field by field when they are read.

A dataclass is an object with its fields by name; a member of a union has its ``kind``, too.  Reading follows
the annotations of the classes.  pydantic would need fewer lines, but every instance runs an agent, and the
memory of the agent is not available to the instance's tasks.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from typing import Any, TypeVar, cast

_T = TypeVar("_T")


def to_document(value: object) -> Any:
    """Return a dataclass of this package as JSON values."""
    if isinstance(value, tuple):
        return [to_document(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    if not is_dataclass(value) or isinstance(value, type):
        return value
    kind = getattr(value, "kind", None)
    document = {} if kind is None else {"kind": kind}
    return document | {each.name: to_document(getattr(value, each.name)) for each in fields(value)}


def from_document(kind: type[_T], document: object, name: str) -> _T:
    """Return the value that :func:`to_document` wrote.

    :param name: the document's name in errors.
    :raises ValueError: naming the field and what is wrong with it.
    """
    return cast(_T, _read(kind, document, name))


def _read(kind: Any, document: object, where: str) -> Any:
    if is_dataclass(kind):
        return _read_object(kind, document, where)
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        return _read_union(typing.get_args(kind), document, where)
    if origin is tuple:
        if not isinstance(document, list):
            raise ValueError(f"{where}: is not a list")
        inner = typing.get_args(kind)[0]
        return tuple(_read(inner, each, f"{where}[{number}]") for number, each in enumerate(document))
    return _read_scalar(kind, document, where)


def _read_union(members: tuple[Any, ...], document: object, where: str) -> Any:
    """Read an optional value, or one of several classes by its ``kind``."""
    inner = [each for each in members if each is not types.NoneType]
    if document is None and len(inner) < len(members):
        return None
    if len(inner) == 1:
        return _read(inner[0], document, where)
    if not isinstance(document, dict):
        raise ValueError(f"{where}: is not an object")
    kinds: Mapping[object, Any] = {each.kind: each for each in inner}
    name = str(document.get("kind"))
    if name not in kinds:
        raise ValueError(f"{where}.kind: {name[:80]!r} is none of {', '.join(map(str, kinds))}")
    rest = {key: value for key, value in document.items() if key != "kind"}
    return _read_object(kinds[name], rest, where)


def _read_scalar(kind: Any, document: object, where: str) -> Any:
    if issubclass(kind, Enum):
        try:
            return kind(document)
        except ValueError:
            raise ValueError(f"{where}: {str(document)[:80]!r} is unknown") from None
    number = isinstance(document, int | float) and not isinstance(document, bool)
    if kind is float and number:
        return float(cast(float, document))
    if type(document) is not kind:
        raise ValueError(f"{where}: {str(document)[:80]!r} is no {kind.__name__}")
    return document


@functools.cache
def _fields(kind: Any) -> tuple[dict[str, Any], tuple[Field[Any], ...]]:
    return typing.get_type_hints(kind), fields(kind)


def _read_object(kind: Any, document: object, where: str) -> Any:
    if not isinstance(document, dict):
        raise ValueError(f"{where}: is not an object")
    hints, known = _fields(kind)
    unknown = document.keys() - {each.name for each in known}
    if unknown:
        raise ValueError(f"{where}.{min(map(str, unknown))[:80]}: is unknown")
    values = {}
    for each in known:
        if each.name in document:
            values[each.name] = _read(hints[each.name], document[each.name], f"{where}.{each.name}")
        elif each.default is MISSING and each.default_factory is MISSING:
            raise ValueError(f"{where}.{each.name}: is missing")
    try:
        return kind(**values)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
