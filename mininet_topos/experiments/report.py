"""Reports: one self-contained page per run, and an index of all runs below a folder.

The same run gives the same page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

from adon.errors import InvalidInput
from mininet_topos.experiments import measures, results
from mininet_topos.experiments.charts import draw_plot, draw_timeline, list_markers
from mininet_topos.experiments.document import Experiment, Figure, format_quantity, parse_quantity
from mininet_topos.experiments.loading import parse_experiment
from mininet_topos.experiments.verdicts import Conclusion, Verdict, conclude, judge_all

REPORT_FILE, INDEX_FILE = "report.html", "index.html"
MAX_TIMELINES = 12
_PLOTLY = {"displaylogo": False, "responsive": True, "modeBarButtonsToRemove": ["lasso2d", "select2d"]}


class FigureRow(NamedTuple):
    """A figure at one combination of swept values.

    :param summary: None if it has no value.
    :param factor: to full scale; None if it has none.
    """

    name: str
    figure: Figure
    where: str
    summary: measures.Summary | None
    factor: float | None


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run with its verdicts.

    :param folder: of the run.
    """

    folder: Path
    experiment: Experiment
    result: results.RunResult
    verdicts: Sequence[Verdict]

    @property
    def info(self) -> results.RunInfo:
        """Description of the run."""
        return self.result.info

    @property
    def conclusion(self) -> Conclusion:
        """Outcome of the run."""
        return conclude(self.info, self.verdicts)


def judge_run(folder: Path) -> JudgedRun:
    """Read a run and judge its checks.

    :raises InvalidInput: if a file of it is damaged; names file and place.
    """
    document = folder / results.DOCUMENT_FILE
    experiment = parse_experiment(document.read_text("utf-8"), str(document), folder).experiment
    result = results.read_run(folder)
    return JudgedRun(folder, experiment, result, judge_all(experiment, result))


def write_report(folder: Path) -> Path:
    """Write ``report.html`` into the folder of a run and return its path.

    :raises InvalidInput: if a file of the run is damaged.
    """
    run = judge_run(folder)
    experiment, result = run.experiment, run.result
    plots = [one for one in experiment.plots if one.y]
    has_timelines = len(plots) < len(experiment.plots)
    trials = _choose_timelines(result) if has_timelines else []
    shown = [(trial, result.rows(trial)) for trial in trials[:MAX_TIMELINES]]
    return _render(
        folder / REPORT_FILE,
        run=run,
        plots=[(one.plot, draw_plot(experiment, result, one)) for one in plots],
        figures=[row for name in experiment.figures for row in list_figure_rows(experiment, result, name)],
        meanings={one.of.replace("_", " "): one.of.about for one in experiment.figures.values()},
        timelines=[
            (trial, draw_timeline(experiment, run.info, rows), list_markers(rows)) for trial, rows in shown
        ],
        omitted=len(trials) - len(shown),
        unfinished=_list_unfinished(result),
        confidence=f"{measures.CONFIDENCE:.0%}",
        document=(folder / results.DOCUMENT_FILE).read_text("utf-8"),
        program=get_plotlyjs(),
    )


def write_index(folder: Path) -> Path:
    """Write ``index.html`` about the last reported run of each experiment and return its path."""
    runs = sorted(_judge_reported(folder), key=lambda run: run.info.began_at)
    latest = {run.info.experiment: run for run in runs}
    return _render(folder / INDEX_FILE, folder=folder, runs=[latest[name] for name in sorted(latest)])


def _judge_reported(folder: Path) -> Iterator[JudgedRun]:
    """Yield each run below a folder that has a report; a damaged one must not hide the others."""
    for file in (*folder.glob(f"*/{REPORT_FILE}"), *folder.glob(f"*/*/{REPORT_FILE}")):
        with suppress(InvalidInput, OSError):
            yield judge_run(file.parent)


def list_figure_rows(experiment: Experiment, result: results.RunResult, name: str) -> Iterator[FigureRow]:
    """Yield the rows of a figure: one for each combination and policy."""
    figure = experiment.figures[name]
    factor = measures.full_scale_factor(figure, experiment, result.info)
    values: dict[str, list[float]] = {}
    for trial, value in measures.sample_figure(result, figure):
        settings = trial.settings if len(experiment.policies) > 1 else trial.point
        where = ", ".join(f"{key} {setting}" for key, setting in settings.items())
        values.setdefault(where, []).extend([] if value is None else [value])
    for where, known in values.items():
        summary = measures.summarise(known) if known else None
        yield FigureRow(figure.about or name, figure, where, summary, factor)


def _choose_timelines(result: results.RunResult) -> list[results.TrialRecord]:
    """Return the first trial of each combination and policy in which something was received."""
    received = [trial for trial in result.info.trials if result.rows(trial).throughput]
    first = {trial.combination: trial for trial in reversed(received)}
    return [trial for trial in received if first[trial.combination] is trial]


def _list_unfinished(result: results.RunResult) -> list[str]:
    rows = [(trial, row) for trial in result.info.trials for row in result.rows(trial).flows]
    ends = (results.FlowState.FINISHED, results.FlowState.REJECTED)
    return [f"{trial.key}: {row.outcome}" for trial, row in rows if row.state not in ends]


def _chart(chart: go.Figure, name: str) -> str:
    """Return a chart as HTML; its id is given, so that the page is the same each time."""
    html: str = chart.to_html(full_html=False, include_plotlyjs=False, div_id=name, config=_PLOTLY)
    return html


_LOADER = jinja2.PackageLoader("mininet_topos.experiments")
_TEMPLATES = jinja2.Environment(loader=_LOADER, autoescape=True, trim_blocks=True, lstrip_blocks=True)
_TEMPLATES.filters |= {
    "chart": _chart,
    "parse": parse_quantity,
    "quantity": format_quantity,
    "time": lambda at: f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S UTC}",
    "style": lambda text: str(text).partition(",")[0].replace(" ", "-"),
}


def _render(file: Path, **values: Any) -> Path:
    file.write_text(_TEMPLATES.get_template(file.name).render(**values), "utf-8")
    return file
