"""Two runs held against each other, as lines and as one page that needs no other file."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from adon.experiments.cells import where_text
from adon.experiments.comparing import ALIKE_WITHIN, Change, Difference
from adon.experiments.results import About
from adon.experiments.summary import CONFIDENCE
from adon.experiments.wording import interval_text, text
from adon.units import format_count
from apps.experiments.rendering import rendered
from apps.figures.embedding import embedded
from apps.figures.looks import INK, SERIES, figure
from measurement.evaluation.comparison import Verdict

COLOURS = {
    Verdict.HIGHER: SERIES[2],
    Verdict.LOWER: SERIES[4],
    Verdict.ALIKE: SERIES[0],
    Verdict.NOT_SHOWN: SERIES[5],
    Verdict.NOT_TESTED: INK,
}
FRAME, ROW = 130, 36
"""Pixels of the chart in height, and of each figure in it."""


@dataclass(frozen=True, slots=True)
class Line:
    """One figure at one combination, in words."""

    name: str
    at: str
    verdict: str
    before: str
    after: str
    ratio: str
    apart: str
    p: str
    method: str


def line(change: Change) -> Line:
    """A change in words."""
    before, after = (f"{text(its.mean, change.unit)} ({its.count})" for its in (change.before, change.after))
    return Line(
        change.figure,
        where_text(change.where),
        change.verdict.value,
        before,
        after,
        "" if change.ratio is None else f"{change.ratio:.3f}",
        interval_text(change.apart, change.unit) if change.apart is not None else "",
        "" if change.p is None else f"{change.p:.2g}",
        ": ".join(filter(None, (change.method, change.why))),
    )


def verdict(found: Difference) -> str:
    """What two runs amount to, in one sentence."""
    if found.decisions:
        decided = f"{format_count(len(found.decisions), 'decision')} differ."
    elif found.compared:
        decided = f"Decisions are the same in {format_count(found.compared, 'trial')}."
    else:
        decided = "There are no decisions to compare."
    counts = {verdict: found.count(verdict) for verdict in Verdict}
    told = ", ".join(f"{count} {verdict.value}" for verdict, count in counts.items() if count)
    return f"{decided} Of {format_count(len(found.changes), 'figure')}: {told or 'nothing to compare'}."


def page(before: About, after: About, found: Difference) -> str:
    """The page (HTML)."""
    chart = _chart(found)
    height = FRAME + ROW * len(found.changes)
    return rendered(
        "difference.html",
        about=(before, after),
        found=found,
        verdict=verdict(found),
        rows=[line(change) for change in found.changes],
        tested=sum(change.p is not None for change in found.changes),
        chart="" if chart is None else embedded(chart, "ratios", height, first=True),
        confidence=f"{CONFIDENCE:.0%}",
        alike=ALIKE_WITHIN,
    )


def _chart(found: Difference) -> go.Figure | None:
    changes = [change for change in found.changes if change.before.mean > 0]
    if not changes:
        return None
    # In two lines, so that there is room for the chart beside them on a phone.
    names = [f"{one.figure}<br><sub>{where_text(one.where)}</sub>" for one in changes]
    traces = []
    for its, colour in COLOURS.items():
        picked = [(name, one) for name, one in zip(names, changes, strict=True) if one.verdict is its]
        if picked:
            traces.append(_points(picked, its.value, colour))
    chart = figure(traces, x="after / before")
    chart.add_vline(x=1.0, line={"color": INK, "dash": "dot", "width": 1})
    chart.update_layout(hovermode="closest", margin={"l": 10})
    chart.update_yaxes(type="category", autorange="reversed", automargin=True)
    chart.update_yaxes(categoryorder="array", categoryarray=names)
    return chart


def _points(picked: list[tuple[str, Change]], name: str, colour: str) -> go.Scatter:
    spans = [one.apart for _, one in picked]
    apart = [one.after.mean - one.before.mean for _, one in picked]
    means = [one.before.mean for _, one in picked]
    plus = [0.0 if s is None else (s.high - a) / m for s, a, m in zip(spans, apart, means, strict=True)]
    minus = [0.0 if s is None else (a - s.low) / m for s, a, m in zip(spans, apart, means, strict=True)]
    error = {"type": "data", "symmetric": False, "array": plus, "arrayminus": minus, "thickness": 1}
    return go.Scatter(
        x=[one.after.mean / one.before.mean for _, one in picked],
        y=[called for called, _ in picked],
        mode="markers",
        name=name,
        marker={"color": colour, "size": 10},
        error_x=error,
        hovertemplate="%{y}: %{x:.3f}<extra></extra>",
    )
