"""Blueprints: each path once a round, nobody disturbed, the same order from the same seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.evaluations import builtins
from measurement.evaluation.blueprint import blueprint
from measurement.evaluation.document import AtOnce, Design, Order, Pilot
from measurement.evaluation.results import Path
from tests.support.refusals import refused


@st.composite
def designs(draw: st.DrawFn) -> Design:
    nodes = tuple(f"n{number}" for number in range(draw(st.integers(1, 6))))
    clients = tuple(f"c{number}" for number in range(draw(st.integers(0, 2))))
    return Design(
        nodes,
        runs=draw(st.integers(1, 4)),
        duration=1.0,
        clients=clients,
        within=len(nodes) < 2 or draw(st.booleans()),
        iterations=draw(st.integers(1, 3)),
        order=draw(st.sampled_from(Order)),
        at_once=draw(st.sampled_from(AtOnce)),
        seed=draw(st.integers(0, 9)),
        pilot=Pilot(runs=draw(st.integers(1, 2))),
    )


@given(designs(), st.booleans())
def test_each_path_is_tested_once_in_each_round(design: Design, pilot: bool) -> None:
    plan = blueprint(design, pilot=pilot)
    tests = [test for turn in plan.turns for test in turn]
    rounds = Counter((test.iteration, test.round, test.path) for test in tests)
    runs = (1, design.pilot.runs) if pilot else (design.iterations, design.runs)
    assert set(rounds.values()) == {1}
    assert {*rounds} == {
        (i, r, path) for i in range(runs[0]) for r in range(runs[1]) for path in design.tested
    }
    assert [test.number for test in tests] == [*range(plan.tests)]
    assert plan == blueprint(design, pilot=pilot)


@given(designs())
def test_tests_of_a_turn_keep_out_of_each_others_way(design: Design) -> None:
    for turn in blueprint(design).turns:
        assert len({test.port for test in turn}) == len(turn)
        match design.at_once:
            case AtOnce.ONE:
                assert len(turn) == 1
            case AtOnce.APART:
                busy = Counter(place for test in turn for place in {*test.path})
                assert max(busy.values()) == 1
            case AtOnce.ALL:
                assert len(turn) == len(design.tested)


def test_another_seed_is_another_order_and_each_round_its_own() -> None:
    design = Design(tuple("abcde"), runs=2, duration=1.0)
    rounds = [
        [test.path for turn in blueprint(replace(design, seed=seed)).turns for test in turn]
        for seed in (0, 1)
    ]
    assert rounds[0] != rounds[1]
    assert rounds[0][:15] != rounds[0][15:]
    listed = blueprint(replace(design, order=Order.AS_LISTED))
    assert [turn[0].path for turn in listed.turns] == [*design.tested, *design.tested]


def test_orders_are_evenly_drawn() -> None:
    """No path always comes first: each of 15 about 67 times in 1000 rounds."""
    design = Design(tuple("abcde"), runs=1000, duration=1.0)
    first = Counter(turn[0].path for turn in blueprint(design).turns[::15])
    assert len(first) == 15
    assert max(first.values()) < 110


def test_the_papers_design_takes_twelve_hours() -> None:
    """[CEEM] IV-G; its printed script, 5000 rounds of a minute, would take 83 hours and 20 minutes."""
    design = builtins.document("nectar").value().design
    plan = blueprint(design)
    assert (len(plan.turns), plan.tests, plan.lasts) == (720, 14_400, 12 * 3600)
    assert blueprint(replace(design, runs=5000)).lasts == 83 * 3600 + 20 * 60
    assert blueprint(replace(design, at_once=AtOnce.ONE)).lasts == 240 * 3600
    assert blueprint(design, pilot=True).lasts == 2 * 5


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"paths": (Path("a", "x"),)}, "paths"),
        ({"paths": (Path("u", "u"),)}, "paths"),
        ({"paths": (Path("a", "b"), Path("b", "a"))}, "paths"),
        ({"nodes": ()}, "nodes"),
        ({"nodes": ("a", "a/b")}, "nodes"),
        ({"nodes": ("a",), "clients": (), "within": False}, "nodes"),
        ({"duration": 0.0}, "duration"),
        ({"pause": -1.0}, "pause"),
        ({"pause": float("nan")}, "pause"),
        ({"seed": -1}, "seed"),
    ],
)
def test_designs_that_cannot_be_are_refused(change: dict[str, object], field: str) -> None:
    with refused(ValueError, field):
        replace(Design(("a", "b"), 1, 1.0, clients=("u",)), **change)
