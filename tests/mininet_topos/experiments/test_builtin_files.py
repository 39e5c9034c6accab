"""The built-in experiments fit their networks, quote their papers, and have bounds that they can meet."""

from __future__ import annotations

import pytest

from mininet_topos.experiments.document import Check
from mininet_topos.experiments.loading import BUILT_IN, ExperimentFile, load_experiment
from mininet_topos.experiments.plan import Trial, needs_netem, plan_trials
from mininet_topos.experiments.references import check_references
from mininet_topos.topologies.campus_topo import CampusTopo
from mininet_topos.topology_catalog import load_topology

NAMES = BUILT_IN.names()


def topology(its: ExperimentFile) -> CampusTopo:
    return load_topology(its.experiment.network, its.experiment.scale)


def planned(its: ExperimentFile) -> tuple[Trial, ...]:
    """Return its trials; it must have no problem."""
    topo = topology(its)
    check_references(its, topo)
    return plan_trials(its.experiment, topo)


def ratio_check(name: str, words: str) -> Check:
    """Return the check of an experiment whose claim contains the words."""
    (found,) = (check for check in load_experiment(name).experiment.checks if words in check.check)
    assert found.ratio
    return found


def holds(check: Check, ratio: object) -> bool:
    """Return whether a ratio is between its bounds."""
    low, high = check.between or (None, None)
    return (low is None or low <= ratio) and (high is None or ratio <= high)  # type: ignore[operator]


@pytest.mark.parametrize("name", NAMES)
def test_built_in_experiment_fits_its_network(name: str) -> None:
    source = load_experiment(name)
    assert source.experiment.experiment == name
    assert planned(source)


@pytest.mark.parametrize("name", NAMES)
def test_built_in_experiment_states_source_and_checks(name: str) -> None:
    experiment = load_experiment(name).experiment
    assert experiment.source
    assert experiment.about
    assert experiment.checks
    assert experiment.plots
    lead = [line for line in BUILT_IN.text(name).splitlines() if line.startswith("#")]
    assert len(lead) >= 3


@pytest.mark.parametrize("name", NAMES)
def test_experiment_that_follows_a_paper_has_its_values(name: str) -> None:
    experiment = load_experiment(name).experiment
    if experiment.follows != "own":
        assert any(check.paper is not None for check in experiment.checks)


@pytest.mark.parametrize("name", NAMES)
def test_value_of_the_paper_is_within_the_bounds(name: str) -> None:
    for check in load_experiment(name).experiment.checks:
        if check.ratio and check.paper is not None:
            assert holds(check, check.paper), check.check


def test_only_experiments_with_delay_or_loss_need_netem() -> None:
    found = [name for name in NAMES if any(map(needs_netem, planned(load_experiment(name))))]
    assert found == ["delay-flips", "figure-22", "figure-23", "figure-24", "loss-flips"]


def test_contending_streams_of_figure_21_leave_around_500_mbps() -> None:
    (event,) = load_experiment("figure-21").experiment.events
    assert event.load is not None
    assert event.load.streams is not None
    share = 5.8e9 / (event.load.streams + 1)
    assert share == pytest.approx(500e6, rel=0.06)
    assert holds(ratio_check("figure-21", "beats contended"), 650e6 / share)


def by_one_window(name: str) -> tuple[float, float]:
    """Return bits/s on layer 2 of one stream with the smallest window, and of the path."""
    source = load_experiment(name)
    trials = planned(source)
    window = min(flow.window for trial in trials for flow in trial.flows if flow.window is not None)
    delay = source.experiment.links["al2s"].delay
    assert delay is not None
    return window * 8 / (2 * delay), topology(source).paths["al2s"].goodput


def test_one_window_of_16_mb_leaves_the_gain_of_figures_22_and_23() -> None:
    window, path = by_one_window("figure-23")
    assert window / path == pytest.approx(16e6 * 8 / 0.033 / 5.8e9, rel=0.01)
    assert holds(ratio_check("figure-23", "50 % more than 16 MB"), path / window)
    assert by_one_window("figure-22") == (window, path)
    assert holds(ratio_check("figure-22", "sixteen threads carry more"), path / window)


def test_sixteen_windows_cannot_make_figure_23() -> None:
    window, path = by_one_window("figure-23")
    assert 16 * window > path
    check = ratio_check("figure-23", "sixteen threads")
    assert check.discrepancy
    assert not holds(check, 1.0)


def test_figure_18_expects_the_decisions_of_the_thesis() -> None:
    checks = load_experiment("figure-18").experiment.checks
    last = [check.decisions[-1] for check in checks if check.decisions]
    assert [(one.flow, one.outcome, one.path) for one in last[:4]] == [
        ("soykb-1", "admit", "al2s"),
        ("neuroblastoma", "admit", "al2s"),
        ("soykb-2", "admit", "internet"),
        ("soykb-3", "queue", None),
    ]


def test_figure_18_requests_the_rates_of_the_thesis() -> None:
    flows = {flow.name: flow for flow in planned(load_experiment("figure-18"))[0].flows}
    asked = {
        name: flow.qspec.throughput.min
        for name, flow in flows.items()
        if flow.qspec is not None and flow.qspec.throughput is not None
    }
    assert {name: rate for name, rate in asked.items() if name.startswith("soykb")} == {
        "soykb-1": 700e6 / 200,
        "soykb-2": 600e6 / 200,
        "soykb-3": 700e6 / 200,
    }
