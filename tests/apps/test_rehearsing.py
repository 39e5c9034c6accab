from __future__ import annotations

import pytest

from adon.errors import NotFound, Unavailable
from apps.rest.rehearsing import every_single_failure
from apps.rest.snapshots import Snapshots

DAMAGE = {"a": [0, 0, 0, 1], "b": [2, 900, 0, 0], "gone": None}


class Controller:
    def __init__(self) -> None:
        self.asked = 0

    def ask(self, scenario):
        self.asked += 1
        if not scenario:
            return {"at": 5.0, "scenarios": [{"failure": "path-down", "name": name} for name in DAMAGE]}
        if DAMAGE[scenario["name"]] is None:
            raise NotFound("path", scenario["name"])
        return {"at": 6.0, "items": [{**scenario, "damage": DAMAGE[scenario["name"]]}]}


def test_the_worst_is_first_and_what_is_gone_is_left_out() -> None:
    found = every_single_failure(Controller().ask)
    assert found["at"] == 5.0
    assert [one["name"] for one in found["items"]] == ["b", "a"]


def test_whoever_asks_soon_after_shares_it() -> None:
    controller, now = Controller(), [0.0]
    shared = Snapshots(lambda: every_single_failure(controller.ask), lambda: now[0], 5.0)
    first = shared.get()
    now[0] = 4.9
    assert shared.get() is first
    assert controller.asked == 4
    now[0] = 5.0
    assert shared.get() is not first


def test_a_controller_that_is_away_is_told() -> None:
    def away(_scenario):
        raise Unavailable("the controller is not running")

    with pytest.raises(Unavailable):
        every_single_failure(away)
