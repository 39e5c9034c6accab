"""TCP and transfer advice as it is read: what to have, what both hosts have, what it gains.  Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.api.advice import AdviceView, GapView, HostAdviceView, ItemView, PathFactsView
from apps.dashboard import ui
from apps.dashboard.ui.blocks import Column, Tone
from apps.dashboard.visit import Visit

SURE: Mapping[str, Tone] = {"high": "good", "medium": "wait", "low": "bad"}
APPLIED: Mapping[str, tuple[str, Tone]] = {
    "applied": ("applied", "good"),
    "differs": ("differs", "bad"),
    "unknown": ("unknown", "plain"),
}
NAMES = {"mtu": "MTU", "control": "Congestion control"}


def advice(found: AdviceView, here: Visit) -> Component:
    """Everything that there is to say about one path between two hosts."""
    return html.Div(
        [
            _prediction(found),
            ui.card("Recommended settings", _items(found), _facts(found.path)),
            ui.columns(*(_host(one, here) for one in found.hosts)),
            _gaps(found.unknown),
        ]
    )


def prediction(found: AdviceView) -> str:
    """The predicted gain in a sentence; empty without a prediction."""
    told = found.prediction
    if told is None:
        return ""
    after, before, gain = told.after_bps, told.before_bps, told.gain
    words = "All settings applied. Predicted" if found.both_applied else "Predicted"
    expected, low, high = (None,) * 3 if after is None else (after.expected, after.low, after.high)
    text = f"{words}: {_rate(expected)} ({_rate(low)} to {_rate(high)})"
    if found.both_applied:
        return f"{text}."
    if before is not None:
        text += f", now {_rate(before.expected)}"
    if gain is not None and gain.expected is not None:
        text += f": {gain.expected:.3g} times as fast"
    return f"{text}."


def _rate(bits_per_second: float | None) -> str:
    return "?" if bits_per_second is None else ui.rate(bits_per_second)


def _prediction(found: AdviceView) -> Component:
    told, basis = prediction(found), found.prediction
    if basis is None:
        return ui.notice("Not enough data for a prediction.", "wait")
    rests = html.Small(f"{basis.formula}; basis: {basis.basis}.")
    return ui.notice([html.Strong(told), html.P(rests)], "good" if found.both_applied else "plain")


def _items(found: AdviceView) -> Component:
    columns = [
        Column("Setting", lambda one: NAMES.get(one.name, one.name.capitalize())),
        Column("Recommended", lambda one: html.Strong(one.value)),
        Column("Reason", _why),
        Column("Confidence", lambda one: ui.badge(one.confidence, SURE.get(one.confidence, "plain"))),
    ]
    nothing = ui.empty("No advice: the values below are unknown.")
    return ui.table(columns, found.items, nothing, "Recommended settings")


def _why(one: ItemView) -> Any:
    formula = [html.Br(), html.Small(one.formula, className="muted")] if one.formula else []
    return html.Span([one.reason, *formula])


def _facts(path: PathFactsView) -> Component:
    reached = path.reached_bps
    streams = f" with {path.reached_streams} streams" if path.reached_streams else ""
    return ui.details(
        "Inputs",
        ui.facts(
            ("Path", path.path),
            ("Capacity", ui.rate(path.rate_bps)),
            ("Round trip", ui.span(path.rtt_seconds)),
            ("Loss", ui.share(path.loss_ratio)),
            ("MTU", path.mtu),
            ("Measured throughput", None if reached is None else ui.rate(reached) + streams),
        ),
    )


def _host(one: HostAdviceView, here: Visit) -> Component:
    words, tone = APPLIED[one.verdict]
    wrong = [setting for setting in one.settings if setting.verdict != "applied"]
    columns = [
        Column(
            "Setting",
            lambda each: html.Span(
                [html.Code(each.key), html.Br(), html.Small(each.reason, className="muted")]
            ),
        ),
        Column("Recommended", lambda each: ("≥ " if each.compare == "at least" else "") + each.value),
        Column("Present", lambda each: each.present if each.present is not None else "unknown"),
    ]
    told: list[Any] = []
    if one.settings:
        count = len(one.settings) - len(wrong)
        source = f", from {one.source}" if one.source else ""
        at: list[Any] = [" at ", ui.when(one.observed_at, here)] if one.observed_at else []
        told.append(html.P([f"{count} of {len(one.settings)} applied{source}", *at, "."], className="muted"))
    told += [html.P(remark) for remark in one.remarks]
    heading = html.Span([f"{one.host} ({one.role}) ", ui.badge(words, tone)])
    nothing = "All recommended settings are applied." if one.settings else "No advice."
    return ui.card(heading, ui.table(columns, wrong, nothing, f"Settings of {one.host}"), *told)


def _gaps(gaps: Sequence[GapView]) -> Component | None:
    if not gaps:
        return None
    lines = [
        html.Li([html.Strong(one.what), f"; needed for: {one.without}. Measure with: {one.measure}."])
        for one in gaps
    ]
    return ui.card("Unknown values", html.Ul(lines, className="plain-list"))
