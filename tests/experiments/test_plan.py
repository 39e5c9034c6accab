"""Trials: all combinations in order, seeds that depend on what a trial is."""

from __future__ import annotations

import itertools
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from adon.experiments.document import Need
from adon.experiments.ordering import first_circle
from adon.experiments.plan import plan
from adon.experiments.reading import Source, parse
from adon.experiments.seeds import seed_of
from adon.experiments.sweeping import count, points
from tests.experiments.synthetic import FIGURE_21, MU_OSU, planned, source

ONE = """\
experiment: one
title: One flow
network: mu_osu
scale: 100
sizes: 1000
templates: [soykb]
policies: [ours, always al2s, ecmp]
repetitions: 2
workload:
  - {flow: bulk, template: soykb, from: mu, to: osu, size: 1 GB}
"""


def one_flow(**changes: object) -> Source:
    return parse(ONE).changed(**changes)


def test_every_combination_once_repetitions_outermost():
    trials = planned(source()).trials
    sizes = ("5 GB", "10 GB", "25 GB")
    expected = [
        (repetition, case, size)
        for repetition in (1, 2, 3)
        for case in ("contended", "alone", "layer-3")
        for size in sizes
    ]
    assert [(t.repetition, t.point["case"], t.point["soykb.size"]) for t in trials] == expected
    assert [trial.number for trial in trials] == list(range(1, 28))
    assert trials[0].key == "case=contended soykb.size=5 GB / ours / 1"


def test_rates_sizes_and_windows_are_divided_and_times_are_not():
    text = FIGURE_21.replace(
        "streams: 1\n", "streams: 1\n    window: 16 MiB\n    rate: 2 Gbps\n    deadline: 90 s\n"
    )
    text = text.replace(
        "cases:",
        "events:\n  - event: more\n    at: 7 s\n    load: {path: al2s, rate: 1 Gbps, for: 3 s}\n"
        "links: {al2s: {rate: 3 Gbps, delay: 20 ms}}\ncases:",
    )
    trial = planned(source(text)).trials[0]
    flow = next(one for one in trial.flows if one.name == "soykb")
    assert (flow.size, flow.window, flow.rate, flow.deadline) == (5_000_000, 167_772, 20e6, 90.0)
    assert trial.events[0].load is not None
    assert (trial.events[0].at, trial.events[0].load.rate, trial.events[0].load.lasts) == (7.0, 1e7, 3.0)
    assert (trial.links["al2s"].rate, trial.links["al2s"].delay) == (3e7, 0.02)
    soykb = next(one for one in trial.templates if one.name == "soykb")
    assert soykb.qspec.throughput is not None
    assert soykb.qspec.throughput.min == 7e6
    assert flow.floor == 7e6


def test_what_is_absent_is_not_there_and_counts_as_having_begun():
    alone = next(t for t in planned(source()).trials if t.point["case"] == "alone")
    (flow,) = alone.flows
    assert (flow.name, flow.at, flow.after) == ("soykb", 2.0, None)


def test_needs_are_those_said_and_those_done():
    assert planned(source()).needs == frozenset()
    delayed = FIGURE_21.replace("cases:", "links: {al2s: {delay: 20 ms}}\ncases:", 1)
    assert planned(source(delayed)).needs == {Need.DELAY}
    lossy = FIGURE_21.replace("cases:", "needs: [delay]\nlinks: {al2s: {loss: 0.1 %}}\ncases:", 1)
    assert planned(source(lossy)).needs == {Need.DELAY, Need.LOSS}


@given(seed=st.integers(0, 2**63 - 1))
def test_the_same_seed_makes_the_same_plan(seed: int) -> None:
    one, other = (planned(one_flow(seed=seed)) for _ in range(2))
    assert one == other
    assert all(0 <= trial.seed < 2**63 for trial in one.trials)
    assert len({trial.seed for trial in one.trials}) == len(one.trials)


@given(seed=st.integers(0, 2**63 - 1))
def test_what_a_policy_leaves_to_chance_is_the_same_in_every_repetition(seed: int) -> None:
    trials = planned(one_flow(seed=seed, repetitions=3)).trials
    seeds = {
        policy: {one.policy_seed for one in trials if one.policy == policy} for policy in ("ours", "ecmp")
    }
    assert [len(its) for its in seeds.values()] == [1, 1]
    assert seeds["ours"] != seeds["ecmp"]
    others = {one.policy_seed for one in planned(one_flow(seed=seed ^ 1)).trials}
    assert others.isdisjoint(set.union(*seeds.values()))


@given(seed=st.integers(0, 2**63 - 1), more=st.integers(3, 6))
def test_a_policy_or_repetition_more_changes_no_other_trial(seed: int, more: int) -> None:
    before = {trial.key: trial for trial in planned(one_flow(seed=seed)).trials}
    changed = one_flow(seed=seed, repetitions=more, policies=["lowest rtt", "ours", "always al2s", "ecmp"])
    after = {trial.key: trial for trial in planned(changed).trials}
    assert set(before) < set(after)
    for key, trial in before.items():
        assert replace(after[key], number=0) == replace(trial, number=0)


def test_a_seed_of_words_is_known():
    # Fixed for ever: a run of today and one of next year are the same trials.
    assert seed_of(21, "ours", 1) == seed_of(21, "ours", 1) != seed_of(22, "ours", 1)
    assert seed_of(21, "case=a / ours / 1") == 2317707810285228024
    assert seed_of(1, "a", "b") != seed_of(1, "ab")


@given(st.lists(st.integers(1, 4), min_size=0, max_size=2), st.integers(1, 3))
def test_points_are_the_product_of_everything(lengths: list[int], cases: int) -> None:
    keys = ("soykb.streams", "neuroblastoma.streams")[: len(lengths)]
    sweep = {key: list(range(1, n + 1)) for key, n in zip(keys, lengths, strict=True)}
    named = {f"c{n}": {} for n in range(cases)}
    its = source().changed(sweep=sweep, cases=named, figures={}, checks=[], plots=[]).experiment
    found = list(points(its))
    expected = [
        {"case": case, **dict(zip(keys, values, strict=True))}
        for case in named
        for values in itertools.product(*sweep.values())
    ]
    assert found == expected
    assert count(its) == len(found)


graphs = st.dictionaries(
    st.tuples(st.sampled_from("abcd"), st.booleans()),
    st.sets(st.tuples(st.sampled_from("abcd"), st.booleans()), max_size=3),
    max_size=8,
)


@given(graphs)
def test_a_circle_is_found_exactly_when_a_walk_comes_back(graph: dict) -> None:
    found = first_circle(graph)

    def reached(start: tuple[str, bool]) -> set:
        seen: set = set()
        todo = list(graph.get(start, ()))
        while todo:
            node = todo.pop()
            if node not in seen:
                seen.add(node)
                todo += graph.get(node, ())
        return seen

    assert bool(found) == any(node in reached(node) for node in graph)
    if found:
        assert found[0] == found[-1]
        for one, other in itertools.pairwise(found):
            assert other in graph[one]


def test_plans_of_a_hundred_combinations_are_quick_enough_to_be_made_before_each_run():
    many = source().changed(sweep={"soykb.streams": list(range(1, 34))}, figures={}, checks=[], plots=[])
    assert len(plan(many.experiment, many.templates, MU_OSU).trials) == 3 * 33 * 3
