"""The event stream on the real server, with several listeners at once."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack

import pytest
import requests

from apps.rest.api import events
from apps.rest.stream import LISTENERS
from measurement.anomaly.alarm import to_json
from tests.apps.measured import FELL, ROSE

WITHIN = 20


class Listener:
    """One open stream, read event by event."""

    def __init__(self, url, token, **headers):
        self.answer = requests.get(
            f"{url}/api/v1/events",
            headers={"Authorization": f"Bearer {token}", **headers},
            stream=True,
            timeout=WITHIN,
        )
        self.lines = self.answer.iter_lines(chunk_size=1)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.answer.close()

    def comment(self):
        """The next comment."""
        return next(line.decode() for line in self.lines if line.startswith(b":"))

    def event(self):
        """The next event: its name, kind and content."""
        fields = {}
        for line in self.lines:
            name, _, value = line.decode().partition(": ")
            fields[name] = value
            if name == "data":
                return fields["id"], fields["event"], json.loads(value)
        raise AssertionError("the stream has ended")


@pytest.fixture
def listen(world, served):
    """Open a stream as somebody; it is listening when this returns."""
    with ExitStack() as ends:

        def opened(who="admin", **headers):
            listener = ends.enter_context(Listener(served, world.tokens[who], **headers))
            assert listener.answer.status_code == 200, listener.answer.text
            assert listener.comment() == ": listening"
            return listener

        yield opened


def raise_alarm(world, alarm):
    """As the collector tells of it: over its own socket."""
    world.collector.server.broadcast("alarm", to_json(alarm), "web")


def test_an_alarm_reaches_every_listener_at_once(world, listen):
    first, second = listen("admin"), listen("researcher")
    raise_alarm(world, FELL)
    raise_alarm(world, ROSE)
    for listener in (first, second):
        assert [listener.event()[2]["id"] for _ in range(2)] == [FELL.id, ROSE.id]
    assert first.answer.headers["Content-Type"].startswith("text/event-stream")
    assert first.answer.headers["Cache-Control"] == "no-store"


def test_who_was_away_gets_what_they_missed(world, listen):
    listener = listen()
    raise_alarm(world, FELL)
    name, kind, alarm = listener.event()
    assert (kind, alarm["severity"]) == ("alarm", "critical")
    listener.answer.close()
    raise_alarm(world, ROSE)
    assert listen(**{"Last-Event-ID": name}).event()[2]["id"] == ROSE.id


def test_who_listened_to_a_process_before_gets_all_that_is_kept(world, listen):
    world.stream.add("alarm", to_json(FELL))
    assert listen(**{"Last-Event-ID": "0badcafe-400"}).event()[2]["id"] == FELL.id


def test_a_gap_is_told(world, listen, monkeypatch):
    name = world.stream.name(1)
    for _ in range(1003):
        world.stream.add("alarm", to_json(FELL))
    listener = listen(**{"Last-Event-ID": name})
    assert listener.comment() == ": 2 events are no longer kept"


def test_nobody_is_told_of_series_they_may_not_read(world, listen):
    world.grant({"may": "read", "who": ["researcher"], "metrics": ["rtt"]})
    researcher, rival = listen("researcher"), listen("rival")
    raise_alarm(world, FELL)
    raise_alarm(world, ROSE)
    assert researcher.event()[2]["id"] == ROSE.id
    # Both were considered, and not even their numbers are told.
    assert rival.comment() == ": still here"
    while world.stream.last < 2:
        assert rival.comment() == ": still here"


def test_announcements_are_for_whom_the_flow_concerns(world, listen):
    name = world.submit("researcher")
    owner, rival, staff = listen("researcher"), listen("rival"), listen("operator")
    told = {"at": 1.0, "cause": "e-1", "level": "warning", "text": "moved", "flow": name}
    world.stream.add("announce", {**told, "flow": None})
    world.stream.add("announce", told)
    world.stream.add("alarm", to_json(FELL))
    assert owner.event()[1:] == ("announce", told)
    assert [staff.event()[2]["flow"] for _ in range(2)] == [None, name]
    assert rival.event()[1] == "alarm"


def test_a_notice_is_for_who_has_subscribed(world, listen):
    owner, rival = listen("researcher"), listen("rival")
    told = {"owner": "researcher", "subscription": "s-1", "alarms": [to_json(FELL)]}
    world.stream.add("notice", told)
    world.stream.add("alarm", to_json(ROSE))
    kind, content = owner.event()[1:]
    assert (kind, content["subscription"]) == ("notice", "s-1")
    assert [alarm["id"] for alarm in content["alarms"]] == [FELL.id]
    assert rival.event()[1] == "alarm"


def test_a_silent_stream_shows_that_it_lives(world, listen, monkeypatch):
    monkeypatch.setattr(events, "HEARTBEAT_S", 0.01)
    listener = listen()
    assert [listener.comment() for _ in range(3)] == [": still here"] * 3


def test_the_listeners_are_limited_and_others_are_served(world, served, listen):
    held = [listen() for _ in range(LISTENERS)]
    headers = {"Authorization": f"Bearer {world.tokens['admin']}"}
    refused = requests.get(f"{served}/api/v1/events", headers=headers, timeout=WITHIN)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert requests.get(f"{served}/api/v1/alarms", headers=headers, timeout=WITHIN).status_code == 200
    held[0].answer.close()
    deadline = time.monotonic() + WITHIN
    while True:  # the server notices at the next thing it has to say
        world.stream.add("alarm", to_json(FELL))
        answer = requests.get(f"{served}/api/v1/events?seconds=0.01", headers=headers, timeout=WITHIN)
        if answer.status_code == 200:
            break
        assert time.monotonic() < deadline, "the place of a listener who left stays taken"


def test_a_stream_ends_when_it_was_asked_to(world, served):
    headers = {"Authorization": f"Bearer {world.tokens['admin']}"}
    answer = requests.get(f"{served}/api/v1/events?seconds=0.05", headers=headers, timeout=WITHIN)
    assert answer.text.startswith(": listening\n\n")


def test_a_process_that_stops_sends_its_listeners_home(world, listen):
    listener = listen()
    world.stream.close()
    assert set(listener.lines) <= {b"", b": still here"}  # and it ends


@pytest.mark.parametrize(
    ("query", "headers", "field"),
    [
        ("?seconds=0", {}, "seconds"),
        ("?seconds=301", {}, "seconds"),
        ("?since=1", {}, "since"),
        ("", {"Last-Event-ID": "17"}, "Last-Event-ID"),
        ("", {"Last-Event-ID": "x-y"}, "Last-Event-ID"),
    ],
)
def test_a_wrong_wish_is_refused_by_field(world, query, headers, field):
    answer = world.ask("GET", f"/events{query}", headers=headers)
    assert (answer.status_code, answer.json["problems"][0]["field"]) == (422, field)
    assert world.stream.enter()
