"""A run as one page that needs no other file: what was not met first, then checks, plots, figures, timelines.

A function from values to text: the same run gives the same page.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from adon.experiments.cells import cells, where_text
from adon.experiments.document import Experiment
from adon.experiments.figures import MEANINGS, Figure, Plot, parse_quantity
from adon.experiments.full_scale import at_full_scale
from adon.experiments.measures import Observed
from adon.experiments.results import FlowState, Run, TrialDone
from adon.experiments.summary import CONFIDENCE, METHOD, summary
from adon.experiments.sweeping import matches
from adon.experiments.verdicts import Outcome, verdicts
from adon.experiments.wording import interval_text, text
from apps.experiments.charts import drawn
from apps.experiments.rendering import rendered
from apps.experiments.timelines import Key, Marked, keys, marked, timeline
from apps.figures.embedding import embedded

PLOT, TIMELINE = 420, 400
"""Pixels in height."""
MOST_FAILED = 20
MOST_TIMELINES = 12
"""On one page; each is as large as all its seconds."""


@dataclass(frozen=True, slots=True)
class Row:
    """A figure at one combination, in words."""

    name: str
    at: str
    count: int
    median: str
    interval: str
    spread: str
    full: str
    paper: str


def page(experiment: Experiment, run: Run, source: str) -> str:
    """The page (HTML).

    :param source: the file as it was run.
    """
    observed = Observed.of(run)
    found = verdicts(experiment, observed)
    plots = list(_plots(experiment, observed))
    shown, left_out = _shown(experiment, observed)
    return rendered(
        "report.html",
        experiment=experiment,
        about=run.about,
        verdicts=found,
        unmet=[one for one in found if one.outcome is Outcome.NOT_HELD],
        open=[one for one in found if one.outcome is Outcome.CANNOT_SAY],
        failed=_shortened(list(_failed(observed))),
        confidence=f"{CONFIDENCE:.0%}",
        method=METHOD,
        plots=plots,
        table=[row for name in experiment.figures for row in rows(experiment, observed, name)],
        meanings=_meanings(experiment),
        timelines=list(_timelines(observed, shown, first=not any(chart for _, chart in plots))),
        left_out=left_out,
        text=source,
    )


def _plots(experiment: Experiment, observed: Observed) -> Iterator[tuple[str, str]]:
    first = True
    for number, plot in enumerate(experiment.plots, 1):
        if plot.kind == "timeline":
            continue
        chart = drawn(experiment, observed, plot)
        yield plot.plot, "" if chart is None else embedded(chart, f"plot-{number}", PLOT, first=first)
        first = first and chart is None


def rows(experiment: Experiment, observed: Observed, name: str) -> Iterator[Row]:
    """What the table says of a figure: a row for each combination and policy."""
    figure = experiment.figures[name]
    factor = at_full_scale(figure, experiment, observed.about)
    for where, values in cells(observed, figure).items():
        yield _row(factor, figure, figure.about or name, where_text(where), values)


def _row(factor: float | None, figure: Figure, name: str, at: str, values: list[float]) -> Row:
    its = summary(values)
    paper = "" if figure.paper is None else text(parse_quantity(figure.paper, figure.unit), figure.unit)
    if its is None:
        return Row(name, at, 0, "no value", "", "", "", paper)
    return Row(
        name,
        at,
        its.count,
        text(its.median, figure.unit),
        "" if its.interval is None else interval_text(its.interval, figure.unit),
        "" if its.count < 2 else f"{text(its.least, figure.unit)} to {text(its.most, figure.unit)}",
        "" if factor is None else text(its.median * factor, figure.unit),
        paper,
    )


def _meanings(experiment: Experiment) -> list[tuple[str, str]]:
    used = dict.fromkeys(figure.of for figure in experiment.figures.values())
    return [(measure.value.replace("_", " "), MEANINGS[measure]) for measure in used]


def _failed(observed: Observed) -> Iterator[str]:
    for trial in observed.about.trials:
        for row in observed.tables(trial).flows:
            if row.state not in (FlowState.FINISHED, FlowState.REJECTED):
                trouble = f" ({row.trouble})" if row.trouble else ""
                yield f"{row.flow} in {trial.key}: {row.state}{trouble}"


def _shortened(found: list[str]) -> list[str]:
    more = len(found) - MOST_FAILED
    return [*found[:MOST_FAILED], *([f"and {more} more, in flows.csv"] if more > 0 else [])]


def _shown(experiment: Experiment, observed: Observed) -> tuple[list[TrialDone], int]:
    """The trials whose timelines are drawn, and how many more the file asks for.

    Those that the file asks for; else the first repetition of each combination.
    """
    asked = [plot for plot in experiment.plots if plot.kind == "timeline"]
    with_rows = [trial for trial in observed.about.trials if observed.tables(trial).throughput]
    meant = [trial for trial in with_rows if _asked_for(trial, asked)]
    # The first repetitions of everything before the second one of anything.
    ordered = sorted(meant, key=lambda trial: (trial.repetition, trial.number))
    shown = [trial for trial in ordered if asked or trial.repetition == 1][:MOST_TIMELINES]
    return shown, len(meant) - len(shown)


def _asked_for(trial: TrialDone, asked: list[Plot]) -> bool:
    return not asked or any(matches(trial.point, trial.policy, plot.where) for plot in asked)


def _timelines(
    observed: Observed, shown: list[TrialDone], *, first: bool
) -> Iterator[tuple[TrialDone, str, list[Key], list[Marked]]]:
    for trial in shown:
        tables = observed.tables(trial)
        chart = embedded(timeline(tables), f"trial-{trial.number}", TIMELINE, first=first)
        first = False
        yield trial, chart, keys(tables), marked(tables)
