"""Template versions; what is saved never changes (the database itself refuses)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from operator import eq
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from adon.errors import Conflict, NotFound
from adon.store.documents import decode, where
from adon.store.tables import templates
from adon.store.transactions import Transactions
from adon.templates_catalog.model import Template
from measurement.model import from_json, to_json


@dataclass(frozen=True, slots=True)
class SavedTemplate:
    """A template version with its author, and the time when it was saved."""

    template: Template
    author: str
    saved_at: float


class TemplateRows(Transactions):
    """Template versions."""

    def save_template(self, template: Template, author: str, at: float) -> None:
        """Add a template version; the same again changes nothing.

        :raises Conflict: if this version exists with other content.
        """
        row = {"name": template.name, "version": template.version, "author": author, "saved_at": at}
        with self._writing() as connection:
            present = _find_latest(connection, template.name, template.version)
            if present is None:
                connection.execute(insert(templates), {**row, "body": to_json(template)})
            elif present.template != template:
                raise Conflict("version", f"{template.reference} exists with other content and never changes")

    def templates(self, name: str | None = None) -> tuple[SavedTemplate, ...]:
        """Return all versions of all templates, or of one, by name and version."""
        query = select(templates).where(*where((templates.c.name, eq, name)))
        with self._reading() as connection:
            rows = connection.execute(query.order_by(templates.c.name, templates.c.version))
            return tuple(_saved_template(row) for row in rows)

    def template(self, name: str, version: int | None = None) -> SavedTemplate:
        """Return one version of a template, the latest by default.

        :raises NotFound: if there is no such template or version.
        """
        with self._reading() as connection:
            found = _find_latest(connection, name, version)
        if found is None:
            raise NotFound("template", name if version is None else f"{name}@{version}")
        return found


def _find_latest(connection: Connection, name: str, version: int | None) -> SavedTemplate | None:
    query = select(templates).where(*where((templates.c.name, eq, name), (templates.c.version, eq, version)))
    row = connection.execute(query.order_by(templates.c.version.desc()).limit(1)).one_or_none()
    return None if row is None else _saved_template(row)


def _saved_template(row: Row[Any]) -> SavedTemplate:
    template = decode(partial(from_json, Template), row.body, f"template {row.name}@{row.version}")
    return SavedTemplate(template, row.author, row.saved_at)
