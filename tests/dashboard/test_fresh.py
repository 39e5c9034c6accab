"""What moves on a page is drawn seldom, and never shown to somebody else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from adon.access.identity import Actor
from adon.client import Answer
from apps.dashboard.fresh import SHARED_S, STANDS_S, Drawings, Seen

ANN = Actor("ann", frozenset({"researcher"}), via="openid", proof="s-1")
SEEN = Seen(ANN, "UTC", "/flows", "")


class Api:
    """Answers what it is told to; counts what it is asked."""

    base = "/api/v1"

    def __init__(self) -> None:
        self.answers = {"/paths": b"{}", "/flows": b"{}"}
        self.status = 200
        self.asked: Counter[str] = Counter()

    def send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        self.asked[f"{method} {path}"] += 1
        return Answer(self.status, self.answers[path])

    def lines(self, path: str, query: Mapping[str, Any], headers: Mapping[str, str]) -> Any:
        raise NotImplementedError


class Stage:
    """Somebody who looks, again and again."""

    def __init__(self, **more: Any) -> None:
        self.now = 100.0
        self.api = Api()
        self.drawings = Drawings(lambda: self.now, **more)
        self.drawn = 0

    def draw(self, through: Any) -> bytes:
        self.drawn += 1
        first, second = (through.send("GET", path, query={"limit": 5}) for path in ("/paths", "/flows"))
        return first.content + second.content + (b"?" if first.status != 200 else b"")

    def look(self, seen: Seen = SEEN, after: float = 0.0, *, shared: bool = True) -> bytes:
        self.now += after
        return self.drawings.get(seen, self.api, self.draw, shared=shared).content


def test_who_looks_again_at_once_is_shown_the_same_without_a_question() -> None:
    stage = Stage()
    stage.look()
    stage.api.answers["/flows"] = b"{new}"
    stage.look(after=SHARED_S * 0.9)
    assert (stage.drawn, stage.api.asked["GET /flows"]) == (1, 1)
    assert b"{new}" in stage.look(after=SHARED_S * 0.2)


def test_who_opens_the_page_is_shown_what_they_changed_just_now() -> None:
    stage = Stage()
    stage.look()
    stage.api.answers["/flows"] = b"{new}"
    assert b"{new}" in stage.look(shared=False)
    assert b"{new}" in stage.look(), "who looks next, too"
    assert stage.drawn == 2


def test_nothing_is_drawn_when_nothing_has_changed() -> None:
    stage = Stage()
    for _ in range(3):
        stage.look(after=3.0)
    assert stage.drawn == 1
    assert stage.api.asked == {"GET /paths": 3, "GET /flows": 3}


@pytest.mark.parametrize("changed", ["/paths", "/flows"])
def test_what_has_changed_is_drawn_and_no_question_put_twice(changed: str) -> None:
    stage = Stage()
    stage.look()
    stage.api.answers[changed] = b"{new}"
    assert b"{new}" in stage.look(after=3.0)
    assert stage.drawn == 2
    assert stage.api.asked == {"GET /paths": 2, "GET /flows": 2}


def test_a_failure_with_the_same_words_is_a_change() -> None:
    stage = Stage()
    stage.look()
    stage.api.status = 503
    assert stage.look(after=3.0).endswith(b"?")


def test_ages_are_told_anew_every_few_seconds() -> None:
    stage = Stage()
    for _ in range(8):
        stage.look(after=3.0)
    assert stage.drawn == 2
    stage.look(after=STANDS_S)
    assert stage.drawn == 3


@pytest.mark.parametrize(
    "other",
    [
        replace(SEEN, actor=replace(ANN, name="bob")),
        replace(SEEN, actor=replace(ANN, roles=frozenset({"admin"}))),
        replace(SEEN, actor=replace(ANN, groups=frozenset({"soybean"}))),
        replace(SEEN, actor=replace(ANN, scope=frozenset())),
        replace(SEEN, actor=replace(ANN, proof="s-2")),
        replace(SEEN, zone="Asia/Tokyo"),
        replace(SEEN, path="/flows/f-1"),
        replace(SEEN, search="?state=active"),
    ],
    ids=lambda seen: f"{seen.actor.name} {seen.zone} {seen.path} {seen.search}",
)
def test_nobody_is_shown_what_was_drawn_for_somebody_else(other: Seen) -> None:
    stage = Stage()
    stage.look()
    stage.look(other)
    assert stage.drawn == 2
    assert stage.api.asked["GET /flows"] == 2


def test_what_does_more_than_to_ask_is_drawn_each_time() -> None:
    stage = Stage()

    def draw(through: Any) -> bytes:
        through.send("POST", "/paths", {})
        return stage.draw(through)

    for _ in range(2):
        stage.drawings.get(SEEN, stage.api, draw)
        stage.now += 3.0
    assert stage.drawn == 2
    assert stage.api.asked["POST /paths"] == 2


def test_the_parts_of_a_page_tell_of_the_same_moment() -> None:
    stage = Stage()

    def twice(through: Any) -> bytes:
        first = through.send("GET", "/paths").content
        stage.api.answers["/paths"] = b"{later}"
        return bytes(first + through.send("GET", "/paths").content)

    assert stage.drawings.get(SEEN, stage.api, twice).content == b"{}{}"


def test_what_is_kept_is_bound_by_size_and_by_age() -> None:
    stage = Stage(most=20_000)
    stage.api.answers["/flows"] = b"x" * 5_000
    for number in range(50):
        stage.look(replace(SEEN, search=f"?n={number}"))
    assert 5_000 < stage.drawings.held <= 20_000
    stage.look(after=3.0)
    stage.look(replace(SEEN, search="?n=last"), after=STANDS_S * 2)
    one = stage.drawings.held
    assert 5_000 < one < 10_000
    for _ in range(5):
        stage.look(replace(SEEN, search="?n=last"), after=3.0)
    assert stage.drawings.held == one
