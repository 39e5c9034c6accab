"""Blueprints: each path once a round, nobody disturbed, the same order from the same seed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.evaluation_file import BUILTIN
from measurement.ceem.blueprint import draw_blueprint
from measurement.ceem.template import Design, Pilot, PlacePath
from tests.support.refusals import refused


def change(design: Design, **values: Any) -> Design:
    return design.model_copy(update=values)


@st.composite
def designs(draw: st.DrawFn) -> Design:
    nodes = tuple(f"n{number}" for number in range(draw(st.integers(1, 6))))
    clients = tuple(f"c{number}" for number in range(draw(st.integers(0, 2))))
    return Design(
        nodes=nodes,
        runs=draw(st.integers(1, 4)),
        duration=1.0,
        clients=clients,
        within=len(nodes) < 2 or draw(st.booleans()),
        iterations=draw(st.integers(1, 3)),
        order=draw(st.sampled_from(["randomised", "as-listed"])),
        at_once=draw(st.sampled_from(["one", "apart", "all"])),
        seed=draw(st.integers(0, 9)),
        pilot=Pilot(runs=draw(st.integers(1, 2))),
    )


@given(designs(), st.booleans())
def test_each_path_is_tested_once_in_each_round(design: Design, pilot: bool) -> None:
    plan = draw_blueprint(design, pilot=pilot)
    tests = [test for turn in plan.turns for test in turn]
    rounds = Counter((test.iteration, test.round, test.path) for test in tests)
    runs = (1, design.pilot.runs) if pilot else (design.iterations, design.runs)
    assert set(rounds.values()) == {1}
    assert {*rounds} == {
        (i, r, path) for i in range(runs[0]) for r in range(runs[1]) for path in design.tested_paths
    }
    assert [test.number for test in tests] == [*range(plan.size)]
    assert plan == draw_blueprint(design, pilot=pilot)


@given(designs())
def test_tests_of_a_turn_keep_out_of_each_others_way(design: Design) -> None:
    for turn in draw_blueprint(design).turns:
        assert len({test.port_offset for test in turn}) == len(turn)
        match design.at_once:
            case "one":
                assert len(turn) == 1
            case "apart":
                busy = Counter(place for test in turn for place in {*test.path})
                assert max(busy.values()) == 1
            case "all":
                assert len(turn) == len(design.tested_paths)


def test_another_seed_is_another_order_and_each_round_its_own() -> None:
    design = Design(nodes=tuple("abcde"), runs=2, duration=1.0)
    rounds = [
        [test.path for turn in draw_blueprint(change(design, seed=seed)).turns for test in turn]
        for seed in (0, 1)
    ]
    assert rounds[0] != rounds[1]
    assert rounds[0][:15] != rounds[0][15:]
    listed = draw_blueprint(change(design, order="as-listed"))
    assert [turn[0].path for turn in listed.turns] == [*design.tested_paths, *design.tested_paths]


def test_orders_are_evenly_drawn() -> None:
    """No path always comes first: each of 15 about 67 times in 1000 rounds."""
    design = Design(nodes=tuple("abcde"), runs=1000, duration=1.0)
    first = Counter(turn[0].path for turn in draw_blueprint(design).turns[::15])
    assert len(first) == 15
    assert max(first.values()) < 110


def test_the_papers_design_takes_twelve_hours() -> None:
    """[CEEM] IV-G; its printed script, 5000 rounds of a minute, would take 83 hours and 20 minutes."""
    design = BUILTIN.load("nectar").design
    plan = draw_blueprint(design)
    assert (len(plan.turns), plan.size, plan.total_seconds) == (720, 14_400, 12 * 3600)
    assert draw_blueprint(change(design, runs=5000)).total_seconds == 83 * 3600 + 20 * 60
    assert draw_blueprint(change(design, at_once="one")).total_seconds == 240 * 3600
    assert draw_blueprint(design, pilot=True).total_seconds == 2 * 5


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"paths": (PlacePath("a", "x"),)}, "paths.0"),
        ({"paths": (PlacePath("u", "u"),)}, "paths.0"),
        ({"paths": (PlacePath("a", "b"), PlacePath("b", "a"))}, "paths.1"),
        ({"nodes": ()}, "nodes"),
        ({"nodes": ("a", "a/b")}, "nodes.1"),
        ({"nodes": ("a",), "clients": (), "within": False}, "nodes"),
        ({"duration": 0.0}, "duration"),
        ({"pause": -1.0}, "pause"),
        ({"pause": float("nan")}, "pause"),
        ({"seed": -1}, "seed"),
    ],
)
def test_designs_that_cannot_be_are_refused(change: dict[str, object], field: str) -> None:
    with refused(ValueError, field):
        Design(**{"nodes": ("a", "b"), "runs": 1, "duration": 1.0, "clients": ("u",), **change})
