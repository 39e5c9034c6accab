"""Which paths are tried together: the paper's rules, and that a trial shares one link only."""

from __future__ import annotations

from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.health.model import Pair
from measurement.snapshot.concurrent import Trial, leaves, plan, rounds
from measurement.snapshot.racks import Level, tree
from tests.measurement.snapshot.trees import Network, made
from tests.support.refusals import refused

FIGURE_5 = Network(
    {
        "a": ("s1", "r1", "m1"),
        "b": ("s1", "r1", "m2"),
        "c": ("s1", "r2", "m3"),
        "d": ("s2", "r3", "m4"),
        "e": ("s2", "r4", "m5"),
    }
)
TREE = tree(FIGURE_5.names, FIGURE_5.hops())


@pytest.mark.parametrize(
    ("level", "one", "other", "expected"),
    [
        (None, "a>c", "a>d", True),  # 1(a)
        (Level.RACK, "a>c", "b>d", True),  # 1(b)
        (Level.RACK, "a>b", "b>d", False),  # B is on the rack
        (Level.RACK, "a>c", "b>a", False),
        (Level.RACK, "a>d", "c>e", False),  # other racks
        (Level.SUBTREE, "a>d", "c>e", True),  # 2
        (Level.SUBTREE, "a>c", "c>e", False),  # B is in the subtree
        (Level.SUBTREE, "a>d", "d>a", False),
    ],
)
def test_the_rules(level: Level | None, one: str, other: str, expected: bool) -> None:
    first, second = Pair(*one.split(">")), Pair(*other.split(">"))
    group = frozenset({first.source}) if level is None else TREE.group(level, first.source)
    assert (leaves(group, first) and leaves(group, second)) is expected


def test_a_trial_for_every_group_that_several_paths_leave() -> None:
    trials = plan(TREE, FIGURE_5.alone())
    levels = [(trial.level, "".join(sorted(trial.group))) for trial in trials]
    assert levels == [
        *((None, name) for name in "abcde"),
        (Level.RACK, "ab"),
        (Level.SUBTREE, "abc"),
        (Level.SUBTREE, "de"),
    ]
    assert all(len(trial.paths) == 2 for trial in trials)


def test_the_fastest_ways_out_are_taken_for_they_fill_the_link_if_any_do() -> None:
    network = Network(FIGURE_5.at, {"a": 1e6, "b": 2e6})
    rates = network.alone()
    (rack,) = [trial for trial in plan(TREE, rates) if trial.level is Level.RACK]
    assert sorted(rates[path] for path in rack.paths) == [1e6, 2e6]
    wide = made(3, machines=6, racks=3, most=1)
    fast = {pair: 1e9 if pair.source.endswith("m1v0") else 1e6 for pair in wide.pairs}
    for trial in plan(tree(wide.names, wide.hops()), fast):
        if trial.level is Level.SUBTREE:
            assert {path.source for path in trial.paths} == {
                f"{name[:4]}m1v0" for name in (p.source for p in trial.paths)
            }


@given(st.integers(0, 5000), st.integers(2, 9))
def test_paths_leave_their_group_from_different_parts_to_different_instances(seed: int, width: int) -> None:
    network = made(seed, most=3)
    found = tree(network.names, network.hops())
    trials = plan(found, network.alone(), width)
    assert len({(trial.level, trial.group) for trial in trials}) == len(trials)
    for trial in trials:
        assert 2 <= len(trial.paths) <= width
        assert all(leaves(trial.group, path) for path in trial.paths)
        assert len({path.destination for path in trial.paths}) == len(trial.paths)
        if trial.level is None:
            assert trial.group == {path.source for path in trial.paths}
            assert not any(found.together(Level.MACHINE, *path) for path in trial.paths)
        else:
            assert len({path.source for path in trial.paths}) == len(trial.paths)


@given(st.integers(0, 5000))
def test_two_paths_share_no_smaller_group_where_that_can_be(seed: int) -> None:
    network = made(seed, most=2)
    found = tree(network.names, network.hops())
    for trial in plan(found, network.alone()):
        if trial.level in (Level.RACK, Level.SUBTREE):
            inner = Level.MACHINE if trial.level is Level.RACK else Level.RACK
            one, other = trial.paths
            assert not found.together(inner, one.source, other.source)


@given(st.integers(0, 2000))
def test_trials_of_one_round_do_not_meet(seed: int) -> None:
    network = made(seed, subtrees=4)
    found = tree(network.names, network.hops())
    trials = plan(found, network.alone())
    planned = rounds(found, trials)
    assert sorted(t for its in planned for t in map(repr, its)) == sorted(map(repr, trials))
    for its in planned:
        for one, other in combinations(its, 2):
            racks = [
                {found.group(Level.RACK, name) for path in trial.paths for name in path}
                for trial in (one, other)
            ]
            assert racks[0].isdisjoint(racks[1])


def test_trials_that_do_not_meet_are_in_one_round() -> None:
    network = Network({f"s{s}m{m}": (f"s{s}", f"s{s}r", f"s{s}m{m}") for s in range(3) for m in range(3)})
    found = tree(network.names, network.hops())
    within = [trial for trial in plan(found, network.alone()) if trial.level is None]
    assert len(within) == 9
    assert [len(its) for its in rounds(found, within)] == [3, 3, 3]


def test_trials_over_one_link_into_the_core_are_not_in_one_round() -> None:
    """Six racks, no two paths with one in common, but all of them lead from one subtree to the other."""
    network = Network({name: (f"s{name in 'cdef'}", f"r{name}", f"m{name}") for name in "abcdef"})
    found = tree(network.names, network.hops())
    trials = [
        Trial(None, frozenset(source), tuple(Pair(source, other) for other in others))
        for source, others in (("a", "cd"), ("b", "ef"))
    ]
    assert rounds(found, trials) == ((trials[0],), (trials[1],))
    within = Trial(None, frozenset("c"), (Pair("c", "d"), Pair("c", "e")))
    apart = Trial(None, frozenset("a"), (Pair("a", "b"),))
    assert rounds(found, [within, apart]) == ((within, apart),)


def test_within_one_physical_machine_nothing_is_tried() -> None:
    network = Network(dict.fromkeys("abc", ("s", "r", "m")))
    assert plan(tree(network.names, network.hops()), network.alone()) == ()


def test_paths_without_a_rate_are_not_used() -> None:
    rates = {pair: rate for pair, rate in FIGURE_5.alone().items() if pair.source != "a"}
    used = {path for trial in plan(TREE, rates) for path in trial.paths}
    assert used <= rates.keys()
    assert plan(TREE, {}) == ()


def test_one_path_is_no_trial() -> None:
    with refused(ValueError, "width"):
        plan(TREE, FIGURE_5.alone(), 1)
    assert len([*permutations("ab", 2)]) == 2
    alone = Network({"a": ("s", "r", "m1"), "b": ("s", "r", "m2")})
    assert plan(tree(alone.names, alone.hops()), alone.alone()) == ()
