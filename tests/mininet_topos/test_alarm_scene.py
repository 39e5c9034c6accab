"""The scene with the alarm, told to a stand-in of ADON that moves the flow for one reason or another."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from adon.broker.flow import FlowRequest
from adon.errors import Unavailable
from mininet_topos.demo import alarm, telling
from mininet_topos.demo.record import Record
from mininet_topos.demo.scenario import STEERING_PATIENCE, seeded
from mininet_topos.demo.telling import Delivered, Telling
from tests.mininet_topos.records import TASKS, execution, schedule

SERIES = {"path": "al2s", "source": "mu", "destination": "osu", "metric": "rtt"}


def text(seconds):
    return datetime.fromtimestamp(seconds, UTC).isoformat()


class Adon:
    """Measures the round trip once per look; some looks after the load begins it moves the flow.

    :param misses: tests beyond the bound that it takes.
    :param says: what the decision names as its alarm.
    :param series: what the alarm is about.
    """

    def __init__(self, misses=3, says="a-1", series=SERIES, moves=1):
        self.misses, self.says, self.series, self.moves = misses, says, series, moves
        self.loaded = threading.Event()
        self.results, self.flow_, self.moved_at, self.templates = [], None, None, []

    def add_template(self, template):
        self.templates.append(template)
        return template

    def paths(self):
        return [
            {"path": path, "layer": "l2", "source": "mu", "metrics": {"rtt": {"value": 0.001}}}
            for path in ("al2s", "internet")
        ]

    def measurements(self, **query):
        self._measure()
        return list(self.results)

    def _measure(self):
        now, value = time.time(), 0.008 if self.loaded.is_set() else 0.001
        times = {"started_at": text(now), "observed_at": text(now)}
        self.results.append({**SERIES, "value": value, **times})

    def submit(self, request):
        FlowRequest.model_validate(request)
        self.flow_ = {
            "id": "f-1",
            "state": "active",
            "path": "al2s",
            "compute_site": None,
            "reason": "highest Q",
        }
        self.flow_["transfer_size_bytes"] = 6_000_000
        return dict(self.flow_)

    def flow(self, flow):
        if self.loaded.is_set() and self.moved_at is None and self.moves:
            for _ in range(self.misses):
                self._measure()
            self.moved_at = time.time()
            self.flow_["path"] = "internet"
        return dict(self.flow_)

    def report(self, flow, status, size, detail):
        return dict(self.flow_)

    def decisions(self, flow):
        admitted = {
            "flow": flow,
            "outcome": "admit",
            "path": "al2s",
            "at": text(0),
            "alarm": None,
            "reason": "",
        }
        if self.moved_at is None:
            return [admitted]
        reason = f"alarm {self.says} (critical): al2s missed the QSpec"
        move = {**admitted, "outcome": "move", "path": "internet", "reason": reason}
        return [admitted, *[{**move, "alarm": self.says, "at": text(self.moved_at)}] * self.moves]

    def alarms(self, *, open_only, **query):
        return [{"id": "a-1", "series": self.series, "bad": True}]

    def schedule(self):
        return schedule()

    def schedule_page(self):
        return ""

    def executions(self, since, limit):
        return [execution("al2s:mu>osu/rtt", 0, 2)]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(telling, "POLL_S", 0.001)
    monkeypatch.setattr(alarm, "MOVE_S", 0.2)


def tell(adon, scale=100.0):
    record = Record(time.time(), 18, scale)

    @contextmanager
    def contention():
        adon.loaded.set()
        yield
        adon.loaded.clear()

    def carry(size, streams, port):
        deadline = time.monotonic() + 10
        while adon.moved_at is None and time.monotonic() < deadline:
            time.sleep(0.001)
        return Delivered(size, [size])

    scene = Telling(adon, adon, carry, lambda _line: None, record, seeded(18), TASKS)
    alarm.run(scene, contention)
    return record


def failed(record):
    return {check.text: check.found for check in record.checks if not check.held}


def test_an_alarm_moves_the_flow_before_patience_would():
    adon = Adon()
    record = tell(adon)
    assert failed(record) == {}
    assert [moment.step for moment in record.moments] == ["t10", "t11", "t12", "t13"]
    (carried,) = record.transfers
    assert (carried.flow, carried.path, carried.received) == (
        "RIVVIR steering",
        "al2s, then internet",
        6_000_000,
    )
    assert [template["name"] for template in adon.templates] == ["rivvir-steering"]
    assert len(record.alarms) == 1
    # the detector knew the level before the load began
    quiet = [m for m in record.measurements if m["value"] < 0.005]
    assert len(quiet) >= alarm.LEARN
    assert not adon.loaded.is_set()


NAMES = "t12: the move names the alarm about the round trip of al2s"


@pytest.mark.parametrize(
    ("adon", "text"),
    [
        (Adon(says=None), NAMES),
        (Adon(says="a-2"), NAMES),
        (Adon(series={**SERIES, "metric": "loss"}), NAMES),
        (Adon(series={**SERIES, "path": "internet"}), NAMES),
        (Adon(misses=STEERING_PATIENCE), "t12: the alarm came before patience (10 misses) was over"),
        (Adon(misses=0), "t12: the alarm came before patience (10 misses) was over"),
        (Adon(moves=2), "t12: the flow is moved once"),
    ],
    ids=["no alarm", "another alarm", "another metric", "another path", "patience", "no miss", "two moves"],
)
def test_a_move_for_another_reason_is_a_failed_check(adon, text):
    assert list(failed(tell(adon))) == [text]


def test_a_flow_that_stays_where_it_is_ends_the_scene_in_words():
    with pytest.raises(Unavailable, match=r"RIVVIR steering is moved from al2s"):
        tell(Adon(moves=0))
