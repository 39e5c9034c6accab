"""Access databases for these tests: an SQLite file each, and one on PostgreSQL where it is installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy

from adon.store.access.access import Access
from adon.store.access.upgrade import upgrade


@pytest.fixture(scope="session")
def access_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with the schema, to be copied."""
    path = tmp_path_factory.mktemp("access") / "access.db"
    upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def access_url(empty_url: str, access_once: Path) -> str:
    """A database with the schema."""
    file = sqlalchemy.make_url(empty_url)
    if file.get_backend_name() == "sqlite":
        shutil.copy(access_once, str(file.database))
    else:
        upgrade(empty_url)
    return empty_url


@pytest.fixture
def access(access_url: str) -> Iterator[Access]:
    with Access.open(access_url, idle=600.0, lifetime=3600.0) as opened:
        opened.users.named("ann", ["researcher"], 1000.0)
        yield opened
