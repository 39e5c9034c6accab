"""The event stream on the real server, with several listeners at once."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack

import pytest
import requests

from apps.rest import listeners
from measurement.model import to_json
from tests.apps.edge import eventually
from tests.support.fake_collector import FELL, ROSE

WITHIN = 60


class Listener:
    """One open stream, read event by event."""

    def __init__(self, url, token, kinds=None, **headers):
        self.answer = requests.get(
            f"{url}/api/v1/events",
            params={} if kinds is None else {"kinds": kinds},
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

        def opened(who="admin", kinds=None, **headers):
            listener = ends.enter_context(Listener(served, world.tokens[who], kinds, **headers))
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
    assert listener.comment().startswith(": 2")


def test_nobody_is_told_of_series_they_may_not_read(world, listen, monkeypatch):
    monkeypatch.setattr(listeners, "HEARTBEAT_S", 0.5)
    world.grant({"may": "read", "who": ["researcher"], "metrics": ["rtt"]})
    researcher, rival = listen("researcher"), listen("rival")
    raise_alarm(world, FELL)
    raise_alarm(world, ROSE)
    assert researcher.event()[2]["id"] == ROSE.id
    # Both were considered, and not even their numbers are told.
    world.grant()
    raise_alarm(world, ROSE)
    assert listen("rival", **{"Last-Event-ID": world.stream.name(2)}).event()[2]["id"] == ROSE.id
    assert rival.comment().startswith(":")


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
    monkeypatch.setattr(listeners, "HEARTBEAT_S", 0.01)
    listener = listen()
    assert all(listener.comment().startswith(":") for _ in range(3))


def test_the_listeners_are_limited_and_others_are_served(world, served, listen, monkeypatch):
    monkeypatch.setattr(world.stream, "_most", 3)
    held = [listen() for _ in range(3)]
    headers = {"Authorization": f"Bearer {world.tokens['admin']}"}
    refused = requests.get(f"{served}/api/v1/events", headers=headers, timeout=WITHIN)
    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert requests.get(f"{served}/api/v1/alarms", headers=headers, timeout=WITHIN).status_code == 200
    held[0].answer.close()
    eventually(lambda: world.stream.listening == 2, "the place of a listener who left stays taken")
    listen()


def test_one_user_cannot_take_all_the_places(world, served, listen, monkeypatch):
    monkeypatch.setattr(world.stream, "_most_each", 1)
    listen("researcher")
    headers = {"Authorization": f"Bearer {world.tokens['researcher']}"}
    assert requests.get(f"{served}/api/v1/events", headers=headers, timeout=WITHIN).status_code == 503
    listen("rival")


def test_only_the_kinds_that_were_asked_for_come(world, listen):
    name = world.submit("researcher")
    listener = listen("researcher", kinds="flow,path")
    raise_alarm(world, FELL)
    flow = {"flow": name, "requester": "researcher", "state": "active", "path": "al2s"}
    decision = {"decision": "d-1", "flow": name, "outcome": "move"}
    world.stream.changed({"at": 1.0, "cause": "e-1", "flows": [flow], "decisions": [decision]})
    series = {"path": "al2s", "source": "mu", "destination": "osu", "metric": "rtt"}
    world.collector.server.broadcast("path", {**series, "value": 0.02, "observed_at": 1.0}, "web")
    found = [listener.event()[1:] for _ in range(2)]
    assert [kind for kind, _ in found] == ["flow", "path"]
    assert found[0][1] == {"at": 1.0, "cause": "e-1", **flow}
    assert found[1][1]["value"] == 0.02


def test_a_flow_and_its_decisions_are_told_to_its_owner_and_to_staff(world, listen):
    owner, rival, staff = listen("researcher"), listen("rival"), listen("auditor")
    flow = {"flow": "f-7", "requester": "researcher", "state": "active", "path": "al2s"}
    decision = {"decision": "d-1", "flow": "f-7", "outcome": "move"}
    world.stream.changed({"at": 1.0, "cause": "e-1", "flows": [flow], "decisions": [decision]})
    raise_alarm(world, FELL)
    for listener in (owner, staff):
        assert [listener.event()[1] for _ in range(3)] == ["flow", "decision", "alarm"]
    assert rival.event()[1] == "alarm"


def test_a_listener_who_reads_nothing_is_cut_off_and_the_others_hear_on(world, served, listen, monkeypatch):
    monkeypatch.setattr(listeners, "SLOW_LISTENER_S", 0.3)
    host, port = served.removeprefix("http://").split(":")
    with socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect((host, int(port)))
        head = (
            f"GET /api/v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {world.tokens['admin']}\r\n\r\n"
        )
        slow.sendall(head.encode())
        eventually(lambda: world.stream.listening == 1, "it does not listen")
        other = listen(kinds="alarm")
        told = {"at": 1.0, "cause": "e-1", "level": "info", "text": "x" * 400_000, "flow": None}
        heard = 0
        while world.stream.listening > 1:
            world.stream.add("announce", told)
            heard += 1
            world.stream.add("alarm", to_json(FELL))
            assert other.event()[1] == "alarm"
            assert heard < 200, "a listener who reads nothing is kept"
    assert len(world.stream.after(0)) <= 1000


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
        ("?kinds=flow,nonsense", {}, "kinds"),
        ("", {"Last-Event-ID": "17"}, "Last-Event-ID"),
        ("", {"Last-Event-ID": "x-y"}, "Last-Event-ID"),
    ],
)
def test_a_wrong_wish_is_refused_by_field(world, query, headers, field):
    answer = world.ask("GET", f"/events{query}", headers=headers)
    assert (answer.status_code, answer.json["problems"][0]["field"]) == (422, field)
    assert world.stream.listening == 0
