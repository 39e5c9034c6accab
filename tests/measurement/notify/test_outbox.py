from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.anomaly.alarm import acknowledge
from measurement.anomaly.model import Severity
from measurement.notify.outbox import (
    ATTEMPTS,
    MOST,
    REMEMBERED,
    Outbox,
    Pace,
    outbox_from_json,
    outbox_to_json,
)
from measurement.notify.subscription import Channel, Filter
from tests.measurement.notify.alarming import alarm, over, subscription, warning
from tests.support.refusals import refused

PACE = Pace(settle=2.0, gather=60.0)


def outbox(*filters: Filter) -> Outbox:
    wanted = [subscription(f"s-{n}", filter=one) for n, one in enumerate(filters or (Filter(),), 1)]
    return Outbox(PACE).with_subscriptions(wanted)


def names(box: Outbox, now: float) -> list[list[str]]:
    return [[one.id for one in delivery.alarms] for delivery in box.due(now)]


def sent(box: Outbox, now: float) -> Outbox:
    for delivery in box.due(now):
        box = box.done(delivery, now)
    return box


def test_what_comes_at_once_is_told_at_once_in_one_message() -> None:
    box = outbox()
    for number in range(3):
        box = box.offer(alarm(f"a-{number}"), 100.0 + number / 10)
    assert (names(box, 101.9), box.next_due()) == ([], 102.0)
    assert names(box, 102.0) == [["a-0", "a-1", "a-2"]]


def test_after_a_message_the_next_gathers_what_comes() -> None:
    box = sent(outbox().offer(alarm("a"), 100.0), 102.0)
    assert box.next_due() is None
    box = box.offer(alarm("b"), 110.0).offer(alarm("c"), 150.0)
    assert names(box, 161.9) == []
    assert names(box, 162.0) == [["b", "c"]]
    assert names(sent(box, 162.0).offer(alarm("d"), 500.0), 502.0) == [["d"]]


def test_who_waits_for_nothing_else_gets_it_by_filter() -> None:
    box = outbox(Filter(least=Severity.CRITICAL), Filter(path="internet"), Filter()).offer(warning(), 100.0)
    assert [delivery.subscription.id for delivery in box.due(200.0)] == ["s-3"]


def test_only_news_is_told() -> None:
    box = sent(outbox().offer(warning(), 100.0), 102.0)
    for again in (warning(), replace(warning(), text="still low"), acknowledge(warning(), "eve", 150.0)):
        box = box.offer(again, 200.0)
        assert names(box, 10_000.0) == []
    box = box.offer(alarm(), 200.0)  # it has become critical
    assert names(box, 300.0) == [["a-1"]]
    box = sent(box, 300.0).offer(over(alarm()), 400.0)
    assert [one.alarms[0].open for one in box.due(500.0)] == [False]
    assert names(sent(box, 500.0).offer(alarm(), 600.0), 700.0) == [], "what is over does not come back"


def test_the_latest_state_is_told() -> None:
    box = outbox().offer(warning(), 100.0).offer(alarm(), 101.0).offer(over(alarm()), 101.5)
    (delivery,) = box.due(102.0)
    assert delivery.alarms == (over(alarm()),)


def test_the_end_of_what_nobody_heard_of_is_not_told() -> None:
    assert names(outbox().offer(over(alarm()), 100.0), 200.0) == []
    better = alarm(bad=False, cleared_at=100.0)
    assert names(outbox(Filter(changes_for_the_better=True)).offer(better, 100.0), 200.0) == [["a-1"]]


def test_what_comes_while_a_message_is_under_way_waits_for_the_next() -> None:
    box = outbox().offer(alarm("a"), 100.0).offer(warning("b"), 100.0)
    (delivery,) = box.due(102.0)
    box = box.offer(alarm("b"), 103.0).offer(alarm("c"), 103.0).done(delivery, 104.0)
    assert names(box, 163.0) == []
    assert names(box, 164.0) == [["b", "c"]]


def test_a_digest_is_bounded_and_says_so() -> None:
    box = outbox()
    for number in range(MOST + 7):
        box = box.offer(alarm(f"a-{number}"), 100.0)
    (delivery,) = box.due(200.0)
    assert (len(delivery.alarms), delivery.omitted) == (MOST, 7)
    assert delivery.alarms[-1].id == f"a-{MOST + 6}"
    assert box.done(delivery, 200.0).due(10_000.0) == []


def test_a_failure_is_tried_again_with_growing_pauses_and_the_same_id() -> None:
    box, now, tried = outbox().offer(alarm(), 100.0), 102.0, list[tuple[float, str]]()
    for _ in range(ATTEMPTS - 1):
        (delivery,) = box.due(now)
        assert not box.given_up(delivery)
        tried.append((now, delivery.id))
        box = box.after_failure(delivery, now)
        assert names(box, now + 1) == []
        now = box.next_due() or now
    pauses = [later - earlier for (earlier, _), (later, _) in pairwise(tried)]
    assert pauses[:3] == [15.0, 30.0, 60.0]
    assert max(pauses) == 3600.0
    assert len({identity for _, identity in tried}) == 1
    (delivery,) = box.due(now)
    assert box.given_up(delivery)
    assert box.done(delivery, now).due(1e9) == []


def test_a_success_ends_the_pauses() -> None:
    box = outbox().offer(alarm("a"), 100.0)
    for _ in range(5):
        (delivery,) = box.due(5000.0)
        box = box.after_failure(delivery, 102.0)
    (delivery,) = box.due(5000.0)
    box = box.done(delivery, 5000.0).offer(alarm("b"), 6000.0)
    (delivery,) = box.due(6002.0)
    assert box.after_failure(delivery, 6002.0).next_due() == 6017.0


def test_what_waits_for_a_subscription_that_is_gone_or_goes_elsewhere_is_dropped() -> None:
    box = outbox(Filter(), Filter()).offer(alarm(), 100.0)
    kept = subscription("s-1", filter=Filter(least=Severity.CRITICAL))
    moved = subscription("s-2", target="bob@mu.example")
    assert [one.subscription for one in box.with_subscriptions([kept, moved]).due(200.0)] == [kept]
    (delivery, _) = box.due(200.0)
    gone = box.with_subscriptions([])
    assert gone.due(200.0) == []
    assert gone.done(delivery, 200.0) == gone.after_failure(delivery, 200.0) == gone
    assert gone.given_up(delivery)


def test_memory_of_what_was_told_is_bounded() -> None:
    box = outbox()
    for number in range(REMEMBERED + 50):
        box = sent(box.offer(alarm(f"a-{number}"), 100.0 * number), 100.0 * number + 99)
    (kept,) = outbox_to_json(box).values()
    assert len(kept["told"]) == REMEMBERED


def test_it_goes_on_after_a_restart() -> None:
    box = sent(outbox().offer(alarm("told"), 100.0), 102.0).offer(alarm("waits"), 110.0)
    (delivery,) = box.due(200.0)
    box = box.after_failure(delivery, 200.0)
    again = outbox_from_json(json.loads(json.dumps(outbox_to_json(box))), PACE)
    assert outbox_to_json(again) == outbox_to_json(box)
    again = again.with_subscriptions([subscription("s-1")])
    assert names(again, 0.0) == [["waits"]], "also when the clock is behind"
    assert names(sent(again, 215.0).offer(alarm("told"), 300.0), 900.0) == []


@pytest.mark.parametrize("data", [{"s": {}}, {"s": None}, {"s": {"subscription": {"id": "s"}}}, 7])
def test_what_is_no_outbox_is_refused(data: object) -> None:
    with refused(ValueError):
        outbox_from_json(data)


EVENTS = st.lists(
    st.tuples(
        st.floats(0.0, 40.0),
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["warning", "critical", "over"]),
        st.sampled_from(["nothing", "arrives", "fails"]),
    ),
    max_size=40,
)


@given(EVENTS)
def test_laws(events: list[tuple[float, str, str, str]]) -> None:
    """No two messages within ``gather``; nothing is told twice; what is news is told in the end."""
    box, now = outbox(), 1000.0
    times, told, latest = list[float](), list[tuple[str, str]](), dict[str, str]()
    kinds = {"warning": warning, "critical": alarm, "over": lambda name: over(alarm(name))}

    def deliver(how: str) -> None:
        nonlocal box
        for delivery in box.due(now):
            if how == "fails":
                box = box.after_failure(delivery, now)
            else:
                times.append(now)
                told.extend((a.id, a.severity.value if a.open else "over") for a in delivery.alarms)
                box = box.done(delivery, now)

    for wait, name, news, then in events:
        now += wait
        if latest.get(name) != "over":
            box = box.offer(kinds[news](name), now)
            latest[name] = news
        if then != "nothing":
            deliver(then)
    now += 20_000.0
    deliver("arrives")
    assert box.next_due() is None
    assert all(later - earlier >= PACE.gather for earlier, later in pairwise(times))
    for name, news in latest.items():
        mine = [what for who, what in told if who == name]
        assert all(one != following for one, following in pairwise(mine))
        assert not mine or mine[-1] == news
        assert mine or news == "over"


def test_channels_of_one_owner_are_apart() -> None:
    wanted = [subscription("mail"), subscription("stream", channel=Channel.STREAM, target="")]
    box = Outbox(PACE).with_subscriptions(wanted).offer(alarm(), 100.0)
    first, second = box.due(102.0)
    assert {first.subscription.id, second.subscription.id} == {"mail", "stream"}
    assert first.id != second.id
    assert [one.subscription.id for one in box.done(first, 102.0).due(103.0)] == [second.subscription.id]
