"""Verdicts on checks: held, not held, cannot say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from mininet_topos.experiments.loading import ExperimentFile, parse_experiment
from mininet_topos.experiments.measures import full_scale_factor
from mininet_topos.experiments.plan import plan_trials
from mininet_topos.experiments.references import check_references
from mininet_topos.experiments.results import (
    DecisionRow,
    EventRow,
    RunResult,
    Tables,
    TrialRecord,
)
from mininet_topos.experiments.verdicts import OVERLAP, Conclusion, Outcome, Verdict, conclude, judge_all
from tests.mininet_topos.experiments import synthetic_runs
from tests.mininet_topos.experiments.synthetic_runs import make_row, mu_osu

FILE = """\
experiment: made
title: Made up
network: mu_osu
scale: 100
sizes: 1000
templates: [soykb]
repetitions: 3
workload:
  - {flow: a, template: soykb, from: mu, to: osu, size: 1 GB}
sweep: {a.streams: [1, 2, 4]}
figures:
  one: {of: transfer_time, flow: a, where: {a.streams: 1}, paper: 10 s}
  two: {of: transfer_time, flow: a, where: {a.streams: 2}}
  rate: {of: throughput, flow: a, where: {a.streams: 1}}
checks:
"""


def parse_made(text: str) -> ExperimentFile:
    return parse_experiment(text, "made.yaml")


Times = Mapping[int, Sequence[float | None]]


def run(
    times: Times, decisions: Callable[[TrialRecord], list[DecisionRow]] = lambda _: [], file: str = FILE
) -> RunResult:
    """Return a run.

    :param times: seconds of each repetition's transfer by number of streams; None if it failed.
    """
    its = parse_made(file + CHECKS["ratio"])
    trials_planned = plan_trials(its.experiment, mu_osu())
    trials, tables = [], Tables()
    for one in trials_planned:
        seconds = times[int(str(one.point["a.streams"]))]
        if one.repetition > len(seconds):
            continue
        took = seconds[one.repetition - 1]
        done = TrialRecord(
            one.number, one.key, one.policy, one.point, one.repetition, one.seed, synthetic_runs.BEGAN, 9.0
        )
        ended = None if took is None else 2.0 + took
        row = make_row(trial=one.number, ended=ended, received=1_000_000, problem="" if took else "cut off",
                   state="finished" if took else "failed")  # fmt: skip
        tables = synthetic_runs.join_tables(tables, Tables(flows=[row], decisions=decisions(done)))
        trials.append(done)
    info = replace(synthetic_runs.describe_run(its), trials=tuple(trials))
    return RunResult(info, tables)


CHECKS = {
    "ratio": "  - {check: c, ratio: [one, two], between: [1.5, 2.5], paper: 2}\n",
    "value": '  - {check: c, value: one, between: ["9 s", "11 s"], paper: 10 s}\n',
    "rate": '  - {check: c, value: rate, between: ["70 Mbps", "90 Mbps"], paper: 80 Mbps}\n',
}
GOOD: Times = {1: [10.0, 10.1, 9.9], 2: [5.0, 5.1, 4.9], 4: [2.5, 2.6, 2.4]}


def judged(check: str, times: Times) -> Verdict:
    its = parse_made(FILE + CHECKS.get(check, check))
    check_references(its, mu_osu())
    return judge_all(its.experiment, run(times))[0]


@pytest.mark.parametrize(
    ("check", "times", "outcome", "found"),
    [
        ("ratio", GOOD, Outcome.HELD, "2 ("),
        ("ratio", {**GOOD, 2: [9.0, 9.1, 8.9]}, Outcome.NOT_HELD, "1.11 ("),
        ("value", GOOD, Outcome.HELD, "10 s (100 s at full scale)"),
        ("value", {**GOOD, 1: [12.0] * 3}, Outcome.NOT_HELD, "12 s (120 s at full scale)"),
        ("rate", GOOD, Outcome.HELD, "800 kbps (80 Mbps at full scale)"),
        ("rate", {**GOOD, 1: [20.0] * 3}, Outcome.NOT_HELD, "400 kbps (40 Mbps at full scale)"),
    ],
)
def test_check_has_outcome_and_found_value(check: str, times: Times, outcome: Outcome, found: str) -> None:
    verdict = judged(check, times)
    assert verdict.outcome is outcome
    assert verdict.found.startswith(found)


def test_verdict_states_the_demand_as_the_document_does() -> None:
    assert judged("ratio", GOOD).bounds == "ratio: [one, two], between: [1.5, 2.5]"


def test_missing_repetition_or_value_cannot_be_judged():
    partial = judged("ratio", {1: [10.0, 10.2], 2: [5.0, 5.0, 5.0], 4: [1.0]})
    assert partial.outcome is Outcome.CANNOT_SAY
    assert {"one", "2", "3"} <= {*partial.doubt.split()}
    failed = judged("ratio", {**GOOD, 2: [5.0, None, 5.0]})
    assert failed.outcome is Outcome.CANNOT_SAY
    assert {"two", "failed"} <= {*failed.doubt.split()}


def test_partial_trial_counts_as_missing():
    its = parse_made(FILE + CHECKS["ratio"])
    whole = run(GOOD)
    trials = tuple(replace(one, partial="cut off") if one.number == 1 else one for one in whole.info.trials)
    found = judge_all(its.experiment, replace(whole, info=replace(whole.info, trials=trials)))
    assert found[0].outcome is Outcome.CANNOT_SAY


def decided(number: int, *turns: str) -> list[DecisionRow]:
    rows = []
    for at, turn in enumerate(turns):
        outcome, _, path = turn.partition(" ")
        rows.append(DecisionRow(number, float(at), "a", outcome, path or None, None, None, "because"))
    return rows


def test_no_check_is_held_without_trials():
    its = parse_made(FILE + "".join(CHECKS.values()) + EXPECTED)
    nothing = replace(run(GOOD).info, trials=())
    found = judge_all(its.experiment, RunResult(nothing, Tables()))
    assert {one.outcome for one in found} == {Outcome.CANNOT_SAY}
    assert len(found) == len(CHECKS) + 1


EXPECTED = "  - {check: c, decisions: [{flow: a, outcome: queue}, {flow: a, outcome: admit, path: al2s}]}\n"


@pytest.mark.parametrize(
    ("turns", "outcome", "found"),
    [
        (("queue", "queue", "admit al2s", "end al2s"), Outcome.HELD, "so"),
        (("queue", "admit al2s", "move internet"), Outcome.HELD, "so"),
        (("admit al2s",), Outcome.NOT_HELD, "a.streams=1"),
        (
            ("queue", "admit internet"),
            Outcome.NOT_HELD,
            "a.streams=1",
        ),
        ((), Outcome.NOT_HELD, "a.streams=1"),
    ],
)
def test_first_decisions_are_compared(turns: tuple[str, ...], outcome: Outcome, found: str) -> None:
    its = parse_made(FILE + EXPECTED)
    check_references(its, mu_osu())
    made = run(GOOD, lambda done: decided(done.number, *turns))
    verdict = judge_all(its.experiment, made)[0]
    assert verdict.outcome is outcome
    assert verdict.found.startswith(found)


@pytest.mark.parametrize(("reason", "outcome"), [("because", Outcome.HELD), ("alarm", Outcome.NOT_HELD)])
def test_reason_of_a_decision_must_contain_the_text(reason: str, outcome: Outcome) -> None:
    its = parse_made(FILE + f"  - {{check: c, decisions: [{{flow: a, outcome: admit, reason: {reason}}}]}}\n")
    made = run(GOOD, lambda done: decided(done.number, "admit al2s"))
    assert judge_all(its.experiment, made)[0].outcome is outcome


def test_repetitions_that_decide_differently_do_not_hold() -> None:
    its = parse_made(FILE + CHECKS["ratio"])
    alike = run(GOOD, lambda done: decided(done.number, "admit al2s"))
    assert judge_all(its.experiment, alike)[-1].outcome is Outcome.HELD
    other = run(
        GOOD, lambda done: decided(done.number, f"admit {'al2s' if done.repetition < 3 else 'internet'}")
    )
    verdict = judge_all(its.experiment, other)[-1]
    assert verdict.outcome is Outcome.NOT_HELD
    expected = "a.streams=1 / ours / 3: a: admit on internet, but admit on al2s (a.streams=1 / ours / 1)"
    assert verdict.found.startswith(expected)


def test_ratio_of_zeros_cannot_be_judged():
    its = parse_made(FILE.replace("{of: transfer_time, flow: a, where: {a.streams: 2}}",
                             "{of: received, flow: a, where: {a.streams: 2}}")
                .replace("{of: transfer_time, flow: a, where: {a.streams: 1}, paper: 10 s}",
                         "{of: received, flow: a, where: {a.streams: 1}}") + CHECKS["ratio"])  # fmt: skip
    check_references(its, mu_osu())
    whole = run(GOOD)
    rows = [row._replace(received=0) for row in whole.tables.flows]
    found = judge_all(its.experiment, replace(whole, tables=replace(whole.tables, flows=rows)))[0]
    assert found.outcome is Outcome.CANNOT_SAY


def test_half_of_a_run_cannot_be_judged():
    its = synthetic_runs.load_figure_21()
    check_references(its, mu_osu())
    whole = judge_all(its.experiment, synthetic_runs.make_run(its))
    assert [one.outcome.value for one in whole] == ["held", "held", "not held", "held"]
    half = judge_all(its.experiment, synthetic_runs.make_run(its, only=20))
    assert {one.outcome for one in half} == {Outcome.CANNOT_SAY}


def test_schedule_check_reads_overlaps_of_every_trial():
    its = parse_made(FILE + "  - {check: c, schedule: conflict-free}\n")
    whole = run(GOOD)
    assert judge_all(its.experiment, whole)[0].outcome is Outcome.HELD
    overlap = EventRow(2, 5.0, OVERLAP, "begins", "al2s and internet", "")
    tables = replace(whole.tables, events=[overlap])
    verdict = judge_all(its.experiment, replace(whole, tables=tables))[0]
    assert verdict.outcome is Outcome.NOT_HELD


@pytest.mark.parametrize(
    ("outcomes", "conclusion"),
    [
        ([], Conclusion.UNCHECKED),
        ([(Outcome.HELD, "")], Conclusion.HELD),
        ([(Outcome.HELD, ""), (Outcome.NOT_HELD, "known")], Conclusion.HELD_WITH_DISCREPANCIES),
        ([(Outcome.NOT_HELD, "known"), (Outcome.NOT_HELD, "")], Conclusion.NOT_HELD),
        ([(Outcome.NOT_HELD, "known"), (Outcome.CANNOT_SAY, "")], Conclusion.CANNOT_SAY),
    ],
)
def test_conclusion_of_a_run(outcomes: list[tuple[Outcome, str]], conclusion: Conclusion) -> None:
    info = run(GOOD).info
    found = [Verdict("c", outcome, discrepancy=known) for outcome, known in outcomes]
    assert conclude(info, found) is conclusion
    assert conclude(replace(info, partial="interrupted"), found) is Conclusion.PARTIAL


SIZED = """\
experiment: made
title: Made up
network: mu_osu
scale: 1000
sizes: 10000
templates: [soykb]
repetitions: 1
workload:
  - {flow: sized, template: soykb, from: mu, to: osu, size: 25 GB}
  - {flow: lasting, template: soykb, from: mu, to: osu, lasts: 45 s}
  - {flow: beside, template: soykb, from: mu, to: osu, until: [sized, ends]}
figures: {it: FIGURE}
checks:
  - {check: c, value: it, between: [0 B, 1 GB]}
"""
RATE, SIZE, TIME = 1000.0, 10_000.0, 10.0
UNKNOWN = None


@pytest.mark.parametrize(
    ("fields", "factor"),
    [
        ("{of: throughput, flow: lasting}", RATE),
        ("{of: throughput, flow: sized, during: [[lasting, begins], [sized, ends]]}", RATE),
        ("{of: received, flow: sized}", SIZE),
        ("{of: received, path: al2s, flow: sized}", SIZE),
        ("{of: received, flow: lasting}", RATE),
        ("{of: transfer_time, flow: sized}", TIME),
        ("{of: transfer_time, flow: lasting}", None),
        ("{of: waiting_time, flow: sized}", None),
        ("{of: moves, flow: sized}", None),
        ("{of: received}", UNKNOWN),
        ("{of: completion_time}", UNKNOWN),
        ("{of: received, flow: beside}", UNKNOWN),
        ("{of: received, flow: sized, during: [[sized, begins], [sized, ends]]}", UNKNOWN),
    ],
)
def test_full_scale_factor_depends_on_measure_and_flows(fields: str, factor: float | None) -> None:
    info = replace(run(GOOD).info, scale=RATE, sizes=SIZE)
    its = parse_made(SIZED.replace("FIGURE", fields)).experiment
    assert full_scale_factor(its.figures["it"], its, info) == factor


@pytest.mark.parametrize(
    ("fields", "factor"),
    [("{of: received}", RATE), ("{of: completion_time}", 1.0), ("{of: received, flow: beside}", RATE)],
)
def test_full_scale_factor_of_equal_divisors_is_always_known(fields: str, factor: float) -> None:
    info = replace(run(GOOD).info, scale=RATE, sizes=RATE)
    its = parse_made(SIZED.replace("FIGURE", fields)).experiment
    assert full_scale_factor(its.figures["it"], its, info) == factor


def test_bytes_without_a_full_scale_value_cannot_be_judged() -> None:
    its = parse_made(SIZED.replace("FIGURE", "{of: received}"))
    found = judge_all(its.experiment, synthetic_runs.make_run(its))
    assert found[0].outcome is Outcome.CANNOT_SAY
