"""Access databases for these tests: an SQLite file each, and one on PostgreSQL where it is installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from adon.store.access.access import Access
from adon.store.access.access_tables import ACCESS
from adon.store.schema import make_database
from tests.support.databases import new_database


@pytest.fixture(scope="session")
def access_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with the schema, to be copied."""
    path = tmp_path_factory.mktemp("access") / "access.db"
    make_database(f"sqlite:///{path}", ACCESS)
    return path


@pytest.fixture(scope="session")
def access_once_there(postgresql: str) -> str:
    """The same on a PostgreSQL server."""
    url = new_database(postgresql)
    make_database(url, ACCESS)
    return url


@pytest.fixture
def access_url(server_url: str | None, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with the schema."""
    if server_url is not None:
        return new_database(server_url, request.getfixturevalue("access_once_there"))
    shutil.copy(request.getfixturevalue("access_once"), tmp_path / "adon.db")
    return f"sqlite:///{tmp_path}/adon.db"


@pytest.fixture
def access(access_url: str) -> Iterator[Access]:
    with Access.open(access_url, idle=600.0, lifetime=3600.0) as opened:
        opened.users.ensure("ann", ["researcher"], 1000.0)
        yield opened
