"""What is asked again, when, and how often."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, create_model

from adon.access.policy import Action
from adon.api.base import DeletionView, ListView, Query
from adon.api.route import Tag
from adon.client.calling import Caller
from adon.client.repeating import BOUNDS, Bounds, Repeating, repeatable, retry_after, wait
from adon.client.transport import Answer

NOW = 1_700_000_000.0
DATE = "Tue, 14 Nov 2023 22:13:30 GMT"
"""Ten seconds after NOW."""


@pytest.mark.parametrize(
    ("method", "path", "headers", "may"),
    [
        ("GET", "/flows", None, True),
        ("GET", "/readyz", None, False),
        ("POST", "/flows", {"Idempotency-Key": "k"}, True),
        ("POST", "/flows", None, False),
        ("POST", "/rules/sync", {}, False),
        ("DELETE", "/flows/f-1", {"Idempotency-Key": "k"}, False),
    ],
)
def test_only_what_does_nothing_twice_is_repeated(method, path, headers, may):
    assert repeatable(method, path, headers) is may


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        (DATE, 10.0),
        ("Mon, 13 Nov 2023 22:13:30 GMT", 0.0),
        (None, None),
        ("soon", None),
        ("-3", None),
        ("1e3", None),
        ("", None),
    ],
)
def test_a_time_to_come_back_is_read(text, seconds):
    assert retry_after(text, NOW) == seconds


@pytest.mark.parametrize(
    ("status", "after", "tried", "waited", "pause"),
    [
        (503, "2", 1, 0.0, 2.25),
        (429, "8", 1, 0.0, 9.0),
        (429, "0", 1, 0.0, 0.125),
        (503, None, 1, 0.0, None),
        (500, "2", 1, 0.0, None),
        (200, "2", 1, 0.0, None),
        (503, "2", 4, 0.0, None),
        (503, "2", 2, 28.0, None),
        (503, "60", 1, 0.0, None),
    ],
)
def test_how_long_is_waited(status, after, tried, waited, pause):
    headers = {} if after is None else {"retry-after": after}
    assert wait(Answer(status, b"", headers), tried, waited, BOUNDS, NOW, 0.5) == pause


class Busy:
    """A server that refuses some times before it answers."""

    base = "http://busy"

    def __init__(self, refusals, after):
        self.left, self.after, self.asked = refusals, after, 0

    def send(self, method, path, body=None, query=None, headers=None):
        self.asked += 1
        if self.left:
            self.left -= 1
            return Answer(503, b"{}", {"retry-after": self.after})
        return Answer(200, b"{}")

    def lines(self, path, query, headers):
        return iter([b"data: 1"])


@given(
    refusals=st.integers(0, 9),
    after=st.integers(0, 40),
    chance=st.floats(0, 1),
    tries=st.integers(1, 6),
    longest=st.floats(0, 100),
)
def test_repeating_ends_within_its_bounds(refusals, after, chance, tries, longest):
    pauses: list[float] = []
    busy = Busy(refusals, str(after))
    bounds = Bounds(tries, longest)
    asking = Repeating(busy, bounds, pause=pauses.append, chance=lambda: chance, clock=lambda: NOW)
    answer = asking.send("GET", "/flows")
    assert busy.asked == len(pauses) + 1 <= tries
    assert sum(pauses) <= longest
    assert all(pause >= after for pause in pauses)
    if answer.status == 503:
        assert busy.asked == tries or sum(pauses) + after * (1 + chance) + 1 > longest


def test_what_must_not_be_repeated_is_answered_as_it_is():
    busy = Busy(1, "1")
    asking = Repeating(busy, pause=lambda _: pytest.fail("it waited"), chance=lambda: 0.0, clock=lambda: NOW)
    assert asking.send("POST", "/rules/sync", {}).status == 503
    assert list(asking.lines("/events", {}, {})) == [b"data: 1"]
    assert asking.base == "http://busy"


class NumberList(ListView):
    items: list[DeletionView]


class Paged:
    """A list of documents, named by numbers, in pages, the newest (greatest) first."""

    base = "http://paged"

    def __init__(self, count, most):
        self.count, self.most, self.sizes = count, most, []

    def send(self, method, path, body=None, query=None, headers=None):
        import json

        size = query["limit"]
        assert 1 <= size <= self.most
        self.sizes.append(size)
        first = int(query.get("before", self.count))
        items = list(range(first, max(0, first - size), -1))
        following = str(items[-1] - 1) if items and items[-1] > 1 else None
        return Answer(
            200, json.dumps({"items": [{"id": f"{one}"} for one in items], "next": following}).encode()
        )


@given(count=st.integers(0, 60), limit=st.one_of(st.none(), st.integers(0, 80)), page=st.integers(1, 20))
def test_pages_are_one_list_without_a_hole_or_anything_twice(count, limit, page):
    paged = Paged(count, page)
    query = create_model("Page", __base__=Query, limit=(int, Field(le=page)), before=(str, ""))
    numbers = Tag("numbers", "").get("/numbers", Action.FLOW_READ, NumberList, query)
    found = [int(one.id) for one in Caller(paged).each(numbers, limit=limit)]
    wanted = list(range(count, 0, -1))
    assert found == (wanted if limit is None else wanted[:limit])
