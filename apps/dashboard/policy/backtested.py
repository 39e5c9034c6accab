"""A backtest as it is read: decisions that would differ, time that would be saved.  Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.api.templates import ActualOutcome, BacktestResult, BacktestView, FlowComparison, ReplayedOutcome
from apps.dashboard import ui
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit

MOST = 100
"""Flows of one table; those that would differ come first."""


def running(found: BacktestView, here: Visit) -> Component:
    """While it runs."""
    return ui.notice(
        [
            "Replaying since ",
            ui.when(found.since, here),
            f"; started {ui.ago(found.asked_at, here)}.",
        ],
        "wait",
    )


def ended(found: BacktestView, here: Visit) -> Component:
    """What came of it."""
    result = found.found
    if found.state != "done" or result is None:
        words = {"failed": f"The backtest failed: {found.cause}", "cancelled": "The backtest was cancelled."}
        return ui.notice(words.get(found.state, found.state), "bad" if found.cause else "plain")
    return html.Div(
        [
            _summary(found, result, here),
            table(result.flows),
            ui.details("Replay method", html.P(result.model, className="muted")),
        ]
    )


def summary(result: BacktestResult) -> str:
    """The comparison in a sentence."""
    flows, moved = len(result.flows), result.moved
    if not flows:
        return "No flows in this period."
    differ = (
        f"{moved} of {flows} flows would have taken another path"
        if moved
        else f"None of {flows} flows would have taken another path"
    )
    saved = result.saved_seconds
    time = (
        "no difference in time"
        if abs(saved) < 0.05
        else f"{ui.span(abs(saved))} {'saved' if saved > 0 else 'lost'} in total"
    )
    return f"{differ}; {time}."


def _summary(found: BacktestView, result: BacktestResult, here: Visit) -> Component:
    off = result.model_off_by
    trust = (
        "" if off is None else f" Median error of the replay: {ui.share(off)}; ignore smaller differences."
    )
    return html.Div(
        [
            html.P(html.Strong(summary(result))),
            html.Small(
                [
                    f"{result.proposed} compared with {result.present}, since ",
                    ui.when(found.since, here),
                    ".",
                    trust,
                ],
                className="muted",
            ),
        ]
    )


def table(flows: Sequence[FlowComparison]) -> Component:
    """Flow by flow; those that would differ first."""
    ranked = sorted(flows, key=lambda one: (not one.moved, -abs(one.saved_seconds or 0.0)))
    columns = [
        Column("Flow", lambda one: ui.link(one.flow, f"/flows/{one.flow}")),
        Column("Size", lambda one: ui.size(one.size_bytes), numeric=True),
        Column("Recorded", lambda one: _went(one.happened)),
        Column("Saved version", lambda one: _replayed(one.present)),
        Column("This text", lambda one: _replayed(one.proposed)),
        Column("Time saved", lambda one: _saves(one.saved_seconds), numeric=True),
    ]
    shown = ui.table(columns, ranked[:MOST], "No flows in this period.", "Flows", lambda one: one.moved)
    more = (
        []
        if len(ranked) <= MOST
        else [html.P(f"{MOST} of {len(ranked)} flows are shown.", className="muted")]
    )
    return html.Div([shown, *more])


def _went(one: ActualOutcome | ReplayedOutcome) -> Any:
    paths = " → ".join(one.paths) or "no path"
    return html.Span([paths, html.Br(), html.Small(ui.span(one.took_seconds), className="muted")])


def _replayed(one: ReplayedOutcome) -> Any:
    if one.refused:
        return html.Span([ui.badge("refused", "bad"), html.Br(), html.Small(one.refused)])
    violated = [ui.badge(f"violated {ui.span(one.violated_seconds)}", "bad")] if one.violations else []
    return html.Span([*_went(one).children, " ", *violated])


def _saves(seconds: float | None) -> str:
    if seconds is None:
        return ui.words.NONE
    return f"{'−' if seconds < 0 else ''}{ui.span(abs(seconds))}"
