"""Template versions, as rows; what is saved is never changed (the database itself refuses)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, insert, select

from adon.errors import Conflict, NotFound
from adon.store.reading import read_value
from adon.store.tables import templates
from adon.templates_catalog.model import Template
from measurement.model import to_json


@dataclass(frozen=True, slots=True)
class SavedTemplate:
    """A template version with who saved it, and when."""

    template: Template
    author: str
    saved_at: float


def save(connection: Connection, template: Template, author: str, at: float) -> None:
    """Add a version; one that is there already, with the same content, stays as it is.

    :raises Conflict: if this version is there with other content.
    """
    query = _version(template.name, template.version)
    present = connection.execute(query).one_or_none()
    if present is not None:
        if _saved(present).template != template:
            raise Conflict("version", f"{template.reference} exists with other content and never changes")
        return
    row = {"name": template.name, "version": template.version, "author": author, "saved_at": at}
    connection.execute(insert(templates).values(**row, body=to_json(template)))


def listed(connection: Connection, name: str | None) -> tuple[SavedTemplate, ...]:
    """All versions of all templates, or of the one of this name; by name and version."""
    query = select(templates).order_by(templates.c.name, templates.c.version)
    if name is not None:
        query = query.where(templates.c.name == name)
    return tuple(_saved(row) for row in connection.execute(query))


def read(connection: Connection, name: str, version: int | None) -> SavedTemplate:
    """One version of a template, the latest if none is named.

    :raises NotFound: if there is no such template or version.
    """
    row = connection.execute(_version(name, version)).one_or_none()
    if row is None:
        raise NotFound("template", name if version is None else f"{name}@{version}")
    return _saved(row)


def _version(name: str, version: int | None) -> Select[Any]:
    query = select(templates).where(templates.c.name == name)
    if version is not None:
        return query.where(templates.c.version == version)
    return query.order_by(templates.c.version.desc()).limit(1)


def _saved(row: Row[Any]) -> SavedTemplate:
    template = read_value(Template, row.body, f"template {row.name}@{row.version}")
    return SavedTemplate(template, row.author, row.saved_at)
