"""Each change that is told was decided on: with it the alternative is taken, with slightly less it is not."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from adon.broker.broker import Broker
from adon.broker.flipping.nearest import Alternative, Flip, Searched, why_not
from adon.broker.flipping.outcome_ranges import Again, Found, stretches
from adon.broker.flipping.quantity import Kind, Quantity
from adon.broker.flipping.words import as_json, sentence
from adon.broker.recompute.again import decided_again
from adon.broker.recompute.seen import Snapshot
from adon.flowvisor.rules.action import PushVlan
from tests.depth import DEPTH
from tests.support.histories import NAMES, RATES, STEPS, TEMPLATES, Scene
from tests.support.stage import Stage, make_stage

FEW = 1_200


def place(snapshot: Snapshot, flip: Flip, value: float) -> tuple[str | None, str | None]:
    return Found.of(decided_again(flip.quantity.put(snapshot, value))).place


def beside(quantity: Quantity, one: float, other: float) -> bool:
    """No values worth telling are between the two."""
    apart = abs(one - other)
    if quantity.whole:
        return apart <= 1
    if 0 in (one, other):
        return apart <= 1e-11 * (quantity.high - quantity.low)
    return apart <= 1e-8 * max(abs(one), abs(other))


def check(snapshot: Snapshot, found: Searched) -> int:
    """Every flip of a search; how many there were."""
    count = 0
    for one in found.whynots:
        assert not one.alternative.is_taken(found.chosen)
        assert [flip.size for flip in one.flips] == sorted(flip.size for flip in one.flips)
        for flip in one.flips:
            count += 1
            taken = one.alternative.is_taken
            assert taken(place(snapshot, flip, flip.needed)), sentence(one.alternative, flip)
            assert taken(place(snapshot, flip, flip.told)), sentence(one.alternative, flip)
            if flip.short_of is None:
                continue
            assert not taken(place(snapshot, flip, flip.short_of)), sentence(one.alternative, flip)
            assert beside(flip.quantity, flip.needed, flip.short_of), sentence(one.alternative, flip)
    return count


def nothing_nearer(snapshot: Snapshot, wanted: Alternative, flip: Flip, chance: random.Random) -> None:
    """Nowhere between what it was and what it is short of would the alternative have been taken."""
    value = flip.quantity.value
    if value is None or flip.short_of is None or flip.quantity.whole:
        return
    for _ in range(5):
        between = value + (flip.short_of - value) * chance.random()
        assert not wanted.is_taken(place(snapshot, flip, between)), (flip, between)


# A history that follows from a number does not become simpler with a smaller one: nothing is shrunk.
@settings(
    max_examples=8 * DEPTH,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(seed=st.integers(0, 10**9))
def test_every_flip_of_any_decision_flips_and_slightly_less_does_not(seed: int) -> None:
    """The histories of test_watch.py: admissions, moves, stays, queues, expulsions."""
    chance = random.Random(seed)
    scene = Scene(Broker)
    scene.know({name: chance.choice(RATES) for name in NAMES})
    for kind in TEMPLATES:
        scene.ask(kind.name)
        scene.settle()
    for step in chance.choices(list(STEPS), list(STEPS.values()), k=40):
        step(scene, chance)
        scene.settle()
    recorded = {decision.id: decision for decision in scene.saved.decisions}
    for snapshot in chance.sample(scene.snapshots, min(2, len(scene.snapshots))):
        found = why_not(snapshot, FEW)
        assert found.decision == recorded[snapshot.decision]
        check(snapshot, found)
        for one in found.whynots:
            for flip in one.flips:
                if flip.quantity.kind in (Kind.METRIC, Kind.WEIGHT):
                    nothing_nearer(snapshot, one.alternative, flip, chance)


def flips(snapshot: Snapshot, path: str, kind: Kind, name: str = "", of: str | None = None) -> list[Flip]:
    found = why_not(snapshot)
    return [
        flip
        for one in found.whynots
        if one.alternative.path == path
        for flip in one.flips
        if flip.quantity.kind is kind and flip.quantity.name == name and of in (None, flip.quantity.path)
    ]


TWO: Any = {"qspec": {"throughput": {"min": "1 Mbps"}, "rtt": {"max": "200 ms"}}, "template": "neuroblastoma"}


def two(**known: float) -> tuple[Stage, Snapshot]:
    """Two paths measured, one flow admitted."""
    stage = make_stage(**known)
    for path, rtt in (("al2s", 0.02), ("internet", 0.06)):
        stage.measure(path, rtt=rtt)
    stage.submit(**TWO, weights={"throughput": 1.0, "rtt": 1.0})
    return stage, stage.snapshots[-1]


def test_a_crossing_is_where_the_scores_are_equal() -> None:
    """By the tables that the decision recorded, with both values put in by hand."""
    stage, snapshot = two(internet=50.0)
    decision = stage.saved.decisions[-1]
    assert decision.path == "al2s"
    (flip,) = flips(snapshot, "internet", Kind.METRIC, "rtt", "al2s")
    assert flip.quantity.value == 0.02
    again = decided_again(flip.quantity.put(snapshot, flip.needed))
    q = {one.path: one.q for one in again.candidates}
    assert q["al2s"] is not None
    assert q["al2s"] == pytest.approx(q["internet"], abs=1e-6)
    assert flip.short_of is not None
    assert 0.02 < flip.short_of < flip.needed <= flip.told


@pytest.mark.parametrize("low", [0.0, -1.0])
def test_what_holds_for_exactly_nothing_is_short_of_next_to_nothing(low: float) -> None:
    """Halving towards zero never comes to values that are close by ratio."""
    _, snapshot = two(internet=50.0)
    other = replace(snapshot, decision="other")
    taken = decided_again(snapshot)
    quantity = Quantity(
        Kind.WEIGHT, "rtt", None, "", 1.0, low, 4.0, lambda was, value: other if value <= 0 else was
    )
    again = Again(snapshot, FEW, lambda seen: replace(taken, path="internet") if seen is other else taken)
    nothing, rest = stretches(again, quantity)
    assert (nothing.high, nothing.above) == (rest.below, rest.low)
    assert beside(quantity, nothing.high, rest.low)
    assert FEW - again.left < 60


def test_the_change_is_true_in_the_world_as_well() -> None:
    """Measured so in earnest, the broker takes the other path; measured slightly less, it does not."""
    _, snapshot = two(internet=50.0)
    (flip,) = flips(snapshot, "internet", Kind.METRIC, "rtt", "al2s")
    assert flip.short_of is not None
    taken = {}
    for value in (flip.needed, flip.short_of):
        stage = make_stage(internet=50.0)
        for path, rtt in (("al2s", 0.02), ("internet", 0.06)):
            stage.measure(path, rtt=rtt)
        stage.now += 1  # the best that was ever seen stays what it was
        stage.measure("al2s", rtt=value)
        taken[value] = stage.submit(**TWO, weights={"throughput": 1.0, "rtt": 1.0}).path
    assert taken == {flip.needed: "internet", flip.short_of: "al2s"}


def differing() -> Stage:
    """One path is better by throughput, the other by delay."""
    stage = make_stage(internet=40.0)
    for path, rtt in (("al2s", 0.09), ("internet", 0.002)):
        stage.measure(path, rtt=rtt)
    return stage


def test_a_weight_by_which_the_other_path_is_better() -> None:
    stage = differing()
    assert stage.submit(**TWO, weights={"throughput": 10.0, "rtt": 1.0}).path == "al2s"
    (flip,) = flips(stage.snapshots[-1], "internet", Kind.WEIGHT, "rtt")
    assert flip.short_of is not None
    for weight, path in ((flip.told, "internet"), (flip.short_of, "al2s")):
        asked = {"throughput": 1 - weight, "rtt": weight}
        assert differing().submit(**TWO, weights=asked).path == path


def test_a_bound_that_kept_a_path_out() -> None:
    stage = make_stage(al2s=58.0, internet=6.5)
    stage.submit(qspec={"throughput": {"min": "60 Mbps"}})
    snapshot = stage.snapshots[-1]
    (flip,) = flips(snapshot, "al2s", Kind.BOUND, "throughput")
    assert flip.needed == pytest.approx(58e6)
    assert flip.needed <= 58e6
    text = sentence(Alternative("al2s", None), flip)
    assert text.startswith("al2s would have been taken if the bound of throughput had been 5")


def test_what_was_never_measured_is_told_as_what_it_would_have_had_to_be() -> None:
    stage = Stage()
    stage.connect()
    stage.measure("al2s", loss=0.0)
    stage.measure("internet", loss=0.0)
    stage.measure("al2s", 58.0)
    assert stage.submit(qspec={"throughput": {"min": "5 Mbps"}}).path == "al2s"
    found = why_not(stage.snapshots[-1])
    for one in found.whynots:
        for flip in one.flips:
            assert flip.quantity.value is not None or math.isinf(flip.size)
    check(stage.snapshots[-1], found)


def test_one_that_a_hold_off_kept_away() -> None:
    stage = make_stage()
    stage.refuse_changes(
        lambda change: "BAD_ACTION" if PushVlan(1701) in getattr(change.rule, "actions", ()) else ""
    )
    stage.cancel(stage.submit(qspec={"throughput": {"min": "5 Mbps"}}))
    stage.end_faults()
    assert stage.submit(qspec={"throughput": {"min": "5 Mbps"}}).path == "internet"
    found = why_not(stage.snapshots[-1])
    assert any(flip.quantity.kind is Kind.CLOSED for one in found.whynots for flip in one.flips)
    check(stage.snapshots[-1], found)


def test_a_running_flow_that_stays_by_the_margin() -> None:
    stage = make_stage(al2s=30.0, internet=20.0)
    flow = stage.submit(qspec={"throughput": {"min": "1 Mbps"}})
    stage.pass_time(100)
    before = len(stage.saved.decisions)
    for rate in (22.0, 31.0, 45.0):
        stage.measure("internet", rate)
        stage.measure("internet", loss=0.0)
    assert stage.flow(flow).path
    for snapshot in stage.snapshots[before:]:
        check(snapshot, why_not(snapshot))


def test_nothing_that_would_have_done_is_said_so_with_the_bounds() -> None:
    _, snapshot = two()
    found = as_json(why_not(snapshot, 40))
    assert found["left_out"]
    assert [one for one in found["alternatives"] if not one["flips"]]  # type: ignore[attr-defined]
    full = as_json(why_not(snapshot))
    assert not full["left_out"]
    assert all(one["low"] <= one["high"] for one in full["searched"])  # type: ignore[attr-defined]


def test_what_is_asked_again_is_answered_alike() -> None:
    _, snapshot = two()
    assert as_json(why_not(snapshot)) == as_json(why_not(snapshot))
