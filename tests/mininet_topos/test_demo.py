"""The checks and the narration of the demo; ``test_demo_run.py`` runs it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from adon.api.alarms import AlarmView
from adon.api.decisions import DecisionView
from adon.api.measurements import SeriesView
from adon.client import Client
from mininet_topos.demo import EXPLANATIONS, Check, Narrator, check_alarm, check_figure_18
from mininet_topos.experiments.loading import load_experiment
from mininet_topos.experiments.results import DecisionRow, EventRow, MeasurementRow, Tables
from mininet_topos.experiments.verdicts import OVERLAP
from tests.mininet_topos.experiments.synthetic_runs import make_row

SERIES = SeriesView(path="al2s", source="mu", destination="osu", metric="rtt")
ELSEWHERE = SERIES.model_copy(update={"path": "internet"})
ALARM = AlarmView.model_construct(id="a-1", bad=True, series=SERIES)
MOVE = DecisionView.model_construct(
    outcome="move", alarm="a-1", reason="alarm a-1: the round trip of al2s rose"
)


class StoredAlarms:
    """What an ADON answers about one move."""

    def __init__(self, decisions: Sequence[Any] = (MOVE,), alarm: Any = ALARM) -> None:
        self._decisions, self._alarm = decisions, alarm

    def decisions(self, flow: str) -> Sequence[Any]:
        assert flow == "f-1"
        return self._decisions

    def alarm(self, alarm: str) -> Any:
        assert alarm == self._alarm.id
        return self._alarm


def decided(
    at: float, flow: str, outcome: str, path: str | None = None, site: str | None = None
) -> DecisionRow:
    return DecisionRow(1, at, flow, outcome, path, site, None, "because")


def make_test(at: float, value: float | None, path: str = "al2s") -> MeasurementRow:
    return MeasurementRow(1, at, path, "mu", "osu", "rtt", value)


@pytest.fixture
def figure_18():
    return Tables(
        flows=[make_row(name) for name in ("soykb-1", "neuroblastoma", "soykb-2", "soykb-3")],
        measurements=[make_test(1.0, 0.001)],
        decisions=[
            decided(1, "soykb-1", "admit", "al2s", "osu-hpc"),
            decided(2, "neuroblastoma", "admit", "al2s"),
            decided(3, "soykb-2", "admit", "internet", "mu-hpc"),
            decided(4, "soykb-3", "queue"),
            decided(5, "soykb-3", "admit", "al2s", "osu-hpc"),
        ],
    )


@pytest.fixture
def alarm():
    return Tables(
        flows=[make_row("steering", flow_id="f-1")],
        measurements=[make_test(40, 0.001), *(make_test(50 + 4 * n, 0.016) for n in range(3))],
        decisions=[decided(40, "steering", "admit", "al2s"), decided(59, "steering", "move", "internet")],
        events=[EventRow(1, 49.0, "others", "load", "begins", "load on al2s", "")],
    )


def judged(tables: Tables, adon: StoredAlarms | None = None) -> list[Check]:
    return check_alarm(tables, cast("Client", adon or StoredAlarms()))


def failed(checks: Sequence[Check]) -> list[str]:
    return [one.text.partition(":")[0] for one in checks if not one.held]


def test_the_story_has_sixteen_checks_that_hold(figure_18, alarm):
    checks = [*check_figure_18(figure_18), *judged(alarm)]
    assert len(checks) == 16
    assert failed(checks) == []


def test_another_decision_fails_its_step_and_no_other(figure_18):
    figure_18.decisions[2] = decided(3, "soykb-2", "admit", "internet", "osu-hpc")
    assert failed(check_figure_18(figure_18)) == ["t4"]


def test_a_flow_that_never_leaves_the_queue_fails_its_step(figure_18):
    del figure_18.decisions[4]
    assert failed(check_figure_18(figure_18)) == ["t8"]


@pytest.mark.parametrize("changes", [{"received": 999}, {"state": "failed", "problem": "no route"}])
def test_missing_bytes_fail_the_transfer(figure_18, changes):
    figure_18.flows[1] = make_row("neuroblastoma", **changes)
    assert failed(check_figure_18(figure_18)) == ["neuroblastoma"]


def test_tests_that_overlapped_or_never_ran_fail_the_plan(figure_18):
    row = EventRow(1, 3.0, OVERLAP, "tests", "begins", "a and b", "")
    overlapped = Tables(figure_18.flows, (), figure_18.measurements, figure_18.decisions, [row])
    untested = Tables(figure_18.flows, (), (), figure_18.decisions, ())
    assert failed(check_figure_18(overlapped)) == failed(check_figure_18(untested)) == ["figure 18"]


@pytest.mark.parametrize(
    "adon",
    [
        StoredAlarms(decisions=[MOVE.model_copy(update={"alarm": None})]),
        StoredAlarms(decisions=[MOVE.model_copy(update={"reason": "layer 3 is better"})]),
        StoredAlarms(decisions=[]),
        StoredAlarms(decisions=[MOVE, MOVE]),
        StoredAlarms(alarm=ALARM.model_copy(update={"bad": False})),
        StoredAlarms(
            alarm=ALARM.model_copy(update={"series": SERIES.model_copy(update={"path": "internet"})})
        ),
    ],
)
def test_a_move_without_the_alarm_of_its_path_fails(alarm, adon):
    assert failed(judged(alarm, adon)) == ["t12"]


@pytest.mark.parametrize("misses", [0, 10])
def test_a_move_without_a_miss_or_at_the_end_of_patience_fails(alarm, misses):
    late = [make_test(49.1 + n / 2, 0.016) for n in range(misses)]
    assert failed(
        judged(Tables(alarm.flows, (), [make_test(40, 0.001), *late], alarm.decisions, alarm.events))
    ) == ["t12"]


def test_each_step_of_the_story_is_explained_once():
    steps = [text.partition(":")[0] for text in EXPLANATIONS.values() if text.startswith("t")]
    assert steps == [f"t{number}" for number in range(1, 14)]


def test_explanations_are_of_flows_and_events_of_the_experiments():
    names = {
        step.name
        for name in ("figure-18", "alarm-reroute")
        for step in load_experiment(name).experiment.steps
    }
    assert {beginning.partition(" ")[0] for beginning in EXPLANATIONS} == names


def test_narrator_explains_a_step_before_its_line(capsys):
    Narrator()("soykb-3 requests a path from mu-dtn to osu-dtn")
    lines = capsys.readouterr().out.splitlines()
    assert EXPLANATIONS["soykb-3 requests"] in lines[1]
    assert lines[2].endswith("soykb-3 requests a path from mu-dtn to osu-dtn")
