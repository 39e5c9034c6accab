from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.broker import legs
from adon.broker.choice import Need
from adon.broker.cost.terms import NO_NETWORK
from tests.broker.stage import Stage, know, ready
from tests.depth import DEPTH

WAYS = (("mu", "osu"), ("osu", "mu"))


def something_happens(stage: Stage, chance: random.Random) -> None:
    match chance.randrange(8):
        case 0:
            stage.measure(chance.choice(("al2s", "internet")), chance.uniform(1, 90))
        case 1:
            stage.measure_back(chance.choice(("al2s", "internet")), chance.uniform(1, 90))
        case 2:
            stage.measure_rtt(chance.choice(("al2s", "internet")), chance.uniform(1e-3, 0.2))
        case 3:
            stage.measure_loss(chance.choice(("al2s", "internet")), chance.choice((0.0, 1e-4)))
        case 4:
            stage.submit(ports=[chance.randrange(20_000, 60_000)])
        case 5:
            stage.pass_time(chance.choice((0.5, 60.0, 400.0, 4000.0)))
        case 6:
            for flow in stage.broker.world.flows.running()[:1]:
                stage.report(flow, size=chance.randrange(1, 10**9))
        case 7:
            dpid = min(stage.connected)
            stage.disconnect(dpid)
            stage.connect(dpid)


@given(st.integers(0, 10_000))
@settings(max_examples=15 * DEPTH, deadline=None)
def test_what_is_kept_is_what_would_be_found(seed: int) -> None:
    stage, chance = ready(), random.Random(seed)
    know(stage, al2s=50, internet=20)
    need = Need.of(stage.broker.world.catalog.resolve("soykb"), stage.submit().request)
    for _ in range(25):
        something_happens(stage, chance)
        world = stage.broker.world
        for way in WAYS:
            assert legs.best(world, need, way, stage.now) == legs.found(world, need, way, stage.now)[0]


def test_the_path_of_the_highest_rate_counts_and_none_where_there_is_none() -> None:
    stage = ready()
    know(stage, al2s=50, internet=20)
    world = stage.broker.world
    need = Need.of(world.catalog.resolve("soykb"), stage.submit().request)
    terms = legs.best(world, need, ("mu", "osu"), stage.now)
    assert (terms.path, terms.available) == ("al2s", pytest.approx(29e6)), "beside a flow that has just begun"
    stage.pass_time(86_400)
    assert legs.best(world, need, ("mu", "osu"), stage.now) == NO_NETWORK
    assert legs.found(world, need, ("mu", "osu"), stage.now) == (NO_NETWORK, pytest.approx(math.inf))
