from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from apps.collector.keeper import ALARM, Keeper
from measurement.anomaly.alarm import Alarm
from measurement.anomaly.policy import Policy
from measurement.anomaly.watch import Watch
from measurement.archive import Archive
from measurement.errors import ArchiveError
from measurement.model import Measurement, Metric, Observation, from_json, host_key
from tests.apps.collecting import EPOCH, Clock, Told
from tests.support.factories import make_measurement


class Bench:
    """A keeper whose world is the test."""

    def __init__(self, archive: Archive, now: float = EPOCH) -> None:
        self.archive, self.clock, self.told = archive, Clock(now), Told()
        self.notified: list[Alarm] = []
        self.keeper = self.again()

    def again(self) -> Keeper:
        """The keeper after a restart."""
        keeper = Keeper(self.archive, Watch(Policy()), self.told, self.notified.append, self.clock)
        keeper.resume()
        return keeper

    def rtt(self, number: int, value: float) -> None:
        at = EPOCH + 10 * number
        self.clock.now = at
        self.keeper.keep([_rtt(value, at, f"run-{number}")])


def _rtt(value: float, at: float, source: str = "run") -> Measurement:
    return make_measurement(metric=Metric.RTT, value=value, observed_at=at, source=source)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with Archive(tmp_path / "m.db") as archive:
        yield Bench(archive)


def usual(number: int) -> float:
    return 0.001 + random.Random(number).uniform(0, 0.0002)


def test_a_value_is_archived_before_it_is_told(bench: Bench) -> None:
    value = _rtt(0.01, EPOCH + 1)
    bench.told.send = lambda kind, payload: _archived(bench, kind, payload)  # type: ignore[method-assign]
    assert bench.keeper.keep([value]).new == 1


def _archived(bench: Bench, kind: str, payload: object) -> None:
    assert kind == "measurement"
    assert from_json(Measurement, payload) in bench.archive.query()  # type: ignore[arg-type]


def test_ignored_details_are_counted_per_point(bench: Bench) -> None:
    for number, names in enumerate((["intervals"], ["intervals", "duration"], [])):
        parameters = {"protocol": "tcp", "ignored": names}
        value = make_measurement(observed_at=EPOCH + number, source=f"run/{number}", parameters=parameters)
        assert bench.keeper.keep([value]).new == 1
    assert bench.keeper.ignored == {"mu": {"intervals": 2, "duration": 1}}


def test_what_cannot_be_archived_is_not_told(tmp_path: Path) -> None:
    with Archive(tmp_path / "m.db") as archive:
        archive.append([])
    with Archive(tmp_path / "m.db", readonly=True) as archive:
        bench = Bench(archive)
        with pytest.raises(ArchiveError):
            bench.keeper.keep([_rtt(0.01, EPOCH + 1)])
        assert bench.told.sent == []


def test_of_two_results_that_disagree_only_the_one_that_is_kept_is_told(bench: Bench) -> None:
    url = "https://ps-a.example.net/pscheduler/tasks/t/runs/11111111-1111-4111-8111-111111111111"
    run = {"started_at": EPOCH - 6, "source": url}
    first = make_measurement(value=57e6, observed_at=EPOCH - 1, **run)
    other = make_measurement(value=60e6, observed_at=EPOCH, **run)
    assert bench.keeper.keep([first]).new == 1
    assert len(bench.keeper.keep([other]).disagreements) == 1
    assert [payload["value"] for _, payload in bench.told.sent] == [57e6]


def test_other_values_are_kept_and_not_told_to_the_controller(bench: Bench) -> None:
    load = Observation(host_key("dtn"), "host.load", 1.5, EPOCH, "dtn")
    assert bench.keeper.keep([load]).new == 1
    assert bench.told.sent == []


def test_a_plateau_is_an_alarm_that_is_kept_told_and_passed_on_and_it_clears(bench: Bench) -> None:
    for number in range(20):
        bench.rtt(number, usual(number))
    assert bench.notified == []
    for number in range(20, 24):
        bench.rtt(number, 0.009)
    (raised,) = bench.notified
    assert raised.bad
    assert raised.open
    assert "rtt" in raised.text
    assert bench.told.kinds().count("alarm") == 1
    assert bench.archive.documents(ALARM, open_only=True) != []
    for number in range(24, 40):
        bench.rtt(number, usual(number))
    assert not bench.notified[-1].open
    assert bench.notified[-1].id == raised.id
    assert bench.archive.documents(ALARM, open_only=True) == []


def test_after_a_crash_nothing_is_learnt_anew_missed_or_told_twice(bench: Bench) -> None:
    for number in range(21):
        bench.rtt(number, usual(number))
    bench.rtt(21, 0.009)
    bench.keeper = bench.again()  # without close(): as after kill -9
    for number in (22, 23):
        bench.rtt(number, 0.009)
    assert len(bench.notified) == 1
    bench.keeper = bench.again()
    assert len(bench.notified) == 1
    bench.keeper.greet()
    assert bench.told.kinds()[-1] == "alarm"
    bench.told.sent.clear()
    for number in range(24, 40):
        bench.rtt(number, usual(number))
    bench.told.sent.clear()
    bench.keeper.greet()
    ends = [payload for kind, payload in bench.told.sent if kind == "alarm"]
    assert [end["cleared_at"] is None for end in ends] == [False]


def test_a_controller_that_comes_back_is_told_the_latest_with_true_times(bench: Bench) -> None:
    for number in range(3):
        bench.rtt(number, usual(number))
    bench.told.sent.clear()
    bench.keeper.greet()
    ((kind, payload),) = bench.told.sent
    assert kind == "measurement"
    assert from_json(Measurement, payload).observed_at == EPOCH + 20


def test_silence_is_an_alarm_unless_it_is_expected(bench: Bench) -> None:
    for number in range(12):
        bench.rtt(number, usual(number))
    series = _rtt(1, 1).series
    for _ in range(8):
        bench.clock.now += 10
        bench.keeper.look()
    assert [alarm.kind.value for alarm in bench.notified] == ["absence"]
    bench.keeper = bench.again()
    bench.keeper.expect({series: float("inf")})
    count = len(bench.notified)
    for _ in range(100):
        bench.clock.now += 10
        bench.keeper.look()
    assert len(bench.notified) == count


def test_acknowledging(bench: Bench) -> None:
    for number in range(20):
        bench.rtt(number, usual(number))
    for number in range(20, 24):
        bench.rtt(number, 0.009)
    name = bench.notified[0].id
    assert bench.keeper.acknowledge(name, "ann").acknowledged_by == "ann"
    assert bench.archive.document(ALARM, name)["acknowledged_by"] == "ann"  # type: ignore[index]
    with pytest.raises(KeyError):
        bench.keeper.acknowledge("no such alarm", "ann")


def test_the_controller_is_told_of_values_of_hosts_that_triggers_wait_for(bench: Bench) -> None:
    load = Observation(host_key("mu"), "host.load_1m", 3.5, EPOCH, "custom:mu/host")
    other = Observation(host_key("osu"), "host.load_1m", 1.5, EPOCH, "custom:osu/host")
    bench.keeper.keep([load])
    assert "observation" not in bench.told.kinds()
    bench.keeper.tell_of(frozenset({("mu", "host.load_1m")}))
    later = Observation(host_key("mu"), "host.load_1m", 4.5, EPOCH + 5, "custom:mu/host")
    bench.keeper.keep([later, other])
    told = [from_json(Observation, body) for kind, body in bench.told.sent if kind == "observation"]
    assert told == [later]
    bench.keeper.tell_of(frozenset())
    bench.keeper.keep([Observation(host_key("mu"), "host.load_1m", 5.5, EPOCH + 9, "custom:mu/host")])
    assert bench.told.kinds().count("observation") == 1
