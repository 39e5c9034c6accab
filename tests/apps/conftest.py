from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from apps.cli.main import app
from tests.apps.edge import Controller, Switches, both_edges
from tests.support.switched_flows import await_switches
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


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[Controller]:
    """A controller of the test network; a file whose controller differs has a fixture of its own."""
    built = Controller(tmp_path)
    yield built
    built.stop()


@pytest.fixture
def switches(tmp_path: Path, controller: Controller) -> Iterator[Switches]:
    """Both edges, connected to the running controller."""
    with both_edges(tmp_path, controller.port) as running:
        controller.start()
        await_switches(controller, running)
        running.hurry()
        yield running


@pytest.fixture
def adon(world: World, served: str) -> Callable[..., Result]:
    """Run a command against the served world; its result."""

    def run(*arguments: str, as_: str = "admin") -> Result:
        environment = {"ADON_URL": served, "ADON_TOKEN": world.tokens.get(as_, as_)}
        return CliRunner().invoke(app, list(arguments), env=environment)

    return run
