from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from adon.errors import InvalidInput
from mininet_topos.experiments.charts import draw_plot, draw_timeline, list_markers, scale_axis
from mininet_topos.experiments.document import Unit, format_quantity
from mininet_topos.experiments.loading import ExperimentFile
from mininet_topos.experiments.report import (
    INDEX_FILE,
    judge_run,
    list_figure_rows,
    write_index,
    write_report,
)
from mininet_topos.experiments.results import (
    DOCUMENT_FILE,
    RUN_FILE,
    DecisionRow,
    EventRow,
    RunInfo,
    RunResult,
    Tables,
    start_run,
    write_trial,
)
from mininet_topos.experiments.verdicts import Outcome
from tests.mininet_topos.experiments.synthetic_runs import (
    FIGURE_21,
    load_figure_21,
    make_row,
    make_run,
)

HOSTILE = "<script>alert(1)</script>"


def save_run(folder: Path, its: ExperimentFile, run: RunResult, **changes: object) -> Path:
    info: RunInfo = replace(run.info, trials=(), **changes)
    start_run(folder, its.text, info)
    rows = run.tables.by_trial
    for trial in run.info.trials:
        write_trial(folder, trial, rows[trial.number])
    return folder


@pytest.fixture(scope="module")
def run():
    return make_run(load_figure_21())


@pytest.fixture(scope="module")
def folder(run, tmp_path_factory):
    return save_run(tmp_path_factory.mktemp("runs") / "figure-21", load_figure_21(), run)


@pytest.fixture(scope="module")
def page(folder):
    return write_report(folder).read_text()


def test_report_needs_no_other_file(page):
    assert re.findall(r'<(?:script|link|img|iframe)[^>]+(?:src|href)="', page) == []


def test_report_of_the_same_run_is_the_same(folder, page):
    assert write_report(folder).read_text() == page


def test_report_shows_every_verdict_with_the_value_of_the_paper(folder, page):
    verdicts = judge_run(folder).verdicts
    assert {one.outcome for one in verdicts} == {Outcome.HELD, Outcome.NOT_HELD}
    for one in verdicts:
        assert one.claim in page
        assert one.paper in page


def test_report_draws_one_timeline_per_combination(page):
    # Three cases with three sizes and three repetitions each.
    assert len(re.findall(r'id="trial-\d+"', page)) == 9


def test_report_escapes_text_of_the_document(run, tmp_path):
    its = load_figure_21(
        FIGURE_21.replace("title: 25 GB", f"title: '{HOSTILE}").replace("traffic\nabout", "traffic'\nabout")
    )
    assert HOSTILE in its.experiment.title
    text = write_report(save_run(tmp_path / "run", its, run)).read_text()
    assert HOSTILE not in text


def test_report_of_an_interrupted_run_gives_the_reason(tmp_path):
    run = make_run(load_figure_21(), only=1)
    text = write_report(save_run(tmp_path / "run", load_figure_21(), run)).read_text()
    assert run.info.partial in text


def test_report_of_a_run_without_trials_is_a_page(run, tmp_path):
    empty = RunResult(replace(run.info, trials=()), Tables())
    assert write_report(save_run(tmp_path / "run", load_figure_21(), empty)).exists()


def test_damaged_run_names_the_file(run, tmp_path):
    folder = save_run(tmp_path / "run", load_figure_21(), run)
    (folder / "flows.csv").write_text("what\n")
    with pytest.raises(InvalidInput) as refused:
        write_report(folder)
    assert refused.value.problems[0].file == str(folder / "flows.csv")


def test_index_lists_the_last_run_of_each_experiment(run, tmp_path):
    its = load_figure_21()
    save_run(tmp_path / "figure-21" / "old", its, run, began_at=run.info.began_at - 3600)
    new = save_run(tmp_path / "figure-21" / "new", its, run)
    other = save_run(tmp_path / "other", its, run, experiment="other")
    for one in (new, other):
        write_report(one)
    text = write_index(tmp_path).read_text()
    assert re.findall(r'<a href="([^"]+)"', text) == ["figure-21/new/report.html", "other/report.html"]
    assert all(one.claim in text for one in judge_run(new).verdicts)


def test_index_leaves_out_a_damaged_run_and_one_without_a_report(run, tmp_path):
    names = ("good", "bad", "gone", "unreported")
    good, bad, gone, _ = [save_run(tmp_path / name, load_figure_21(), run, experiment=name) for name in names]
    for one in (good, bad, gone):
        write_report(one)
    (bad / RUN_FILE).write_text("{")
    (gone / DOCUMENT_FILE).unlink()
    text = write_index(tmp_path).read_text()
    assert re.findall(r'<a href="([^"]+)"', text) == ["good/report.html"]
    assert (tmp_path / INDEX_FILE).exists()


def test_figure_is_a_row_with_full_scale_and_the_value_of_the_paper(run, page):
    (row,) = list_figure_rows(load_figure_21().experiment, run, "routed")
    assert row.summary is not None
    assert row.summary.count == 3
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", page.partition("<td>routed</td>")[2])
    # Sizes 1:1000 in rates 1:100: ten times the time.
    assert cells[4] == format_quantity(row.summary.median * 10, Unit.SECONDS)
    assert cells[5] == "308 s"


def test_line_plot_shows_full_scale_beside_the_paper(run):
    experiment = load_figure_21().experiment
    chart = draw_plot(experiment, run, experiment.plots[0])
    assert chart is not None
    traces = {trace.name: trace for trace in chart.data if trace.hoverinfo != "skip"}
    assert list(traces) == ["contended", "paper: contended", "alone", "layer-3", "paper: layer-3"]
    assert {traces[case].mode for case in ("contended", "alone", "layer-3")} == {"lines+markers"}
    assert list(traces["layer-3"].x) == ["5 GB", "10 GB", "25 GB"]
    assert traces["layer-3"].y[2] == pytest.approx(308, rel=0.1)
    assert list(traces["paper: layer-3"].y) == [308]


def test_plot_over_cases_has_no_line_and_a_ring_per_repetition(run):
    its = load_figure_21(
        FIGURE_21.replace("x: soykb.size\n    by: case\n  - plot: Second", "x: case\n  - plot: Second")
    )
    experiment = its.experiment
    figure = {"rate": experiment.figures["rate"].model_copy(update={"where": {"soykb.size": "25 GB"}})}
    chart = draw_plot(experiment.model_copy(update={"figures": figure}), run, experiment.plots[1])
    assert chart is not None
    assert [(trace.mode, len(trace.x)) for trace in chart.data] == [("markers", 3), ("markers", 9)]


def test_plot_without_values_is_not_drawn(run):
    experiment = load_figure_21().experiment
    nothing = RunResult(run.info)
    assert draw_plot(experiment, nothing, experiment.plots[0]) is None


def test_timeline_breaks_a_line_where_the_flow_changes_its_path(run):
    experiment = load_figure_21().experiment
    trial = run.info.trials[0]
    rows = run.tables.by_trial[trial.number]
    rows = replace(
        rows,
        throughput=[row._replace(path="internet" if row.at > 5 else row.path) for row in rows.throughput],
    )
    chart = draw_timeline(experiment, run.info, rows)
    soykb = [trace for trace in chart.data if trace.name.startswith("soykb on")]
    assert [trace.name for trace in soykb] == ["soykb on al2s", "soykb on internet"]
    assert all(None in trace.y for trace in soykb)
    assert [trace.name for trace in chart.data if trace.showlegend is None] == [
        "al2s",
        "internet",
        "neuroblastoma",
        "soykb",
    ]


def test_markers_are_events_decisions_and_ends_in_order():
    tables = Tables(
        flows=[make_row("f", began=2.0, ended=12.0)],
        decisions=[DecisionRow(1, 1.5, "f", "admit", "al2s", None, 7.0, "best")],
        events=[EventRow(1, 5.0, "cut", "begins", "down", "no such link")],
    )
    markers = list_markers(tables)
    assert [(one.at, one.kind) for one in markers] == [
        (1.5, "decision"),
        (2.0, "flow"),
        (5.0, "event"),
        (12.0, "flow"),
    ]
    assert "no such link" in markers[2].text


@pytest.mark.parametrize(
    ("values", "unit", "divisor", "suffix"),
    [
        ([5.5e9, 2e6], Unit.BITS_PER_SECOND, 1e9, " Gbps"),
        ([30e6], Unit.BITS_PER_SECOND, 1e6, " Mbps"),
        ([0.002], Unit.SECONDS, 1e-3, " ms"),
        ([1500.0, 0.002], Unit.SECONDS, 1.0, " s"),
        ([0.05], Unit.RATIO, 0.01, " %"),
        ([3.0], Unit.COUNT, 1.0, ""),
        ([], Unit.BITS_PER_SECOND, 1.0, " bps"),
    ],
)
def test_axis_has_the_unit_of_its_largest_value(values, unit, divisor, suffix):
    found, ticks = scale_axis(values, unit)
    assert (found, ticks["ticksuffix"].rstrip()) == (divisor, suffix)
