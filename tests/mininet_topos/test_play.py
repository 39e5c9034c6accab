"""The story told to a stand-in of ADON: it decides by rates as ADON does, and so can be made to be wrong."""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from datetime import UTC, datetime

import pytest

from adon.errors import Conflict, Unavailable
from adon.units import parse_rate, parse_size
from mininet_topos.demo import play, telling
from mininet_topos.demo.record import Record
from mininet_topos.demo.scenario import seeded
from mininet_topos.demo.telling import Delivered, Telling
from tests.mininet_topos.records import TASKS, execution, schedule

STATES = ("requested", "installing", "active")
FREE, CONTENDED, ROUTED = 58e6, 4.8e6, 6.5e6
SITES = {"al2s": "osu-hpc", "internet": "mu-hpc"}


class Adon:
    """Takes the first path whose rate meets the bound; queues what none serves, until a flow ends.

    :param paths: the paths by preference.
    :param admits: whether flows ever get beyond their first state.
    """

    def __init__(self, paths=("al2s", "internet"), admits=True):
        self.paths_known, self.admits = paths, admits
        self.flows, self.asked, self.reports, self.templates = {}, {}, [], []
        self.numbers = itertools.count(1)
        self.lock = threading.Lock()

    def rate(self, path):
        busy = any(f["streams"] > 1 and f["state"] == "active" for f in self.flows.values())
        return ROUTED if path == "internet" else CONTENDED if busy else FREE

    def add_template(self, template):
        self.templates.append(template["name"])
        return template

    def submit(self, request):
        with self.lock:
            bound = request.get("qspec", {}).get("throughput", {}).get("min", "50 Mbps")
            flow = {
                "id": f"f-{next(self.numbers)}",
                "state": "requested",
                "reason": "new",
                "path": None,
                "compute_site": None,
                "bound": parse_rate(bound),
                "size_bytes": parse_size(request["size"]),
                "transfer_size_bytes": 0,
                "streams": request["streams"],
                "site": request["template"] == "soykb",
            }
            self.flows[flow["id"]] = flow
            return dict(flow)

    def flow(self, flow):
        """One flow; each time one is asked for it has come one step further."""
        with self.lock:
            found = self.flows[flow]
            if self.admits:
                self._step(found)
            return dict(found)

    def _step(self, flow):
        if flow["state"] in ("requested", "queued"):
            path = next((p for p in self.paths_known if self.rate(p) >= flow["bound"]), None)
            if path is None:
                flow.update(state="queued", reason="no path meets every bound")
                return
            site = SITES[path] if flow["site"] else None
            size = flow["size_bytes"] // 10 if site == "mu-hpc" else flow["size_bytes"]
            flow.update(state="installing", path=path, compute_site=site, transfer_size_bytes=size)
        elif flow["state"] == "installing":
            flow.update(state="active", reason="highest Q")

    def report(self, flow, status, size, detail):
        with self.lock:
            found = self.flows[flow]
            if found["state"] != "active":
                raise Conflict("state", f"{flow} is {found['state']}")
            self.reports.append((flow, status, size))
            if status in ("finished", "failed"):
                found["state"] = status
            return dict(found)

    def decisions(self, flow):
        found = self.flows[flow]
        at = {"at": f"2026-01-01T00:00:0{flow[2:]}Z"}
        return [{"flow": flow, "outcome": "admit", "path": found["path"], "compute_site": None, **at}]

    def measurements(self, **query):
        now = datetime.now(UTC).isoformat()
        return [{**query, "value": self.rate(query.get("path", "al2s")), "started_at": now}]

    def schedule(self):
        return schedule()

    def schedule_page(self):
        return "<p>a round</p>"

    def executions(self, since, limit):
        return [execution("al2s:mu>osu/rtt", 0, 2), execution("al2s:mu>osu/throughput", 5, 9)]

    def alarms(self, *, open_only, **query):
        return []

    def paths(self):
        metrics = {metric: {"value": 58e6} for metric in ("throughput", "rtt", "loss")}
        forward = [{"path": p, "layer": "l2", "source": "mu", "metrics": metrics} for p in SITES]
        return [*forward, {"path": "al2s", "layer": "l2", "source": "osu", "metrics": {}}]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(telling, "POLL_S", 0.001)


@pytest.fixture
def impatient(monkeypatch):
    for name in ("FIRST_MEASUREMENTS_S", "TRANSFER_S", "ADMISSION_S"):
        monkeypatch.setattr(telling, name, 0.2)
    monkeypatch.setattr(play, "NEXT_TEST_S", 0.2)


def delivered(size, streams, port):
    """A virtual carry: what is sent is received.  Neuroblastoma's outlasts what is asked beside it."""
    return Delivered(size, [size])


class Long:
    """A carry in which the transfer of many streams goes on until it is told to end."""

    def __init__(self):
        self.end = threading.Event()

    def __call__(self, size, streams, port):
        if streams > 1:
            assert self.end.wait(10)
        return Delivered(size, [size])


def story(adon, carry, told=None):
    record = Record(time.time(), 18, 100.0)
    lines = told if told is not None else []
    return Telling(adon, adon, carry, lines.append, record, seeded(18), TASKS)


def tell(playing):
    play.run(playing, lambda: {"mu-edge": "priority=0 actions=NORMAL"})


def ended_when_queued(adon):
    """A carry whose long transfer ends as soon as a flow waits for it."""

    def carry(size, streams, port):
        deadline = time.monotonic() + 10
        while streams > 1 and all(f["state"] != "queued" for f in list(adon.flows.values())):
            assert time.monotonic() < deadline
            time.sleep(0.001)
        return Delivered(size, [size])

    return carry


def failed(record):
    return {check.text: check.found for check in record.checks if not check.held}


def test_the_whole_story_is_told_and_recorded():
    adon, told = Adon(), []
    playing = story(adon, ended_when_queued(adon), told)
    tell(playing)
    record = playing.record
    assert failed(record) == {}
    assert record.passed
    assert adon.templates == ["neuroblastoma", "soykb"]
    assert Counter(moment.step for moment in record.moments) == Counter(f"t{n}" for n in range(1, 10))
    carried = {t.flow: (t.flow_id, t.path, t.size, t.received, t.streams) for t in record.transfers}
    mb = 1_000_000
    assert carried == {
        "SoyKB": ("f-1", "al2s", 100 * mb, 100 * mb, 1),
        "Neuroblastoma": ("f-2", "al2s", 450 * mb, 450 * mb, 12),
        "SoyKB-2": ("f-3", "internet", 8 * mb, 8 * mb, 1),  # the result, a tenth
        "SoyKB-3": ("f-4", "al2s", 25 * mb, 25 * mb, 1),
    }
    assert sorted(status for _flow, status, _size in adon.reports) == ["finished"] * 4 + ["started"] * 4
    assert ("f-1", "finished", 100 * mb) in adon.reports
    assert [name for name, *_ in record.decided()] == ["SoyKB", "Neuroblastoma", "SoyKB-2", "SoyKB-3"]
    assert set(record.rules) == {"t1 mu-edge", "t4 mu-edge"}
    assert any("as in the thesis: t6: SoyKB-3 is queued" in line for line in told)
    assert len(record.plan.executions) == 2
    assert record.checks[-1].text == "measurements (figure 18): no two conflicting tests overlapped"


def test_conflicting_tests_that_ran_at_the_same_time_are_a_failed_check():
    adon = Adon()
    adon.executions = lambda since, limit: [
        execution("al2s:mu>osu/rtt", 0, 6),
        execution("al2s:mu>osu/throughput", 5, 9),
    ]
    playing = story(adon, ended_when_queued(adon))
    tell(playing)
    (found,) = failed(playing.record).values()
    assert found.endswith("al2s:mu>osu/rtt and al2s:mu>osu/throughput for 1.0 s")


def test_a_wrong_path_is_a_failed_check_and_the_story_goes_on():
    adon = Adon(paths=("al2s",))  # it does not know the routed path: SoyKB-2 has to wait
    adon.rate = lambda path: FREE  # and it does not see Neuroblastoma
    playing = story(adon, delivered)
    tell(playing)
    assert failed(playing.record) == {
        "t4: SoyKB-2 is active on internet, computed at mu-hpc": "active on al2s, computed at osu-hpc",
        "t6: SoyKB-3 is queued": "active on al2s",
    }
    assert len(playing.record.transfers) == 4


def test_a_flow_that_must_move_and_is_queued_ends_the_story_with_a_failed_check(impatient):
    adon = Adon(paths=("internet",))
    playing = story(adon, delivered)
    with pytest.raises(Unavailable, match="the story cannot go on: SoyKB is queued, not active"):
        tell(playing)
    assert failed(playing.record) == {"t1: SoyKB is active on al2s, computed at osu-hpc": "queued"}
    assert adon.reports == []


def test_lost_bytes_are_a_failed_check_and_are_reported_as_failed():
    adon = Adon()
    whole = ended_when_queued(adon)

    def carry(size, streams, port):
        moved = whole(size, streams, port)
        return Delivered(size - 1, [size - 1]) if size == 8_000_000 else moved

    playing = story(adon, carry)
    tell(playing)
    assert failed(playing.record) == {
        "SoyKB-2: all 8000000 bytes counted at the receiver": "7999999 of 8000000 bytes arrived"
    }
    assert ("f-3", "failed", 7_999_999) in adon.reports
    assert len(playing.record.transfers) == 4


def test_a_transfer_that_breaks_is_a_failed_check_with_its_reason():
    adon = Adon()
    whole = ended_when_queued(adon)

    def carry(size, streams, port):
        if size == 100_000_000:
            raise Unavailable("transfer: a stream broke " + "x" * 1000)
        return whole(size, streams, port)

    playing = story(adon, carry)
    tell(playing)
    (found,) = failed(playing.record).values()
    assert found.startswith("transfer: a stream broke")
    assert len(found) <= 500  # as much as the API takes
    assert ("f-1", "failed", 0) in adon.reports


@pytest.mark.parametrize("status", ["started", "finished"])
def test_a_report_that_the_api_refuses_is_a_failed_check(status):
    adon = Adon()
    taken = adon.report

    def report(flow, kind, size, detail):
        if (flow, kind) == ("f-1", status):
            adon.flows[flow]["state"] = "failed"
            raise Conflict("state", "f-1 is failed")
        return taken(flow, kind, size, detail)

    adon.report = report
    playing = story(adon, ended_when_queued(adon))
    tell(playing)
    assert failed(playing.record) == {"SoyKB is carried and its end reported": "state: f-1 is failed"}


def test_an_exception_that_nobody_foresaw_is_a_failed_check():
    adon = Adon()
    whole = ended_when_queued(adon)

    def carry(size, streams, port):
        if size == 8_000_000:
            raise ValueError("not JSON")
        return whole(size, streams, port)

    playing = story(adon, carry)
    tell(playing)
    assert failed(playing.record) == {"SoyKB-2 is carried and its end reported": "ValueError('not JSON')"}
    assert not playing.record.passed


def test_an_api_that_never_admits_ends_the_story_in_words(impatient):
    playing = story(Adon(admits=False), delivered)
    with pytest.raises(Unavailable, match=r"not within 0\.2 s: SoyKB is decided"):
        tell(playing)
    assert not playing.record.passed


def test_a_path_that_is_never_measured_ends_the_story_in_words(impatient):
    adon = Adon()
    adon.paths = lambda: [{"path": "al2s", "source": "mu", "metrics": {"rtt": {}}}]
    with pytest.raises(Unavailable, match="every path has been measured once"):
        tell(story(adon, delivered))


def test_a_test_that_does_not_come_again_ends_the_story_in_words(impatient):
    adon = Adon()
    adon.measurements = lambda **query: [{"value": 58e6, "started_at": "2020-01-01T00:00:00Z"}]
    with pytest.raises(Unavailable, match="al2s is tested"):
        tell(story(adon, delivered))


def test_a_transfer_that_never_ends_does_not_hold_the_story(impatient):
    adon, carry, told = Adon(), Long(), []
    carry_all = lambda size, streams, port: carry(size, 2, port)  # noqa: E731
    playing = story(adon, carry_all, told)
    with pytest.raises(Unavailable, match=r"SoyKB's transfer does not end within 0\.2 s"):
        tell(playing)
    checks, lines = list(playing.record.checks), list(told)
    carry.end.set()
    for thread in threading.enumerate():
        if thread.name == "SoyKB":
            assert thread.daemon  # it cannot keep the program from ending
            thread.join(10)
    # what a cut-off transfer does after the end of the story changes neither record nor output
    assert (playing.record.checks, playing.record.transfers, told) == (checks, [], lines)


def test_a_queue_that_is_never_served_ends_the_story_in_words(impatient):
    adon = Adon()
    carry = ended_when_queued(adon)
    adon.rate = lambda path: ROUTED if path == "internet" else CONTENDED if len(adon.flows) > 2 else FREE
    with pytest.raises(Unavailable, match="the queue is served"):
        tell(story(adon, carry))
