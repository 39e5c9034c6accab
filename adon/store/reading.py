"""Reading bodies back: one that this version cannot read is named, not guessed at."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import ColumnElement

from adon.errors import Unavailable
from measurement.model import from_json

T = TypeVar("T")
Body = TypeVar("Body")


def decoded(decode: Callable[[Body], T], body: Body, what: str) -> T:
    """The value of a stored body.

    :raises Unavailable: naming what could not be read.
    """
    try:
        return decode(body)
    except ValueError as error:
        raise Unavailable(f"the store holds {what} in a form this version cannot read: {error}") from error


def read_value(kind: type[T], body: object, what: str) -> T:
    """Return the value of a stored body that :func:`measurement.model.to_json` wrote.

    :raises Unavailable: naming what could not be read.
    """
    return decoded(partial(from_json, kind), body, what)


def of_template(column: ColumnElement[Any], reference: str) -> ColumnElement[bool]:
    """Whether a column names this template: ``soykb`` any version of it, ``soykb@3`` that one."""
    if "@" in reference:
        return column == reference
    return column.startswith(f"{reference}@", autoescape=True)
