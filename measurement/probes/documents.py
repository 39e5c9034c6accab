"""Orders and reports as JSON, checked field by field when they are read.

A dataclass is an object with its fields by name; one of several classes has its ``kind``, too.  The reading
follows the classes' own annotations.  A library would do this in fewer lines here, but every instance runs
an agent, and what it loads is memory that the instance's tasks do not have.
"""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from typing import Any, TypeVar

from measurement.probes.findings import FINDINGS, Finding, Report
from measurement.probes.orders import KINDS, Order, Probe

_T = TypeVar("_T")


def order_to_json(order: Order) -> dict[str, Any]:
    """An order as an object."""
    found: dict[str, Any] = _plain(order)
    return found


def order_from_json(document: object) -> Order:
    """The inverse of :func:`order_to_json`.

    :raises ValueError: naming the field and what is wrong with it.
    """
    found: Order = _read(Order, document, "order")
    return found


def report_to_json(report: Report) -> dict[str, Any]:
    """A report as an object."""
    found: dict[str, Any] = _plain(report)
    return found


def report_from_json(document: object) -> Report:
    """The inverse of :func:`report_to_json`.

    :raises ValueError: naming the field and what is wrong with it.
    """
    found: Report = _read(Report, document, "report")
    return found


def value_to_json(value: object) -> Any:
    """Any dataclass of this package as an object."""
    return _plain(value)


def value_from_json(kind: type[_T], document: object, name: str) -> _T:
    """The inverse of :func:`value_to_json`, for one class.

    :param name: what errors call it.
    :raises ValueError: naming the field and what is wrong with it.
    """
    found: _T = _read(kind, document, name)
    return found


def _plain(value: object) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Enum):
        return value.value
    if not is_dataclass(value) or isinstance(value, type):
        return value
    kind = getattr(value, "kind", None)
    found = {} if kind is None else {"kind": kind}
    return found | {each.name: _plain(getattr(value, each.name)) for each in fields(value)}


def _read(kind: Any, document: object, where: str) -> Any:
    if kind in (Probe, Finding):
        return _one_of(KINDS if kind == Probe else FINDINGS, document, where)
    if is_dataclass(kind):
        return _object(kind, document, where)
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        return _optional(kind, document, where)
    if origin is tuple:
        if not isinstance(document, list):
            raise ValueError(f"{where}: is not a list")
        inner = typing.get_args(kind)[0]
        return tuple(_read(inner, each, f"{where}[{number}]") for number, each in enumerate(document))
    return _scalar(kind, document, where)


def _optional(kind: Any, document: object, where: str) -> Any:
    if document is None:
        return None
    (inner,) = (each for each in typing.get_args(kind) if each is not types.NoneType)
    return _read(inner, document, where)


def _scalar(kind: Any, document: object, where: str) -> Any:
    if issubclass(kind, Enum):
        try:
            return kind(document)
        except ValueError:
            raise ValueError(f"{where}: {str(document)[:80]!r} is unknown") from None
    number = isinstance(document, int | float) and not isinstance(document, bool)
    if kind is float and number:
        return float(typing.cast(float, document))
    if type(document) is not kind:
        raise ValueError(f"{where}: {str(document)[:80]!r} is no {kind.__name__}")
    return document


def _one_of(kinds: Mapping[str, Any], document: object, where: str) -> Any:
    if not isinstance(document, dict):
        raise ValueError(f"{where}: is not an object")
    name = document.get("kind")
    kind = kinds.get(name) if isinstance(name, str) else None
    if kind is None:
        raise ValueError(f"{where}.kind: {str(name)[:80]!r} is none of {', '.join(kinds)}")
    return _object(kind, {key: value for key, value in document.items() if key != "kind"}, where)


@functools.cache
def _shape(kind: Any) -> tuple[dict[str, Any], tuple[Field[Any], ...]]:
    return typing.get_type_hints(kind), fields(kind)


def _object(kind: Any, document: object, where: str) -> Any:
    if not isinstance(document, dict):
        raise ValueError(f"{where}: is not an object")
    hints, known = _shape(kind)
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
