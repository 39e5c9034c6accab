"""Trials: all combinations in order, seeds that depend on what a trial is."""

from __future__ import annotations

import itertools
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from mininet_topos.experiments.loading import ExperimentFile, parse_experiment
from mininet_topos.experiments.plan import Trial, count_trials, list_points, needs_netem, plan_trials
from tests.mininet_topos.experiments.synthetic_runs import FIGURE_21, load_figure_21, mu_osu

ONE = """\
experiment: one
title: One flow
network: mu_osu
scale: 100
sizes: 1000
templates: [soykb]
policies: [ours, always al2s, best test]
repetitions: 2
workload:
  - {flow: bulk, template: soykb, from: mu, to: osu, size: 1 GB}
"""


def planned(its: ExperimentFile) -> tuple[Trial, ...]:
    return plan_trials(its.experiment, mu_osu())


def one_flow(**changes: object) -> ExperimentFile:
    return parse_experiment(ONE, "one.yaml").change_fields(**changes)


def test_each_combination_occurs_once_and_repetitions_are_outermost():
    trials = planned(load_figure_21())
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
    text = FIGURE_21.replace("streams: 1\n", "streams: 1\n    window: 16 MiB\n    rate: 2 Gbps\n")
    text = text.replace(
        "cases:",
        "events:\n  - event: more\n    at: 7 s\n    load: {path: al2s, rate: 1 Gbps, for: 3 s}\n"
        "links: {al2s: {rate: 3 Gbps, delay: 20 ms}}\ncases:",
    )
    trial = planned(load_figure_21(text))[0]
    flow = next(one for one in trial.flows if one.name == "soykb")
    assert (flow.size, flow.window, flow.rate) == (5_000_000, 167_772, 20e6)
    assert trial.events[0].load is not None
    assert (trial.events[0].at, trial.events[0].load.rate, trial.events[0].load.lasts) == (7.0, 1e7, 3.0)
    assert (trial.links["al2s"].rate, trial.links["al2s"].delay) == (3e7, 0.02)
    soykb = next(one for one in trial.templates if one.name == "soykb")
    assert soykb.qspec.throughput is not None
    assert soykb.qspec.throughput.min == 7e6
    assert flow.floor == 7e6


def test_delay_or_loss_of_a_link_needs_netem():
    assert not any(map(needs_netem, planned(load_figure_21())))
    delayed = FIGURE_21.replace("cases:", "links: {al2s: {delay: 20 ms}}\ncases:", 1)
    assert all(map(needs_netem, planned(load_figure_21(delayed))))
    lossy = "events:\n  - {event: errors, at: 1 s, link: {path: al2s, loss: 1 %}}\ncases:"
    assert all(map(needs_netem, planned(load_figure_21(FIGURE_21.replace("cases:", lossy, 1)))))


@given(seed=st.integers(0, 2**63 - 1))
def test_same_seed_gives_the_same_plan(seed: int) -> None:
    one, other = (planned(one_flow(seed=seed)) for _ in range(2))
    assert one == other
    assert all(0 <= trial.seed < 2**63 for trial in one)
    assert len({trial.seed for trial in one}) == len(one)


@given(seed=st.integers(0, 2**63 - 1), more=st.integers(3, 6))
def test_further_policy_or_repetition_changes_no_other_trial(seed: int, more: int) -> None:
    before = {trial.key: trial for trial in planned(one_flow(seed=seed))}
    changed = one_flow(
        seed=seed, repetitions=more, policies=["always internet", "ours", "always al2s", "best test"]
    )
    after = {trial.key: trial for trial in planned(changed)}
    assert set(before) < set(after)
    for key, trial in before.items():
        assert replace(after[key], number=0) == replace(trial, number=0)


@given(st.lists(st.integers(1, 4), min_size=0, max_size=2), st.integers(1, 3))
def test_points_are_the_product_of_sweep_and_cases(lengths: list[int], cases: int) -> None:
    keys = ("soykb.streams", "neuroblastoma.streams")[: len(lengths)]
    sweep = {key: list(range(1, n + 1)) for key, n in zip(keys, lengths, strict=True)}
    named = {f"c{n}": {} for n in range(cases)}
    its = load_figure_21().change_fields(sweep=sweep, cases=named, figures={}, checks=[], plots=[]).experiment
    found = list(list_points(its))
    expected = [
        {"case": case, **dict(zip(keys, values, strict=True))}
        for case in named
        for values in itertools.product(*sweep.values())
    ]
    assert found == expected
    assert count_trials(its) == len(found) * its.repetitions


def test_seed_of_a_trial_is_the_same_on_every_machine() -> None:
    assert planned(one_flow(seed=21))[0].seed == 7876985704908286436
