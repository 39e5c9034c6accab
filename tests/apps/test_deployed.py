"""What is watched comes and goes with the flows; one point's list changes without disturbing another's."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import pytest

from apps.collector.deployed import Deployed, read_lists, read_series, wanted_of
from apps.collector.standing import LASTS, Wanted


class Readers:
    """Readers that write down when they begin and end."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.began = threading.Event()
        self.fails = ""

    def make(self, point: str, wanted: Sequence[Wanted]) -> Any:
        if point == self.fails:
            raise RuntimeError("this point cannot be read")
        return _Reader(self, point, [each.test.request.spec["metric"] for each in wanted])


class _Reader:
    def __init__(self, all_: Readers, point: str, metrics: list[str]) -> None:
        self._all, self._name = all_, f"{point}: {', '.join(metrics)}"

    def start(self) -> None:
        self._all.log.append(f"begin {self._name}")
        self._all.began.set()

    def stop(self) -> None:
        self._all.log.append(f"end {self._name}")


POINTS = frozenset({"mu", "osu"})


def message(*watches: tuple[str, str, float]) -> dict[str, Any]:
    return {"watches": [{"site": s, "metric": m, "period": p} for s, m, p in watches], "series": []}


def test_only_what_changed_is_touched() -> None:
    readers = Readers()
    found = Deployed(POINTS, readers.make)
    found.follow(read_lists(message(("mu", "host", 5), ("osu", "host", 5))))
    assert sorted(readers.log) == ["begin mu: host", "begin osu: host"]
    found.follow(read_lists(message(("mu", "host", 5), ("osu", "host", 5), ("osu", "queue.length", 5))))
    assert readers.log[2:] == ["end osu: host", "begin osu: host, queue.length"]
    found.follow(read_lists(message(("mu", "host", 5))))
    assert readers.log[4:] == ["end osu: host, queue.length"]
    found.follow({})
    assert readers.log[5:] == ["end mu: host"]


def test_a_period_that_changes_is_a_change_and_the_same_again_is_none() -> None:
    readers = Readers()
    found = Deployed(POINTS, readers.make)
    for _ in range(2):
        found.follow(read_lists(message(("mu", "host", 5))))
    found.follow(read_lists(message(("mu", "host", 10))))
    assert readers.log == ["begin mu: host", "end mu: host", "begin mu: host"]


def test_a_point_that_is_not_there_is_said_and_left_out(caplog: pytest.LogCaptureFixture) -> None:
    readers = Readers()
    Deployed(POINTS, readers.make).follow(read_lists(message(("tacc", "host", 5), ("mu", "host", 5))))
    assert readers.log == ["begin mu: host"]
    assert "event=not_watched point=tacc" in caplog.text


def test_its_thread_follows_the_newest_wish_and_ends_everything_at_the_end() -> None:
    readers = Readers()
    found = Deployed(POINTS, readers.make)
    found.want(read_lists(message(("osu", "host", 5))))  # before anybody follows: overtaken
    found.want(read_lists(message(("mu", "host", 5))))
    found.start()
    assert readers.began.wait(10)
    found.close()
    assert readers.log == ["begin mu: host", "end mu: host"]


def test_a_wish_that_cannot_be_followed_is_not_the_end() -> None:
    readers = Readers()
    readers.fails = "osu"
    found = Deployed(POINTS, readers.make)
    found.start()
    found.want(read_lists(message(("osu", "host", 5))))
    while not readers.began.wait(0.05):
        found.want(read_lists(message(("mu", "host", 5))))
    found.close()
    assert readers.log == ["begin mu: host", "end mu: host"]


def test_the_tasks_are_those_of_the_point() -> None:
    (one,) = wanted_of("mu", [("queue.length", 10.0)])
    assert (one.point, one.period, one.test.key.source) == ("mu", 10.0, "mu")
    assert one.test.request.lasts == LASTS


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"watches": 3},
        {"watches": [{"site": "mu"}]},
        {"watches": [{"site": "mu", "metric": "host", "period": 0}]},
        {"watches": [{"site": "mu", "metric": "host", "period": "x"}]},
        {"watches": [{"site": "mu", "metric": "host", "period": float("nan")}]},
    ],
)
def test_a_message_that_makes_no_sense(payload: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"watches|period|convert"):
        read_lists(payload)


def test_series_are_pairs() -> None:
    assert read_series({"series": [["mu", "host.load_1m"]]}) == {("mu", "host.load_1m")}
    for wrong in ({}, {"series": 3}, {"series": [["mu"]]}):
        with pytest.raises(ValueError, match=r"series|not enough values"):
            read_series(wrong)
