from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from adon.broker.effects import Answer
from adon.broker.events import (
    AlarmCleared,
    AlarmRaised,
    DifferenceAsked,
    Event,
    FlowCancelled,
    FlowSubmitted,
    JobAsked,
    JobCancelled,
    JobTold,
    MaintenanceAsked,
    MaintenanceCancelled,
    MeasurementArrived,
    ObservationArrived,
    PreviewAsked,
    ReservationAsked,
    ReservationReleased,
    SiteReported,
    SnapshotAsked,
    SyncAsked,
    TemplateSaved,
    TransferReported,
    WaitingAsked,
    WhatIfAsked,
)
from adon.errors import AdonError, Conflict, InvalidInput, NotFound
from adon.store.store import Store
from apps.campus_edge import commands
from apps.campus_edge.commands import MOST_ASKED, Commands
from apps.campus_edge.loop import Stamps
from measurement.custom.batch.model import JobState as Word
from measurement.model import Observation, host_key, to_json
from tests.apps.edge import TEMPLATE, measured
from tests.broker.sites.values import news, report, wait
from tests.support.factories import clear_alarm, make_alarm
from tests.support.refusals import refused

WISH = {"source": "mu-dtn", "destination": "osu-dtn", "size": "10 MB", "template": "soykb"}
WINDOW = {"scope": "path", "name": "al2s", "begins": 2000.0, "ends": 3000.0}
RESERVATION = {"compute": "osu-hpc", "worker_nodes": 1, "ends": 2000.0}
SUBMIT = {"command": "c-1", "request": WISH, "requester": "ann"}


class Peer:
    """Keeps the answers."""

    def __init__(self) -> None:
        self.answers: list[tuple[str, Any]] = []

    def answer(self, command: str, value: Mapping[str, Any] | AdonError) -> None:
        self.answers.append((command, value))


class World:
    def __init__(self, url: str) -> None:
        self.events: list[Event] = []
        self.store = Store.open(url)
        self.peer: Any = Peer()
        self.now = 0.0
        stamps = Stamps(lambda: 1000.0)
        self.commands = Commands(self.events.append, self.store, stamps, lambda: self.now)

    def receive(self, kind: str, /, **payload: Any) -> Event | None:
        """What became of a message: the event it led to, if any."""
        before = len(self.events)
        self.commands.receive(self.peer, kind, payload)
        return self.events[-1] if len(self.events) > before else None

    def answer(self, command: str, value: Any) -> None:
        """The broker answers, and the executor does what it does with answers."""
        effect = Answer("e-1", command, value)
        with self.store.transaction():
            self.commands.remember(effect, self.store, 1000.0)
        self.commands.answer(effect)


@pytest.fixture
def world(tmp_path: Path, empty_state: Path) -> Iterator[World]:
    file = tmp_path / "state.db"
    shutil.copy(empty_state, file)
    built = World(f"sqlite:///{file}")
    yield built
    built.store.close()


GOOD: dict[str, tuple[dict[str, Any], type[Event]]] = {
    "flow.submit": ({"request": WISH, "requester": "ann"}, FlowSubmitted),
    "flow.preview": ({"request": WISH, "requester": "ann"}, PreviewAsked),
    "flow.cancel": ({"flow": 3, "requester": "ann"}, FlowCancelled),
    "flow.report": ({"flow": 3, "status": "finished", "bytes": 10}, TransferReported),
    "template.add": ({"template": TEMPLATE, "author": "eve"}, TemplateSaved),
    "snapshot": ({}, SnapshotAsked),
    "flow.waiting": ({"flow": 3}, WaitingAsked),
    "rules.diff": ({}, DifferenceAsked),
    "rules.sync": ({}, SyncAsked),
    "maintenance.add": ({"request": WINDOW, "requester": "pat"}, MaintenanceAsked),
    "maintenance.cancel": ({"number": 3, "requester": "pat"}, MaintenanceCancelled),
    "reservation.add": ({"request": RESERVATION, "requester": "ann"}, ReservationAsked),
    "reservation.release": ({"number": 3, "requester": "ann"}, ReservationReleased),
    "what-if": ({"failure": "path-down", "name": "al2s"}, WhatIfAsked),
    "job.submit": ({"request": {"site": "osu-hpc", "job": "align"}, "requester": "ann"}, JobAsked),
    "job.cancel": ({"number": 3, "requester": "ann"}, JobCancelled),
}


@pytest.mark.parametrize("kind", GOOD)
def test_each_command_becomes_its_event(world: World, kind: str) -> None:
    payload, expected = GOOD[kind]
    event = world.receive(kind, command="c-1", **payload)
    assert type(event) is expected
    assert event is not None
    assert event.at == 1000.0
    assert event.command == "c-1"  # type: ignore[attr-defined]


def test_a_request_says_what_its_requester_belongs_to(world: World) -> None:
    who = {"requester": "ann", "roles": ["researcher"], "groups": ["g1", "g2"]}
    event = world.receive("flow.submit", command="c-1", request=WISH, **who)
    assert isinstance(event, FlowSubmitted)
    assert (event.roles, event.groups) == (frozenset({"researcher"}), frozenset({"g1", "g2"}))


def test_a_measurement_becomes_an_event_and_no_command(world: World) -> None:
    event = world.receive("measurement", **measured("al2s", 50, at=900.0))
    assert isinstance(event, MeasurementArrived)
    assert event.measurement.value == 50e6


def test_a_value_of_a_host_becomes_an_event(world: World) -> None:
    seen = Observation(host_key("mu"), "host.load_1m", 3.5, 900.0, "custom:mu/host")
    event = world.receive("observation", **to_json(seen))
    assert isinstance(event, ObservationArrived)
    assert event.observation == seen
    with pytest.raises(InvalidInput, match="observation"):
        world.receive("observation", key={})


def test_an_alarm_becomes_an_event_of_its_beginning_or_of_its_end(world: World) -> None:
    raised = make_alarm(900.0, since=870.0)
    event = world.receive("alarm", **to_json(raised))
    assert isinstance(event, AlarmRaised)
    assert event.alarm == raised
    event = world.receive("alarm", **to_json(clear_alarm(raised, 990.0)))
    assert isinstance(event, AlarmCleared)
    assert event.alarm.cleared_at == 990.0


def test_what_sites_say_becomes_an_event_and_no_command(world: World) -> None:
    said, told = report("osu-hpc", wait(5.0)), news(3, Word.RUNNING, started=2.0)
    event = world.receive("site", **to_json(said))
    assert isinstance(event, SiteReported)
    assert event.report == said
    event = world.receive("job", **to_json(told))
    assert isinstance(event, JobTold)
    assert event.news == told


@pytest.mark.parametrize("kind", ["hello", "measurement_failed"])
def test_messages_that_are_no_events(world: World, kind: str) -> None:
    assert world.receive(kind, role="web") is None


ALARM = to_json(make_alarm(900.0))
BELOW_ZERO = to_json(report("osu-hpc", wait(5.0)))
BELOW_ZERO["state"]["waits"][0]["seconds"] = -5.0
BAD: dict[str, tuple[str, dict[str, Any], str]] = {
    "a window that ends before it begins": (
        "maintenance.add",
        {"command": "c", "request": {**WINDOW, "ends": 1.0}, "requester": "a"},
        "ends",
    ),
    "a job with a script of its own": (
        "job.submit",
        {"command": "c", "request": {"site": "a", "job": "b", "script": "#!/bin/sh"}, "requester": "a"},
        "script",
    ),
    "a site's report that makes no sense": ("site", {"site": "osu-hpc", "at": 1.0, "state": 3}, "site"),
    "a wait below zero": ("site", BELOW_ZERO, "site"),
    "a job's news that make no sense": ("job", {"number": "three"}, "job"),
    "a window of no number": (
        "maintenance.cancel",
        {"command": "c", "number": "m-1", "requester": "a"},
        "number",
    ),
    "an unknown failure": ("what-if", {"command": "c", "failure": "rain", "name": "al2s"}, "failure"),
    "a failure of nothing": ("what-if", {"command": "c", "failure": "path-down"}, "name"),
    "an unknown command": ("flow.dance", {"command": "c-1"}, "kind"),
    "no command": ("snapshot", {}, "command"),
    "a command that is a number": ("snapshot", {"command": 7}, "command"),
    "an endless command": ("snapshot", {"command": "c" * 201}, "command"),
    "no request": ("flow.submit", {"command": "c", "requester": "ann"}, ""),
    "groups are no list": (
        "flow.submit",
        {"command": "c", "request": WISH, "requester": "a", "groups": "g1"},
        "groups",
    ),
    "nobody asks": ("flow.submit", {"command": "c", "request": WISH}, "requester"),
    "size 0": ("flow.submit", {"command": "c", "request": {**WISH, "size": "0 B"}, "requester": "a"}, "size"),
    "size 10^30": (
        "flow.submit",
        {"command": "c", "request": {**WISH, "size": 10**30}, "requester": "a"},
        "size",
    ),
    "weights all zero": (
        "flow.submit",
        {"command": "c", "request": {**WISH, "weights": {"rtt": 0}}, "requester": "a"},
        "weights",
    ),
    "an unknown field": (
        "flow.submit",
        {"command": "c", "request": {**WISH, "colour": 1}, "requester": "a"},
        "colour",
    ),
    "a flow that is no number": ("flow.cancel", {"command": "c", "flow": "f-1", "requester": "a"}, "flow"),
    "a flow that is true": ("flow.cancel", {"command": "c", "flow": True, "requester": "a"}, "flow"),
    "a flow beyond the database": (
        "flow.cancel",
        {"command": "c", "flow": 1 << 63, "requester": "a"},
        "flow",
    ),
    "an unknown status": ("flow.report", {"command": "c", "flow": 1, "status": "done", "bytes": 1}, "status"),
    "negative bytes": (
        "flow.report",
        {"command": "c", "flow": 1, "status": "finished", "bytes": -1},
        "bytes",
    ),
    "a template without weights": (
        "template.add",
        {"command": "c", "template": {"name": "x"}, "author": "e"},
        "",
    ),
    "a template of nobody": ("template.add", {"command": "c", "template": TEMPLATE}, "author"),
    "a measurement without key": ("measurement", {"metric": "rtt"}, "measurement"),
    "an unknown metric": ("measurement", {**measured("al2s", 1, at=9.0), "metric": "colour"}, "measurement"),
    "a negative throughput": ("measurement", {**measured("al2s", 1, at=9.0), "value": -1}, "measurement"),
    "an alarm without a series": ("alarm", {**ALARM, "series": None}, "alarm"),
    "an alarm of a kind that nobody knows": ("alarm", {**ALARM, "kind": "itch"}, "alarm"),
    "an alarm at no time": ("alarm", {**ALARM, "raised_at": float("inf")}, "alarm"),
    "a value no float holds": (
        "measurement",
        {**measured("al2s", 1, at=9.0), "value": 10**400},
        "measurement",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_malformed_message_names_its_field_and_becomes_no_event(world: World, case: str) -> None:
    kind, payload, field = BAD[case]
    with pytest.raises(InvalidInput) as refusal:
        world.receive(kind, **payload)
    assert any(field in problem.field for problem in refusal.value.problems)
    assert world.events == []
    # Nothing is left behind: the same command, well-formed, is taken.
    assert world.receive("rules.sync", command="c")


def test_an_answer_goes_to_who_asked_and_only_once(world: World) -> None:
    world.receive("rules.sync", command="c-1")
    world.answer("c-1", {"switches": []})
    world.answer("c-1", {"switches": []})
    assert world.peer.answers == [("c-1", {"switches": []})]


def test_an_error_goes_to_who_asked(world: World) -> None:
    world.receive("flow.cancel", command="c-1", flow=9, requester="ann")
    world.answer("c-1", NotFound("flow", "f-9"))
    ((_, value),) = world.peer.answers
    assert isinstance(value, NotFound)


def test_a_snapshot_just_made_is_given_again(world: World) -> None:
    assert world.receive("snapshot", command="c-1")
    world.answer("c-1", {"paths": [], "network": "x"})
    assert world.receive("snapshot", command="c-2") is None
    assert world.peer.answers == [
        ("c-1", {"paths": [], "network": "x"}),
        ("c-2", {"paths": [], "network": "x"}),
    ]


def test_what_a_flow_waits_for_is_told_again_for_a_moment(world: World) -> None:
    """Open pages ask every few seconds."""
    assert world.receive("flow.waiting", command="c-1", flow=3)
    world.answer("c-1", {"id": "f-3", "before": 1})
    assert world.receive("flow.waiting", command="c-2", flow=3) is None
    assert world.peer.answers[-1] == ("c-2", {"id": "f-3", "before": 1})
    assert world.receive("flow.waiting", command="c-3", flow=4), "another flow"
    world.answer("c-3", NotFound("flow", "f-4"))
    world.now += 2.1
    assert world.receive("flow.waiting", command="c-4", flow=3)


def test_an_old_snapshot_is_made_anew(world: World) -> None:
    world.receive("snapshot", command="c-1")
    world.answer("c-1", {"paths": []})
    world.now += 0.6
    assert world.receive("snapshot", command="c-2")


class TestIdempotencyKey:
    def submit(self, world: World, command: str, key: str = "k-1", **changes: Any) -> Event | None:
        request = {**WISH, **changes}
        return world.receive(
            "flow.submit", command=command, request=request, requester="ann", idempotency_key=key
        )

    def test_the_same_request_again_gets_the_same_answer(self, world: World) -> None:
        assert self.submit(world, "c-1")
        world.answer("c-1", {"number": 1})
        assert self.submit(world, "c-2") is None
        assert world.peer.answers == [("c-1", {"number": 1}), ("c-2", {"number": 1})]

    def test_another_request_with_the_key_is_a_conflict(self, world: World) -> None:
        self.submit(world, "c-1")
        world.answer("c-1", {"number": 1})
        with refused(Conflict, field="Idempotency-Key"):
            self.submit(world, "c-2", size="20 MB")
        assert self.submit(world, "c-3") is None, "the first request is answered still"

    def test_two_at_once_are_a_conflict_and_one_event(self, world: World) -> None:
        assert self.submit(world, "c-1")
        with refused(Conflict, field="Idempotency-Key"):
            self.submit(world, "c-2")
        assert len(world.events) == 1

    def test_the_key_of_somebody_else_is_another_key(self, world: World) -> None:
        self.submit(world, "c-1")
        world.answer("c-1", {"number": 1})
        assert world.receive(
            "flow.submit", command="c-2", request=WISH, requester="bob", idempotency_key="k-1"
        )

    def test_a_refusal_is_not_kept(self, world: World) -> None:
        self.submit(world, "c-1")
        world.answer("c-1", NotFound("host", "mu-dtn"))
        assert self.submit(world, "c-2")

    def test_a_malformed_request_does_not_use_the_key_up(self, world: World) -> None:
        with pytest.raises(InvalidInput):
            self.submit(world, "c-1", size="0 B")
        assert self.submit(world, "c-2")

    @pytest.mark.parametrize("key", ["", 7, "k" * 201])
    def test_a_key_that_is_none(self, world: World, key: Any) -> None:
        with pytest.raises(InvalidInput, match="idempotency_key"):
            self.submit(world, "c-1", key)


def test_previews_have_their_turn_one_at_a_time(world: World) -> None:
    """Whatever else happens has no more than one of them before it."""
    body = {"request": WISH, "requester": "ann"}
    assert isinstance(world.receive("flow.preview", command="p-0", **body), PreviewAsked)
    for number in range(1, MOST_ASKED):
        assert world.receive("flow.preview", command=f"p-{number}", **body) is None
    with refused("too-busy"):
        world.receive("flow.preview", command="p-many", **body)
    assert isinstance(world.receive("flow.submit", **SUBMIT), FlowSubmitted)
    for number in range(MOST_ASKED):
        world.answer(f"p-{number}", {} if number % 2 else NotFound("flow", "f-1"))
    asked = [one.command for one in world.events if isinstance(one, PreviewAsked)]
    assert asked == [f"p-{number}" for number in range(MOST_ASKED)]
    assert isinstance(world.receive("flow.preview", command="p-again", **body), PreviewAsked)


def test_of_commands_so_many_are_under_way_at_most(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "MOST_UNDER_WAY", 2)
    for number in range(2):
        assert world.receive("flow.submit", **{**SUBMIT, "command": f"c-{number}"})
    with refused("too-busy"):
        world.receive("flow.submit", **{**SUBMIT, "command": "c-2"})
    world.answer("c-0", NotFound("flow", "f-1"))
    assert world.receive("flow.submit", **{**SUBMIT, "command": "c-3"})
