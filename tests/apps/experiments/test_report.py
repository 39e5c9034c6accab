"""The report: what was not met stands first, everything is in one file, chance changes nothing."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from adon.experiments.figures import Unit
from adon.experiments.measures import Observed
from adon.experiments.reading import parse
from adon.experiments.results import DecisionRow, EventRow, Run, State, Tables
from apps.experiments.axes import Axis
from apps.experiments.charts import drawn
from apps.experiments.report import page, rows
from apps.experiments.timelines import keys, marked, timeline
from tests.experiments import synthetic

SOURCE = synthetic.source()
EXPERIMENT = SOURCE.experiment


@pytest.fixture(scope="module")
def whole() -> Run:
    return synthetic.run()


def words(text: str) -> str:
    """A page without its charts and its markup."""
    bare = re.sub(r"(?s)<(script|style)\b.*?</\1>", " ", text)
    return " ".join(re.sub(r"<[^>]+>", " ", bare).split())


def test_what_was_not_met_stands_before_everything_else(whole):
    said = words(page(EXPERIMENT, whole, synthetic.FIGURE_21))
    first = said.index("1 of 4 checks did not hold.")
    assert first < said.index("How it was run") < said.index("Checks, beside the paper")
    assert "found 30.73 s (307.3 s at full scale); the paper has 308 s" in said


def test_a_partial_run_says_so_first(whole):
    half = synthetic.run(only=20)
    said = words(page(EXPERIMENT, half, ""))
    assert said.index("This run is partial. interrupted.") < said.index("4 of 4 checks cannot be told.")
    assert "did not hold" not in said[: said.index("How it was run")]


def test_platform_versions_seed_and_scale_are_stated(whole):
    said = words(page(EXPERIMENT, whole, synthetic.FIGURE_21))
    for text in (
        "It follows the thesis",
        "synthetic; why: made up by a generator",
        "rates and windows divided by 100, sizes by 1000; times are not divided",
        "Seed 21",
        "27 of 27, 3 repetitions of each combination",
        "Open vSwitch 3.1.0",
        "Linux 6.1",
    ):
        assert text in said
    assert "neuroblastoma: admit on al2s" in said
    assert SOURCE.digest() in said


def test_the_page_needs_no_other_file_and_is_the_same_each_time(whole):
    one = page(EXPERIMENT, whole, synthetic.FIGURE_21)
    assert one == page(EXPERIMENT, whole, synthetic.FIGURE_21)
    assert not re.search(r"<(?:link|script|img)[^>]*(?:src|href)=", one)


def test_nothing_that_a_file_says_is_taken_for_markup(whole):
    text = synthetic.FIGURE_21.replace("title: 25 GB beside", 'title: "<script>alert(1)</script> beside')
    text = text.replace("contending traffic\n", 'contending traffic"\n', 1)
    evil = parse(text).experiment
    made = page(evil, replace(whole, about=replace(whole.about, title=evil.title)), text)
    assert "<script>alert(1)" not in made
    assert "&lt;script&gt;alert(1)" in made


def test_a_run_of_nothing_is_a_page(whole):
    empty = Run(replace(whole.about, trials=(), state=State.PARTIAL, why="killed"), Tables())
    said = words(page(EXPERIMENT, empty, ""))
    assert "The run has no value of it." in said
    assert "0 of 27" in said


def test_tables_hold_each_combination(whole):
    found = list(rows(EXPERIMENT, Observed.of(whole), "time"))
    assert len(found) == 9
    last = found[-1]
    assert (last.name, last.at, last.count) == ("time of the transfer", "layer-3, soykb.size 25 GB, ours", 3)
    (routed,) = rows(EXPERIMENT, Observed.of(whole), "routed")
    assert (routed.full, routed.paper) == ("307.3 s", "308 s")


def test_a_plot_has_a_curve_for_each_case_with_intervals_and_the_papers_points(whole):
    chart = drawn(EXPERIMENT, Observed.of(whole), EXPERIMENT.plots[0])
    assert chart is not None
    curves = {trace.name: trace for trace in chart.data if trace.showlegend is not False}
    assert list(curves) == ["contended", "alone", "layer-3", "paper: contended", "paper: layer-3"]
    contended = curves["contended"]
    assert list(contended.x) == ["5 GB", "10 GB", "25 GB"]
    # At full scale: ten times as long.
    assert contended.y[2] == pytest.approx(518, rel=0.02)
    assert all(above > 0 for above in contended.error_y.array)
    assert list(curves["paper: contended"].y) == [400]
    rings = [trace for trace in chart.data if trace.showlegend is False]
    assert [len(trace.x) for trace in rings] == [9, 9, 9]


@pytest.mark.parametrize("kind", ["line", "bar", "box", "cdf"])
def test_each_kind_of_plot_is_drawn(whole, kind: str):
    plot = EXPERIMENT.plots[0].model_copy(update={"kind": kind, "by": None, "paper": ()})
    chart = drawn(EXPERIMENT, Observed.of(whole), plot)
    assert chart is not None
    assert chart.data[0].name == "time of the transfer"


def test_a_timeline_has_paths_flows_and_numbered_moments(whole):
    by_trial = whole.tables.by_trial()
    tables = replace(
        by_trial[3],
        decisions=[*by_trial[3].decisions, DecisionRow(3, 30.0, "soykb", "move", "internet", None, 1.0, "")],
        events=[EventRow(3, 20.0, "cut", "link", "begins", "al2s goes down", "")],
    )
    moments = marked(tables)
    assert [one.number for one in moments] == list(range(1, len(moments) + 1))
    assert [one.at for one in moments] == sorted(one.at for one in moments)
    told = {one.what for one in moments}
    assert {"cut begins: al2s goes down", "soykb: move on internet", "soykb begins", "soykb ends"} <= told
    chart = timeline(tables)
    names = [trace.name for trace in chart.data]
    assert names == ["tests of al2s", "tests of internet", "neuroblastoma on al2s", "soykb on al2s"]
    labels = [note.text for note in chart.layout.annotations]
    assert labels == ["<b>1–2</b>", "<b>3–4</b>", "<b>5</b>", "<b>6</b>", "<b>7–8</b>"]
    assert [(key.name, key.dash) for key in keys(tables)] == [
        ("al2s", ""), ("internet", ""), ("neuroblastoma", ""), ("soykb", "2 3"),
    ]  # fmt: skip
    by_path = {trace.name: trace.line.color for trace in chart.data}
    assert by_path["soykb on al2s"] == by_path["tests of al2s"] != by_path["tests of internet"]


def test_an_axis_is_counted_in_short_numbers():
    assert Axis.of([5.8e7, 1e6], Unit.BITS_PER_SECOND) == Axis(1e6, "Mbps")
    assert Axis.of([0.004], Unit.SECONDS) == Axis(1e-3, "ms")
    assert Axis.of([0.00004], Unit.SECONDS) == Axis(1e-6, "us")
    assert Axis.of([], Unit.BYTES) == Axis(1.0, "B")
    assert Axis.of([0.5], Unit.RATIO).title("loss") == "loss, %"


def test_it_is_done_again_from_the_runs_folder(whole):
    """With what its file names, the seed and the repetitions that it had."""
    said = words(page(EXPERIMENT, whole, synthetic.FIGURE_21))
    assert "adon experiment run results/figure-21/first" in said
