"""``adon measure`` and ``adon alarm`` against the served world."""

from __future__ import annotations

import json
import threading

import pytest

from apps.cli import measurement_commands
from measurement.model import to_json
from tests.support.fake_collector import FELL, OVER

RUN = ("measure", "run", "al2s", "mu", "osu")


# -- measuring -----------------------------------------------------------------------------------------


def test_a_test_is_done_now_and_shown(adon, world):
    found = adon(*RUN, as_="operator")
    assert (found.exit_code, found.stderr) == (0, ""), found.output
    assert "57 Mbps" in found.stdout
    assert world.collector.seen[0][1]["who"] == "operator"
    (value,) = json.loads(adon(*RUN, "--json").stdout)
    assert value["value"] == 57e6


@pytest.mark.parametrize(
    ("arguments", "as_", "status", "told"),
    [
        (("--test", "guess"), "admin", 2, "--test:"),
        (("--test", "latency"), "admin", 1, "point"),
        ((), "researcher", 1, "measurement.start"),
    ],
)
def test_a_test_that_gives_nothing_says_why(adon, arguments, as_, status, told):
    found = adon(*RUN, *arguments, as_=as_)
    assert (found.exit_code, len(found.stderr.splitlines())) == (status, 1), found.output
    assert told in found.stderr


def test_values_that_cannot_be_read_are_not_waited_for_for_ever(adon, world, monkeypatch):
    monkeypatch.setattr(measurement_commands, "VALUES_WITHIN_S", 0.0)
    world.grant({"may": "read", "who": ["nobody"]}, {"may": "start", "who": ["researcher"]})
    found = adon(*RUN, as_="researcher")
    assert found.exit_code == 1


@pytest.mark.parametrize(("counted", "shown"), [({"mu": {"intervals": 3}}, "intervals 3"), ({}, "none")])
def test_points_are_listed_with_their_ignored_details(adon, world, counted, shown):
    world.collector.ignored = counted
    (line,) = [line for line in adon("measure", "points").stdout.splitlines() if "10.1.0.10" in line]
    assert shown in line
    assert json.loads(adon("measure", "points", "--json").stdout)[0]["ignored"] == counted.get("mu", {})


# -- alarms --------------------------------------------------------------------------------------------


def test_alarms_are_watched_as_they_come(adon, world, monkeypatch):
    listening = threading.Event()
    enter = world.stream.enter

    def entered(who):
        listening.set()
        return enter(who)

    def tell():
        assert listening.wait(20)
        for alarm in (FELL, OVER):
            world.collector.server.broadcast("alarm", to_json(alarm), "web")

    monkeypatch.setattr(world.stream, "enter", entered)
    teller = threading.Thread(target=tell)
    teller.start()
    found = adon("alarm", "watch", "--seconds", "3")
    teller.join()
    assert (found.exit_code, [line.split(" ", 2)[2] for line in found.stdout.splitlines()]) == (
        0,
        [f"critical: {FELL.text}", f"over: {OVER.text}"],
    )
