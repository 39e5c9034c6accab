"""Series: what is joined, what is drawn, what is saved; addresses of charts."""

from __future__ import annotations

import csv
import io
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.dashboard.network import series_figure, series_reading
from apps.dashboard.network.series_data import Curve, Direction, as_csv, harmless, metric_order, runs
from apps.dashboard.network.series_figure import Mark
from apps.rest.times import to_text
from measurement.model import Measurement, Metric, PathKey
from tests.apps.web import World
from tests.dashboard.conftest import Visiting

AL2S = Direction("al2s", "mu", "osu")
BACK = Direction("al2s", "osu", "mu")
HOST = Direction("", "mu-dtn", "")
UTC = ZoneInfo("UTC")
T = 1_760_000_000.0


def bucket(at: float, mean: float, seconds: float = 60.0, count: int = 5) -> dict[str, Any]:
    shares = {"0.05": 0.9, "0.25": 0.95, "0.5": 1.0, "0.75": 1.05, "0.95": 1.1}
    return {
        "start": to_text(T + at),
        "seconds": seconds,
        "count": count,
        "minimum": mean * 0.8,
        "mean": mean,
        "maximum": mean * 1.2,
        "quantiles": {name: mean * share for name, share in shares.items()},
    }


HOUR = [bucket(60.0 * minute, 58e6) for minute in (0, 1, 2, 30, 31, 32)]


@given(st.text(), st.text(), st.text())
def test_a_direction_survives_a_control(path: str, source: str, destination: str) -> None:
    one = Direction(path, source, destination)
    assert Direction.read(one.key()) == one


@pytest.mark.parametrize("text", ["", "al2s", "[]", '["a", "b"]', '["a", 1, "b"]', "null", '{"a": 1}'])
def test_what_is_no_direction_is_none(text: str) -> None:
    assert Direction.read(text) is None


def test_a_gap_stays_a_gap() -> None:
    at = [60.0 * minute + 30 for minute in (0, 1, 2, 30, 31, 32)]
    assert runs(HOUR, at) == [[0, 1, 2], [3, 4, 5]]
    assert runs(HOUR[:1], at[:1]) == [[0]]
    assert runs([], []) == []


def test_the_usual_metrics_come_first() -> None:
    assert metric_order(["zeta", "loss", "throughput", "alpha"]) == ["throughput", "loss", "alpha", "zeta"]


def drawn(curves: list[Curve], marks: list[Mark] | None = None, *, zero: bool = False) -> Any:
    return series_figure.chart(curves, marks or [], UTC, since=T, until=T + 3600, zero=zero)


def test_the_line_of_means_is_broken_where_nothing_was_measured() -> None:
    line = next(trace for trace in drawn([Curve(AL2S, "throughput", HOUR)]).data if trace.name == AL2S.words)
    assert list(line.y) == [58.0] * 3 + [None] + [58.0] * 3 + [None]
    assert line.connectgaps is False
    assert "58 Mbps" in line.customdata[0]


def test_bands_are_apart_and_hold_the_means() -> None:
    bands = [trace for trace in drawn([Curve(AL2S, "throughput", HOUR)]).data if trace.fill == "toself"]
    assert len(bands) == 2
    lowest = sorted(min(y for y in band.y if y is not None) for band in bands)
    assert lowest == pytest.approx([58.0 * 0.8, 58.0 * 0.95])
    assert all(list(band.y).count(None) == 2 for band in bands)


def test_each_metric_has_a_panel_and_all_one_time_axis() -> None:
    figure = drawn([Curve(AL2S, "rtt", HOUR), Curve(AL2S, "throughput", HOUR), Curve(BACK, "rtt", HOUR)])
    titles = [figure.layout[f"yaxis{number}"].title.text for number in (2, 3)]
    assert titles == ["Throughput (Mbit/s)", "Round trip (ms)"]
    assert figure.layout.xaxis2.matches == figure.layout.xaxis.matches is not None or "x" in str(
        figure.layout.xaxis2.matches
    )
    assert sum(trace.name == AL2S.words and trace.showlegend is not False for trace in figure.data) == 1


def test_axes_begin_at_zero_on_choice() -> None:
    curve = [Curve(AL2S, "rtt", HOUR)]
    assert drawn(curve, zero=True).layout.yaxis2.rangemode == "tozero"
    assert drawn(curve).layout.yaxis2.rangemode == "normal"


def test_what_happened_is_marked_by_its_kind() -> None:
    marks = [Mark(to_text(T + 5), "critical", "it fell"), Mark(to_text(T + 9), "decision", "f-1: admit")]
    figure = drawn([Curve(AL2S, "rtt", HOUR)], marks)
    shown = {trace.name: list(trace.text) for trace in figure.data if trace.mode == "markers"}
    assert shown == {"critical alarm": ["it fell"], "decision for this path": ["f-1: admit"]}
    said = series_figure.says([Curve(AL2S, "rtt", HOUR), Curve(BACK, "rtt", [])], marks, "24 hours")
    assert "1 alarm and 1 decision marked above" in said
    assert "Round trip on al2s, osu → mu: no value" in said


def test_times_are_the_readers() -> None:
    assert series_figure.local(to_text(T), ZoneInfo("America/Chicago")).startswith("2025-10-09 03:53:20")


def test_a_box_is_of_quantiles() -> None:
    figure = series_figure.boxes([(AL2S, HOUR), (BACK, [])], "throughput", UTC, zero=False)
    (box,) = figure.data
    assert (box.q1[0], box.median[0], box.q3[0]) == pytest.approx((55.1, 58.0, 60.9))
    assert (box.lowerfence[0], box.upperfence[0]) == pytest.approx((52.2, 63.8))


# -- as text -------------------------------------------------------------------------------------------


def test_what_is_shown_is_saved() -> None:
    text = as_csv([Curve(AL2S, "throughput", HOUR), Curve(HOST, "=1+1", HOUR[:1])])
    lines = list(csv.DictReader(io.StringIO(text)))
    assert len(lines) == 7
    assert lines[0]["path"] == "al2s"
    assert float(lines[0]["mean"]) == 58e6
    assert float(lines[0]["quantile_0.95"]) == pytest.approx(63.8e6)
    assert lines[6]["metric"] == "'=1+1"


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(cell: str) -> None:
    assert harmless(cell) == f"'{cell}"


def test_usual_names_stay() -> None:
    assert harmless("al2s") == "al2s"


# -- addresses -----------------------------------------------------------------------------------------


def test_an_address_names_what_is_shown() -> None:
    from apps.dashboard.router import query_of

    made = series_reading.address([AL2S, HOST], ["rtt", "loss"], "7d", ["zero"])
    query = query_of(made.partition("?")[2])
    assert series_reading.asked_for(query) == ([AL2S, HOST], ["rtt", "loss"])
    assert (query["range"], query["zero"]) == ("7d", "1")


@pytest.mark.parametrize("query", [{}, {"in": "x"}, {"in": "{}"}, {"in": "[1]"}, {"in": "[[1, 2, 3]]"}])
def test_an_address_that_says_nothing_shows_nothing_odd(query: dict[str, str]) -> None:
    assert series_reading.asked_for(query) == ([], [])


def test_one_series_may_be_named_in_full() -> None:
    query = {"path": "al2s", "source": "mu", "destination": "osu", "metric": "rtt"}
    assert series_reading.asked_for(query) == ([AL2S], ["rtt"])


def test_a_direction_is_in_the_legend_whichever_metric_it_has() -> None:
    curves = [Curve(AL2S, "throughput", HOUR), Curve(AL2S, "rtt", HOUR), Curve(BACK, "rtt", HOUR)]
    named = [trace.name for trace in drawn(curves).data if trace.showlegend]
    assert named == [AL2S.words, BACK.words]


@pytest.mark.parametrize(
    ("ages", "expected"),
    [
        ([60.0], "15min"),
        ([60.0, 1800.0], "1h"),
        ([1800.0], "1h"),
        ([60.0, 7200.0], "24h"),
        ([60.0, 5 * 86_400.0], "15min"),
        ([5 * 86_400.0], "24h"),
        ([], "24h"),
    ],
)
def test_a_chart_opens_with_the_time_of_which_something_is_known(
    world: World, visiting: Visiting, ages: list[float], expected: str
) -> None:
    new = Direction("al2s", "mu", "nowhere")
    here = visiting()
    values = [
        Measurement(PathKey(*new), Metric.RTT, 0.01, here.now - age - 1, here.now - age, f"r{age}", "ping")
        for age in ages
    ]
    world.append(*values)
    assert series_reading.first_range(here, [new]) == expected
