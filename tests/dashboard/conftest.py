"""The dashboard over the web side's test world: real databases and API, a real core behind the link."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Browser, Page, expect

from adon.access.identity import Actor
from adon.client import Client
from apps.dashboard.visit import Visit
from apps.rest.authentication import InsideTransport
from apps.rest.services import NAME
from apps.rest.web_app import Site
from apps.rest.web_server import WebServer
from tests.support.web_fixtures import empty_state, world
from tests.support.web_world import NOW, World

__all__ = ["empty_state", "world"]

expect.set_options(timeout=20_000)  # a busy machine loads a chart's program late
Visiting = Callable[..., Visit]


@pytest.fixture
def visiting(world: World) -> Visiting:
    """A visit as somebody of this role: ``visiting("researcher", parts={"id": "f-1"})``."""

    def visit(role: str = "admin", **more: dict[str, str]) -> Visit:
        actor = Actor(role, frozenset({role}))
        return Visit(Client(InsideTransport(world.app, actor)), actor, NOW + 10, ZoneInfo("UTC"), **more)

    return visit


@contextmanager
def serving(world: World) -> Iterator[str]:
    """The site behind a real server; its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = WebServer(Site(world.app.extensions[NAME], world.app), world.stream)
    thread = threading.Thread(target=server.serve_on, args=(listener,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.stop()
        thread.join(10)


def sign_in(page: Page, token: str) -> None:
    """As a person does, with a token."""
    page.goto("/sign-in")
    page.fill("input[name=token]", token)
    page.click("form button")


@pytest.fixture
def browse(world: World, chromium: Browser, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Open a page in a browser as somebody: ``browse("/", "researcher", width=390, dark=True)``."""
    with serving(world) as url:
        contexts = []

        def opened(path: str, role: str = "admin", width: int = 1440, dark: bool = False) -> Page:
            context = chromium.new_context(
                viewport={"width": width, "height": 900},
                color_scheme="dark" if dark else "light",
                base_url=url,
            )
            context.set_default_timeout(60_000)
            contexts.append(context)
            page = context.new_page()
            sign_in(page, world.tokens[role])
            page.goto(path)
            page.wait_for_selector("#main h1")
            return page

        yield opened
        for context in contexts:
            context.close()
