"""``adon measure`` and ``adon alarm`` against the served world."""

from __future__ import annotations

import json
import threading
import time

import pytest

from apps.cli import measure
from measurement.anomaly.alarm import to_json
from measurement.model import Measurement, Metric, PathKey
from tests.apps.measured import FELL, OVER

RUN = ("measure", "run", "al2s", "mu", "osu")


# -- measuring -----------------------------------------------------------------------------------------


def test_a_test_is_done_now_and_shown(adon, world):
    found = adon(*RUN, as_="operator")
    assert (found.exit_code, found.stderr) == (0, ""), found.output
    assert "al2s mu > osu throughput: 57 Mbps (iperf3)" in found.stdout
    assert world.collector.seen[0][1]["who"] == "operator"
    (value,) = json.loads(adon(*RUN, "--json").stdout)
    assert value["value"] == 57e6


def test_whoever_does_not_wait_is_told_when(adon):
    found = adon(*RUN, "--test", "rtt", "--no-wait")
    assert found.stdout.startswith("al2s:mu>osu/rtt/on demand 1 starts at 20")


@pytest.mark.parametrize(
    ("arguments", "as_", "status", "told"),
    [
        (("--test", "guess"), "admin", 2, "--test: 'guess' is none of throughput, rtt, latency"),
        (("--test", "latency"), "admin", 1, "the point did not answer"),
        ((), "researcher", 1, "may not do measurement.start"),
    ],
)
def test_a_test_that_gives_nothing_says_why(adon, arguments, as_, status, told):
    found = adon(*RUN, *arguments, as_=as_)
    assert (found.exit_code, len(found.stderr.splitlines())) == (status, 1), found.output
    assert told in found.stderr


def test_values_that_cannot_be_read_are_not_waited_for_for_ever(adon, world, monkeypatch):
    monkeypatch.setattr(measure, "VALUES_WITHIN_S", 0.0)
    world.grant({"may": "read", "who": ["nobody"]}, {"may": "start", "who": ["researcher"]})
    found = adon(*RUN, as_="researcher")
    assert (found.exit_code, "its values cannot be read" in found.stderr) == (1, True)


def test_the_schedule_is_shown_and_drawn(adon, tmp_path):
    shown = adon("measure", "schedule").stdout
    for text in ("al2s:mu>osu/throughput", "240 s", "60.6 Mbps", "Next at"):
        assert text in shown
    file = tmp_path / "plan.html"
    assert adon("measure", "schedule", "--page", str(file)).exit_code == 0
    assert file.read_text().startswith("<!DOCTYPE html>")
    refused = adon("measure", "schedule", "--page", str(tmp_path / "no" / "plan.html"))
    assert (refused.exit_code, "--page" in refused.stderr) == (2, True)


def test_history_is_drawn(adon):
    shown = adon("measure", "history", "al2s", "mu", "osu", "--hours", "20000").stdout
    assert "means from 58 Mbps to 58 Mbps" in shown
    assert "nothing was measured" in adon("measure", "history", "al2s", "mu", "osu").stdout
    for hours in ("0", "nan", "1e9"):
        assert adon("measure", "history", "al2s", "mu", "osu", "--hours", hours).exit_code == 2


def test_new_values_and_alarms_are_watched(adon, world):
    now = time.time()
    key, url = PathKey("al2s", "mu", "osu"), "https://mu/pscheduler/tasks/t/runs/later"
    world.append(Measurement(key, Metric.RTT, 0.034, now + 60, now + 60, url, "ping"))
    shown = adon("measure", "watch", "--seconds", "0.2").stdout
    assert shown.count("rtt: 34 ms (ping)") == 1
    assert "58 Mbps" not in shown  # what was there before is not new
    assert adon("measure", "watch", "--seconds", "-1").exit_code == 2


def test_points_are_listed(adon):
    assert "https://10.1.0.10/pscheduler" in adon("measure", "points").stdout


# -- alarms --------------------------------------------------------------------------------------------


def test_alarms_are_listed_and_acknowledged(adon):
    shown = adon("alarm", "list").stdout
    assert FELL.id[:8] in shown
    assert OVER.id[:8] not in shown
    assert OVER.id[:8] in adon("alarm", "list", "--all").stdout
    assert FELL.id[:8] not in adon("alarm", "list", "--path", "internet").stdout
    found = adon("alarm", "ack", FELL.id[:8], as_="operator")
    assert (found.exit_code, found.stdout) == (0, f"{FELL.id[:8]} was seen by operator\n")
    assert "operator" in adon("alarm", "list").stdout


@pytest.mark.parametrize(("beginning", "told"), [("zzz", "no alarm"), ("", "more than one alarm")])
def test_an_alarm_that_is_not_one_is_refused(adon, beginning, told):
    for command in ("ack", "show"):
        found = adon("alarm", command, beginning)
        assert (found.exit_code, told in found.stderr) == (2, True)


def test_an_alarm_is_shown_with_its_evidence(adon):
    shown = adon("alarm", "show", FELL.id[:8]).stdout
    for text in (FELL.id, "critical", "in force", "58 Mbps", "12 Mbps"):
        assert text in shown


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


def test_subscriptions_come_and_go(adon):
    added = adon("alarm", "subscribe", "ann@example.edu", "--path", "al2s", "--critical", as_="researcher")
    assert (added.exit_code, added.stdout.endswith(": mail to ann@example.edu\n")) == (0, True)
    assert adon("alarm", "subscribe", "https://hooks.example.edu/a", as_="rival").exit_code == 0
    kept = json.loads(adon("alarm", "subscriptions", "--json", as_="researcher").stdout)
    assert [(one["channel"], one["filter"]["least"]) for one in kept] == [("mail", "critical")]
    assert adon("alarm", "unsubscribe", kept[0]["id"][:8], as_="researcher").exit_code == 0
    assert "nobody is told" in adon("alarm", "subscriptions", as_="researcher").stdout
    assert "webhook" in adon("alarm", "subscriptions").stdout
    assert adon("alarm", "subscribe", "no address").exit_code == 2
