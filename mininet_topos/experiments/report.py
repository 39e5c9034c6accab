"""Reports: one self-contained page per run, and an index of all runs below a folder.

The same run gives the same page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import plotly.graph_objects as go

from adon.errors import InvalidInput
from mininet_topos.experiments.charts import draw_plot, draw_timeline
from mininet_topos.experiments.document import Experiment, parse_quantity
from mininet_topos.experiments.loading import parse_experiment
from mininet_topos.experiments.measures import (
    CONFIDENCE,
    Observed,
    full_scale_factor,
    sample_figure,
    summarise,
)
from mininet_topos.experiments.plan import POLICY, matches
from mininet_topos.experiments.results import (
    DOCUMENT_FILE,
    RUN_FILE,
    FlowState,
    RunInfo,
    TrialRecord,
    read_run,
)
from mininet_topos.experiments.verdicts import (
    Conclusion,
    Outcome,
    Verdict,
    conclude,
    format_interval,
    format_quantity,
    judge_all,
)

REPORT_FILE, INDEX_FILE = "report.html", "index.html"
MAX_FLOWS, MAX_TIMELINES = 20, 12
"""Unfinished flows that a page lists, and timelines that it draws."""
_PLOTLY = {"displaylogo": False, "responsive": True, "modeBarButtonsToRemove": ["lasso2d", "select2d"]}


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A figure at one combination of swept values, as text."""

    figure: str
    where: str
    count: int
    median: str
    interval: str
    full_scale: str
    paper: str


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run with its verdicts.

    :param folder: of the run.
    """

    folder: Path
    experiment: Experiment
    observed: Observed
    verdicts: Sequence[Verdict]

    @property
    def info(self) -> RunInfo:
        """Description of the run."""
        return self.observed.info

    @property
    def conclusion(self) -> Conclusion:
        """Outcome of the run."""
        return conclude(self.info, self.verdicts)

    @property
    def minutes(self) -> float:
        """Duration of its trials."""
        return sum(trial.seconds for trial in self.info.trials) / 60

    def with_outcome(self, *outcomes: Outcome) -> list[Verdict]:
        """Return the verdicts with one of these outcomes."""
        return [one for one in self.verdicts if one.outcome in outcomes]


def judge_run(folder: Path) -> JudgedRun:
    """Read a run and judge its checks.

    :raises InvalidInput: if a file of it is damaged; names file and place.
    """
    document = folder / DOCUMENT_FILE
    experiment = parse_experiment(document.read_text("utf-8"), str(document), folder).experiment
    observed = Observed.from_run(read_run(folder))
    return JudgedRun(folder, experiment, observed, judge_all(experiment, observed))


def write_report(folder: Path) -> Path:
    """Write ``report.html`` into the folder of a run and return its path.

    :raises InvalidInput: if a file of the run is damaged.
    """
    file = folder / REPORT_FILE
    file.write_text(render_report(judge_run(folder)), "utf-8")
    return file


def write_index(results: Path) -> Path:
    """Write ``index.html`` about the last run of each experiment below a folder and return its path."""
    latest: dict[str, JudgedRun] = {}
    for file in sorted(results.glob(f"*/{RUN_FILE}")) + sorted(results.glob(f"*/*/{RUN_FILE}")):
        try:
            run = judge_run(file.parent)
        except (InvalidInput, OSError):  # a damaged run must not hide the others
            continue
        other = latest.get(run.info.experiment)
        if other is None or other.info.began_at <= run.info.began_at:
            latest[run.info.experiment] = run
    runs = [latest[name] for name in sorted(latest)]
    reports = {
        run.info.experiment: (run.folder / REPORT_FILE).relative_to(results).as_posix()
        for run in runs
        if (run.folder / REPORT_FILE).exists()
    }
    file = results / INDEX_FILE
    file.write_text(_render("index.html", runs=runs, reports=reports), "utf-8")
    return file


def render_report(run: JudgedRun) -> str:
    """Return the page of a run (HTML)."""
    experiment, observed = run.experiment, run.observed
    program = iter(["inline"])  # the first chart brings plotly's program for all
    asked = [plot for plot in experiment.plots if plot.kind != "timeline"]
    drawn = [(plot.plot, draw_plot(experiment, observed, plot)) for plot in asked]
    trials, omitted = _timeline_trials(experiment, observed)
    timelines = [(trial, draw_timeline(experiment, run.info, observed.tables(trial))) for trial in trials]
    return _render(
        "report.html",
        run=run,
        experiment=experiment,
        info=run.info,
        plots=[
            (title, "" if one is None else _embed(one, f"plot-{n}", program))
            for n, (title, one) in enumerate(drawn)
        ],
        figures=[row for name in experiment.figures for row in list_figure_rows(experiment, observed, name)],
        meanings={one.of.replace("_", " "): one.of.about for one in experiment.figures.values()},
        timelines=[
            (trial, one, _embed(one.chart, f"trial-{trial.number}", program)) for trial, one in timelines
        ],
        omitted=omitted,
        unfinished=list(_unfinished_flows(observed)),
        confidence=f"{CONFIDENCE:.0%}",
        document=(run.folder / DOCUMENT_FILE).read_text("utf-8"),
    )


def list_figure_rows(experiment: Experiment, observed: Observed, name: str) -> Iterator[FigureRow]:
    """Yield the rows of a figure: one for each combination and policy."""
    figure = experiment.figures[name]
    factor = full_scale_factor(figure, experiment, observed.info)
    paper = (
        ""
        if figure.paper is None
        else format_quantity(parse_quantity(figure.paper, figure.unit), figure.unit)
    )
    values: dict[str, list[float]] = {}
    for sample in sample_figure(observed, figure):
        settings = dict(sample.trial.point)
        if len(experiment.policies) > 1:
            settings[POLICY] = sample.trial.policy
        known = values.setdefault(", ".join(f"{key} {value}" for key, value in settings.items()), [])
        if sample.value is not None:
            known.append(sample.value)
    for where, known in values.items():
        summary = summarise(known)
        if summary is None:
            yield FigureRow(figure.about or name, where, 0, "no value", "", "", paper)
            continue
        interval = "" if summary.interval is None else format_interval(summary.interval, figure.unit)
        full = "" if factor is None else format_quantity(summary.median * factor, figure.unit)
        median = format_quantity(summary.median, figure.unit)
        yield FigureRow(figure.about or name, where, summary.count, median, interval, full, paper)


def _timeline_trials(experiment: Experiment, observed: Observed) -> tuple[list[TrialRecord], int]:
    """Trials whose timelines are drawn, one of each combination, and how many are omitted."""
    plots = [plot for plot in experiment.plots if plot.kind == "timeline"]
    trials = [trial for trial in observed.info.trials if observed.tables(trial).throughput]
    chosen = [
        trial for trial in trials if any(matches(trial.point, trial.policy, plot.where) for plot in plots)
    ]
    drawn = {trial.key.rpartition(" / ")[0]: trial for trial in reversed(chosen)}
    shown = sorted(drawn.values(), key=lambda trial: trial.number)[:MAX_TIMELINES]
    return shown, len(chosen) - len(shown)


def _unfinished_flows(observed: Observed) -> Iterator[str]:
    found = [
        f"{row.flow} in {trial.key}: {row.state}" + (f" ({row.problem})" if row.problem else "")
        for trial in observed.info.trials
        for row in observed.tables(trial).flows
        if row.state not in (FlowState.FINISHED, FlowState.REJECTED)
    ]
    yield from found[:MAX_FLOWS]
    if len(found) > MAX_FLOWS:
        yield f"{len(found) - MAX_FLOWS} more in flows.csv"


def _embed(chart: go.Figure, name: str, program: Iterator[str]) -> str:
    """Return a chart as HTML; its id is given, so that the page is the same each time."""
    included = next(program, False)
    text = chart.to_html(full_html=False, include_plotlyjs=included, div_id=name, config=_PLOTLY)
    return str(text)


@cache
def _templates() -> jinja2.Environment:
    loader = jinja2.PackageLoader("mininet_topos.experiments")
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["time"] = _format_time
    environment.filters["style"] = lambda text: str(text).partition(",")[0].replace(" ", "-")
    return environment


def _format_time(at: float | None) -> str:
    return "unknown" if at is None else f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S UTC}"


def _render(template: str, **values: Any) -> str:
    return _templates().get_template(template).render(**values)
