"""Rounds of health as the collector runs them: kept as studies, told as metrics, alarms for markers."""

from __future__ import annotations

import logging
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from adon.config import Configuration
from adon.errors import InvalidInput
from adon.studies.model import DOCUMENT, PACKED, StudyKind, short_of
from adon.studies.packing import unpacked
from adon.yamlfile import parse_model
from apps.collector import rounds
from apps.collector.collector import Call, Inbox
from apps.collector.keeper import Value
from apps.collector.rounds import Rounds
from apps.collector.studies import Studies
from measurement.anomaly.alarm import Alarm
from measurement.anomaly.policy import Policy
from measurement.anomaly.watch import Watch, WatchState
from measurement.archive import Appended, Archive
from measurement.errors import LeaseLost
from measurement.health.history import History
from measurement.health.markers import Marker
from measurement.health.model import Pair
from measurement.health.path_metrics import FIRED, TRAIN
from measurement.health.record import RoundRecord
from measurement.health.round_judgement import REMEMBERED, Judged
from measurement.health.round_pairs import health_round
from measurement.health.round_runner import Running
from measurement.model import Measurement, Metric, Observation, PathKey
from measurement.probes.secure_channel import write_key
from tests.apps.edge import eventually
from tests.measurement.health.cloud import Cloud
from tests.measurement.probes.agent_processes import run_agents
from tests.support.network_factories import MACHINES, NETWORK
from tests.support.refusals import refused

THERE, BACK = PathKey("al2s", "mu", "osu"), PathKey("al2s", "osu", "mu")
BOTH = {THERE, BACK}
NAMES = ("mu-1", "mu-2", "osu-1", "osu-2", "elsewhere")


def configured(text: str = MACHINES.replace("  verified: 2\n", "")) -> Configuration:
    return parse_model(NETWORK.read_text() + text, Configuration)


def untested() -> Configuration:
    """The same, where no test measures throughput."""
    found = configured()
    return found.model_copy(update={"measurements": found.measurements.model_copy(update={"tests": ()})})


@dataclass
class World:
    """A thread of rounds whose far ends are tables."""

    folder: Path
    cloud: Cloud = field(default_factory=lambda: Cloud(NAMES))
    values: list[Value] = field(default_factory=list)
    records: list[RoundRecord] = field(default_factory=list)
    error: Exception | None = None
    leads: bool = True

    def keep(self, values: Sequence[Value]) -> Appended:
        if self.error is not None:
            raise self.error
        self.values += values
        return Appended()

    def put(self, record: RoundRecord) -> str:
        self.records.append(record)
        return f"{len(self.records):016x}"

    def rounds(self, configuration: Configuration, clock: Callable[[], float] = time.time) -> Rounds:
        assert configuration.health is not None
        history = History(self.folder / rounds.FOLDER)
        return Rounds(
            configuration,
            configuration.health,
            history,
            self.cloud.connect,
            self.keep,
            self.put,
            lambda: self.leads,
            clock,
        )

    def told(self, metric: str) -> dict[PathKey, float]:
        return {
            one.key: one.value
            for one in self.values
            if isinstance(one, Measurement | Observation) and one.metric == metric
        }


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_round_is_kept_and_tells_the_health_of_paths(world: World) -> None:
    assert world.rounds(configured()).round() == f"{1:016x}"
    assert len(world.records[0].found) == 20
    assert set(world.told(Metric.HEALTH)) == BOTH
    assert world.told(FIRED) == dict.fromkeys(BOTH, 0.0)
    assert all(
        isinstance(one, Measurement | Observation) and one.source == f"study:{1:016x}" for one in world.values
    )


def test_trains_tell_throughput_where_no_test_does(world: World) -> None:
    world.rounds(configured()).round()
    tested = configured().measurements.throughput
    assert tested & BOTH, "else this shows nothing"
    assert set(world.told(Metric.THROUGHPUT)) == BOTH - tested
    other = World(world.folder / "other")  # in the same folder, what is known would not be found anew
    other.rounds(untested()).round()
    rates = [one for one in other.values if isinstance(one, Measurement) and one.metric is Metric.THROUGHPUT]
    assert {(one.key, one.tool, one.value) for one in rates} == {(key, TRAIN, 1e9) for key in BOTH}


def test_what_was_before_is_remembered_over_a_restart_and_not_for_ever(world: World) -> None:
    for _ in range(REMEMBERED + 2):
        world.rounds(configured()).round()
        time.sleep(0.002)  # the files of rounds are named by the millisecond
    assert len(History(world.folder / rounds.FOLDER).files()) == REMEMBERED
    world.cloud.rtt = lambda pair: 0.05 if pair == Pair("mu-1", "osu-1") else 0.01
    world.rounds(configured()).round()
    assert world.told(FIRED)[THERE] >= 3
    assert world.records[-1].carried, "only what fired, or is an hour old, is loaded again"


def test_what_markers_have_learnt_is_remembered(world: World) -> None:
    for number in range(3):
        world.cloud.rtt = lambda _, number=number: 0.01 * 5**number  # type: ignore[misc]
        world.rounds(configured()).round()
        time.sleep(0.002)
    assert world.told(FIRED)[THERE] > 0
    learnt = History(world.folder / rounds.FOLDER).tolerances()
    assert learnt[Pair("mu-1", "osu-1")][Marker.ICMP].fired > 0


def test_rounds_keep_to_the_limits_that_are_configured(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Running] = []

    async def noting(*given: Any, **more: Any) -> Judged:
        told.extend(one for one in given if isinstance(one, Running))
        return await health_round(*given, **more)

    monkeypatch.setattr(rounds, "health_round", noting)
    world.rounds(configured()).round()
    assert told[0].limits.between_zones == 1
    assert told[0].limits.zones["osu-1"] == "osu"


def test_as_many_pairs_are_verified_as_configured(world: World) -> None:
    world.rounds(configured(MACHINES.replace("verified: 2", "verified: 11"))).round()
    assert len(world.records[0].verified) == 11


def test_an_instance_that_is_gone_leaves_a_round_that_says_so(world: World) -> None:
    world.cloud.dead.add("osu-1")
    world.rounds(configured()).round()
    assert {one.pair.source for one in world.records[0].failures} >= {"osu-1"}
    assert THERE in world.told(Metric.HEALTH), "osu-2 still answers"


def run(made: Rounds, until: Callable[[], bool]) -> None:
    made.start()
    eventually(until)
    made.stop()


def test_the_thread_runs_rounds_when_they_are_due_and_goes_on_after_a_failure(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    now = [1000.0]
    made = world.rounds(configured(), lambda: now[0])
    world.error = LeaseLost("another")

    def second() -> bool:
        if len(world.records) == 1:
            world.error = None
            now[0] += 301.0
        return len(world.values) > 0

    with caplog.at_level(logging.WARNING):
        run(made, second)
    assert len(world.records) == 2
    assert "another_collector_measures" in caplog.text


def test_who_does_not_lead_runs_none_and_looks_now_and_then(world: World) -> None:
    world.leads = False
    looked: list[float] = []
    made = world.rounds(configured(), lambda: looked.append(0.0) or 1000.0)  # type: ignore[func-returns-value]
    begun = time.monotonic()
    made.start()
    eventually(lambda: looked, "it does not look")
    time.sleep(0.3)
    made.stop()
    assert len(looked) <= 3 * (1 + (time.monotonic() - begun) / rounds.LOOK_EVERY)
    assert (world.cloud.orders, world.records) == ([], [])


def test_no_round_begins_before_it_is_due(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "LOOK_EVERY", 0.01)
    looked: list[int] = []

    def clock() -> float:
        looked.extend(1 for _ in world.records)
        return 1000.0 + 99.0 * min(3, len(looked))

    run(world.rounds(configured(), clock), lambda: len(looked) > 5)
    assert len(world.records) == 1


def test_a_round_under_way_ends_soon_when_the_collector_stops(world: World) -> None:
    world.cloud.takes = 0.05
    made = world.rounds(configured())
    made.start()
    while not world.cloud.orders:
        time.sleep(0.005)
    made.stop()
    assert world.records == []
    assert sorted(world.cloud.closed) == sorted(world.cloud.connected)


def test_a_marker_is_an_alarm_until_none_fires() -> None:
    settings = configured().health
    assert settings is not None
    watch, state = Watch(Policy(limits=rounds.limits(settings))), WatchState()
    raised: list[tuple[int, bool, bool]] = []
    for number, value in enumerate((0.0, 0.0, 1.0, 2.0, 0.0)):
        at = 1000.0 + 600.0 * number
        seen = Observation(THERE, FIRED, value, at, "study:x")
        alarms: Sequence[Alarm]
        state, alarms = watch.steps(state, [seen], at)
        raised += [(number, one.open, one.bad) for one in alarms]
    assert [(number, is_open) for number, is_open, _ in raised] == [(2, True), (4, False)]
    assert raised[0][2]


# -- with the collector's own thread ---------------------------------------------------------------------


class Dropping(Inbox):
    """Archives nothing."""

    def keep(self, *_: object, **__: object) -> Appended:
        return Appended()


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    """Return an inbox whose calls are carried out."""
    found, over = Dropping(), threading.Event()

    def work() -> None:
        while not over.is_set():
            message = found.take(0.05)
            if isinstance(message, Call):
                message.work()

    thread = threading.Thread(target=work)
    thread.start()
    yield found
    over.set()
    thread.join()


def test_what_is_asked_of_the_collector_s_thread_comes_back(inbox: Inbox) -> None:
    assert inbox.ask(lambda: threading.current_thread() is not threading.main_thread())
    with refused(InvalidInput, "kind"):
        inbox.ask(lambda: (_ for _ in ()).throw(InvalidInput.of("kind", "no")))
    with refused("archive-error"):
        Inbox().ask(lambda: 1, timeout=0.01)


def test_without_a_key_the_collector_does_not_start(tmp_path: Path, inbox: Inbox) -> None:
    with Archive(tmp_path / "measurements.db") as archive:
        args = (configured(), tmp_path, tmp_path, inbox, Studies(archive), lambda: False)
        with pytest.raises(InvalidInput) as refused, rounds.running(*args):
            pass
        assert refused.value.problems[0].field == "health.key_file"
        write_key(tmp_path / "probes.key")
        with rounds.running(*args):
            pass
        with rounds.running(configured(""), *args[1:]):
            pass


def test_a_round_among_instances_that_are_not_there_is_a_study_that_says_so(
    tmp_path: Path, inbox: Inbox
) -> None:
    write_key(tmp_path / "probes.key")
    nowhere = re.sub(r"10\.(\d)\.0\.|192\.0\.2\.", r"127.77.\g<1>1.", MACHINES)
    with Archive(tmp_path / "measurements.db") as archive:
        args = (configured(nowhere), tmp_path, tmp_path, inbox, Studies(archive), lambda: True)
        with rounds.running(*args):
            found = eventually(lambda: inbox.ask(lambda: archive.documents(short_of(StudyKind.HEALTH_ROUND))))
        assert found[0]["submitted_by"] == rounds.WHO
        assert {"0", "20"} <= {*found[0]["summary"].split()}
        assert archive.documents(DOCUMENT, open_only=True) == [], "it goes when it is old"


@pytest.mark.integration
def test_the_collector_process_probes_real_agents(tmp_path: Path) -> None:
    """Its own process, agents that are processes, the archive that the web side reads."""
    with run_agents(tmp_path, 3) as (listed, _):
        known = listed.read_text().replace("key_file: key\n", "").replace("\n", "\n  ")
        known = known.replace("zone: z0", "zone: z0, site: mu, path: al2s")
        known = known.replace("zone: z1", "zone: z1, site: osu, path: al2s")
        settings = f"\nhealth:\n  key_file: key\n  every: 10 s\n  throughput: true\n  {known}\n"
        whole = yaml.safe_load(NETWORK.read_text())
        del whole["measurements"]
        file, data = tmp_path / "network.yaml", tmp_path / "data"
        file.write_text(yaml.safe_dump(whole, sort_keys=False) + settings)
        data.mkdir()
        command = [sys.executable, "-m", "apps.collector", "--config", str(file), "--data", str(data)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert process.stderr is not None
                for line in process.stderr:
                    if "event=round " in line:
                        break
            finally:
                process.send_signal(signal.SIGTERM)
                log = process.communicate(timeout=60)[1]
        assert process.returncode == 0, log
    with Archive(data / "measurements.db", readonly=True) as archive:
        (made,) = archive.documents(short_of(StudyKind.HEALTH_ROUND))
        latest = {(one.key, one.metric): one for one in archive.latest()}
        kept = archive.document(DOCUMENT, made["id"])
    assert kept is not None
    assert {len(one["tcp"]) for one in unpacked(kept[PACKED])["pairs"]} == {1}, "in short"
    assert "6 pairs" in made["summary"]
    for key in BOTH:
        assert 0 <= latest[key, Metric.HEALTH].value <= 1
        assert latest[key, Metric.THROUGHPUT].tool == TRAIN
        assert latest[key, Metric.HEALTH].source == f"study:{made['id']}"
