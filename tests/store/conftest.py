"""Databases for these tests: an SQLite file each, and where a PostgreSQL can be started, one there too."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from adon.store.schema import make_database
from adon.store.store import Store
from tests.support.databases import new_database, postgresql

__all__ = ["postgresql"]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def server_url(request: pytest.FixtureRequest) -> str | None:
    """Where databases are made; None for files."""
    return None if request.param == "sqlite" else str(request.getfixturevalue("postgresql"))


@pytest.fixture
def empty_url(server_url: str | None, tmp_path: Path) -> str:
    """A database without a schema."""
    return f"sqlite:///{tmp_path}/adon.db" if server_url is None else new_database(server_url)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with the schema, to be copied: the migrations need not run for every test."""
    path = tmp_path_factory.mktemp("store") / "adon.db"
    make_database(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session")
def made_once_there(postgresql: str) -> str:
    """The same on the server."""
    url = new_database(postgresql)
    make_database(url)
    return url


@pytest.fixture
def url(server_url: str | None, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database with the schema."""
    if server_url is not None:
        return new_database(server_url, request.getfixturevalue("made_once_there"))
    shutil.copy(request.getfixturevalue("made_once"), tmp_path / "adon.db")
    return f"sqlite:///{tmp_path}/adon.db"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store.open(url) as opened:
        yield opened
