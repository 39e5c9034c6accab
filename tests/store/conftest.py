"""Databases for these tests: an SQLite file each, and where a PostgreSQL can be started, one there too."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy

from adon.store.store import Store
from adon.store.upgrade import upgrade
from tests import postgresql as server


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """A server of our own on a socket in a directory of its own; the URL of its first database."""
    if importlib.util.find_spec("psycopg") is None:
        pytest.skip("PostgreSQL's driver, psycopg, is not installed")
    if not server.installed():
        pytest.skip("no PostgreSQL server is installed")
    directory = Path(tempfile.mkdtemp(prefix="adon-pg-"))
    try:
        with server.running(directory, ["fsync=off"]) as url:
            yield url
    finally:
        shutil.rmtree(directory)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without a schema."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/adon.db"
    first = sqlalchemy.make_url(request.getfixturevalue("postgresql"))
    name = f"test_{uuid.uuid4().hex}"
    engine = sqlalchemy.create_engine(first, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    engine.dispose()
    return first.set(database=name).render_as_string(hide_password=False)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with the schema, to be copied: the migrations need not run for every test."""
    path = tmp_path_factory.mktemp("store") / "adon.db"
    upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def url(empty_url: str, made_once: Path) -> str:
    """A database with the schema."""
    file = sqlalchemy.make_url(empty_url)
    if file.get_backend_name() == "sqlite":
        shutil.copy(made_once, str(file.database))
    else:
        upgrade(empty_url)
    return empty_url


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store.open(url) as opened:
        yield opened
