from __future__ import annotations

import json
from dataclasses import replace

from measurement.anomaly.alarm import Alarm, acknowledge
from measurement.model import from_json
from measurement.notify.message import SUBJECT, document, subject, text
from tests.measurement.notify.alarming import alarm, delivery, over, warning


def test_one_alarm_is_its_own_subject() -> None:
    assert subject(delivery()) == "[critical] throughput of al2s:mu>osu fell from 58 Mbit/s to 1 Mbit/s"
    assert subject(delivery(over(alarm()))).startswith("[over] ")
    assert subject(delivery(alarm(bad=False, cleared_at=1.0))).startswith("[better] ")


def test_many_are_counted_and_the_gravest_named() -> None:
    many = (over(alarm("a")), warning("b"), alarm("c", text="c is down"), alarm("d", 2000.0))
    assert subject(delivery(*many, omitted=3)).startswith("7 alarms")
    assert subject(delivery(*many, omitted=3)).endswith("c is down")


def test_a_text_cannot_become_a_header() -> None:
    forged = alarm(text="down\r\nBcc: eve@evil.example\r\n\r\nhello" + "x" * 500)
    line = subject(delivery(forged))
    assert "\n" not in line
    assert "\r" not in line
    assert len(line) <= SUBJECT


def test_the_text_says_what_where_since_when_and_who_knows() -> None:
    body = text(delivery(over(acknowledge(alarm(), "eve", 1500.0)), warning("b"), omitted=2))
    for part in (
        "OVER: throughput",
        "al2s:mu>osu/throughput",
        "1970-01-01T00:16:40Z",
        "1970-01-01T00:33:20Z",
        "eve",
        "WARNING: ",
        "2 earlier",
        "s-1 of",
    ):
        assert part in body


def test_the_document_holds_the_alarms_as_they_are() -> None:
    both = (alarm("a"), replace(over(alarm("b")), after=None))
    found = json.loads(json.dumps(document(delivery(*both, omitted=1)), allow_nan=False))
    assert (found["id"], found["subscription"], found["omitted"]) == ("d-1", "s-1", 1)
    assert tuple(from_json(Alarm, one) for one in found["alarms"]) == both
