"""A transfer that ADON moves, on the dashboard: asked for, watched, tried again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from adon.broker.flow import FlowState
from adon.config.transfers import Transfers
from adon.errors import InvalidInput
from adon.transfers.machine import Phase, Transfer
from adon.transfers.pace import Pace
from apps.dashboard.transfers import flow, moving
from apps.dashboard.transfers.mover_card import meaning
from apps.dashboard.transfers.wish import again
from apps.movers.book import Book, read
from apps.rest.services import NAME
from tests.apps import web
from tests.apps.web import NOW, World
from tests.dashboard.conftest import Visiting
from tests.dashboard.reading import text
from tests.dashboard.test_wish import asked

GRAVE = ("serious", "critical")
PLACES = {"data": {"at": "mu-dtn", "fs": "/data"}, "in": {"at": "osu-dtn", "fs": "osu:in"}}
GLOBUS = {
    "mu": {"at": "mu-dtn", "collection": "00000000-0000-0000-0000-000000000001"},
    "osu": {"at": "osu-dtn", "collection": "00000000-0000-0000-0000-000000000002"},
}
CONFIGURED = Transfers.model_validate(
    {
        "rclone": {"mu-dtn": {"url": "http://127.0.0.1:9", "password_file": "x", "remotes": PLACES}},
        "globus": {
            "campus": {
                "client_id": "00000000-0000-0000-0000-000000000003",
                "client_secret_file": "x",
                "remotes": GLOBUS,
            }
        },
    }
)
MOVED = {"tool": "rclone", "source": "data:run-17/", "destination": "in:run-17/"}
BROKEN = Transfer(
    1,
    "k",
    "mu-dtn",
    phase=Phase.RETRYING,
    tries=2,
    failures=2,
    bytes=8_000_000_000,
    whole=25_000_000_000,
    files=3,
    files_whole=12,
    next_at=NOW + 60,
    error="rclone cannot be reached: connection refused",
)
SLOW = replace(
    BROKEN, phase=Phase.RUNNING, error="", promised=56e6, pace=Pace(NOW, 1, 21e6, NOW - 60), next_at=None
)


@pytest.fixture
def tools(world: World) -> World:
    """A configuration with tools, and nobody behind them."""
    services = world.app.extensions[NAME]
    configuration = services.configuration.model_copy(update={"transfers": CONFIGURED})
    folder = world.archive.parent
    world.app.extensions[NAME] = replace(
        services, configuration=configuration, transfers=lambda number: read(folder, number)
    )
    return world


def knows(world: World, transfer: Transfer) -> None:
    book = Book(world.archive.parent)
    book.save(transfer)
    book.close()


def test_the_form_becomes_a_transfer() -> None:
    typed = {"mover": "globus/campus", "from_place": "mu", "from_path": "run/", "to_place": "osu"}
    assert asked(**typed, to_path="", mail="trouble", compare="checksum")["transfer"] == {
        "tool": "globus",
        "credentials": "campus",
        "source": "mu:run/",
        "destination": "osu:",
        "mail": "trouble",
        "options": {"checksum": True},
    }
    job = asked(mover="rclone/mu-dtn", attach="4")["transfer"]
    assert job == {"tool": "rclone", "at": "mu-dtn", "attach": 4}
    assert "transfer" not in asked(mover="own", from_place="mu")
    with pytest.raises(InvalidInput, match="to_place: choose one"):
        asked(mover="rclone/mu-dtn", from_place="data")


def test_once_more_fills_it_in() -> None:
    texts = again({"source": "mu-dtn", "destination": "osu-dtn", "transfer": {**MOVED, "at": "mu-dtn"}})
    assert asked(**texts)["transfer"] == {**MOVED, "at": "mu-dtn"}


def test_the_places_are_those_of_the_tool_at_the_host(tools: World, visiting: Visiting) -> None:
    listed: Any = visiting("researcher").client.transfer_tools()
    assert [one["id"] for one in listed] == ["globus/campus", "rclone/mu-dtn"]
    assert moving.places(listed, "rclone/mu-dtn", "mu-dtn") == [("data", "data (mu-dtn)")]
    assert len(moving.places(listed, "rclone/mu-dtn", "")) == 2
    assert moving.places(listed, "own", "mu-dtn") == []


def test_what_went_wrong_is_said_in_plain_words(tools: World, visiting: Visiting) -> None:
    made = tools.submit(transfer=MOVED)
    knows(tools, BROKEN)
    said = text(flow.live(visiting("researcher", parts={"id": made})))
    for words in ("The tool cannot be reached", "refused", "3 of 12", "8 GB of 25 GB", "Try again now"):
        assert words in said
    assert "Try again now" not in text(flow.live(visiting("auditor", parts={"id": made})))
    knows(tools, SLOW)
    said = text(flow.live(visiting("researcher", parts={"id": made})))
    for words in ("slower than was promised", "56 Mbps", "21 Mbps"):
        assert words in said


@pytest.mark.parametrize(
    ("error", "means"),
    [
        ("directory not found", "nothing at that path"),
        ("Globus: PERMISSION_DENIED", "does not let ADON in"),
        ("write: no space left on device", "no room left"),
        ("x: the checksum here is another than at iRODS", "not what was sent"),
        ("something new", ""),
    ],
)
def test_words_of_tools_are_explained(error: str, means: str) -> None:
    assert means in meaning(error)
    assert bool(meaning(error)) is bool(means)


@pytest.mark.integration
def test_asked_for_and_tried_again_in_a_browser(
    tools: World, browse: Callable[..., Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The stand-in's core has a network of its own, without tools.
    known = web.preview_of
    plain = lambda asked: known({**asked, "request": {**asked["request"], "transfer": None}})  # noqa: E731
    monkeypatch.setattr(web, "preview_of", plain)
    page = browse("/new", "researcher")
    page.select_option("#new-source", "mu-dtn")
    page.select_option("#new-destination", "osu-dtn")
    page.fill("#new-size", "25 GB")
    page.get_by_text("Let ADON move it").click()
    page.select_option("#new-mover", "rclone/mu-dtn")
    expect(page.locator("#new-from-place")).to_have_value("data")  # the only one there
    expect(page.locator("#new-to-place")).to_have_value("in")
    page.fill("#new-from-path", "../etc")
    expect(page.locator("#new-from-path-problem")).to_contain_text("below the remote")
    page.fill("#new-from-path", "run-17/")
    page.fill("#new-to-path", "run-17/")
    expect(page.locator("#new-preview")).to_contain_text("Paths")
    assert not [one["id"] for one in Axe().run(page).response["violations"] if one["impact"] in GRAVE]
    page.click("#new-submit")
    page.wait_for_url("**/flows/f-1")
    expect(page.locator("#main")).to_contain_text("waits for its flow")
    assert tools.controller is not None
    sent = tools.controller.store.flow(1).request.transfer
    assert sent is not None
    assert (sent.source, sent.destination, sent.at) == ("data:run-17/", "in:run-17/", "mu-dtn")
    tools.controller.end(1, FlowState.CANCELLED)
    knows(tools, replace(BROKEN, phase=Phase.FAILED))
    page.reload()
    page.click("#flow-retry")
    expect(page.locator("#flow-done")).to_contain_text("What is missing is moved as f-2")
