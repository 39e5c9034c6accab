"""Diagnostics: a regression worked by hand, identities of numpy's, and what is refused."""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from measurement.health.datasets import NEXT_THROUGHPUT, of_file, of_rounds
from measurement.health.diagnostics import diagnose, forward, quantiles, subsets
from measurement.health.model import Pair
from measurement.health.profiles import mesh
from measurement.health.record import RoundRecord
from measurement.health.regression import DataSet, model
from measurement.health.round_judgement import judge_round
from tests.measurement.health.rounds import found, instances
from tests.support.refusals import refused

BY_HAND = DataSet("y", (1.0, 2.0, 2.0, 4.0), {"x": (0.0, 1.0, 2.0, 3.0)})
"""Means 1.5 and 2.25, Sxx = 5, Sxy = 4.5: y = 0.9 + 0.9 x; residuals 0.1, 0.2, -0.7, 0.4; RSS = 0.7."""


def made(rows: int = 60, seed: int = 1, noise: float = 1.0) -> DataSet:
    """y = 3 tcp - 2 udp + noise; icmp is like tcp; throughput says nothing."""
    chance = random.Random(seed)
    tcp, udp, other, end = ([chance.gauss(0, 1) for _ in range(rows)] for _ in range(4))
    icmp = [one + 0.5 * chance.gauss(0, 1) for one in tcp]
    y = [3 * a - 2 * b + noise * e for a, b, e in zip(tcp, udp, end, strict=True)]
    metrics = {"throughput": tuple(other), "icmp": tuple(icmp), "udp": tuple(udp), "tcp": tuple(tcp)}
    return DataSet("y", tuple(y), metrics)


class TestModel:
    def test_a_line_worked_by_hand(self) -> None:
        got = model(BY_HAND, ["x"])
        assert got.residuals == pytest.approx((0.1, 0.2, -0.7, 0.4))
        assert [got.coefficients[name].estimate for name in ("", "x")] == pytest.approx([0.9, 0.9])
        # s² = 0.7/2; the error of the slope √(0.35/5), of the constant √(0.35·(1/4 + 2.25/5)).
        assert got.coefficients["x"].error == pytest.approx(math.sqrt(0.07))
        assert got.coefficients[""].error == pytest.approx(math.sqrt(0.35 * 0.7))
        assert got.r_squared == pytest.approx(1 - 0.7 / 4.75)
        assert got.adjusted == pytest.approx(1 - (0.7 / 2) / (4.75 / 3))
        assert got.aic == pytest.approx(4 * math.log(2 * math.pi * math.e * 0.7 / 4) + 2 * 2)
        # Of Student's t with 2 degrees of freedom P(|T| > t) = 1 - t/√(2 + t²).
        t = 0.9 / math.sqrt(0.07)
        assert got.p_value("x") == pytest.approx(1 - t / math.sqrt(2 + t * t))
        leverage = [1 / 4 + (x - 1.5) ** 2 / 5 for x in range(4)]
        expected = [e / math.sqrt(0.35 * (1 - h)) for e, h in zip(got.residuals, leverage, strict=True)]
        assert got.standardised == pytest.approx(expected)

    @pytest.mark.parametrize("seed", range(5))
    def test_as_numpys_least_squares(self, seed: int) -> None:
        data = made(seed=seed)
        got = model(data, data.metrics)
        design = np.column_stack([np.ones(60), *data.metrics.values()])
        expected, rss, *_ = np.linalg.lstsq(design, np.asarray(data.observed), rcond=None)
        assert [got.coefficients[name].estimate for name in ("", *data.metrics)] == pytest.approx(expected)
        assert sum(one**2 for one in got.residuals) == pytest.approx(rss[0])
        assert sum(got.residuals) == pytest.approx(0, abs=1e-9)
        assert np.asarray(got.fitted) @ np.asarray(got.residuals) == pytest.approx(0, abs=1e-6)

    def test_units_do_not_matter(self) -> None:
        data = made()
        other = replace(
            data, metrics={**data.metrics, "udp": tuple(1e9 * one for one in data.metrics["udp"])}
        )
        one, two = model(data, data.metrics), model(other, other.metrics)
        assert two.coefficients["udp"].estimate == pytest.approx(one.coefficients["udp"].estimate / 1e9)
        assert (two.aic, two.p_value("udp")) == pytest.approx((one.aic, one.p_value("udp")))


class TestSteps:
    def test_forward_takes_what_predicts_first_and_tells_where_aic_is_lowest(self) -> None:
        found = diagnose(made())
        assert [step.metric for step in found.forward[:2]] == ["tcp", "udp"]
        assert [len(step.metrics) for step in found.forward] == [1, 2, 3, 4]
        assert found.selected[0][:2] == ("tcp", "udp")
        assert all(step.significant for step in found.forward[:2])
        assert not found.forward[-1].significant

    def test_each_step_is_the_best_of_its_kind(self) -> None:
        data = made(seed=3)
        taken: tuple[str, ...] = ()
        for step in forward(data):
            every = {one: model(data, (*taken, one)).aic for one in data.metrics if one not in taken}
            assert step.aic == min(every.values())
            assert every[step.metric] == step.aic
            assert model(data, step.metrics).p_value(step.metric) == step.p_value
            taken = step.metrics

    def test_backward_drops_what_says_nothing_first(self) -> None:
        found = diagnose(made())
        assert {step.metric for step in found.backward[:2]} == {"throughput", "icmp"}
        assert [len(step.metrics) for step in found.backward] == [3, 2, 1]
        assert {*found.selected[1]} == {*found.selected[0]}

    def test_where_all_count_none_is_dropped(self) -> None:
        data = made(noise=0.1)
        y = tuple(a + b + c for a, b, c in zip(data.observed, *list(data.metrics.values())[:2], strict=True))
        found = diagnose(replace(data, observed=y))
        assert {*found.selected[1]} == {*data.metrics} == {*found.selected[0]}

    def test_all_subsets_with_their_adjusted_r_squared(self) -> None:
        data = made()
        found = subsets(data)
        every = {its for count in range(1, 5) for its in combinations(data.metrics, count)}
        assert {one.metrics for one in found} == every
        assert [one.adjusted for one in found] == sorted((one.adjusted for one in found), reverse=True)
        (alone,) = (one for one in found if one.metrics == ("throughput",))
        assert alone.adjusted < 0.1
        # 1 - (1 - R²)(n - 1)/(n - p - 1)
        got = model(data, found[0].metrics)
        expected = 1 - (1 - got.r_squared) * 59 / (59 - len(got.metrics))
        assert found[0].adjusted == pytest.approx(expected)


def test_quantiles_of_a_normal_sample_are_a_line() -> None:
    chance = random.Random(2)
    points = quantiles([chance.gauss(0, 1) for _ in range(2000)])
    assert [value for _, value in points] == sorted(value for _, value in points)
    assert points[0][0] == pytest.approx(-points[-1][0])
    middle = [(q, value) for q, value in points if abs(q) < 1.5]
    assert max(abs(q - value) for q, value in middle) < 0.15


def test_quantiles_are_of_the_middle_of_each_rank() -> None:
    (low, first), (high, second) = quantiles([7.0, 3.0])
    assert (first, second) == (3.0, 7.0)
    assert (low, high) == pytest.approx((-0.6744897501960817, 0.6744897501960817)), "the quartiles"


class TestRefused:
    def test_h_all_on_its_own_parts(self) -> None:
        data = made()
        tp, icmp, udp, tcp = data.metrics.values()
        h_all = tuple(
            round(0.4 * a + 0.2 * (b + c + d), 4) for a, b, c, d in zip(tp, icmp, udp, tcp, strict=True)
        )
        with refused(ValueError, "response"):
            diagnose(replace(data, response="h_all", observed=h_all))

    def test_a_metric_that_another_says_already(self) -> None:
        data = made()
        doubled = {**data.metrics, "again": tuple(2 * one + 1 for one in data.metrics["udp"])}
        with refused(ValueError, "metrics"):
            diagnose(replace(data, metrics=doubled))

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            (lambda d: replace(d, observed=d.observed[:5]), "rows"),
            (lambda d: replace(d, metrics={}), "metrics"),
            (lambda d: replace(d, response="udp"), "response"),
            (lambda d: replace(d, metrics={"c": (1.0,) * 60}), "c"),
            (lambda d: replace(d, metrics={"c": (math.nan, *[1.0] * 59)}), "c"),
            (lambda d: DataSet("y", (1.0, 2.0, 4.0), {"x": (1.0, 2.0, 3.0)}), "rows"),
        ],
    )
    def test_what_no_model_can_be_made_of(self, change: Callable[[DataSet], DataSet], field: str) -> None:
        with refused(ValueError, field):
            change(made())


def table(file: Path, rows: Sequence[Sequence[object]]) -> Path:
    with file.open("w", newline="") as text:
        csv.writer(text).writerows(rows)
    return file


class TestDataSets:
    ROWS = (
        ("job", "time", "icmp", "tcp"),
        *((f"j{number}", 10 + number % 3, number, number**2) for number in range(9)),
        ("j9", "", 9, 81),
    )

    def test_a_table_of_jobs(self, tmp_path: Path) -> None:
        data = of_file(table(tmp_path / "jobs.csv", self.ROWS), "time")
        assert list(data.metrics) == ["icmp", "tcp"], "names are no numbers"
        assert (len(data.observed), data.left_out) == (9, 1)
        assert list(of_file(table(tmp_path / "jobs.csv", self.ROWS), "time", ["tcp"]).metrics) == ["tcp"]

    @pytest.mark.parametrize(
        ("response", "metrics", "field"),
        [
            ("speed", (), "speed"),
            ("time", ("udp",), "udp"),
            ("time", ("job",), "job"),
            ("time", ("tcp", "time"), "time"),
        ],
    )
    def test_a_column_that_is_none_is_named(
        self, tmp_path: Path, response: str, metrics: tuple[str, ...], field: str
    ) -> None:
        with refused(ValueError, field):
            of_file(table(tmp_path / "jobs.csv", self.ROWS), response, metrics)

    @pytest.mark.parametrize(
        ("rows", "field"),
        [
            ((("time", "tcp"), (1, 2), ("", 2), (3, "x")), "tcp"),
            ((("time", "tcp", "tcp"), (1, 2, 3)), "tcp"),
            ((("time", "tcp"), (1, 2), (1, 2, 3)), ""),
            ((), "rows"),
            ((("time", "tcp"),), "rows"),
        ],
    )
    def test_a_row_that_is_none_is_named(
        self, tmp_path: Path, rows: Sequence[Sequence[object]], field: str
    ) -> None:
        with refused(ValueError, field):
            of_file(table(tmp_path / "jobs.csv", rows), "time", ["tcp"])

    def test_a_short_row_lacks_what_is_not_there(self, tmp_path: Path) -> None:
        rows = (("time", "tcp"), *((number**2, number) for number in range(9)), (5,))
        data = of_file(table(tmp_path / "jobs.csv", rows), "time")
        assert (len(data.observed), data.left_out) == (9, 1)

    def test_rounds_give_the_next_ones_throughput(self) -> None:
        chance = random.Random(5)
        names = "abcd"

        def at(hour: int, carried: bool = False) -> RoundRecord:
            of = {pair: found(chance.uniform(0.01, 0.1), chance.uniform(1e8, 1e9)) for pair in mesh(names)}
            kept = frozenset(of) if carried else frozenset()
            record = RoundRecord.of(hour, hour, instances(names), mesh(names), of, carried=kept)
            return judge_round(record, []).record

        one, two, three = at(1), at(2), at(3, carried=True)
        data = of_rounds([one, two, three])
        assert (data.response, len(data.observed), data.left_out) == (NEXT_THROUGHPUT, 12, 12)
        pair = next(iter(one.scores))
        assert data.observed[0] == pytest.approx(two.found[pair].throughput[0])
        assert data.metrics["tcp"][0] == list(one.scores[pair].parts.values())[3]
        with refused(ValueError, "rounds"):
            of_rounds([one])

    def test_a_pair_of_which_a_part_is_not_known_is_left_out(self) -> None:
        chance = random.Random(6)

        def at(hour: int, *without: Pair) -> RoundRecord:
            of = {pair: found(chance.uniform(0.01, 0.1), chance.uniform(1e8, 1e9)) for pair in mesh("abcd")}
            of |= {pair: replace(of[pair], udp={}, sandwich=()) for pair in without}
            return judge_round(RoundRecord.of(hour, hour, instances("abcd"), mesh("abcd"), of), []).record

        data = of_rounds([at(1, Pair("a", "b")), at(2)])
        assert (len(data.observed), data.left_out) == (11, 1)
