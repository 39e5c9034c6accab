"""Runner: places of a design, each test once, and a clean stop."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest

from measurement.ceem.blueprint import PlannedTest, draw_blueprint
from measurement.ceem.run import Sample
from measurement.ceem.runner import find_places, run_blueprint, stop_on_signals
from measurement.ceem.template import Design
from measurement.instances import Instance
from tests.support.refusals import refused

DESIGN = Design(nodes=("a", "b"), clients=("the user",), runs=1, duration=1.0)
INSTANCES = tuple(Instance(name, f"10.0.0.{number}") for number, name in enumerate(("a", "b", "u"), start=1))


def test_places_are_reached_by_their_instances() -> None:
    places = find_places(DESIGN, INSTANCES, {"the user": "u"}, "ssh ubuntu@{address} -l '{name} x'", ["b"])
    assert places["the user"].instance == INSTANCES[2]
    assert places["a"].reach == ("ssh", "ubuntu@10.0.0.1", "-l", "a x")
    assert places["b"].reach == ()


@pytest.mark.parametrize(
    ("named", "reach", "here", "option"),
    [
        ({}, "", [], "--instances"),
        ({"the user": "u", "c": "a"}, "", [], "--place"),
        ({"the user": "a"}, "", [], "--place"),
        ({"the user": "u"}, "ssh {host}", [], "--reach"),
        ({"the user": "u"}, "ssh '", [], "--reach"),
        ({"the user": "u"}, "", ["c"], "--here"),
    ],
)
def test_impossible_places_are_refused(named: Any, reach: str, here: list[str], option: str) -> None:
    with refused("invalid") as refusal:
        find_places(DESIGN, INSTANCES, named, reach, here)
    assert [line.partition(":")[0] for line in str(refusal.error).splitlines()] == [option]


class ConstantBench:
    """Bench whose tests all have the value 1."""

    def measure(self, test: PlannedTest) -> float:
        return 1.0


@pytest.mark.parametrize("at_once", ["one", "apart", "all"])
def test_each_test_is_run_once(at_once: Any) -> None:
    plan = draw_blueprint(Design(nodes=tuple("abc"), runs=3, duration=0.01, at_once=at_once))
    found: list[Sample] = []
    assert run_blueprint(plan, ConstantBench(), found.append, (), threading.Event())
    assert sorted(one.number for one in found) == [*range(plan.size)]


def test_stop_starts_no_other_turn() -> None:
    plan = draw_blueprint(Design(nodes=tuple("abc"), runs=5, duration=0.01, pause=3600.0, at_once="all"))
    stop = threading.Event()
    found: list[Sample] = []

    def record(sample: Sample) -> None:
        found.append(sample)
        stop.set()

    assert not run_blueprint(plan, ConstantBench(), record, (), stop)
    assert len(found) == plan.concurrency


def test_second_signal_interrupts() -> None:
    stop, told = threading.Event(), []
    before = signal.getsignal(signal.SIGINT)
    with stop_on_signals(stop, lambda: told.append(1)):
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.wait(60)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
    assert told == [1]
    assert signal.getsignal(signal.SIGINT) is before
