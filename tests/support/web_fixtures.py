"""Fixtures of the web side's world, for the conftest modules of its tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.web_world import World, empty_database


@pytest.fixture(scope="session")
def empty_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database at the present schema with nothing in it; copied, not migrated, for each test."""
    return empty_database(tmp_path_factory.mktemp("state"))


@pytest.fixture
def world(tmp_path: Path, empty_state: Path) -> Iterator[World]:
    """The web side with databases, a controller on a stage and a collector of its own."""
    built = World(tmp_path, empty_state)
    yield built
    built.close()


@pytest.fixture
def served(world: World) -> Iterator[str]:
    """The world behind the real server; its address."""
    with world.served() as url:
        yield url
