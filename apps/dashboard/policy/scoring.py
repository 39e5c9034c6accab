"""How the candidates of a decision were scored: the table, Q as bars, tables with what was measured.

Pure: a decision of the API to components.  Q = Σ w·s with weights that sum to 1 ([ADON] 3.3, equation 3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from dash import html
from dash.development.base_component import Component

from apps.dashboard import ui
from apps.dashboard.policy import curves
from apps.dashboard.policy.words import Document, metric, sign
from apps.dashboard.ui.blocks import Column, Tone
from apps.figures.looks import SERIES

VERDICTS: Mapping[str, tuple[str, Tone]] = {
    "qualified": ("qualifies", "good"),
    "unqualified": ("misses a bound", "bad"),
    "unknown": ("not known", "wait"),
    "excluded": ("not considered", "plain"),
}
BAR = 46
"""Height of a candidate's bar."""


def contributions(candidate: Document) -> dict[str, float]:
    """What each metric adds to a candidate's Q; of one without Q what is known of it."""
    total = sum(one["weight"] for one in candidate["metrics"]) or 1.0
    return {
        one["metric"]: one["weight"] / total * one["score"]
        for one in candidate["metrics"]
        if one["score"] is not None and one["weight"]
    }


def scoring_table(decision: Document) -> Component:
    """Candidate by metric, with everything that the score rests on."""
    rows = [
        {"candidate": candidate, "first": not row, **one}
        for candidate in decision["candidates"]
        for row, one in enumerate(candidate["metrics"] or [_nothing()])
    ]
    columns = [
        Column("Candidate", lambda one: _candidate(one, decision)),
        Column("Metric", lambda one: metric(one["metric"]) if one["metric"] else ui.words.NONE),
        Column("Value", lambda one: ui.value(one["value"], one["metric"]), numeric=True),
        Column("Bound", _bound),
        Column("Score", lambda one: ui.number(one["score"]), numeric=True),
        Column(
            "Weight", lambda one: ui.share(one["weight"]) if one["metric"] else ui.words.NONE, numeric=True
        ),
        Column("Adds to Q", _adds, numeric=True),
        Column("Age", lambda one: ui.span(one["age_seconds"]), numeric=True),
        Column("From", lambda one: _origin(one, decision)),
    ]
    nothing = "There was no candidate: no path leads between these ends."
    return ui.table(
        columns,
        rows,
        nothing,
        "Candidates by metric",
        lambda one: one["candidate"]["path"] == decision["path"],
    )


def _nothing() -> dict[str, Any]:
    return {
        "metric": "",
        "value": None,
        "bound": None,
        "bound_met": None,
        "score": None,
        "weight": 0.0,
        "age_seconds": None,
        "unknown": "",
        "basis": "",
        "source": "",
    }


def _candidate(one: Document, decision: Document) -> Any:
    candidate = one["candidate"]
    path = candidate["path"]
    if not one["first"]:
        return html.Span(path, className="muted")
    text, tone = VERDICTS.get(candidate["verdict"], (candidate["verdict"], "plain"))
    chosen = [ui.badge("chosen", "good")] if path == decision["path"] else []
    q = [] if candidate["q"] is None else [html.Span(f" Q {candidate['q']:.2f}")]
    return html.Div(
        [html.Strong(ui.link(path, f"/paths/{path}")), *q, html.Br(), *chosen, ui.badge(text, tone)]
    )


def _bound(one: Document) -> Any:
    if one["bound"] is None:
        return "none"
    said = f"{sign(one['metric'])} {ui.value(one['bound'], one['metric'])} "
    match one["bound_met"]:
        case True:
            return html.Span([said, ui.badge("met", "good")])
        case False:
            return html.Span([said, ui.badge("missed", "bad")])
        case _:
            return html.Span([said, ui.badge("not known", "wait")])


def _adds(one: Document) -> str:
    found = contributions(one["candidate"]).get(one["metric"])
    return ui.number(found)


def _origin(one: Document, decision: Document) -> Any:
    if not one["metric"]:
        return one["candidate"]["why"] or ui.words.NONE
    said = one["unknown"] or one["basis"] or "measured"
    path = one["candidate"]["path"]
    return html.Span(ui.link(said, f"/paths/{path}"), title=f"as of {one['observed_at'] or decision['at']}")


def q_figure(candidates: Sequence[Document], path: str | None) -> go.Figure:
    """Q of each candidate, as the sum of what its metrics add."""
    names = list(
        dict.fromkeys(one["metric"] for each in candidates for one in each["metrics"] if one["weight"])
    )
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


def _label(candidate: Document, path: str | None) -> str:
    mark = " ✓" if candidate["path"] == path else ""
    missed = "" if candidate["verdict"] == "qualified" else " (out)"
    return f"{candidate['path']}{mark}{missed} "


def q_picture(decision: Document) -> Component | None:
    """The figure with its sentence; None where no candidate has a score."""
    candidates = [one for one in decision["candidates"] if contributions(one)]
    if not candidates:
        return None
    told = "; ".join(
        f"{one['path']}: " + (f"Q {one['q']:.2f}" if one["q"] is not None else "no Q, something is not known")
        for one in candidates
    )
    out = [one["path"] for one in candidates if one["verdict"] != "qualified"]
    told += f". Out, whatever their Q: {', '.join(out)}." if out else "."
    return ui.chart("decision-q", q_figure(candidates, decision["path"]), told, 110 + BAR * len(candidates))


def table_pictures(decision: Document) -> list[Component]:
    """Each lookup table as it was, with the candidates' values on it."""
    found = []
    for name, table in (decision["tables"] or {}).items():
        points = [(float(value), float(score)) for value, score in table["points"]]
        line = curves.Line("", curves.drawn(points, step=bool(table.get("step"))))
        marks = [
            curves.Mark(candidate["path"], one["value"], one["score"])
            for candidate in decision["candidates"]
            for one in candidate["metrics"]
            if one["metric"] == name and one["value"] is not None and one["score"] is not None
        ]
        bound = next(
            (
                one["bound"]
                for candidate in decision["candidates"]
                for one in candidate["metrics"]
                if one["metric"] == name
            ),
            None,
        )
        found.append(
            html.Div([html.H3(metric(name)), curves.picture(f"decision-{name}", name, [line], bound, marks)])
        )
    return found
