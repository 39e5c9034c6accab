"""The queue is tried in order, some at a time; and trying one for many changes nothing (two brokers)."""

from __future__ import annotations

import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adon.broker.broker import Broker
from adon.broker.events import (
    FlowCancelled,
    MaintenanceAsked,
    MaintenanceCancelled,
    TransferReported,
)
from adon.broker.flow import FlowState
from adon.broker.maintenance import WindowRequest
from adon.broker.queueing import queue_round
from adon.errors import AdonError, InvalidInput
from measurement.model import Metric
from tests.broker.queueing.scenes import why
from tests.depth import DEPTH
from tests.support import histories
from tests.support.histories import NAMES, TEMPLATES, Scene
from tests.support.refusals import refused
from tests.support.stage import OSU_EDGE, know, make_stage

RATES = (1e9, 4e9, 8e9, 15e9, 40e9)


def submit(scene: Scene, chance: random.Random) -> None:
    fields: dict[str, Any] = {
        "streams": chance.choice([1, 1, 4]),
        "priority": chance.choice([100, 500, 500, 900]),
        "size": chance.choice(["1 GB", "100 GB", "10 TB"]),
    }
    if chance.random() < 0.3:
        fields["deadline"] = chance.choice(["20 s", "2 min", "1 h"])
    if chance.random() < 0.15:
        fields |= {"not_before": chance.choice(["5 s", "60 s"]), "deadline": "1 h"}
    with suppress(AdonError):
        scene.ask(chance.choice(TEMPLATES).name, **fields)


def finish(scene: Scene, chance: random.Random) -> None:
    running = [flow for flow in scene.flows() if flow.state.holds_rules]
    if running:
        stamp = scene.stamp()
        number = chance.choice(running).number
        scene.feed(TransferReported(*stamp, f"c-{stamp[0]}", number, "finished", 1))


def cancel(scene: Scene, chance: random.Random) -> None:
    waiting = [flow for flow in scene.flows() if flow.state is FlowState.QUEUED]
    if waiting:
        stamp = scene.stamp()
        scene.feed(FlowCancelled(*stamp, f"c-{stamp[0]}", chance.choice(waiting).number, "ann"))


def maintain(scene: Scene, chance: random.Random) -> None:
    stamp, begins = scene.stamp(), scene.now + chance.choice([10.0, 60.0])
    wish = {"scope": "path", "name": chance.choice(NAMES), "begins": begins, "ends": begins + 40.0}
    asked = WindowRequest.model_validate({**wish, "lead": "5 s"})
    scene.feed(MaintenanceAsked(*stamp, f"c-{stamp[0]}", asked, "ann"))


def cancel_maintenance(scene: Scene, chance: random.Random) -> None:
    for window in scene.open_windows()[:1]:
        stamp = scene.stamp()
        scene.feed(MaintenanceCancelled(*stamp, f"c-{stamp[0]}", window.number, "ann"))


STEPS: dict[Any, int] = {
    histories.measure: 40,
    submit: 30,
    finish: 8,
    cancel: 6,
    histories.wait: 16,
    histories.report: 4,
    histories.refuse: 1,
    histories.port: 2,
    histories.shun: 1,
    maintain: 1,
    cancel_maintenance: 1,
}
POLICIES: list[dict[str, Any]] = [
    {"queue": {"overtaken_for": "15 s", "hurry": 100}, "aging": "1 s"},
    {"queue": {"overtaken_for": "1 h"}},
    {"queue": {"overtaken_for": "5 s"}, "preemption": False},
]


@settings(max_examples=2 * DEPTH, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**9), policy=st.sampled_from(POLICIES), haste=st.sampled_from([0.4, 1.0]))
@example(seed=1, policy=POLICIES[0], haste=1.0)
def test_what_is_tried_for_many_is_as_if_each_had_been_tried(
    seed: int, policy: dict[str, Any], haste: float
) -> None:
    """Random histories of a crowded network: nobody is admitted, told or kept back otherwise."""
    chance = random.Random(seed)
    scene = Scene(**policy)
    scene.know({name: chance.choice(RATES[:3]) for name in NAMES})
    for _ in range(12):
        submit(scene, chance)
    for step in chance.choices(list(STEPS), list(STEPS.values()), k=60):
        step(scene, chance)
        if chance.random() < haste:
            scene.settle()


# -- one broker -----------------------------------------------------------------------------------------


def crowded(waiting: int, **policy: Any) -> Scene:
    """So many flows of one kind that wait, and no path that would do."""
    scene = Scene(Broker, **policy)
    scene.know(dict.fromkeys(NAMES, 1e9))
    for _ in range(waiting):
        scene.ask("careful")
    assert len(scene.queue_order()) == waiting
    return scene


def heard(scene: Scene, rate: float) -> None:
    """A moment later, another result."""
    scene.now += 0.1
    scene.result(NAMES[0], Metric.THROUGHPUT, rate)


def test_what_becomes_free_in_the_middle_of_a_round_is_not_for_the_tail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(queue_round, "AT_ONCE", 20)
    scene = Scene(Broker)
    scene.know(dict.fromkeys(NAMES, 1e9))
    for number in range(24):
        scene.ask("careful", qspec={"throughput": {"min": f"{10_000 + number} Mbps"}})
    heard(scene, 2e9)
    heard(scene, 30e9)
    assert [flow.number for flow in scene.flows() if flow.path is not None] == [1, 2]


def test_a_flow_that_is_asked_for_while_others_wait_is_tried_at_once() -> None:
    scene = crowded(3)
    scene.ask("nimble")
    (small,) = (flow for flow in scene.flows() if flow.template.startswith("nimble"))
    assert small.state.holds_rules


# -- what a refusal rests on ------------------------------------------------------------------------------


def test_who_may_give_way_only_now_is_asked_now() -> None:
    """The one of low priority is active at last; nothing else has changed."""
    stage = make_stage(internet=2.0)
    stage.silence(OSU_EDGE)
    low = stage.submit(priority=100, streams=12, qspec={"throughput": {"min": "6 Mbps"}})
    stage.now += 1
    know(stage, al2s=4.5, internet=2.0)
    high = stage.submit(priority=900)
    stage.now += 1
    know(stage, internet=2.1)
    assert (stage.flow(low).state, stage.flow(high).state) == (FlowState.INSTALLING, FlowState.QUEUED)
    stage.end_faults()
    stage.answer_late()
    assert stage.flow(low).state is FlowState.ACTIVE
    stage.now += 1
    know(stage, internet=2.1)
    assert stage.flow(high).path == "al2s"


# -- at the limits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["1 B", "1000000000000000000 B"])
@pytest.mark.parametrize("bound", ["1e-320 bps", "5e-324 bps", "1 bps", "60.6 Mbps"])
@pytest.mark.parametrize("patience", ["1e-9 s", "1e300 s"])
def test_sizes_and_rates_at_the_limits_of_a_double(size: str, bound: str, patience: str) -> None:
    stage = make_stage(al2s=1.0, internet=1e-300)
    wish = {"size": size, "queue_patience": patience, "qspec": {"throughput": {"min": bound}}}
    flow = stage.submit("neuroblastoma", **wish)
    stage.pass_time(1)
    know(stage, al2s=1e-300, internet=1e9)
    if stage.flow(flow).state is FlowState.QUEUED:
        assert why(stage, flow)["id"] == flow.id
        assert stage.cancel(flow).state is FlowState.CANCELLED


@pytest.mark.parametrize("bound", ["1e308 bps", "1.7976931348623157e308 bps"])
def test_a_rate_beyond_everything_is_refused_naming_the_best(bound: str) -> None:
    with refused(InvalidInput, field="qspec.throughput.min"):
        make_stage().submit("neuroblastoma", qspec={"throughput": {"min": bound}})
