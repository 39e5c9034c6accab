from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from apps.cli.main import app
from tests.apps.edge import Controller, Switches, both_edges
from tests.support.databases import postgresql
from tests.support.switched_flows import await_switches
from tests.support.web_fixtures import empty_state, served, world
from tests.support.web_world import World

__all__ = ["empty_state", "postgresql", "served", "world"]


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
