from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from adon.config import load
from adon.errors import InvalidInput
from adon.measurement_plan import plan_measurements
from adon.timestamps import MonotoneClock
from apps.collector import contacts
from apps.collector.collector import LEASE, LEASE_S, RENEW_EVERY
from apps.collector.identity import Identity, next_start
from apps.link import LinkClient, LinkServer
from measurement.archive import Appended, Archive
from measurement.errors import ArchiveError, ArchiveUnavailable, LeaseLost, Stopped
from measurement.model import Measurement, Metric, from_json
from measurement.point import certificate
from measurement.poller import PathTest, PolledRun
from measurement.pscheduler.client import Schedule
from measurement.pscheduler.specs import Ends, Kind, rtt
from tests.apps.collecting import PATIENCE_S, run_collector, succeed
from tests.apps.edge import eventually
from tests.measurement.standin import stand_in
from tests.support.factories import make_measurement
from tests.support.network_factories import NETWORK
from tests.support.refusals import refused

PING_MU = rtt(Ends("10.1.0.11", "10.2.0.11", "10.1.0.10", "10.2.0.10"), 3)
ME = Identity("test", 1, b"s" * 32)


def test_runs_are_carried_out_kept_and_told(tmp_path: Path) -> None:
    with run_collector(tmp_path / "m.db", succeed) as running:
        eventually(lambda: running.told.kinds().count("measurement") >= 2)
        with Archive(tmp_path / "m.db", readonly=True) as archive:
            assert len(archive.query()) >= 2
            assert archive.documents("execution")[0]["outcome"] == "measured"


def test_a_bug_in_a_worker_ends_the_collector_loudly(tmp_path: Path) -> None:
    def bug(_test: PathTest, _start: float) -> PolledRun:
        raise ZeroDivisionError

    with run_collector(tmp_path / "m.db", bug) as running:
        eventually(lambda: running.raised)
    assert isinstance(running.raised[0].__cause__, ZeroDivisionError)


def test_archive_outage_ends_the_collector_and_counts_the_runs_without_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ArchiveUnavailable("cannot write: terminated")

    with run_collector(tmp_path / "m.db", succeed) as running:
        eventually(lambda: running.told.kinds().count("measurement") >= 1)
        monkeypatch.setattr(Archive, "append_batches", fail)
        eventually(lambda: running.raised)
        monkeypatch.undo()
    assert isinstance(running.raised[0], ArchiveUnavailable)
    (line,) = [one.getMessage() for one in caplog.records if "event=runs_lost" in one.getMessage()]
    assert int(line.partition("count=")[2]) >= 1
    with Archive(tmp_path / "m.db", readonly=True) as archive:
        recorded = [one for one in archive.documents("execution") if one["outcome"] == "measured"]
        assert len(recorded) <= len(archive.query()), "a run is recorded without its value"


def test_a_worker_that_is_stopped_is_no_bug(tmp_path: Path) -> None:
    def stopped(_test: PathTest, _start: float) -> PolledRun:
        raise Stopped

    with run_collector(tmp_path / "m.db", stopped) as running:
        time.sleep(3)
    assert running.raised == []


def test_values_from_elsewhere_are_kept_before_whoever_brought_them_goes_on(tmp_path: Path) -> None:
    with run_collector(tmp_path / "m.db", succeed) as running:
        value = make_measurement(metric=Metric.LOSS, value=0.25)
        assert running.inbox.keep([value]).new == 1
        assert running.inbox.keep([value]).duplicates == 1
        with Archive(tmp_path / "m.db", readonly=True) as archive:
            assert value in archive.query(metric=Metric.LOSS)


def test_values_that_wait_together_are_kept_in_one_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, held = list[int](), threading.Event()
    append = Archive.append_batches

    def counted(archive: Archive, batches: list[list[Measurement]]) -> list[Appended]:
        sizes.append(len(batches))
        return append(archive, batches)

    value = make_measurement(metric=Metric.LOSS, value=0.25)
    others = [make_measurement(metric=Metric.JITTER, value=0.01, source=f"run/{n}") for n in range(3)]
    with run_collector(tmp_path / "m.db", succeed) as running, ThreadPoolExecutor() as threads:
        running.inbox.keep([value])
        running.inbox.call(lambda: held.wait(60))
        monkeypatch.setattr(Archive, "append_batches", counted)
        waiting = [threads.submit(running.inbox.keep, [each]) for each in (value, *others)]
        eventually(lambda: running.inbox._values.qsize() == 4)
        held.set()
        kept = [one.result(60) for one in waiting]
    assert [(one.new, one.duplicates) for one in kept] == [(0, 1), (1, 0), (1, 0), (1, 0)]
    assert 4 in sizes


def test_one_measures_the_other_stands_by_and_takes_over(tmp_path: Path) -> None:
    file, second_ran = tmp_path / "m.db", threading.Event()

    def second(test: PathTest, start: float) -> PolledRun:
        second_ran.set()
        return succeed(test, start)

    with run_collector(file, succeed) as first:
        eventually(lambda: first.collector.leads)
        with run_collector(file, second, "two") as standby:
            time.sleep(2.5)
            assert not second_ran.is_set()
            with pytest.raises(ArchiveError):
                standby.inbox.keep([make_measurement()])
            first.stop()
            with Archive(file) as archive:  # the lease runs out, as when the first one was killed long ago
                assert archive.lease(LEASE, "one", time.time() - 100, 1)
            eventually(second_ran.is_set)


def test_a_collector_beside_a_standby_does_not_measure(tmp_path: Path) -> None:
    with run_collector(tmp_path / "m.db", succeed) as running:
        eventually(lambda: running.collector.leads)
        running.inbox.call(lambda: running.collector.follow(active=False))
        eventually(lambda: not running.collector.leads)
        assert running.cancelled == 1
        running.inbox.call(lambda: running.collector.follow(active=True))
        eventually(lambda: running.collector.leads)


def test_who_lost_the_lease_ends_what_it_had_under_way(tmp_path: Path) -> None:
    with run_collector(tmp_path / "m.db", succeed) as running:
        eventually(lambda: running.collector.leads)
        with Archive(tmp_path / "m.db") as archive:
            assert archive.lease(LEASE, "another", time.time() + 1000, 1000)  # its clock is ahead
        eventually(lambda: running.cancelled)
        with pytest.raises(LeaseLost):
            running.inbox.keep([make_measurement()])


def test_collector_whose_clock_is_ahead_takes_no_lease_that_runs(tmp_path: Path) -> None:
    with Archive(tmp_path / "m.db") as archive:
        assert archive.lease(LEASE, "another", time.time(), 3600)
    with run_collector(tmp_path / "m.db", succeed, clock=MonotoneClock(time.time() + 86_400)) as running:
        running.inbox.ask(lambda: None)  # the collector asks for its lease before it takes this
        assert not running.collector.leads


def test_the_plan_of_a_configuration() -> None:
    configuration = load(NETWORK)
    found = plan_measurements(configuration)
    assert len(found.tests) == 12
    heavy = next(test for test in found.tests.values() if test.request.kind is Kind.THROUGHPUT)
    assert heavy.request.spec["source"] == "10.1.0.11"
    assert heavy.request.spec["dest-node"] == "10.2.0.10"
    assert heavy.request.spec["duration"] == "PT5S"
    metrics = {metric for test in found.tests.values() for metric in test.metrics}
    assert metrics == set(Metric) - {Metric.HEALTH}
    # A ping's loss is that of both directions: with a one-way test beside it, it is not kept.
    pings = [test for test in found.tests.values() if test.request.kind is Kind.RTT]
    assert all(test.metrics == (Metric.RTT,) for test in pings)
    assert set(found.loads.values()) == {"al2s", "internet"}
    assert all(spend.peak <= spend.allowed for spend in found.schedule.spend().values())


@pytest.mark.parametrize(
    ("old", "new", "code", "field"),
    [
        ("throughput_period: 240 s", "throughput_period: 40 s", "invalid", "measurements.tests"),
        ("rtt_period: 60 s", "rtt_period: 60.5 s", "invalid", "measurements.tests.0.rtt_period"),
        ("rtt_period: 60 s", "rtt_period: 86399 s", "round-too-long", "measurements.tests"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_with_the_reason(
    tmp_path: Path, old: str, new: str, code: str, field: str
) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(NETWORK.read_text().replace(old, new))
    with refused(code, field):
        plan_measurements(load(file))


def test_a_limited_test_offers_its_limit_and_shares_the_link(tmp_path: Path) -> None:
    text = NETWORK.read_text().replace(
        "throughput_duration: 5 s", "throughput_duration: 5 s\n      throughput_rate: 5 Mbps"
    )
    file = tmp_path / "network.yaml"
    file.write_text(text.replace("measurements:\n", "measurements:\n  agreement: {al2s: 5 Mbps}\n"))
    found = plan_measurements(load(file))
    assert found.schedule.spend()["al2s"].peak == 5_000_000
    heavy = next(test for test in found.tests.values() if test.request.kind is Kind.THROUGHPUT)
    assert heavy.request.spec["bandwidth"] == 5_000_000


def test_a_certificate_file_is_found_beside_the_configuration(tmp_path: Path) -> None:
    text = NETWORK.read_text().replace("verify: system", "verify: point.pem")
    file = tmp_path / "network.yaml"
    file.write_text(text)
    with refused(InvalidInput, field="measurements.points.mu"):
        contacts.points(load(file), tmp_path, lambda _: None, ME)
    (tmp_path / "point.pem").write_text("x")
    with refused(InvalidInput, field="measurements.points.mu"):
        contacts.points(load(file), tmp_path, lambda _: None, ME)
    (tmp_path / "made").mkdir()
    made, _ = certificate.ensure(tmp_path / "made", ["127.0.0.1"])
    made.replace(tmp_path / "point.pem")
    assert contacts.points(load(file), tmp_path, lambda _: None, ME)["mu"].node == "10.1.0.10"


def test_a_token_file_that_is_missing_is_named_and_its_folder_is_not(tmp_path: Path) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(NETWORK.read_text().replace("verify: system", "verify: system, token_file: mu.token"))
    with refused(InvalidInput, field="measurements.points.mu.token_file"):
        contacts.points(load(file), tmp_path, lambda _: None, ME)


def test_each_start_is_an_owner_of_its_own_with_the_same_secret(tmp_path: Path) -> None:
    first, second = next_start(tmp_path), next_start(tmp_path)
    assert first.before is None
    assert second.before == first
    assert first.owner != second.owner
    assert first.secret == second.secret
    assert first.secret.hex() not in repr(first)
    assert (tmp_path / "collector.json").stat().st_mode & 0o077 == 0
    (tmp_path / "collector.json").write_text("{")
    with refused(InvalidInput, field="data"):
        next_start(tmp_path)


@pytest.mark.integration
def test_what_a_killed_collector_left_is_swept(tmp_path: Path) -> None:
    with stand_in() as point:
        file = tmp_path / "network.yaml"
        text = NETWORK.read_text().replace("https://10.1.0.10/pscheduler", point.url)
        file.write_text(text.replace("https://10.2.0.10/pscheduler", point.url))
        before, now = next_start(tmp_path), next_start(tmp_path)
        left = contacts.points(load(file), tmp_path, lambda _: None, before)["mu"].client
        left.post(PING_MU, Schedule())
        mine = contacts.points(load(file), tmp_path, lambda _: None, now)["mu"].client
        mine.post(PING_MU, Schedule())
        contacts.sweep(contacts.points(load(file), tmp_path, lambda _: None, before))
        assert point.cancelled != []
        assert {body["reference"]["owner"] for body in point.posted} == {before.owner, now.owner}


@pytest.mark.integration
def test_the_process_measures_reports_answers_and_stops_cleanly(tmp_path: Path) -> None:
    messages: SimpleQueue[tuple[str, Any]] = SimpleQueue()
    link = LinkServer(tmp_path / "controller.sock", lambda _, kind, payload: messages.put((kind, payload)))
    with stand_in() as good, stand_in() as hung:
        hung.misbehave["GET"] = lambda _: hung.released.wait(30) and None
        text = NETWORK.read_text()
        text = text.replace("https://10.1.0.10/pscheduler", good.url)
        text = text.replace("https://10.2.0.10/pscheduler", hung.url).replace(": 60 s", ": 16 s")
        text = text.replace(": 240 s", ": 64 s").replace("system}", "system, token_file: token}")
        (tmp_path / "token").write_text("points-of-ours")  # they need less time than pScheduler's
        text = text.replace(
            "measurements:\n",
            "measurements:\n  notice: 2 s\n  around_others: 1 s\n  around_throughput: 1 s\n",
        )
        (tmp_path / "network.yaml").write_text(text)
        process = subprocess.Popen(
            [sys.executable, "-m", "apps.collector", "--config", str(tmp_path / "network.yaml"),
             "--data", str(tmp_path)],
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        web = LinkClient(tmp_path / "collector.sock", "web")
        try:
            payload = _next_measurement(messages)
            assert from_json(Measurement, payload).metric is Metric.RTT
            with Archive(tmp_path / "measurements.db", readonly=True) as archive:
                assert from_json(Measurement, payload) in archive.query()
            schedule = web.call("schedule", {})
            assert schedule["measures"]
            assert len(schedule["tasks"]) == 12
            assert {"10.1.0.11", "10.2.0.11"} <= set(web.call("psconfig", {})["addresses"])
            where = {"path": "al2s", "source": "mu", "destination": "osu"}
            asked = web.call("measure", {"key": where, "test": "rtt", "who": "ann"})
            assert "on demand" in asked["task"]
            with pytest.raises(InvalidInput):
                web.call("nonsense", {})
        finally:
            web.close()
            os.kill(process.pid, signal.SIGTERM)
            _, log = process.communicate(timeout=PATIENCE_S)
            link.close()
    assert process.returncode == 0, log
    assert "event=stopped" in log
    assert "Traceback" not in log


def _next_measurement(messages: SimpleQueue[tuple[str, Any]]) -> dict[str, Any]:
    while True:
        kind, payload = messages.get(timeout=PATIENCE_S)
        if kind == "measurement":
            return dict(payload)


@pytest.mark.slow
@pytest.mark.integration
def test_when_the_one_that_measures_is_killed_the_other_goes_on(tmp_path: Path) -> None:
    messages: SimpleQueue[tuple[str, Any]] = SimpleQueue()
    link = LinkServer(tmp_path / "controller.sock", lambda peer, kind, _: messages.put((str(peer), kind)))
    with stand_in() as point:
        text = NETWORK.read_text().replace("https://10.1.0.10/pscheduler", point.url)
        text = text.replace("https://10.2.0.10/pscheduler", point.url).replace(": 60 s", ": 16 s")
        extra = f"  archive_url: sqlite:///{tmp_path}/both.db\n  notice: 2 s\n  around_others: 1 s\n"
        text = text.replace(": 240 s", ": 64 s").replace("system}", "system, token_file: token}")
        (tmp_path / "token").write_text("points-of-ours")
        extra += "  around_throughput: 1 s\n"
        (tmp_path / "network.yaml").write_text(text.replace("measurements:\n", f"measurements:\n{extra}"))
        first, second = (_collect(tmp_path, name) for name in ("one", "two"))
        try:
            measures = _who_measures(messages)
            (first if measures == 0 else second).kill()
            killed_at = time.monotonic()
            assert _who_measures(messages, not_=measures) == 1 - measures
            assert time.monotonic() - killed_at > LEASE_S - 2 * RENEW_EVERY  # not before the lease was over
        finally:
            for process in (first, second):
                process.kill()
                process.wait(PATIENCE_S)
            link.close()


def _collect(folder: Path, name: str) -> subprocess.Popen[bytes]:
    argv = ["collect", "--config", str(folder / "network.yaml"), "--data", str(folder / name)]
    argv += ["--controller", str(folder / "controller.sock")]
    process = subprocess.Popen(
        [sys.executable, "-m", "apps.cli", *argv], stderr=(folder / f"{name}.log").open("wb")
    )
    eventually((folder / name / "collector.sock").exists)
    return process


def _who_measures(messages: SimpleQueue[tuple[str, Any]], not_: int | None = None) -> int:
    """Which collector brings values: 0 for the first that connected, 1 for the second."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        peer, kind = messages.get(timeout=PATIENCE_S)
        number = 1 if "2" in peer else 0
        if kind == "measurement" and number != not_:
            return number
    raise AssertionError("nobody measures")


@pytest.mark.integration
@pytest.mark.parametrize("text", ["network: [", "network: x\n"])
def test_a_wrong_configuration_is_exit_2_and_says_where(tmp_path: Path, text: str) -> None:
    file = tmp_path / "network.yaml"
    file.write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "apps.collector", "--config", str(file), "--data", str(tmp_path)],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "network.yaml" in done.stderr
    assert "Traceback" not in done.stderr
