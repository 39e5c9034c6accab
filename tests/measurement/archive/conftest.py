"""Archives for these tests: an SQLite file each, and where a PostgreSQL can be started, a database there."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy

from measurement.archive import Archive
from tests.store.conftest import postgresql

__all__ = ["postgresql"]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """A place without an archive."""
    if request.param == "sqlite":
        return tmp_path / "measurements.db"
    first = sqlalchemy.make_url(request.getfixturevalue("postgresql"))
    name = f"test_{uuid.uuid4().hex}"
    engine = sqlalchemy.create_engine(first, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return first.set(database=name).render_as_string(hide_password=False)


@pytest.fixture
def archive(where: Path | str) -> Iterator[Archive]:
    with Archive(where) as opened:
        yield opened
