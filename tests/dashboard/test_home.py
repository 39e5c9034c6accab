"""The overview, as each reads it."""

from __future__ import annotations

from apps.dashboard import home
from tests.dashboard.conftest import Visiting
from tests.dashboard.reading import classes, links, text
from tests.support.web_world import World


def test_it_tells_alarms_flows_and_paths(world: World, visiting: Visiting) -> None:
    flow = world.submit()
    shown = home.live(visiting())
    assert "al2s" in text(shown)
    assert "58 Mbps" in text(shown)
    assert f"/flows/{flow}" in links(shown)
    assert any(to.startswith("/alarms/") for to in links(shown))


def test_a_researcher_sees_no_flow_of_another(world: World, visiting: Visiting) -> None:
    flow = world.submit(as_="rival")
    assert f"/flows/{flow}" not in links(home.live(visiting("researcher")))


def test_without_the_controller_it_shows_the_rest(world: World, visiting: Visiting) -> None:
    flow = world.submit()
    world.stop_controller()
    shown = home.live(visiting())
    assert {"notice", "wait"} <= classes(shown)
    assert f"/flows/{flow}" in links(shown)
