"""Databases on a PostgreSQL server that the tests of one session share."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy

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


def new_database(server_url: str, template: str | None = None) -> str:
    """Make a database, empty or as another one that nobody is connected to; return its URL."""
    first, name = sqlalchemy.make_url(server_url), f"test_{uuid.uuid4().hex}"
    engine = sqlalchemy.create_engine(first, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        made_of = "" if template is None else f" TEMPLATE {sqlalchemy.make_url(template).database}"
        connection.exec_driver_sql(f"CREATE DATABASE {name}{made_of}")
    engine.dispose()
    return first.set(database=name).render_as_string(hide_password=False)
