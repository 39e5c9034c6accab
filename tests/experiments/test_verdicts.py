"""What becomes of checks: held, not held, cannot say; the interval, the paper's value and the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.experiments.agreement import differences
from adon.experiments.measures import Observed
from adon.experiments.reading import parse
from adon.experiments.results import DecisionRow, Run, State, Tables, TrialDone
from adon.experiments.verdicts import Outcome, Verdict, verdicts
from tests.experiments import synthetic
from tests.experiments.synthetic import make_row

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
  all: {of: transfer_time, flow: a}
  rate: {of: throughput, flow: a, where: {a.streams: 1}}
checks:
"""
Times = Mapping[int, Sequence[float | None]]


def run(
    times: Times, decisions: Callable[[TrialDone], list[DecisionRow]] = lambda _: [], file: str = FILE
) -> Run:
    """A run in which the transfer with so many streams took so long, a repetition after the other."""
    its = parse(file + CHECKS["ratio"])
    plan = synthetic.planned(its)
    trials, tables = [], Tables()
    for one in plan.trials:
        seconds = times[int(str(one.point["a.streams"]))]
        if one.repetition > len(seconds):
            continue
        took = seconds[one.repetition - 1]
        done = TrialDone(
            one.number, one.key, one.policy, one.point, one.repetition, one.seed, synthetic.BEGAN, 9.0
        )
        ended = None if took is None else 2.0 + took
        row = make_row(trial=one.number, ended=ended, received=1_000_000, trouble="" if took else "cut off",
                   state="finished" if took else "failed")  # fmt: skip
        tables = synthetic.with_more(tables, Tables(flows=[row], decisions=decisions(done)))
        trials.append(done)
    about = replace(synthetic.about(its, plan), trials=tuple(trials))
    return Run(about, tables)


CHECKS = {
    "ratio": "  - {check: c, ratio: [one, two], between: [1.5, 2.5], paper: 2}\n",
    "value": '  - {check: c, value: one, between: ["9 s", "11 s"], paper: 10 s}\n',
    "rate": '  - {check: c, value: rate, between: ["70 Mbps", "90 Mbps"], paper: 80 Mbps}\n',
    "falling": "  - {check: c, order: all, over: a.streams, is: falling}\n",
    "rising": "  - {check: c, order: [two, one], is: rising}\n",
    "rising within": "  - {check: c, order: [two, one], is: rising, within: 10 %}\n",
    "falling within": "  - {check: c, order: all, over: a.streams, is: falling, within: 10 %}\n",
    "flat": "  - {check: c, order: all, over: a.streams, is: flat, within: 20 %}\n",
}
GOOD: Times = {1: [10.0, 10.1, 9.9], 2: [5.0, 5.1, 4.9], 4: [2.5, 2.6, 2.4]}


def judged(check: str, times: Times) -> Verdict:
    its = parse(FILE + CHECKS.get(check, check))
    its.check(synthetic.MU_OSU)
    return verdicts(its.experiment, Observed.of(run(times)))[0]


@pytest.mark.parametrize(
    ("check", "times", "outcome", "found"),
    [
        ("ratio", GOOD, Outcome.HELD, "2 ("),
        ("ratio", {**GOOD, 2: [9.0, 9.1, 8.9]}, Outcome.NOT_HELD, "1.11 ("),
        ("value", GOOD, Outcome.HELD, "10 s (100 s at full scale)"),
        ("value", {**GOOD, 1: [12.0] * 3}, Outcome.NOT_HELD, "12 s (120 s at full scale)"),
        ("rate", GOOD, Outcome.HELD, "800 kbps (80 Mbps at full scale)"),
        ("rate", {**GOOD, 1: [20.0] * 3}, Outcome.NOT_HELD, "400 kbps (40 Mbps at full scale)"),
        ("falling", GOOD, Outcome.HELD, "1: 10 s, 2: 5 s, 4: 2.5 s"),
        ("falling", {**GOOD, 4: [5.0] * 3}, Outcome.NOT_HELD, "1: 10 s, 2: 5 s, 4: 5 s"),
        ("rising", GOOD, Outcome.HELD, "two: 5 s, one: 10 s"),
        ("rising", {**GOOD, 2: [11.0] * 3}, Outcome.NOT_HELD, "two: 11 s, one: 10 s"),
        ("rising within", {**GOOD, 1: [4.8] * 3}, Outcome.HELD, "two: 5 s, one: 4.8 s"),
        ("rising within", {**GOOD, 1: [4.4] * 3}, Outcome.NOT_HELD, "two: 5 s, one: 4.4 s"),
        ("falling within", {**GOOD, 4: [5.2] * 3}, Outcome.HELD, "1: 10 s, 2: 5 s, 4: 5.2 s"),
        ("falling within", {**GOOD, 4: [5.6] * 3}, Outcome.NOT_HELD, "1: 10 s, 2: 5 s, 4: 5.6 s"),
        ("flat", GOOD, Outcome.NOT_HELD, "1: 10 s"),
        ("flat", {1: [10.0] * 3, 2: [11.0] * 3, 4: [9.0] * 3}, Outcome.HELD, "1: 10 s"),
    ],
)
def test_outcomes(check: str, times: Times, outcome: Outcome, found: str) -> None:
    verdict = judged(check, times)
    assert verdict.outcome is outcome
    assert verdict.found.startswith(found)


POLICIES = """\
experiment: made
title: Made up
network: mu_osu
templates: [soykb]
repetitions: 1
policies: [always al2s, always internet]
workload:
  - {flow: a, template: soykb, from: mu, to: osu, size: 1 GB}
cases: {x: {a.streams: 1}, y: {a.streams: 2}}
figures: {time: {of: transfer_time, flow: a, where: {case: x}}}
checks: [{check: c, order: time, over: policy, is: rising}]
"""


def test_an_order_over_policies_reads_policies():
    """A check over what was not read would be held by nothing."""
    its = parse(POLICIES)
    its.check(synthetic.MU_OSU)
    found = verdicts(its.experiment, Observed.of(synthetic.run(its)))[0]
    assert found.outcome is Outcome.HELD
    assert found.found.index("al2s: ") < found.found.index("internet: ")


def test_what_is_missing_cannot_be_told():
    partial = judged("ratio", {1: [10.0, 10.2], 2: [5.0, 5.0, 5.0], 4: [1.0]})
    assert partial.outcome is Outcome.CANNOT_SAY
    assert {"one", "2", "3", "10.1"} <= {*partial.doubt.split()}
    failed = judged("ratio", {**GOOD, 2: [5.0, None, 5.0]})
    assert failed.outcome is Outcome.CANNOT_SAY
    assert {"two", "failed"} <= {*failed.doubt.split()}


def test_a_trial_that_is_partial_counts_as_missing():
    its = parse(FILE + CHECKS["ratio"])
    whole = run(GOOD)
    trials = tuple(
        replace(one, state=State.PARTIAL) if one.number == 1 else one for one in whole.about.trials
    )
    found = verdicts(its.experiment, Observed.of(replace(whole, about=replace(whole.about, trials=trials))))
    assert found[0].outcome is Outcome.CANNOT_SAY


def decided(number: int, *turns: str) -> list[DecisionRow]:
    rows = []
    for at, turn in enumerate(turns):
        outcome, _, path = turn.partition(" ")
        rows.append(DecisionRow(number, float(at), "a", outcome, path or None, None, None, ""))
    return rows


END = "  - {check: c, decisions: [{flow: a, outcome: admit}, {flow: a, outcome: end}]}\n"


@pytest.mark.parametrize(
    ("check", "times", "outcome", "found"),
    [
        (END, GOOD, Outcome.HELD, "so"),
        (END, {**GOOD, 2: [5.0, None, 5.0]}, Outcome.NOT_HELD, "a.streams=2"),
        # An end alone is claimed as well, not passed over.
        (
            "  - {check: c, decisions: [{flow: a, outcome: end}]}\n",
            {**GOOD, 1: [None] * 3},
            Outcome.NOT_HELD,
            "a.streams=1",
        ),
    ],
)
def test_an_end_that_is_expected_is_looked_for(check, times, outcome, found):
    its = parse(FILE + check)
    made = run(times, lambda done: decided(done.number, "admit al2s"))
    verdict = verdicts(its.experiment, Observed.of(made))[0]
    assert verdict.outcome is outcome
    assert verdict.found.startswith(found)


def test_where_nothing_was_carried_out_no_check_is_held():
    its = parse(FILE + "".join(CHECKS.values()) + EXPECTED)
    nothing = replace(run(GOOD).about, trials=())
    found = verdicts(its.experiment, Observed.of(Run(nothing, Tables())))
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
def test_decisions(turns: tuple[str, ...], outcome: Outcome, found: str) -> None:
    its = parse(FILE + EXPECTED)
    its.check(synthetic.MU_OSU)
    made = run(GOOD, lambda done: decided(done.number, *turns))
    verdict = verdicts(its.experiment, Observed.of(made))[0]
    assert verdict.outcome is outcome
    assert verdict.found.startswith(found)


def test_of_nothing_there_is_no_ratio():
    its = parse(FILE.replace("{of: transfer_time, flow: a, where: {a.streams: 2}}",
                             "{of: received, flow: a, where: {a.streams: 2}}")
                .replace("{of: transfer_time, flow: a, where: {a.streams: 1}, paper: 10 s}",
                         "{of: received, flow: a, where: {a.streams: 1}}") + CHECKS["ratio"])  # fmt: skip
    its.check(synthetic.MU_OSU)
    whole = run(GOOD)
    rows = [row._replace(received=0) for row in whole.tables.flows]
    found = verdicts(its.experiment, Observed.of(replace(whole, tables=replace(whole.tables, flows=rows))))[0]
    assert found.outcome is Outcome.CANNOT_SAY


turns = st.lists(st.sampled_from(["admit al2s", "queue", "stay al2s", "move internet"]), max_size=6)


@given(turns, turns)
def test_two_trials_differ_exactly_if_their_turns_do(first: list[str], second: list[str]) -> None:
    def plain(found: list[str]) -> list[str]:
        kept = [turn for turn in found if not turn.startswith("stay")]
        return [turn for number, turn in enumerate(kept) if number == 0 or kept[number - 1] != turn]

    tables = [Tables(decisions=decided(1, *found)) for found in (first, second)]
    assert bool(list(differences(tables[0], tables[1], ("x", "y")))) == (plain(first) != plain(second))


def test_the_generators_run_is_judged_and_half_of_it_is_not():
    its = synthetic.source()
    its.check(synthetic.MU_OSU)
    whole = verdicts(its.experiment, Observed.of(synthetic.run(its)))
    assert [one.outcome.value for one in whole] == ["held", "held", "not held", "held"]
    half = verdicts(its.experiment, Observed.of(synthetic.run(its, only=20)))
    assert {one.outcome for one in half} == {Outcome.CANNOT_SAY}
