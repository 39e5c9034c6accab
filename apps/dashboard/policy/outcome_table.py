"""Outcomes of flows in a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.api.flows import OutcomeView
from apps.dashboard import ui
from apps.dashboard.policy.words import error, joined, template_link
from apps.dashboard.ui.blocks import Column
from apps.dashboard.visit import Visit


def outcome_table(
    outcomes: Iterable[OutcomeView], here: Visit, nothing: Any, *, template: bool = False
) -> Component:
    """What flows were promised and got, those that ended last first.

    :param template: whether to say which template served each.
    """
    columns = [
        Column("Flow", lambda one: ui.link(one.flow, f"/flows/{one.flow}")),
        *([Column("Template", lambda one: template_link(one.template))] if template else []),
        Column("Ended", lambda one: ui.when(one.ended_at, here)),
        Column("Path", _paths),
        Column("Size", lambda one: ui.size(one.transferred_bytes), numeric=True),
        Column("Queued", lambda one: ui.span(one.waited_seconds), numeric=True),
        Column("Predicted", lambda one: ui.rate(one.promised_bps), numeric=True),
        Column("Achieved", lambda one: ui.rate(one.throughput_bps), numeric=True),
        Column("Error", lambda one: error(one.error), numeric=True),
        Column("Forecast", _forecast),
        Column("Bounds", _kept),
        Column("Decision", _decision),
    ]
    return ui.table(columns, outcomes, nothing, "Ended flows")


def _paths(one: OutcomeView) -> Any:
    names = list(dict.fromkeys(stay.path for stay in one.stays))
    return joined((ui.link(name, f"/paths/{name}") for name in names), " → ") or "none"


def _forecast(one: OutcomeView) -> Any:
    if one.foretold is None:
        return ui.words.NONE
    return ui.badge("held", "good") if one.foretold else ui.badge("missed", "wait")


def _kept(one: OutcomeView) -> Component:
    if one.admitted_at is None:
        return ui.badge(one.state)
    return ui.badge("kept", "good") if one.kept else ui.badge("broken", "bad")


def _decision(one: OutcomeView) -> Any:
    if one.decision is None:
        return ui.words.NONE
    return html.Span(
        ui.link(
            "why",
            f"/decisions/{one.decision}",
        ),
        title=one.decision,
    )
