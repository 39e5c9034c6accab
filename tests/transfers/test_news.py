"""Who is written to about what, and how often."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.flow import Flow, FlowRequest, FlowState
from adon.transfers import post
from adon.transfers.machine import Phase, Transfer
from adon.transfers.news import Item, News, heard
from adon.transfers.pace import WINDOW_S, Pace
from adon.transfers.post import Box

NOW, SLOW_FOR = 1_000_000.0, 300.0
PACE = post.Pace(10.0, 600.0)


def flow(state: FlowState = FlowState.ACTIVE, **wish: Any) -> Flow:
    moved = {"tool": "rclone", "source": "data:run/", "destination": "osu:in/", **wish}
    body = {
        "source": "mu-dtn",
        "destination": "osu-dtn",
        "size": "25 GB",
        "template": "soykb",
        "label": "season 7",
    }
    request = FlowRequest.model_validate({**body, "transfer": moved})
    return Flow(7, request, "ann", "soykb@1", NOW, state=state, path="al2s", reason="no path is left")


ACTIVE, FAILED = FlowState.ACTIVE, FlowState.FAILED


def transfer(phase: Phase, **more: Any) -> Transfer:
    return Transfer(7, "k", "mu-dtn", phase=phase, tries=2, bytes=4_000_000_000, **more)


@pytest.mark.parametrize(
    ("stands", "state", "news", "words"),
    [
        (transfer(Phase.DONE), FlowState.FINISHED, News.DONE, "f-7 (season 7): done, all 4 GB are there"),
        (
            transfer(Phase.FAILED, error="disk full"),
            FlowState.FAILED,
            News.FAILED,
            "2 tries: disk full",
        ),
        (transfer(Phase.CANCELLED), FlowState.EXPIRED, News.ENDED, "its flow is expired: no path is left"),
        (transfer(Phase.CANCELLED), FlowState.CANCELLED, None, ""),
        (
            transfer(Phase.RETRYING, error="reset", next_at=NOW + 40),
            ACTIVE,
            News.RETRYING,
            "in 40 s: reset",
        ),
        (
            transfer(Phase.STARTING, error="busy", error_since=NOW - 300),
            ACTIVE,
            News.STUCK,
            "5 min: busy",
        ),
        (transfer(Phase.STARTING, error="busy", error_since=NOW - 299), ACTIVE, None, ""),
        (
            transfer(Phase.RUNNING, pace=Pace(NOW, 1, 12e6, NOW - 300), promised=80e6),
            ACTIVE,
            News.SLOW,
            "is slow: 12 Mbps where 80 Mbps was promised",
        ),
        (transfer(Phase.RUNNING), ACTIVE, None, ""),
    ],
)
def test_what_is_news(stands: Transfer, state: FlowState, news: News | None, words: str) -> None:
    after, item = heard(stands, flow(state), NOW, SLOW_FOR)
    assert (None if item is None else item.news) is news
    if item is not None:
        assert words in item.headline
        assert heard(after, flow(state), NOW, SLOW_FOR) == (after, None)  # told once


@pytest.mark.parametrize(("about", "told"), [("all", 2), ("trouble", 1), ("none", 0)])
def test_who_does_not_want_it_is_left_alone(about: str, told: int) -> None:
    stands = (transfer(Phase.DONE), transfer(Phase.FAILED))
    assert sum(heard(one, flow(mail=about), NOW, SLOW_FOR)[1] is not None for one in stands) == told


def item(number: int, news: News = News.DONE, at: float = NOW) -> Item:
    details = (("from", "data:run/ at mu-dtn"),)
    return Item(number, news, at, f"f-{number}: {news}", details)


def test_news_gathers_and_the_next_letter_waits() -> None:
    box = Box("ann").given(item(1), NOW, PACE).given(item(2, News.FAILED), NOW + 5, PACE)
    assert not box.is_due(NOW + 9)
    assert box.is_due(NOW + 10)
    box = box.given(item(3), NOW + 11, PACE)
    sent = box.sent(replace(box, waiting=box.waiting[:2]), NOW + 12, PACE)
    assert [one.flow for one in sent.waiting] == [3]
    assert not sent.is_due(NOW + 611)
    assert sent.is_due(NOW + 612)


def test_of_one_transfer_only_the_latest_is_told() -> None:
    box = Box("ann").given(item(1, News.RETRYING), NOW, PACE).given(item(1), NOW + 1, PACE)
    assert [one.news for one in box.waiting] == [News.DONE]


def test_a_letter_that_cannot_be_handed_in_is_tried_again_less_and_less() -> None:
    box = Box("ann").given(item(1), NOW, PACE)
    pauses = []
    while not box.given_up:
        after = box.failed(NOW)
        pauses.append(after.due - NOW)
        assert after.letter_id == box.letter_id
        box = after
    assert pauses[:3] == [15.0, 30.0, 60.0]
    assert max(pauses) == post.LONGEST_PAUSE_S
    assert len(pauses) == post.ATTEMPTS - 1


def test_a_letter_can_be_read() -> None:
    box = Box("ann", (item(2), item(1, News.FAILED)), omitted=3)
    assert post.subject(box) == "[ADON] 5 transfers: 1 failed, 1 done"
    said = post.text(box, "https://adon.example.edu/")
    assert said.index("f-1: failed") < said.index("f-2: done")
    assert "  more     https://adon.example.edu/flows/f-1\n" in said
    assert "adon flow retry f-1" in said
    assert "3 earlier ones are left out" in said
    assert post.subject(Box("ann", (item(2),))) == "[ADON] f-2: done"


@given(st.lists(st.tuples(st.integers(1, 80), st.sampled_from(list(News))), min_size=1, max_size=200))
def test_however_much_there_is_a_letter_stays_small_and_loses_no_count(news: list[tuple[int, News]]) -> None:
    box = Box("ann")
    for number, kind in news:
        box = box.given(item(number, kind), NOW, PACE)
    assert len(box.waiting) <= post.MOST
    assert len({one.flow for one in box.waiting}) == len(box.waiting)
    assert len(box.waiting) + box.omitted >= len({number for number, _ in news})
    assert "\n" not in post.subject(box)


def test_a_rate_is_taken_over_a_while_and_slow_is_below_a_share() -> None:
    pace = Pace().seen(0, NOW)
    assert pace.seen(5_000, NOW + WINDOW_S - 1).rate is None
    pace = pace.seen(10_000_000, NOW + WINDOW_S).judged(80e6, 0.5, NOW + 10)
    assert (pace.rate, pace.slow_since) == (8e6, NOW + 10)
    assert pace.judged(80e6, 0.5, NOW + 20).slow_since == NOW + 10
    assert pace.judged(10e6, 0.5, NOW + 20).slow_since is None
    assert pace.judged(None, 0.5, NOW + 20).slow_since is None
    assert pace.seen(0, NOW + 30).base == 0  # a count that was set back makes no rate below zero


def test_after_a_letter_the_next_news_waits_for_its_time() -> None:
    box = Box("ann").given(item(1), NOW, PACE)
    later = box.sent(box, NOW + 10, PACE).given(item(2), NOW + 100, PACE)
    assert later.due == NOW + 610
    assert box.sent(box, NOW + 10, PACE).given(item(2), NOW + 1000, PACE).due == NOW + 1010
