"""Values of directed pairs as a square matrix, as documents and people write them.

A matrix's rows are senders and its columns receivers, both in the order of the names; None is "not known",
and its diagonal says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic_core import CoreSchema, core_schema

V = TypeVar("V")
P = TypeVar("P", bound=tuple[str, str])


def rows(names: Sequence[str], values: Mapping[P, V]) -> list[list[V | None]]:
    """The matrix of some values."""
    place = {name: number for number, name in enumerate(names)}
    made: list[list[V | None]] = [[None] * len(names) for _ in names]
    for (one, other), value in values.items():
        made[place[one]][place[other]] = value
    return made


def pairs(field: str, names: Sequence[str], matrix: Sequence[Sequence[V | None]]) -> dict[tuple[str, str], V]:
    """The inverse of :func:`rows`.

    :param field: what the matrix is called, for errors.
    :raises ValueError: if it is not square with a row per name, or something is on its diagonal; it names the
        field and the row.
    """
    if len(matrix) != len(names):
        raise ValueError(f"{field}: {len(matrix)} rows for {len(names)} names: the matrix must be square")
    for name, row in zip(names, matrix, strict=True):
        if len(row) != len(names):
            found = f"{len(row)} values for {len(names)} names"
            raise ValueError(f"{field}: row of {name!r}: {found}: the matrix must be square")
    for number, name in enumerate(names):
        if matrix[number][number] not in {None, 0}:
            raise ValueError(f"{field}: {name!r} to itself: {matrix[number][number]!r} means nothing")
    return {
        (one, other): value
        for one, row in zip(names, matrix, strict=True)
        for other, value in zip(names, row, strict=True)
        if value is not None and one != other
    }


@dataclass(frozen=True, slots=True)
class Rows:
    """How a field with values by pair is read from a matrix and written as one; for ``Annotated``.

    :param rows: the type of the matrix.
    :param names: the field before it that holds the names.
    :param pair: what makes a pair of two names.
    """

    rows: Any
    names: str
    pair: Callable[[str, str], tuple[str, str]] = lambda one, other: (one, other)

    def __get_pydantic_core_schema__(self, _source: Any, handler: Any) -> CoreSchema:
        return core_schema.with_info_after_validator_function(
            self._read,
            handler.generate_schema(self.rows),
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value, values: rows(getattr(value, self.names), values), is_field_serializer=True
            ),
        )

    def _read(self, matrix: Sequence[Sequence[Any]], info: core_schema.ValidationInfo) -> dict[Any, Any]:
        if self.names not in info.data:
            return {}  # the names are wrong, which is a problem of its own
        found = pairs(info.field_name or "", info.data[self.names], matrix)
        return {self.pair(*ends): value for ends, value in found.items()}
