"""Nobody is overtaken for ever, whoever comes: what a flow waits for is kept for it after a while."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adon.broker.broker import Broker
from adon.broker.events import FlowCancelled, TransferReported, WaitingAsked
from adon.broker.flow import Flow, FlowState
from adon.config.policy import QueuePolicy
from adon.errors import InvalidInput
from adon.templates_catalog.catalog import Catalog
from tests.broker.queueing.scenes import full
from tests.depth import DEPTH
from tests.support.factories import make_catalog
from tests.support.histories import NAMES, Scene
from tests.support.network_factories import make_configuration
from tests.support.refusals import refused
from tests.support.stage import Stage, know, make_stage

SMALL: dict[str, Any] = {"qspec": {"throughput": {"min": "4 Mbps"}}}
PATIENT = QueuePolicy.model_validate({"overtaken_for": "5 min"})


def waits(stage: Stage, seconds: float) -> None:
    for _ in range(int(seconds // 100)):
        stage.pass_time(100)
        know(stage, al2s=5.0, internet=2.0)


def crowd() -> tuple[Stage, Flow]:
    """A flow that needs 8 Mbit/s waits for a path that has 5 left at present, and has had 58."""
    stage, _, waiting = full(queue=PATIENT)
    stage.pass_time(1)
    know(stage, al2s=5.0, internet=2.0)
    return stage, waiting


def test_a_smaller_flow_goes_ahead_for_a_while_and_then_not_any_more() -> None:
    stage, _ = crowd()
    assert stage.submit(**SMALL).path == "al2s"
    waits(stage, 400)
    held = stage.submit(**SMALL)
    stage.expect(held, state="queued", why={"al2s": "path-kept"})


def test_who_is_before_in_line_is_not_kept_off() -> None:
    stage, _ = crowd()
    waits(stage, 400)
    assert stage.submit(priority=900, **SMALL).path == "al2s"


def test_who_wants_another_path_is_not_kept_off() -> None:
    stage, waiting = crowd()
    waits(stage, 400)
    stage.pass_time(1)
    know(stage, internet=6.5)
    assert stage.submit(**SMALL).path == "internet"
    assert stage.flow(waiting).state is FlowState.QUEUED


@pytest.mark.parametrize("ends", ["cancelled", "admitted"])
def test_what_was_kept_is_anybody_s_when_who_waited_is_gone(ends: str) -> None:
    stage, waiting = crowd()
    waits(stage, 400)
    small = stage.submit(**SMALL)
    assert small.state is FlowState.QUEUED
    if ends == "cancelled":
        stage.cancel(waiting)
    else:
        stage.pass_time(5)
        know(stage, al2s=58.0)
        assert stage.flow(waiting).path == "al2s"
    assert stage.flow(small).path == "al2s"


def test_a_path_that_never_carried_so_much_is_not_kept() -> None:
    """Nobody is kept off for somebody who can never go."""
    stage = make_stage(make_configuration(queue=PATIENT), al2s=5.0, internet=2.0)
    waiting = stage.submit(qspec={"throughput": {"min": "40 Mbps"}})
    waits(stage, 400)
    assert stage.flow(waiting).state is FlowState.QUEUED
    assert stage.submit(**SMALL).path == "al2s"


def test_nothing_is_reserved_of_what_is_kept() -> None:
    """Who reserves again and again would else take it from those who wait."""
    stage, _ = crowd()
    wish: dict[str, Any] = {
        "size": "10 MB",
        "not_before": "1 min",
        "qspec": {"throughput": {"min": "6 Mbps"}},
    }
    assert stage.submit(**wish).booking.path == "al2s"
    waits(stage, 400)
    with refused(InvalidInput, field="not_before"):
        stage.submit(**wish)


def test_worker_nodes_are_kept_too() -> None:
    soykb = make_catalog().get("soykb")
    asked = soykb.rspec.compute
    assert asked is not None
    much = soykb.rspec.model_copy(update={"compute": asked.model_copy(update={"worker_nodes": 8})})
    hungry = soykb.model_copy(update={"name": "hungry", "rspec": much})
    stage = Stage(make_configuration(queue=PATIENT, reserve_nodes=0), Catalog.of([soykb, hungry]))
    stage.connect()
    know(stage, al2s=58.0, internet=6.5)
    stage.reserve("zoe", compute="mu-hpc", worker_nodes=4)
    stage.reserve("zoe", compute="osu-hpc", worker_nodes=10)
    waiting = stage.submit("hungry", **SMALL)
    stage.expect(waiting, code="no-site")
    assert stage.submit(**SMALL).state is FlowState.ACTIVE
    for _ in range(4):
        stage.pass_time(100)
        know(stage, al2s=58.0, internet=6.5)
    held = stage.submit(**SMALL)
    stage.expect(held, state="queued", code="site-kept")


# -- the bound, against an adversary ---------------------------------------------------------------------

OVERTAKEN_S, AGING_S, HURRY = 20.0, 0.1, 50


@settings(max_examples=2 * DEPTH, suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 10**9))
def test_whoever_is_admitted_late_to_what_a_flow_waits_for_was_before_it(seed: int) -> None:
    """An adversary sends small flows of any priority and deadline, for ever, so that one never finds room.

    The one needs 30 Gbit/s of a path that has had 40; small ones need one.  After ``overtaken_for`` nobody is
    admitted to the path it wants who is not before it; and nobody is before it who came after the bound.
    """
    chance = random.Random(seed)
    policy = {"overtaken_for": f"{OVERTAKEN_S} s", "hurry": HURRY}
    scene = Scene(Broker, queue=policy, aging=f"{AGING_S} s", preemption=False)
    scene.know(dict.fromkeys(NAMES, 40e9))
    scene.now += 1
    scene.know(dict.fromkeys(NAMES, 9e9))
    scene.ask("far", priority=chance.randrange(1000), streams=1, queue_patience="1 h")
    (large,) = scene.flows()
    assert large.state is FlowState.QUEUED
    arrived, last = scene.now, None
    for _ in range(60):
        known = {flow.number for flow in scene.flows() if flow.state.holds_rules}
        _stir(scene, chance)
        scene.settle()
        now = scene.broker.flows.get(large.number)
        if now is None or now.state is not FlowState.QUEUED:
            return
        claimed = scene.claimed_path(large) if scene.now - arrived >= OVERTAKEN_S else None
        bound = scene.command(WaitingAsked, large.number)["not_overtaken_from"]
        for flow in scene.flows():
            admitted = flow.number not in known and flow.state.holds_rules
            if admitted and claimed is not None and flow.path == claimed == last:
                assert flow.submitted_at <= bound, f"{flow.id} overtook"
        last = claimed


def _stir(scene: Scene, chance: random.Random) -> None:
    scene.now += chance.choice([0.5, 1.0, 3.0])
    for name in NAMES:
        rate = chance.choice([3e9, 9e9, 12e9, 25e9])
        scene.know({name: rate})
    running = [flow for flow in scene.flows() if flow.state.holds_rules]
    if running and chance.random() < 0.4:
        stamp = scene.stamp()
        number = chance.choice(running).number
        scene.feed(TransferReported(*stamp, f"c-{stamp[0]}", number, "finished", 1))
    waiting = [flow for flow in scene.flows() if flow.state is FlowState.QUEUED][1:]
    if len(waiting) > 5:
        stamp = scene.stamp()
        scene.feed(FlowCancelled(*stamp, f"c-{stamp[0]}", chance.choice(waiting).number, "ann"))
    fields: dict[str, Any] = {"priority": chance.randrange(1000), "queue_patience": "1 h"}
    if chance.random() < 0.5:
        fields |= {"deadline": "20 s", "size": "1 GB"}
    scene.ask(chance.choice(["nimble", "careful"]), **fields)
