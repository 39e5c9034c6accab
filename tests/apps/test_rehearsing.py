from __future__ import annotations

import threading

import pytest

from adon.errors import NotFound, Unavailable
from apps.rest.rehearsing import every_single_failure
from apps.rest.snapshots import Snapshots
from tests.apps.edge import eventually

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


def test_whoever_asks_while_it_is_made_anew_gets_the_last_one() -> None:
    now, may_end, made = [0.0], threading.Event(), []

    def fetch():
        assert not made or may_end.wait(20)
        made.append(now[0])
        return {"at": now[0]}

    shared = Snapshots(fetch, lambda: now[0], max_age=5.0, stale=30.0)
    assert shared.get()["at"] == 0.0
    now[0] = 6.0
    for _ in range(3):
        assert shared.get()["at"] == 0.0
    may_end.set()
    eventually(lambda: shared.get()["at"] == 6.0, "it was never made anew")
    assert made == [0.0, 6.0]
    now[0] = 36.0
    assert shared.get()["at"] == 36.0


def test_what_cannot_be_made_anew_is_told_when_it_is_too_old() -> None:
    now, away = [0.0], []

    def fetch():
        if away:
            raise Unavailable("the controller is not running")
        return {"at": now[0]}

    shared = Snapshots(fetch, lambda: now[0], max_age=5.0, stale=30.0)
    shared.get()
    away.append(True)
    now[0] = 29.0
    assert shared.get()["at"] == 0.0
    eventually(lambda: not shared._lock.locked(), "it goes on for ever")
    now[0] = 30.0
    with pytest.raises(Unavailable):
        shared.get()


def test_a_controller_that_is_away_is_told() -> None:
    def away(_scenario):
        raise Unavailable("the controller is not running")

    with pytest.raises(Unavailable):
        every_single_failure(away)
