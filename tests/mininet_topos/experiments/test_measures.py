"""Figures out of rows: tables by hand, and the generator's runs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mininet_topos.experiments.document import Figure, Measure, Moment, Phase
from mininet_topos.experiments.measures import mean_ratio, measure, sample_figure, summarise
from mininet_topos.experiments.results import DecisionRow, MeasurementRow, MomentRow, Tables, ThroughputRow
from tests.mininet_topos.experiments.synthetic_runs import load_figure_21, make_row, make_run


def seconds(
    name: str, counts: Sequence[int], path: str | None = "al2s", begin: float = 2.0
) -> list[ThroughputRow]:
    return [ThroughputRow(1, begin + n, name, path, count) for n, count in enumerate(counts)]


def figure(**fields: Any) -> Figure:
    return Figure.model_validate(fields)


def moment(*words: str) -> Moment:
    return Moment.model_validate(list(words))


def decided(at: float, outcome: str, path: str | None, name: str = "a") -> DecisionRow:
    return DecisionRow(1, at, name, outcome, path, None, None, "")


def event_moments(begin: float, end: float, name: str = "cut") -> list[MomentRow]:
    return [MomentRow(1, begin, name, Phase.BEGINS), MomentRow(1, end, name, Phase.ENDS)]


TWO = Tables(
    flows=[
        make_row(packets_sent=100, packets_lost=3),
        make_row("b", asked=2.0, began=4.0, ended=9.0, received=500,
             packets_sent=100, packets_lost=1, paths="al2s > internet > al2s", floor=800.0),
    ],
    throughput=[*seconds("a", [100] * 10), *seconds("b", [100, 0, 0, 200, 200], "internet", 4.0)],
    measurements=[
        MeasurementRow(1, 0.0, "al2s", "mu", "osu", "rtt", 0.010),
        MeasurementRow(1, 5.0, "al2s", "mu", "osu", "rtt", 0.030),
        MeasurementRow(1, 6.0, "al2s", "mu", "osu", "rtt", None),
        MeasurementRow(1, 7.0, "internet", "mu", "osu", "rtt", 0.5),
    ],
    decisions=[decided(1.5, "admit", "al2s"), decided(3.0, "stay", "al2s"), decided(7.5, "move", "internet")],
    moments=[MomentRow(1, 2.0, "a", Phase.BEGINS), *event_moments(6.0, 8.0)],
)  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"of": "completion_time", "flow": "a"}, 11.0),
        ({"of": "completion_time"}, (11 + 7) / 2),
        ({"of": "transfer_time", "flow": "b"}, 5.0),
        ({"of": "waiting_time"}, (1 + 2) / 2),
        ({"of": "decision_time", "flow": "a"}, 0.5),
        ({"of": "decision_time", "flow": "a", "since": {"of": "cut", "what": "begins"}}, 1.5),
        ({"of": "throughput", "flow": "a"}, 1000 * 8 / 10),
        ({"of": "throughput"}, 1000 * 8 / 10 + 500 * 8 / 5),
        ({"of": "received"}, 1500.0),
        ({"of": "throughput", "flow": "a", "during": [["cut", "begins"], ["cut", "ends"]]}, 800.0),
        ({"of": "received", "during": [["cut", "begins"], ["cut", "ends"]]}, 200 + 0 + 200),
        ({"of": "received", "flow": "b", "during": [["cut", "begins", "1.5 s"], ["cut", "ends"]]}, 100.0),
        ({"of": "received", "path": "internet"}, 500.0),
        ({"of": "received", "path": "al2s", "flow": "a"}, 1000.0),
        ({"of": "received", "path": "al2s", "flow": "b"}, 0.0),
        ({"of": "packets_lost"}, 4.0),
        ({"of": "loss"}, 0.02),
        ({"of": "measured", "path": "al2s", "metric": "rtt"}, 0.02),
        (
            {"of": "measured", "path": "al2s", "metric": "rtt",
             "during": [["a", "begins"], ["cut", "begins"]]},
            0.03,
        ),
        ({"of": "interruption", "flow": "b"}, 2.0),
        ({"of": "interruption", "flow": "a"}, 0.0),
        ({"of": "moves"}, 2.0),
        ({"of": "floors_missed"}, 0.0),  # 500 bytes in 5 s are 800 bits/s
        # An unknown value is None.
        ({"of": "jitter"}, None),
        ({"of": "completion_time", "flow": "nobody"}, None),
        ({"of": "measured", "path": "al2s", "metric": "loss"}, None),
        ({"of": "throughput", "during": [["cut", "ends"], ["cut", "begins"]]}, None),
        ({"of": "throughput", "during": [["storm", "begins"], ["cut", "begins"]]}, None),
    ],
)  # fmt: skip
def test_each_measure_has_its_documented_value(fields: dict, expected: float | None) -> None:
    during = fields.get("during")
    if during is not None:
        fields = {**fields, "during": tuple(map(tuple, during))}
        fields["during"] = tuple(Moment.model_validate(list(one)) for one in during)
    found = measure(figure(**fields), TWO)
    assert found == (None if expected is None else pytest.approx(expected))


def test_unfinished_flow_leaves_figure_without_value():
    tables = Tables(flows=[make_row(), make_row("b", state="running", ended=None)])
    for name in ("completion_time", "transfer_time", "throughput"):
        assert measure(figure(of=name), tables) is None
        assert measure(figure(of=name, flow="a"), tables) is not None


def test_rejected_flow_counts_only_in_counts():
    tables = Tables(flows=[make_row(), make_row("b", state="rejected", began=None, ended=None, received=0)])
    assert measure(figure(of="completion_time"), tables) == 11.0
    assert measure(figure(of="moves"), tables) == 0.0


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        ("floors_missed", 0.0),
        ("moves", 0.0),
        ("packets_lost", 0.0),
        ("received", None),
        ("completion_time", None),
        ("loss", None),
    ],
)
def test_only_counts_have_a_value_when_all_flows_are_rejected(of: str, expected: float | None) -> None:
    refused = make_row(state="rejected", began=None, ended=None, received=0, paths="",
                   floor=1e6)  # fmt: skip
    assert measure(figure(of=of), Tables(flows=[refused, refused._replace(flow="b")])) == expected
    assert measure(figure(of=of), Tables()) is None


def test_interruption_may_last_to_the_end_of_the_trial():
    rows = [*seconds("a", [100, 100]), *seconds("b", [1] * 20)]
    tables = Tables(flows=[make_row(state="running", ended=None), make_row("b")], throughput=rows)
    assert measure(figure(of="interruption", flow="a"), tables) == 18.0


CUT = tuple(Moment.model_validate(["cut", what]) for what in ("begins", "ends"))


def test_window_includes_its_begin_and_excludes_its_end():
    rtt = [MeasurementRow(1, at, "al2s", "mu", "osu", "rtt", at) for at in (6.0, 7.0, 8.0)]
    measured = figure(of="measured", path="al2s", metric="rtt", during=CUT)
    moments = event_moments(6.0, 8.0)
    assert measure(measured, Tables(measurements=rtt, moments=moments)) == 6.5
    for floor, missed in ((800.0, 0.0), (800.1, 1.0)):
        assert measure(figure(of="floors_missed"), Tables(flows=[make_row(floor=floor)])) == missed
    moved = Tables(flows=[make_row()], decisions=[decided(6.0, "move", "internet")], moments=moments)
    assert measure(figure(of="decision_time", flow="a", since=CUT[0]), moved) == 0.0


def test_failed_flow_has_no_throughput():
    tables = Tables(flows=[make_row(state="failed", received=10, problem="cut off")])
    assert measure(figure(of="throughput"), tables) is None
    assert measure(figure(of="received"), tables) == 10.0


@pytest.mark.parametrize(
    ("began", "ended", "expected"),
    [
        (2.0, 12.0, 3.0),  # from 6 s to 9 s nothing arrives, the window goes on to 20 s
        (2.0, 8.0, 2.0),  # it was over at 8 s: afterwards nothing was to arrive
        (7.0, 12.0, 2.0),  # nor before it began
        (2.0, 5.0, None),
    ],
)
def test_interruption_lies_within_the_transfer(began, ended, expected):
    heard = [at for at in (2.0, 3.0, 4.0, 5.0, 9.0, 10.0, 11.0) if began <= at < ended]
    tables = Tables(
        flows=[make_row(began=began, ended=ended)],
        throughput=[ThroughputRow(1, at, "a", "al2s", 10) for at in heard],
        moments=event_moments(6.0, 20.0),
    )
    assert measure(figure(of="interruption", flow="a", during=CUT), tables) == expected


def test_moment_has_the_time_of_its_row_and_its_wait():
    assert TWO.time_of(moment("a", "begins")) == 2.0
    assert TWO.time_of(moment("a", "begins", "3 s")) == 5.0
    assert TWO.time_of(moment("cut", "ends")) == 8.0
    assert TWO.time_of(moment("a", "moved")) is None
    assert TWO.time_of(moment("storm", "begins")) is None


counts = st.lists(st.integers(0, 10_000), min_size=1, max_size=30)


@given(counts, st.floats(0, 40), st.floats(0.1, 40))
def test_window_is_the_sum_of_its_tenths_of_seconds(received: list[int], begin: float, lasts: float) -> None:
    begin, lasts = round(begin, 1), max(0.1, round(lasts, 1))
    rows = Tables(flows=[make_row()], throughput=seconds("a", received, begin=0.0),
                  moments=event_moments(begin, begin + lasts, "w"))  # fmt: skip
    window = (moment("w", "begins"), moment("w", "ends"))
    found = measure(Figure(of=Measure.RECEIVED, flow="a", during=window), rows)
    tenths = range(round(begin * 10), round((begin + lasts) * 10))
    expected = math.fsum(received[t // 10] / 10 for t in tenths if t // 10 < len(received))
    assert found == pytest.approx(expected, abs=1e-6)
    rate = measure(Figure(of=Measure.THROUGHPUT, flow="a", during=window), rows)
    assert rate == pytest.approx(expected * 8 / lasts, abs=1e-6)


@given(counts)
def test_interruption_is_the_longest_run_without_data(received: list[int]) -> None:
    whole = Tables(
        flows=[make_row(began=0.0, ended=float(len(received)))], throughput=seconds("a", received, begin=0.0)
    )
    text = "".join("x" if count else " " for count in received)
    longest = max(len(run) for run in text.split("x"))
    assert measure(figure(of="interruption", flow="a"), whole) == longest


def test_samples_of_a_figure_are_those_of_its_trials():
    its = load_figure_21()
    run = make_run(its)
    observed, figures = run, its.experiment.figures
    found = sample_figure(observed, figures["time"])
    assert len(found) == 27
    by_hand = {row.trial: row.ended - row.asked for row in run.tables.flows if row.flow == "soykb"}
    assert {trial.number: value for trial, value in found} == by_hand
    contended = sample_figure(observed, figures["contended"])
    assert [trial.repetition for trial, _ in contended] == [1, 2, 3]
    assert {trial.point["case"] for trial, _ in contended} == {"contended"}


values = st.lists(st.floats(0.1, 1e6), min_size=2, max_size=30)


@given(values)
def test_interval_equals_that_of_scipy(found: list[float]) -> None:
    its = summarise(found)
    assert its is not None
    assert its.median == statistics.median(found)
    assert its.count == len(found)
    assert its.interval is not None
    error = stats.sem(found)
    if error > 1e-9:
        low, high = stats.t.interval(0.95, len(found) - 1, loc=statistics.fmean(found), scale=error)
        assert its.interval.low == pytest.approx(max(0.0, low), rel=1e-6, abs=1e-6)
        assert its.interval.high == pytest.approx(high, rel=1e-6, abs=1e-6)


def test_interval_of_positive_values_starts_at_zero():
    time, delay = summarise([0.0, 0.0, 3.0]), summarise([-0.1, 0.0, 3.0])
    assert time is not None
    assert time.interval is not None
    assert time.interval.low == 0
    assert delay is not None
    assert delay.interval is not None
    assert delay.interval.low < -0.1


def test_one_value_has_no_interval():
    one = summarise([3.0])
    assert one is not None
    assert (one.median, one.interval) == (3.0, None)


@given(st.lists(st.tuples(st.floats(0.1, 1e4), st.floats(0.1, 1e4)), min_size=2, max_size=10))
def test_inverse_ratio_has_the_inverse_mean_and_interval(pairs: list[tuple[float, float]]) -> None:
    middle, between = mean_ratio(pairs)
    inverse, beneath = mean_ratio([(other, one) for one, other in pairs])
    assert middle * inverse == pytest.approx(1.0)
    assert between is not None
    assert beneath is not None
    assert between.low * beneath.high == pytest.approx(1.0)
    assert middle == pytest.approx(stats.gmean([one / other for one, other in pairs]))


@given(st.floats(0.01, 100), st.lists(st.floats(0.1, 1e4), min_size=2, max_size=6))
def test_constant_ratio_is_found_exactly(factor: float, below: list[float]) -> None:
    middle, between = mean_ratio([(factor * one, one) for one in below])
    assert middle == pytest.approx(factor)
    assert between is not None
    assert between.high == pytest.approx(factor, rel=1e-6)
