"""The queue is tried in order, some at a time; and trying one for many changes nothing (two brokers)."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from adon.broker.broker import Broker
from adon.broker.effects import SaveFlow
from adon.broker.events import (
    FlowCancelled,
    MaintenanceAsked,
    MaintenanceCancelled,
    SyncAsked,
    Tick,
    TransferReported,
)
from adon.broker.flow import FlowState
from adon.broker.maintenance import WindowRequest
from adon.broker.queueing import serving
from adon.broker.resources.amounts import Limits
from adon.broker.resources.ledger import Ledger
from adon.errors import AdonError, InvalidInput
from measurement.model import Metric
from tests.broker import test_watch
from tests.broker.queueing.scenes import why
from tests.broker.scene import NAMES, TEMPLATES, Scene
from tests.broker.stage import OSU_EDGE, know, ready
from tests.depth import DEPTH
from tests.support.refusals import refused

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
        scene.submit(chance.choice(TEMPLATES).name, **fields)


def finish(scene: Scene, chance: random.Random) -> None:
    running = [flow for flow in scene.flows() if flow.state.holds_rules]
    if running:
        stamp = scene.stamp()
        number = chance.choice(running).number
        scene.happen(TransferReported(*stamp, f"c-{stamp[0]}", number, "finished", 1))


def cancel(scene: Scene, chance: random.Random) -> None:
    waiting = [flow for flow in scene.flows() if flow.state is FlowState.QUEUED]
    if waiting:
        stamp = scene.stamp()
        scene.happen(FlowCancelled(*stamp, f"c-{stamp[0]}", chance.choice(waiting).number, "ann"))


def maintain(scene: Scene, chance: random.Random) -> None:
    stamp, begins = scene.stamp(), scene.now + chance.choice([10.0, 60.0])
    wish = {"scope": "path", "name": chance.choice(NAMES), "begins": begins, "ends": begins + 40.0}
    asked = WindowRequest.model_validate({**wish, "lead": "5 s"})
    scene.happen(MaintenanceAsked(*stamp, f"c-{stamp[0]}", asked, "ann"))


def cancel_maintenance(scene: Scene, chance: random.Random) -> None:
    for window in list(scene.broker.world.windows)[:1]:
        stamp = scene.stamp()
        scene.happen(MaintenanceCancelled(*stamp, f"c-{stamp[0]}", window.number, "ann"))


STEPS: dict[Any, int] = {
    test_watch.measure: 40,
    submit: 30,
    finish: 8,
    cancel: 6,
    test_watch.wait: 16,
    test_watch.report: 4,
    test_watch.refuse: 1,
    test_watch.port: 2,
    test_watch.shun: 1,
    test_watch.clock_set_back: 1,
    maintain: 1,
    cancel_maintenance: 1,
}
POLICIES: list[dict[str, Any]] = [
    {"queue": {"overtaken_for": "15 s", "hurry": 100}, "aging": "1 s"},
    {"queue": {"overtaken_for": "1 h"}},
    {"queue": {"overtaken_for": "5 s"}, "preemption": False},
]


@settings(max_examples=4 * DEPTH, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**9), policy=st.sampled_from(POLICIES), haste=st.sampled_from([0.4, 1.0]))
@example(seed=1, policy=POLICIES[0], haste=1.0)
def test_what_is_tried_for_many_is_as_if_each_had_been_tried(
    seed: int, policy: dict[str, Any], haste: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Random histories of a crowded network: nobody is admitted, told or kept back otherwise."""
    chance = random.Random(seed)
    scene = Scene(tmp_path_factory.mktemp("scene"), **policy)
    scene.know({name: chance.choice(RATES[:3]) for name in NAMES})
    for _ in range(12):
        submit(scene, chance)
    for step in chance.choices(list(STEPS), list(STEPS.values()), k=60):
        step(scene, chance)
        if chance.random() < haste:
            scene.settle()


# -- one broker -----------------------------------------------------------------------------------------


def crowded(folder: Path, waiting: int, **policy: Any) -> Scene:
    """So many flows of one kind that wait, and no path that would do."""
    scene = Scene(folder, Broker, **policy)
    scene.know(dict.fromkeys(NAMES, 1e9))
    for _ in range(waiting):
        scene.submit("careful")
    assert len(scene.broker.world.line) == waiting
    return scene


def heard(scene: Scene, rate: float) -> None:
    """A moment later, another result."""
    scene.now += 0.1
    scene.measure(NAMES[0], Metric.THROUGHPUT, rate)


def test_what_becomes_free_in_the_middle_of_a_round_is_not_for_the_tail(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "AT_ONCE", 20)
    scene = Scene(tmp_path, Broker)
    scene.know(dict.fromkeys(NAMES, 1e9))
    for number in range(24):
        scene.submit("careful", qspec={"throughput": {"min": f"{10_000 + number} Mbps"}})
    heard(scene, 2e9)
    heard(scene, 30e9)
    assert [flow.number for flow in scene.flows() if flow.path is not None] == [1, 2]


def test_a_flow_that_is_asked_for_while_others_wait_is_tried_at_once(tmp_path: Path) -> None:
    scene = crowded(tmp_path, 3)
    scene.submit("nimble")
    (small,) = (flow for flow in scene.flows() if flow.template.startswith("nimble"))
    assert small.state.holds_rules


# -- what a refusal rests on ------------------------------------------------------------------------------


def test_a_refusal_for_lack_of_nodes_does_not_outlast_its_event() -> None:
    stage = ready()
    world = stage.broker.world
    before, world.ledger = world.ledger, Ledger.of(dict.fromkeys(world.ledger.sites, Limits(nodes=0)), (), 0)
    waiting = stage.submit()
    stage.happen(SyncAsked(*stage.stamp(), "c"))
    stage.broker._placing.serve_queue(Tick(*stage.stamp()))
    assert stage.flow(waiting).state is FlowState.QUEUED
    world.ledger = before
    effects = stage.broker._placing.serve_queue(Tick(*stage.stamp()))
    assert [effect.flow.path for effect in effects if isinstance(effect, SaveFlow)] == ["al2s"]


def test_who_may_give_way_only_now_is_asked_now() -> None:
    """The one of low priority is active at last; nothing else has changed."""
    stage = ready(internet=2.0)
    stage.silent.add(OSU_EDGE)
    low = stage.submit(priority=100, streams=12, qspec={"throughput": {"min": "6 Mbps"}})
    stage.now += 1
    know(stage, al2s=4.5, internet=2.0)
    high = stage.submit(priority=900)
    stage.now += 1
    know(stage, internet=2.1)
    assert (stage.flow(low).state, stage.flow(high).state) == (FlowState.INSTALLING, FlowState.QUEUED)
    stage.silent.clear()
    stage.answer_late()
    assert stage.flow(low).state is FlowState.ACTIVE
    stage.broker._placing.begin()
    effects = stage.broker._placing.serve_queue(Tick(*stage.stamp()))
    admitted = [effect.flow.id for effect in effects if isinstance(effect, SaveFlow) and effect.flow.path]
    assert high.id in admitted


# -- at the limits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["1 B", "1000000000000000000 B"])
@pytest.mark.parametrize("bound", ["1e-320 bps", "5e-324 bps", "1 bps", "60.6 Mbps"])
@pytest.mark.parametrize("patience", ["1e-9 s", "1e300 s"])
def test_sizes_and_rates_at_the_limits_of_a_double(size: str, bound: str, patience: str) -> None:
    stage = ready(al2s=1.0, internet=1e-300)
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
        ready().submit("neuroblastoma", qspec={"throughput": {"min": bound}})
