"""Candidates and compute sites of a decision, as tables and bars.

Q is the sum of w times s over all metrics, with weights that sum to 1 ([ADON] 3.3, equation 3).
T_t is the time of algorithm 4 ([ADON] 4.3).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import plotly.graph_objects as go
from dash import html
from dash.development.base_component import Component

from adon.api.base import format_utc
from adon.api.decisions import CandidateView, DecisionView, MetricView, SiteCostView
from adon.units import format_significant
from apps.dashboard import ui
from apps.dashboard.policy.formats import bound_sign, metric_name
from apps.dashboard.policy.lookup_curves import Curve, Mark, curve_chart, curve_points
from apps.dashboard.ui.blocks import Tone
from apps.dashboard.ui.document_table import Columns, document_table, object_link
from apps.dashboard.visit import Visit
from apps.figures.looks import SERIES

VERDICTS: Mapping[str, tuple[str, Tone]] = {
    "qualified": ("meets every bound", "good"),
    "unqualified": ("violates a bound", "bad"),
    "unknown": ("measurements missing", "wait"),
    "excluded": ("not considered", "plain"),
}
BOUNDS: Mapping[bool | None, tuple[str, Tone]] = {
    True: ("met", "good"),
    False: ("violated", "bad"),
    None: ("unknown", "wait"),
}
TERMS = {
    "Total T_t": "total",
    "Queue T_q": "queue",
    "Compute T_c": "compute",
    "Transfer T_n": "network",
    "Copy C_D": "duplication",
}
SUMMANDS = {
    "queue": "T_q, queue wait",
    "busy": "T_c without T_q, compute",
    "network": "T_n, transfer",
    "duplication": "C_D, copy of the result",
}
"""Terms whose sum is T_t; T_c includes T_q."""
ORIGINS = {"queue": "T_q", "node_rate": "Γ_c", "result": "size of the result", "available": "Γ_a"}
BAR = 46
"""Height of a bar in pixels."""


def decision_summary(decision: DecisionView, here: Visit) -> list[Component]:
    """Return candidates and compute sites in short, for the page of a flow and for a preview."""
    paths: Columns = {
        "Path": lambda one: html.Strong(one.path) if one.path == decision.path else one.path,
        "Verdict": _verdict_badge,
        "Q": lambda one: ui.number(one.q),
        "Reason": _candidate_reason,
    }
    nothing = "No path between these sites."
    table = document_table(
        here,
        paths,
        decision.candidates,
        nothing,
        "Candidate paths",
        numeric={"Q"},
        marked=lambda one: one.path == decision.path,
    )
    found = [html.H3("Paths"), table]
    if decision.compute:
        sites: Columns = {
            "Site": lambda one: html.Strong(one.site) if is_selected(one, decision) else one.site,
            "Path": lambda one: one.path or "",
            "Total": "total_seconds",
            "Queue": "queue_seconds",
            "Compute": "compute_seconds",
            "Network": "network_seconds",
        }
        found += [html.H3("Compute sites"), _site_table(decision, here, sites)]
    return found


def _verdict_badge(candidate: CandidateView) -> Component:
    return ui.badge(*VERDICTS.get(candidate.verdict, (candidate.verdict, "plain")))


def _candidate_reason(candidate: CandidateView) -> Component:
    values = [
        f"{metric_name(one.metric)} "
        + (one.unknown or "unknown" if one.value is None else ui.value(one.value, one.metric))
        for one in candidate.metrics
    ]
    return html.Span([candidate.why, html.Br(), html.Small(", ".join(values))])


class CandidateMetric(NamedTuple):
    """Row of the candidate table: a metric of a candidate; None for a candidate without metrics."""

    candidate: CandidateView
    metric: MetricView | None
    first: bool


def candidate_table(decision: DecisionView, here: Visit) -> Component:
    """Return all candidates by metric, with what their scores are based on."""
    rows = [
        CandidateMetric(candidate, one, number == 0)
        for candidate in decision.candidates
        for number, one in enumerate(candidate.metrics or [None])
    ]
    columns: Columns = {
        "Candidate": lambda row: _candidate_name(row, decision),
        "Metric": _of_metric(lambda one: metric_name(one.metric)),
        "Value": _of_metric(lambda one: ui.value(one.value, one.metric)),
        "Bound": _of_metric(_bound),
        "Score": _of_metric(lambda one: ui.number(one.score)),
        "Weight": _of_metric(lambda one: ui.share(one.weight)),
        "Contribution to Q": lambda row: ui.number(_contribution(row)),
        "Age": _of_metric(lambda one: ui.span(one.age_seconds)),
        "Source": lambda row: _source(row, decision),
    }
    return document_table(
        here,
        columns,
        rows,
        "No candidates: no path between these sites.",
        "Candidates by metric",
        numeric={"Value", "Score", "Weight", "Contribution to Q", "Age"},
        marked=lambda row: row.candidate.path == decision.path,
    )


def _of_metric(cell: Callable[[MetricView], Any]) -> Callable[[CandidateMetric], Any]:
    return lambda row: ui.words.NONE if row.metric is None else cell(row.metric)


def _candidate_name(row: CandidateMetric, decision: DecisionView) -> Component:
    path, q = row.candidate.path, row.candidate.q
    if not row.first:
        return html.Span(path, className="muted")
    selected = [ui.badge("chosen", "good")] if path == decision.path else []
    score = "" if q is None else f" Q {q:.2f}"
    name = html.Strong(object_link("path", path))
    return html.Div([name, score, html.Br(), *selected, _verdict_badge(row.candidate)])


def _bound(one: MetricView) -> Any:
    if one.bound is None:
        return "none"
    bound = f"{bound_sign(one.metric)} {ui.value(one.bound, one.metric)} "
    return html.Span([ui.together(bound), ui.badge(*BOUNDS[one.bound_met])])


def _contribution(row: CandidateMetric) -> float | None:
    return None if row.metric is None else contributions(row.candidate).get(row.metric.metric)


def _source(row: CandidateMetric, decision: DecisionView) -> Any:
    if row.metric is None:
        return row.candidate.why or ui.words.NONE
    source = row.metric.unknown or row.metric.basis or "measured"
    observed_at = decision.at if row.metric.observed_at is None else row.metric.observed_at
    link = ui.link(source, f"/paths/{row.candidate.path}")
    return html.Span(link, title=f"as of {format_utc(observed_at)}")


def contributions(candidate: CandidateView) -> dict[str, float]:
    """Return the contribution of each metric with a score to the candidate's Q."""
    total = sum(one.weight for one in candidate.metrics) or 1.0
    return {
        one.metric: one.weight / total * one.score
        for one in candidate.metrics
        if one.score is not None and one.weight
    }


def q_chart(decision: DecisionView) -> Component | None:
    """Return the Q of each candidate as a bar of its contributions; None without any score."""
    candidates = [one for one in decision.candidates if contributions(one)]
    if not candidates:
        return None
    names = list(dict.fromkeys(one.metric for each in candidates for one in each.metrics if one.weight))
    bars = {metric_name(name): [contributions(one).get(name) for one in candidates] for name in names}
    figure = _bar_figure(
        [_candidate_label(one, decision) for one in candidates], bars, "Q (0 to 10)", "%{x:.2f}"
    )
    figure.update_xaxes(range=[0, 10])
    scores = [
        f"{one.path}: " + ("no Q: a value is unknown" if one.q is None else f"Q {one.q:.2f}")
        for one in candidates
    ]
    caption = f"{'; '.join(scores)}."
    excluded = [one.path for one in candidates if one.verdict != "qualified"]
    if excluded:
        caption += f" Excluded: {', '.join(excluded)}."
    return ui.chart("decision-q", figure, caption, 110 + BAR * len(candidates))


def _candidate_label(candidate: CandidateView, decision: DecisionView) -> str:
    selected = " ✓" if candidate.path == decision.path else ""
    excluded = "" if candidate.verdict == "qualified" else " (excluded)"
    return f"{candidate.path}{selected}{excluded} "


def _bar_figure(
    labels: Sequence[str], bars: Mapping[str, Sequence[float | None]], axis: str, hover: str
) -> go.Figure:
    """Stacked horizontal bars; each part has a name in the legend."""
    traces = [
        go.Bar(
            y=labels,
            x=values,
            name=name,
            orientation="h",
            marker={"color": SERIES[row % len(SERIES)]},
            hovertemplate=hover,
        )
        for row, (name, values) in enumerate(bars.items())
    ]
    figure = ui.figure(traces, x=axis)
    figure.update_layout(barmode="stack", hovermode="y unified", bargap=0.35, margin={"l": 10, "t": 34})
    figure.update_layout(legend={"y": 1.02, "yanchor": "bottom", "traceorder": "normal"})
    figure.update_yaxes(autorange="reversed", automargin=True)
    return figure


def lookup_charts(decision: DecisionView) -> list[Component]:
    """Return each lookup table of the decision, with the values of the candidates."""
    found = []
    for name, table in (decision.tables or {}).items():
        points = [(float(value), float(score)) for value, score in table["points"]]
        curve = Curve("", curve_points(points, step=bool(table.get("step"))))
        metrics = [
            (candidate.path, one)
            for candidate in decision.candidates
            for one in candidate.metrics
            if one.metric == name
        ]
        marks = [
            Mark(path, one.value, one.score)
            for path, one in metrics
            if one.value is not None and one.score is not None
        ]
        bound = metrics[0][1].bound if metrics else None
        chart = curve_chart(f"decision-{name}", name, [curve], bound, marks)
        found.append(html.Div([html.H3(metric_name(name)), chart]))
    return found


def site_chart(decision: DecisionView) -> Component | None:
    """Return T_t of each possible compute site as a bar of its terms; None if no site is possible."""
    sites = [one for one in decision.compute if math.isfinite(_seconds(one, "total"))]
    if not sites:
        return None
    labels = [f"{one.site} by {one.path} " if one.path else f"{one.site} " for one in sites]
    terms = {words: [_seconds(one, term) for one in sites] for term, words in SUMMANDS.items()}
    bars = {words: values for words, values in terms.items() if any(values)}
    times = "; ".join(f"{one.site}: {_time(one.total_seconds)}" for one in sites)
    caption = f"Time until the result is available: {times}."
    figure = _bar_figure(labels, bars, "Seconds", "%{x:.4g} s")
    return ui.chart("decision-sites", figure, caption, 110 + BAR * len(sites))


def site_table(decision: DecisionView, here: Visit) -> Component:
    """Return all compute sites with the terms of their cost."""
    columns: Columns = {
        "Site": lambda one: _site_name(one, decision),
        **{heading: partial(_term, term=term) for heading, term in TERMS.items()},
        "Cost": _cost,
        "Reason": _site_reason,
    }
    return _site_table(decision, here, columns, {"Cost", *TERMS})


def _site_table(
    decision: DecisionView, here: Visit, columns: Mapping[str, Any], numeric: Sequence[str] | set[str] = ()
) -> Component:
    return document_table(
        here,
        columns,
        decision.compute,
        "No compute sites.",
        "Compute sites",
        numeric=numeric,
        marked=lambda one: is_selected(one, decision),
    )


def is_selected(site: SiteCostView, decision: DecisionView) -> bool:
    """Whether the decision selected this site with this path; a site has a row for each path."""
    return site.site == decision.compute_site and site.path in (decision.path, None)


def _seconds(site: SiteCostView, term: str) -> float:
    """Return a term of a site; infinity if it is impossible."""
    if term == "busy":
        return float(site.compute_seconds) - float(site.queue_seconds)
    return float(getattr(site, f"{term}_seconds"))


def _time(seconds: Any) -> str:
    return "impossible" if math.isinf(float(seconds)) else ui.span(seconds)


def _term(site: SiteCostView, term: str) -> Component:
    spread = site.deviations.get(term)
    notes = [f"± {ui.span(spread)}"] if spread else []
    if term == "compute":
        notes.append(f"{ui.count(site.nodes, 'node')} at {ui.rate(site.node_rate_bps)}")
    elif term == "network" and site.path is not None:
        notes.append(f"{ui.size(site.transfer_size_bytes)} on {site.path}")
        notes.append(f"Γ_t {ui.rate(site.theoretical_bps)}, Γ_a {ui.rate(site.available_bps)}")
    lines = [html.Div(html.Small(note)) for note in notes]
    return html.Div([_time(getattr(site, f"{term}_seconds")), *lines])


def _site_name(site: SiteCostView, decision: DecisionView) -> Component:
    selected = [ui.badge("chosen", "good")] if is_selected(site, decision) else []
    where = ("local" if site.local else "remote") + (f", at {site.campus}" if site.campus else "")
    name = html.Strong(object_link("compute_site", site.site))
    return html.Div([name, html.Br(), html.Small(where, className="muted"), " ", *selected])


def _cost(site: SiteCostView) -> str:
    if site.cost == "inf":
        return "impossible"
    spread = site.deviations.get("cost")
    return format_significant(site.cost) + (f" ± {format_significant(spread, 2)}" if spread else "")


def _site_reason(site: SiteCostView) -> Component:
    origins = "; ".join(f"{ORIGINS.get(term, term)}: {words}" for term, words in site.origins.items())
    parts = [site.why, html.Br() if site.why and origins else "", origins]
    return html.Small(parts, className="reason")
