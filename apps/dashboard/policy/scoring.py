"""How the candidates of a decision were scored: the table, Q as bars, tables with what was measured.

Pure: a decision of the API to components.  Q = Σ w·s with weights that sum to 1 ([ADON] 3.3, equation 3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go
from dash import html
from dash.development.base_component import Component

from adon.api.base import format_utc
from adon.api.decisions import CandidateView, DecisionView, MetricView
from apps.dashboard import ui
from apps.dashboard.policy import curves
from apps.dashboard.policy.words import metric, sign
from apps.dashboard.ui.blocks import Column, Tone
from apps.figures.looks import SERIES

VERDICTS: Mapping[str, tuple[str, Tone]] = {
    "qualified": ("qualifies", "good"),
    "unqualified": ("violates a bound", "bad"),
    "unknown": ("unknown", "wait"),
    "excluded": ("not considered", "plain"),
}
BAR = 46
"""Height of a candidate's bar."""


def contributions(candidate: CandidateView) -> dict[str, float]:
    """What each metric adds to a candidate's Q; of one without Q what is known of it."""
    total = sum(one.weight for one in candidate.metrics) or 1.0
    return {
        one.metric: one.weight / total * one.score
        for one in candidate.metrics
        if one.score is not None and one.weight
    }


class Score(NamedTuple):
    """A row of the table: a metric of a candidate, ``None`` where it has none."""

    candidate: CandidateView
    metric: MetricView | None
    first: bool


def scoring_table(decision: DecisionView) -> Component:
    """Candidate by metric, with everything that the score rests on."""
    rows = [
        Score(candidate, one, not number)
        for candidate in decision.candidates
        for number, one in enumerate(candidate.metrics or [None])
    ]
    columns = [
        Column("Candidate", lambda row: _candidate(row, decision)),
        Column("Metric", _of_metric(lambda one: metric(one.metric))),
        Column("Value", _of_metric(lambda one: ui.value(one.value, one.metric)), numeric=True),
        Column("Bound", _of_metric(_bound, "none")),
        Column("Score", _of_metric(lambda one: ui.number(one.score)), numeric=True),
        Column("Weight", _of_metric(lambda one: ui.share(one.weight)), numeric=True),
        Column("Contribution to Q", _adds, numeric=True),
        Column("Age", _of_metric(lambda one: ui.span(one.age_seconds)), numeric=True),
        Column("Source", lambda row: _origin(row, decision)),
    ]
    nothing = "No candidates: no path between these sites."
    return ui.table(
        columns,
        rows,
        nothing,
        "Candidates by metric",
        lambda row: row.candidate.path == decision.path,
    )


def _of_metric(cell: Callable[[MetricView], Any], nothing: str = ui.words.NONE) -> Callable[[Score], Any]:
    """A cell of a candidate's metric; of a candidate without metrics, there is nothing to show."""
    return lambda row: nothing if row.metric is None else cell(row.metric)


def _candidate(row: Score, decision: DecisionView) -> Any:
    candidate = row.candidate
    path = candidate.path
    if not row.first:
        return html.Span(path, className="muted")
    text, tone = VERDICTS.get(candidate.verdict, (candidate.verdict, "plain"))
    chosen = [ui.badge("chosen", "good")] if path == decision.path else []
    q = [] if candidate.q is None else [html.Span(f" Q {candidate.q:.2f}")]
    return html.Div(
        [html.Strong(ui.link(path, f"/paths/{path}")), *q, html.Br(), *chosen, ui.badge(text, tone)]
    )


def _bound(one: MetricView) -> Any:
    if one.bound is None:
        return "none"
    said = f"{sign(one.metric)} {ui.value(one.bound, one.metric)} "
    match one.bound_met:
        case True:
            return html.Span([said, ui.badge("met", "good")])
        case False:
            return html.Span([said, ui.badge("violated", "bad")])
        case _:
            return html.Span([said, ui.badge("unknown", "wait")])


def _adds(row: Score) -> str:
    return ui.number(None if row.metric is None else contributions(row.candidate).get(row.metric.metric))


def _origin(row: Score, decision: DecisionView) -> Any:
    if row.metric is None:
        return row.candidate.why or ui.words.NONE
    said = row.metric.unknown or row.metric.basis or "measured"
    observed_at = decision.at if row.metric.observed_at is None else row.metric.observed_at
    return html.Span(ui.link(said, f"/paths/{row.candidate.path}"), title=f"as of {format_utc(observed_at)}")


def q_figure(candidates: Sequence[CandidateView], path: str | None) -> go.Figure:
    """Q of each candidate, as the sum of what its metrics add."""
    names = list(dict.fromkeys(one.metric for each in candidates for one in each.metrics if one.weight))
    labels = [_label(one, path) for one in candidates]
    bars = [
        go.Bar(
            y=labels,
            x=[contributions(one).get(name) for one in candidates],
            name=metric(name),
            orientation="h",
            marker={"color": SERIES[row % len(SERIES)]},
            hovertemplate="%{x:.2f}",
        )
        for row, name in enumerate(names)
    ]
    found = ui.figure(bars, x="Q (0 to 10)")
    found.update_layout(barmode="stack", hovermode="y unified", bargap=0.35, margin={"l": 10, "t": 34})
    found.update_layout(legend={"y": 1.02, "yanchor": "bottom", "traceorder": "normal"})
    found.update_xaxes(range=[0, 10])
    found.update_yaxes(autorange="reversed", automargin=True)
    return found


def _label(candidate: CandidateView, path: str | None) -> str:
    mark = " ✓" if candidate.path == path else ""
    missed = "" if candidate.verdict == "qualified" else " (excluded)"
    return f"{candidate.path}{mark}{missed} "


def q_picture(decision: DecisionView) -> Component | None:
    """The figure with its sentence; None where no candidate has a score."""
    candidates = [one for one in decision.candidates if contributions(one)]
    if not candidates:
        return None
    told = "; ".join(
        f"{one.path}: " + (f"Q {one.q:.2f}" if one.q is not None else "no Q: a value is unknown")
        for one in candidates
    )
    out = [one.path for one in candidates if one.verdict != "qualified"]
    told += f". Excluded: {', '.join(out)}." if out else "."
    return ui.chart("decision-q", q_figure(candidates, decision.path), told, 110 + BAR * len(candidates))


def table_pictures(decision: DecisionView) -> list[Component]:
    """Each lookup table as it was, with the candidates' values on it."""
    found = []
    for name, table in (decision.tables or {}).items():
        points = [(float(value), float(score)) for value, score in table["points"]]
        line = curves.Line("", curves.drawn(points, step=bool(table.get("step"))))
        marks = [
            curves.Mark(candidate.path, one.value, one.score)
            for candidate in decision.candidates
            for one in candidate.metrics
            if one.metric == name and one.value is not None and one.score is not None
        ]
        bound = next(
            (
                one.bound
                for candidate in decision.candidates
                for one in candidate.metrics
                if one.metric == name
            ),
            None,
        )
        found.append(
            html.Div([html.H3(metric(name)), curves.picture(f"decision-{name}", name, [line], bound, marks)])
        )
    return found
