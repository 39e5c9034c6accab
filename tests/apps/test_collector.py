from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import pytest

from adon.config import load
from adon.errors import InvalidInput
from apps.collector import orders
from apps.collector.collector import Collector, CollectorFault
from apps.link import LinkServer
from measurement import codec
from measurement.archive import Archive
from measurement.errors import Stopped
from measurement.model import Measurement, Metric, PathKey
from measurement.plan import PlannedTest
from measurement.poller import MeasurementFailed, Outcome
from measurement.pscheduler.specs import Kind, TestRequest
from tests.measurement.standin import stand_in

CONFIG = Path(__file__).parent.parent / "data" / "network.yaml"
KEY = PathKey("al2s", "mu", "osu")
BOTH = frozenset({"mu", "osu"})
HEAVY = PlannedTest(KEY, TestRequest(Kind.THROUGHPUT, {}, 5), (Metric.THROUGHPUT,), BOTH, 0.01)
PING = PlannedTest(KEY, TestRequest(Kind.RTT, {}, 1), (Metric.RTT,), BOTH, 0.01)


class RecordingLink:
    """A link whose far end is the test."""

    def __init__(self) -> None:
        self.sent: SimpleQueue[tuple[str, Any]] = SimpleQueue()
        self.callbacks: dict[str, Callable[[dict[str, Any]], None]] = {}

    def send(self, kind: str, payload: Any) -> None:
        self.sent.put((kind, payload))

    def on(self, kind: str, callback: Callable[[dict[str, Any]], None]) -> None:
        self.callbacks[kind] = callback


@contextmanager
def collecting(
    file: Path, tests: Sequence[PlannedTest], run: Callable[[PlannedTest], Sequence[Outcome]]
) -> Iterator[tuple[RecordingLink, list[BaseException]]]:
    link, raised, made = RecordingLink(), list[BaseException](), SimpleQueue[Collector]()

    def work() -> None:
        with Archive(file) as archive:
            collector = Collector(tests, run, archive, link, window=1.0)
            made.put(collector)
            try:
                collector.run()
            except CollectorFault as error:
                raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    collector = made.get(timeout=5)
    try:
        yield link, raised
    finally:
        collector.stop()
        thread.join(5)
        assert not thread.is_alive()


class Runs:
    """Gives numbered values, and lets a test look at what was run."""

    def __init__(self) -> None:
        self.ran: SimpleQueue[PlannedTest] = SimpleQueue()
        self.number = 0

    def __call__(self, test: PlannedTest) -> list[Outcome]:
        self.ran.put(test)
        self.number += 1
        at = 2e9 + self.number
        return [Measurement(test.key, test.metrics[0], 1.0, at, at, f"run-{self.number}")]


def drain(ran: SimpleQueue[PlannedTest]) -> None:
    """Take tests until none has come for a second."""
    try:
        while True:
            ran.get(timeout=1.0)
    except Empty:
        return


def test_a_value_is_archived_before_it_is_told(tmp_path: Path) -> None:
    file = tmp_path / "m.db"
    with collecting(file, [PING], Runs()) as (link, _):
        kind, payload = link.sent.get(timeout=5)
        assert kind == "measurement"
        told = codec.from_json(payload)
        with Archive(file, readonly=True) as archive:
            assert told in archive.query(limit=10_000)


def test_a_controller_that_comes_back_is_told_the_latest_with_true_times(tmp_path: Path) -> None:
    file = tmp_path / "m.db"
    old = Measurement(KEY, Metric.LOSS, 0.25, 1e9, 1e9 + 10, "long ago")
    newer = Measurement(KEY, Metric.LOSS, 0.5, 3e9, 3e9, "newest")
    with Archive(file) as archive:
        archive.append([old, newer])
    with collecting(file, [], Runs()) as (link, _):
        for _ in range(2):
            link.callbacks["hello"]({})
            assert codec.from_json(link.sent.get(timeout=5)[1]) == newer
        with pytest.raises(Empty):
            link.sent.get(timeout=0.1)


def test_a_failure_is_told_and_measuring_goes_on(tmp_path: Path) -> None:
    first = threading.Event()
    good = Runs()

    def run(test: PlannedTest) -> Sequence[Outcome]:
        if not first.is_set():
            first.set()
            return [MeasurementFailed(test.key, Metric.RTT, "ps-a: connection refused", 5.0)]
        return good(test)

    with collecting(tmp_path / "m.db", [PING], run) as (link, raised):
        kind, payload = link.sent.get(timeout=5)
        assert kind == "measurement_failed"
        assert payload == {
            "key": {"path": "al2s", "source": "mu", "destination": "osu"},
            "metric": "rtt", "cause": "ps-a: connection refused", "at": 5.0,
        }  # fmt: skip
        assert link.sent.get(timeout=5)[0] == "measurement"
        assert raised == []


def test_on_a_quiet_path_no_throughput_test_starts_until_it_is_lifted(tmp_path: Path) -> None:
    runs = Runs()
    with collecting(tmp_path / "m.db", [HEAVY], runs) as (link, _):
        runs.ran.get(timeout=5)
        link.callbacks["quiet"]({"paths": ["al2s"]})
        drain(runs.ran)  # what was already on its way still comes
        link.callbacks["quiet"]({"paths": "al2s"})  # makes no sense: the last list stays
        link.callbacks["quiet"]({"paths": []})
        assert runs.ran.get(timeout=5) is HEAVY


def test_a_bug_in_a_worker_ends_the_collector_loudly(tmp_path: Path) -> None:
    def bug(_: PlannedTest) -> Sequence[Outcome]:
        raise ZeroDivisionError

    with collecting(tmp_path / "m.db", [PING], bug) as (_, raised):
        for _ in range(100):
            if raised:
                break
            threading.Event().wait(0.05)
    assert isinstance(raised[0].__cause__, ZeroDivisionError)


def test_a_worker_that_is_stopped_is_no_bug(tmp_path: Path) -> None:
    def stopped(_: PlannedTest) -> Sequence[Outcome]:
        raise Stopped

    with collecting(tmp_path / "m.db", [PING], stopped) as (_, raised):
        threading.Event().wait(0.2)
    assert raised == []


def test_the_plan_of_a_configuration() -> None:
    configuration = load(CONFIG)
    planned = orders.planned_tests(configuration)
    assert len(planned) == 12
    assert len({test.name for test in planned}) == 12
    heavy = next(test for test in planned if test.request.kind is Kind.THROUGHPUT)
    assert heavy.request.spec["source"] == "10.1.0.11"
    assert heavy.request.spec["dest-node"] == "10.2.0.10"
    assert heavy.request.spec["duration"] == "PT5S"
    assert {metric for test in planned for metric in test.metrics} == configuration.metrics_measured
    # A ping's loss is that of both directions: with a one-way test beside it, it is not kept.
    assert all(test.metrics == (Metric.RTT,) for test in planned if test.request.kind is Kind.RTT)


def test_a_certificate_file_is_found_beside_the_configuration(tmp_path: Path) -> None:
    text = CONFIG.read_text().replace("verify: none", "verify: point.pem")
    file = tmp_path / "network.yaml"
    file.write_text(text)
    with pytest.raises(InvalidInput, match=r"measurements\.points\.\w+: .*certificate file"):
        orders.points(load(file), tmp_path, lambda _: None)
    (tmp_path / "point.pem").write_text("x")
    assert orders.points(load(file), tmp_path, lambda _: None)["mu"].node == "10.1.0.10"


@pytest.mark.integration
def test_the_process_measures_reports_and_stops_cleanly(tmp_path: Path) -> None:
    messages: SimpleQueue[tuple[str, Any]] = SimpleQueue()
    link = LinkServer(tmp_path / "controller.sock", lambda _, kind, payload: messages.put((kind, payload)))
    with stand_in() as good, stand_in() as hung:
        hung.misbehave["GET"] = lambda _: hung.released.wait(30) and None
        text = CONFIG.read_text()
        text = text.replace("https://10.1.0.10/pscheduler", good.url)
        text = text.replace("https://10.2.0.10/pscheduler", hung.url).replace("20 s", "4 s")
        (tmp_path / "network.yaml").write_text(text)
        process = subprocess.Popen(
            [sys.executable, "-m", "apps.collector", "--config", str(tmp_path / "network.yaml"),
             "--data", str(tmp_path)],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            kinds = []
            while "measurement" not in kinds:
                kind, payload = messages.get(timeout=30)
                kinds.append(kind)
            assert codec.from_json(payload).metric is Metric.RTT
            with Archive(tmp_path / "measurements.db", readonly=True) as archive:
                assert codec.from_json(payload) in archive.query()
        finally:
            os.kill(process.pid, signal.SIGTERM)
            _, log = process.communicate(timeout=10)
            link.close()
    assert process.returncode == 0, log
    assert "event=stopped" in log
    assert "Traceback" not in log


@pytest.mark.integration
@pytest.mark.parametrize("text", ["network: [", "network: x\n"])
def test_a_wrong_configuration_is_exit_2_and_says_where(tmp_path: Path, text: str) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "apps.collector", "--config", str(file), "--data", str(tmp_path)],
        capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "network.yaml" in done.stderr
    assert "Traceback" not in done.stderr
