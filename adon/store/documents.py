"""Values as rows: the value as JSON in ``body``, what lists filter by in columns of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Connection, Insert, Table, func, insert, select
from sqlalchemy.dialects import postgresql, sqlite

from adon.errors import NotFound, Unavailable
from measurement.model import from_json, to_json

T = TypeVar("T")
Body = TypeVar("Body")
Criterion = tuple[ColumnElement[Any], Callable[[Any, Any], ColumnElement[bool]], object]
"""A column, a comparison, and the value to compare with; None narrows nothing."""


def where(*criteria: Criterion) -> list[ColumnElement[bool]]:
    """Return the conditions of a filter."""
    return [compare(column, value) for column, compare, value in criteria if value is not None]


def read_row(kind: type[T], row: Mapping[Any, Any]) -> T:
    """Return the value whose fields are columns of a row; other columns are ignored.

    :raises Unavailable: if it cannot be read.
    """
    return decode(lambda data: from_json(kind, data), dict(row), f"a {kind.__name__.lower()}")


def is_template(column: ColumnElement[Any], reference: str) -> ColumnElement[bool]:
    """Whether a column names a template: ``soykb`` any version of it, ``soykb@3`` that one."""
    if "@" in reference:
        return column == reference
    return column.startswith(f"{reference}@", autoescape=True)


def decode(read: Callable[[Body], T], body: Body, title: str) -> T:
    """Return the value of a stored body.

    :raises Unavailable: naming what could not be read.
    """
    try:
        return read(body)
    except ValueError as error:
        raise Unavailable(f"the store holds {title} in a form this version cannot read: {error}") from error


# Cached, since SQLAlchemy derives its cache key once per statement object, and a move waits for it (R3).
@cache
def addition(table: Table) -> Insert:
    """Return the statement that adds rows."""
    return insert(table)


@cache
def replacement(table: Table, dialect: str) -> Insert:
    """Return the statement that adds rows, or replaces those of the same key."""
    added = postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
    news = {column.name: added.excluded[column.name] for column in table.c if not column.primary_key}
    return added.on_conflict_do_update(index_elements=list(table.primary_key), set_=news)


def count_values(connection: Connection, column: ColumnElement[Any], *conditions: Any) -> dict[str, int]:
    """Return the number of rows with each value of a column; values without rows are left out."""
    counted = select(column, func.count()).where(*conditions).group_by(column)
    return {row[0]: row[1] for row in connection.execute(counted)}


@dataclass(frozen=True, slots=True, eq=False)
class Documents(Generic[T]):
    """The values of one type in a table.

    :param title: the kind of value in messages, ``job``; ``prefix`` begins their names, as in ``j-3``.
    :param columns: the columns besides ``body``.
    """

    table: Table
    value_type: type[T]
    title: str
    prefix: str
    columns: Callable[[T], Mapping[str, object]]

    @property
    def key(self) -> ColumnElement[Any]:
        """The column of the primary key."""
        return next(iter(self.table.primary_key))

    def add(self, connection: Connection, value: T) -> None:
        """Add a value that never changes."""
        connection.execute(addition(self.table), {**self.columns(value), "body": to_json(value)})

    def save(self, connection: Connection, value: T) -> None:
        """Save a value as it is now."""
        statement = replacement(self.table, connection.dialect.name)
        connection.execute(statement, {**self.columns(value), "body": to_json(value)})

    def read(self, connection: Connection, key: object) -> T:
        """Return the value of this key.

        :raises NotFound: if there is none.
        """
        found = self.find(connection, [self.key == key])
        if not found:
            raise NotFound(self.title, f"{self.prefix}{key}")
        return found[0]

    def find(
        self,
        connection: Connection,
        conditions: Sequence[ColumnElement[bool]] = (),
        order: Sequence[ColumnElement[Any]] | None = None,
        limit: int | None = None,
    ) -> tuple[T, ...]:
        """Return values in an order, that of their keys by default."""
        order = [self.key] if order is None else order
        query = select(self.key, self.table.c.body).where(*conditions).order_by(*order).limit(limit)
        return tuple(self._decode(key, body) for key, body in connection.execute(query))

    def last_number(self, connection: Connection) -> int:
        """Return the highest key ever saved, 0 before the first."""
        return int(connection.execute(select(func.coalesce(func.max(self.key), 0))).scalar_one())

    def _decode(self, key: object, body: object) -> T:
        title = f"{self.title} {self.prefix}{key}"
        return decode(lambda data: from_json(self.value_type, data), body, title)
