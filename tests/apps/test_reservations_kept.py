"""Reservations in a real controller process: a killed one has lost none, and asking again makes none."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adon.errors import Conflict
from apps.link import LinkClient
from tests.apps.edge import Controller, eventually
from tests.support.refusals import refused

pytestmark = pytest.mark.integration


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[Controller]:
    built = Controller(tmp_path)
    built.start()
    try:
        yield built
    finally:
        built.stop()


def asked(link: LinkClient, **more: Any) -> dict[str, Any]:
    wish = {"compute": "osu-hpc", "worker_nodes": 10, "ends": time.time() + 3600}
    return link.call("reservation.add", {"request": wish, "requester": "ann", **more})


def test_a_killed_controller_has_lost_no_reservation(controller: Controller) -> None:
    with controller.client() as link:
        made = asked(link)
        assert (made["id"], made["stage"]) == ("r-1", "active")
    controller.kill()
    controller.start()
    with controller.client() as link:
        with refused(Conflict, field="reservation"):
            asked(link, requester="bob")
        (site,) = [one for one in link.call("snapshot", {})["resources"] if one["name"] == "osu-hpc"]
        assert site["free"]["nodes"] == 6
        released = link.call("reservation.release", {"number": 1, "requester": "ann"})
        assert released["stage"] == "released"
        assert asked(link, requester="bob")["id"] == "r-2"


def test_one_that_ends_is_over_by_itself(controller: Controller) -> None:
    with controller.client() as link:
        wish = {"compute": "osu-hpc", "worker_nodes": 10, "ends": time.time() + 1.5}
        link.call("reservation.add", {"request": wish, "requester": "ann"})

        def free() -> bool:
            (site,) = [one for one in link.call("snapshot", {})["resources"] if one["name"] == "osu-hpc"]
            return bool(site["free"]["nodes"] == 16)

        assert not free()
        eventually(free, "what was reserved is still kept")


def test_the_same_key_reserves_once_even_after_a_crash(controller: Controller) -> None:
    request = {"compute": "osu-hpc", "worker_nodes": 1, "ends": time.time() + 600}
    body = {"request": request, "requester": "ann", "idempotency_key": "k-1"}
    with controller.client() as link:
        first = link.call("reservation.add", body)
    controller.kill()
    controller.start()
    with controller.client() as link:
        assert link.call("reservation.add", body)["id"] == first["id"] == "r-1"
