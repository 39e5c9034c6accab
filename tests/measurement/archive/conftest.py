"""Archives for these tests: an SQLite file each, and where a PostgreSQL can be started, a database there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from measurement.archive import Archive
from tests.support.databases import new_database, postgresql

__all__ = ["postgresql"]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """A place without an archive."""
    if request.param == "sqlite":
        return tmp_path / "measurements.db"
    return new_database(request.getfixturevalue("postgresql"))


@pytest.fixture
def archive(where: Path | str) -> Iterator[Archive]:
    with Archive(where) as opened:
        yield opened
