"""Values of directed pairs as a square matrix, as documents and people write them.

A matrix's rows are senders and its columns receivers, both in the order of the names; None is "not known",
and its diagonal says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

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
