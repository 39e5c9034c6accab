"""Waiting for the lease, renewing it, and losing it, on a database of SQLite."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adon.errors import Unavailable
from adon.flowvisor import controller_roles
from adon.flowvisor.controller_roles import ControllerState, StateLoaded
from adon.store.lease import CONTROLLER, Held, Lease
from adon.store.store import Store
from apps.campus_edge.leader_lease import RENEWALS, Leadership
from apps.campus_edge.roles import RoleDesk
from apps.campus_edge.standby import refusing
from apps.link import LinkClient
from tests.apps.edge import eventually
from tests.support.refusals import refused

LEASE_S = 1.0
"""For tests in which it runs out."""
LONG_S = 30.0
"""Longer than a busy machine holds a thread up."""


class One:
    def __init__(self, url: str, name: str, kind: type[Store] = Store, lease: float = LONG_S) -> None:
        self.ended = list[str]()
        self.desk = RoleDesk(controller_roles.standby_controller({}), end=self.ended.append)
        self.leadership = Leadership(kind.open(url), self.desk, name, lease)

    def lead(self) -> Lease:
        lease = self.leadership.campaign(threading.Event())
        assert lease is not None
        self.desk.feed(StateLoaded())
        return lease


@pytest.fixture
def url(tmp_path: Path, empty_state: Path) -> str:
    shutil.copy(empty_state, tmp_path / "state.db")
    return f"sqlite:///{tmp_path / 'state.db'}"


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with Store.open(url) as opened:
        yield opened


def holder(store: Store) -> str | None:
    held = store.lease(CONTROLLER)
    return None if held is None or held.seconds <= 0 else held.holder


def test_who_gives_it_back_is_followed_at_once(url: str, store: Store) -> None:
    a, b = One(url, "a"), One(url, "b")
    lease = a.lead()
    a.leadership.keep(lease)
    following = threading.Thread(target=b.lead)
    following.start()
    eventually(lambda: b.leadership.active == "a")
    a.leadership.give_back(lease)
    following.join(120)
    assert holder(store) == "b"
    assert a.ended == []  # it went in peace


def test_a_lease_is_renewed(url: str, store: Store) -> None:
    a = One(url, "a", lease=2.0 * RENEWALS)
    lease = a.lead()
    first = a.desk.until
    assert first is not None
    a.leadership.keep(lease)
    for _ in range(2):
        before = a.desk.until
        eventually(lambda before=before: a.desk.until > before)
    assert (holder(store), a.ended) == ("a", [])
    a.leadership.give_back(lease)


def test_who_cannot_renew_steps_down_by_its_own_clock(url: str) -> None:
    class Hanging(Store):
        def renew_lease(self, *_: object) -> Any:
            threading.Event().wait(120)

    a = One(url, "a", Hanging, LEASE_S)
    a.leadership.keep(a.lead())
    eventually(lambda: a.ended == ["the lease could not be renewed in time"])
    assert a.desk.standing is ControllerState.STEPPING_DOWN


def test_whose_lease_was_taken_steps_down(url: str, store: Store) -> None:
    a = One(url, "a")
    lease = a.lead()
    store.give_lease_back(lease)
    assert store.take_lease(CONTROLLER, "b", 60.0) is not None
    a.leadership.keep(lease)
    eventually(lambda: a.ended)
    assert "by b" in a.ended[0]


def test_a_standby_ends_when_it_is_told_to(url: str, store: Store) -> None:
    assert store.take_lease(CONTROLLER, "b", 60.0) is not None
    ended = threading.Event()
    ended.set()
    assert One(url, "a").leadership.campaign(ended) is None


def test_a_standby_outlives_a_database_that_is_away(url: str) -> None:
    errors = [Unavailable("away")]

    class SometimesAway(Store):
        def lease(self, name: str) -> Held | None:
            if errors:
                raise errors.pop()
            return super().lease(name)

    assert One(url, "a", SometimesAway).lead().holder == "a"


def test_the_link_of_a_standby_refuses_with_the_name_of_the_active_one(tmp_path: Path) -> None:
    link = refusing(tmp_path / "c.sock", lambda: "mu-1")
    told = list[object]()
    web, collector = LinkClient(tmp_path / "c.sock", "web"), LinkClient(tmp_path / "c.sock", "collector")
    collector.on("standing", told.append)
    try:
        with refused("standby"):
            web.call("snapshot", {})
        collector.send("measurement", {})  # goes nowhere, and hurts nobody
        eventually(lambda: told == [{"active": False}])
    finally:
        web.close()
        collector.close()
        link.close()
