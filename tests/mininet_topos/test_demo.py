"""The checks and the narration of the demo; ``test_demo_run.py`` runs it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from mininet_topos.demo import (
    ALARM,
    EXPERIMENTS,
    EXPLANATIONS,
    FIGURE_18,
    load_part,
    narrate,
    run_demo,
    select_verdicts,
)
from mininet_topos.experiments.document import Phase
from mininet_topos.experiments.results import (
    DecisionRow,
    EventRow,
    MeasurementRow,
    MomentRow,
    RunResult,
    Tables,
    TrialRecord,
)
from mininet_topos.experiments.verdicts import OVERLAP, Outcome, Verdict, judge_all
from tests.mininet_topos.experiments.synthetic_runs import describe_run, make_row
from tests.support.refusals import refused

BYTES = {"soykb-1": 50_000_000, "neuroblastoma": 225_000_000, "soykb-2": 4_000_000, "soykb-3": 12_500_000}
STEERING = 4_500_000
REASON = "alarm a-1 (warning: rtt on al2s from mu to osu: mean 16 ms, was 1 ms)"


def make_decision(
    at: float, flow: str, outcome: str, path: str | None = None, site: str | None = None, reason: str = ""
) -> DecisionRow:
    return DecisionRow(1, at, flow, outcome, path, site, None, reason)


@pytest.fixture
def figure_18() -> Tables:
    return Tables(
        flows=[make_row(name, size=size, received=size) for name, size in BYTES.items()],
        measurements=[MeasurementRow(1, 1.0, "al2s", "mu", "osu", "rtt", 0.001)],
        decisions=[
            make_decision(1, "soykb-1", "admit", "al2s", "osu-hpc"),
            make_decision(2, "neuroblastoma", "admit", "al2s"),
            make_decision(3, "soykb-2", "admit", "internet", "mu-hpc"),
            make_decision(4, "soykb-3", "queue"),
            make_decision(5, "soykb-3", "admit", "al2s", "osu-hpc"),
        ],
    )


@pytest.fixture
def alarm() -> Tables:
    return Tables(
        flows=[make_row("steering", size=STEERING, received=STEERING, paths="al2s > internet")],
        decisions=[
            make_decision(40, "steering", "admit", "al2s"),
            make_decision(59, "steering", "move", "internet", reason=REASON),
        ],
        moments=[MomentRow(1, 49.0, "others", Phase.BEGINS)],
    )


def judge(name: str, tables: Tables) -> list[Verdict]:
    its, topo = load_part(name, None)
    trial = TrialRecord(1, "ours", "ours", {}, 1, 1, 0.0, 60.0)
    info = describe_run(its, topo)
    observed = RunResult(replace(info, trials=(trial,)), tables)
    return select_verdicts(judge_all(its.experiment, observed))


def failed(verdicts: Sequence[Verdict]) -> list[str]:
    return [one.claim.partition(":")[0] for one in verdicts if one.outcome is not Outcome.HELD]


def test_sixteen_checks_hold(figure_18, alarm):
    verdicts = [*judge(FIGURE_18, figure_18), *judge(ALARM, alarm)]
    assert failed(verdicts) == []
    assert len(verdicts) == 16


def test_another_decision_fails_its_step_and_no_other(figure_18):
    figure_18.decisions[2] = make_decision(3, "soykb-2", "admit", "internet", "osu-hpc")
    assert failed(judge(FIGURE_18, figure_18)) == ["t4"]


def test_flow_that_never_leaves_the_queue_fails_its_step(figure_18):
    del figure_18.decisions[4]
    assert failed(judge(FIGURE_18, figure_18)) == ["t8"]


def test_missing_byte_fails_the_transfer(figure_18):
    figure_18.flows[1] = make_row("neuroblastoma", received=BYTES["neuroblastoma"] - 1)
    assert failed(judge(FIGURE_18, figure_18)) == ["every byte of neuroblastoma arrives"]


def test_tests_that_overlapped_fail_the_plan(figure_18):
    overlap = EventRow(1, 3.0, OVERLAP, "begins", "a and b", "")
    tables = replace(figure_18, events=[overlap])
    assert failed(judge(FIGURE_18, tables)) == ["no two conflicting tests overlapped"]


@pytest.mark.parametrize("reason", ["layer 3 is better", REASON.replace("al2s", "internet")])
def test_move_without_the_alarm_of_its_path_fails(alarm, reason):
    alarm.decisions[1] = make_decision(59, "steering", "move", "internet", reason=reason)
    assert failed(judge(ALARM, alarm)) == ["t12"]


def test_move_after_half_of_the_patience_fails(alarm):
    alarm.decisions[1] = make_decision(70, "steering", "move", "internet", reason=REASON)
    assert failed(judge(ALARM, alarm)) == ["t12"]


def test_second_move_fails(alarm):
    alarm.flows[0] = alarm.flows[0]._replace(paths="al2s > internet > al2s")
    assert failed(judge(ALARM, alarm)) == ["steering is moved once"]


def test_each_step_of_the_story_is_explained_once():
    steps = [text.partition(":")[0] for text in EXPLANATIONS.values() if text.startswith("t")]
    assert steps == [f"t{number}" for number in range(1, 14)]


def test_explanations_are_of_flows_and_events_of_the_experiments():
    names = {step.name for name in EXPERIMENTS for step in load_part(name, None)[0].experiment.steps}
    assert {beginning.partition(" ")[0] for beginning in EXPLANATIONS} == names


def test_step_is_explained_before_its_line(capsys):
    narrate("soykb-3 requests a path from mu-dtn to osu-dtn")
    lines = capsys.readouterr().out.splitlines()
    assert EXPLANATIONS["soykb-3 requests"] in lines[1]
    assert lines[2].endswith("soykb-3 requests a path from mu-dtn to osu-dtn")


def test_the_demo_does_not_run_in_a_guest(tmp_path):
    with refused("missing-requirement"):
        run_demo(tmp_path, stay=False, seed=None, platform="guest")
