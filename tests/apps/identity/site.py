"""ADON's web side on a port of loopback, with ways to sign in."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from werkzeug.serving import make_server

from adon.config.access import Access
from adon.yamlfile import check_model
from apps.rest.identity.ways import NAME as WAYS
from apps.rest.identity.ways import open_ways
from apps.rest.services import NAME as SERVICES
from apps.rest.web_app import Site as WholeSite
from tests.ports import free_port
from tests.support.web_world import World

SECRET_VARIABLE = "ADON_TEST_CLIENT_SECRET"  # noqa: S105


@dataclass
class Clocks:
    """What time it is for the web side; a test may move it on."""

    ahead: float = 0.0

    def time(self) -> float:
        return time.time() + self.ahead

    def steady(self) -> float:
        return time.monotonic() + self.ahead


@dataclass
class Site:
    """The web side of a test."""

    world: World
    base: str
    clocks: Clocks = field(default_factory=Clocks)

    def roles(self, name: str) -> set[str]:
        return set(self.world.access.users.get(name).roles)


def give_ways(world: World, settings: Mapping[str, Any], secret: str, clocks: Clocks) -> None:
    """Sign in by these settings from now on, at the real time."""
    access = check_model(dict(settings), Access)
    world.app.extensions[SERVICES] = replace(world.app.extensions[SERVICES], clock=clocks.time)
    world.app.extensions[WAYS] = open_ways(access, clocks.time, {SECRET_VARIABLE: secret}, clocks.steady)


@contextmanager
def site(world: World, settings: Mapping[str, Any], secret: str, port: int | None = None) -> Iterator[Site]:
    """The world, served with these settings; ``public_url`` is added to them."""
    port = port or free_port()
    made = Site(world, f"http://127.0.0.1:{port}")
    give_ways(world, {"public_url": made.base, **settings}, secret, made.clocks)
    whole = WholeSite(world.app.extensions[SERVICES], world.app)  # with its ways to sign in
    server = make_server("127.0.0.1", port, whole, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)
