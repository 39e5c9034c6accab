from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.anomaly.alarm import Alarm, Kind
from measurement.anomaly.model import Severity
from measurement.model import from_json, to_json
from measurement.notify.subscription import Channel, Filter, Subscription, matches
from tests.measurement.notify.alarming import alarm, over, subscription, warning
from tests.support.refusals import refused

BETTER = alarm(bad=False, cleared_at=1000.0)

CASES: list[tuple[dict[str, Any], Alarm, bool]] = [
    ({}, alarm(), True),
    ({}, over(alarm()), True),
    ({}, BETTER, False),
    ({"changes_for_the_better": True}, BETTER, True),
    ({"changes_for_the_better": True, "ends": False}, BETTER, True),
    ({"ends": False}, over(alarm()), False),
    ({"path": "al2s"}, alarm(), True),
    ({"path": "internet"}, alarm(), False),
    ({"source": "mu", "destination": "osu", "metric": "throughput"}, alarm(), True),
    ({"source": "osu"}, alarm(), False),
    ({"destination": "mu"}, alarm(), False),
    ({"metric": "rtt"}, alarm(), False),
    ({"kinds": frozenset({Kind.PLATEAU, Kind.ABSENCE})}, alarm(), True),
    ({"kinds": frozenset({Kind.ABSENCE})}, alarm(), False),
    ({"kinds": frozenset()}, alarm(), False),
    ({"least": Severity.CRITICAL}, alarm(), True),
    ({"least": Severity.CRITICAL}, warning(), False),
    ({"least": Severity.WARNING}, warning(), True),
]


@pytest.mark.parametrize(("parts", "about", "expected"), CASES)
def test_a_filter_narrows_by_every_part_it_has(parts: dict[str, Any], about: Alarm, expected: bool) -> None:
    assert matches(subscription(filter=Filter(**parts)), about) is expected


@pytest.mark.parametrize(
    ("channel", "target"),
    [
        (Channel.MAIL, "ann@mu.example"),
        (Channel.MAIL, "a.b+alarms@sub.mu.example"),
        (Channel.WEBHOOK, "https://hooks.mu.example/T0/B0/secret?x=1"),
        (Channel.WEBHOOK, "http://[2001:db8::1]:8080/"),
        (Channel.STREAM, ""),
    ],
)
def test_targets_that_can_be_used(channel: Channel, target: str) -> None:
    assert subscription(channel=channel, target=target).target == target


@pytest.mark.parametrize(
    ("channel", "target"),
    [
        (Channel.MAIL, ""),
        (Channel.MAIL, "ann"),
        (Channel.MAIL, "ann@mu.example\r\nBcc: eve@evil.example"),
        (Channel.MAIL, "ann@mu.example, eve@evil.example"),
        (Channel.MAIL, "Ann <ann@mu.example>"),
        (Channel.MAIL, f"{'a' * 65}@mu.example"),
        (Channel.MAIL, "ann@mü.example"),
        (Channel.WEBHOOK, ""),
        (Channel.WEBHOOK, "hooks.mu.example"),
        (Channel.WEBHOOK, "file:///etc/passwd"),
        (Channel.WEBHOOK, "gopher://hooks.mu.example/"),
        (Channel.WEBHOOK, "https://"),
        (Channel.WEBHOOK, "https://ann:pw@hooks.mu.example/"),
        (Channel.WEBHOOK, "https://hooks.mu.example:99999/"),
        (Channel.WEBHOOK, "https://hooks.mu.example:0/"),
        (Channel.WEBHOOK, "https://[::1/"),
        (Channel.WEBHOOK, "https://hooks.mu.example/ HTTP/1.1\r\nX: y"),
        (Channel.WEBHOOK, "https://hooks.mu.example/" + "x" * 2000),
        (Channel.STREAM, "somewhere"),
    ],
)
def test_targets_that_cannot_are_refused_by_name(channel: Channel, target: str) -> None:
    with refused(ValueError, "target"):
        subscription(channel=channel, target=target)


@pytest.mark.parametrize(
    ("argument", "value", "field"),
    [("name", "", "id"), ("name", "a b", "id"), ("owner", " ", "owner"), ("owner", "a\nb", "owner")],
)
def test_names_are_checked(argument: str, value: str, field: str) -> None:
    with refused(ValueError, field):
        subscription(**{argument: value})


FILTERS = st.builds(
    Filter,
    path=st.none() | st.text(max_size=20),
    metric=st.none() | st.text(max_size=20),
    kinds=st.none() | st.frozensets(st.sampled_from(Kind)),
    least=st.sampled_from(Severity),
    changes_for_the_better=st.booleans(),
    ends=st.booleans(),
)


@given(FILTERS)
def test_json_and_back(wanted: Filter) -> None:
    one = subscription(filter=wanted)
    assert from_json(Subscription, json.loads(json.dumps(to_json(one)))) == one


def test_a_filter_may_be_left_out() -> None:
    short = {"id": "s", "owner": "ann", "channel": "stream"}
    assert from_json(Subscription, short) == Subscription("s", "ann", Channel.STREAM)


GOOD = to_json(subscription())


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"channel": "pigeon"}, "channel"),
        ({"id": 7}, "id"),
        ({"target": None}, "target"),
        ({"filter": {"colour": "red"}}, "colour"),
        ({"filter": {"kinds": ["itch"]}}, "filter.kinds"),
        ({"filter": {"kinds": 3}}, "kinds"),
        ({"filter": {"least": "grave"}}, "filter.least"),
        ({"filter": {"path": ["al2s"]}}, "path"),
        ({"filter": {"ends": "no"}}, "ends"),
        ({"filter": None}, "filter"),
    ],
)
def test_what_is_no_subscription_is_refused_in_words(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        from_json(Subscription, {**GOOD, **change})


@pytest.mark.parametrize("field", ["id", "owner", "channel"])
def test_what_is_missing_is_named(field: str) -> None:
    with refused(ValueError, field):
        from_json(Subscription, {name: value for name, value in GOOD.items() if name != field})
