"""``/schedule``: next tests, their load, and the tests of the last hour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.measurements import OverlapView, ScheduleView, SpendView, TaskView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.network import plan
from apps.dashboard.network.links import path_link
from apps.dashboard.network.series_data import text_of
from apps.dashboard.page import Group, Page
from apps.dashboard.visit import Visit

HOUR_S = 3600.0
MOST_RUNS = 1000
"""Of the last hour, for the figures in words; the newest are drawn."""
DRAWN = 300
LISTED = 25
NEXT = 12


def show(_here: Visit) -> Component:
    """Return the heading."""
    return ui.head(
        "Schedule",
        "Conflicting tests never run at the same time (EDF-CE). Tests stay below the limit of each path.",
        ui.link("Time series", "/series"),
    )


def live(here: Visit) -> Component:
    """Return the plan, its load, and the last hour."""
    found: ScheduleView | None = None
    try:
        found = here.client.schedule()
        parts = [_plan(found, here)]
    except AdonError as error:
        parts = [ui.failure(error)]
    try:
        parts.append(_hour([] if found is None else found.tasks, here))
    except AdonError as error:
        parts.append(ui.failure(error))
    return html.Div(parts)


def _plan(found: ScheduleView, here: Visit) -> Component:
    if not found.tasks:
        return ui.card(
            "Plan",
            ui.empty("No tests. Add one in section measurements of the configuration."),
        )
    standing = (
        []
        if found.measures
        else [ui.notice("This collector is in standby; another collector measures.", "wait")]
    )
    words = (
        f"{ui.count(len(found.tasks), 'test')} in a round of {ui.span(found.round_seconds)}; the next "
        f"{ui.count(len(found.upcoming), 'run')} with the time reserved for each."
    )
    figure = plan.upcoming_chart(found, here.zone)
    chart = (
        [ui.chart("plan-next", figure, words, int(figure.layout.height))]
        if found.upcoming
        else [html.P("No runs are scheduled.")]
    )
    starts = ui.table(
        [
            ui.Column("Starts", lambda one: ui.when(one.start, here)),
            ui.Column("Test", lambda one: plan.task_words(one.task)),
        ],
        found.upcoming[:NEXT],
        "No runs are scheduled.",
        "Next runs",
    )
    return html.Div(
        [
            *standing,
            ui.card("Next runs", *chart, ui.details("Table", starts)),
            ui.columns(ui.card("Load of tests", _spend(found.spend)), _tests(found.tasks)),
        ]
    )


def _spend(spend: Mapping[str, SpendView]) -> Component:
    def peak(one: tuple[str, SpendView]) -> Any:
        allowed, found = one[1].allowed_bps, one[1].peak_bps
        if not allowed:
            return ui.rate(found)
        tone: ui.Tone = "wait" if found > 0.9 * allowed else "plain"
        return ui.bar(found / allowed, ui.rate(found), "bad" if found > allowed else tone)

    columns = [
        ui.Column("Path or link", lambda one: path_link(one[0])),
        ui.Column("Limit", lambda one: ui.rate(one[1].allowed_bps), numeric=True),
        ui.Column("Peak", peak),
        ui.Column("Mean", lambda one: ui.rate(one[1].mean_bps), numeric=True),
    ]
    return ui.table(
        columns, spend.items(), "No limits.", "Load compared with the measurement level agreement"
    )


def _tests(tasks: Sequence[TaskView]) -> Component:
    columns = [
        ui.Column("Test", lambda one: plan.task_words(one.task)),
        ui.Column("Every", lambda one: ui.span(one.period_seconds), numeric=True),
        ui.Column("Reserved", lambda one: ui.span(one.slot_seconds), numeric=True),
    ]
    return ui.card("Tests", ui.table(columns, tasks[:200], "None.", "Planned tests"))


def _hour(tasks: Sequence[TaskView], here: Visit) -> Component:
    since = text_of(here.now - HOUR_S)
    runs = here.client.executions(since=since, limit=MOST_RUNS)
    overlaps = here.client.overlaps(since)
    if not runs:
        return ui.card("The last hour", ui.empty("No runs in the last hour."))
    ran = plan.executed(runs, tasks, overlaps)
    figure = plan.executed_chart(ran[:DRAWN], here.zone)
    return ui.card(
        "The last hour",
        html.P(plan.summarise(ran, len(overlaps))),
        ui.chart(
            "plan-hour",
            figure,
            "Pale bar: reserved time. Solid bar: execution.",
            int(figure.layout.height),
        ),
        _conflicts(overlaps, here),
        _runs(ran, here),
    )


def _conflicts(overlaps: Sequence[OverlapView], here: Visit) -> Component | None:
    if not overlaps:
        return None
    said = [
        html.Li(
            [
                f"{plan.task_words(pair.first.task)} overlapped with ",
                f"{plan.task_words(pair.second.task)}, planned ",
                ui.when(pair.first.planned_start, here),
                ".",
            ]
        )
        for pair in overlaps[:LISTED]
    ]
    return html.Ul(said)


def _runs(ran: Sequence[plan.Ran], here: Visit) -> Component:
    def outcome(one: plan.Ran) -> Component:
        word = plan.FATES[one.fate][0]
        tone = {"measured": "good", "failed": "bad"}.get(word, "plain")
        why = "" if word == one.run.outcome else f" {one.run.outcome}"
        met = [" ", ui.badge("overlapped", "bad")] if one.overlapped else []
        return html.Span([ui.badge(word, tone), *met, why])  # type: ignore[arg-type]

    columns = [
        ui.Column("Test", lambda one: plan.task_words(one.run.task)),
        ui.Column("Planned", lambda one: ui.when(one.run.planned_start, here)),
        ui.Column(
            "Start error",
            lambda one: ui.words.NONE if one.late is None else f"{one.late:+.2f} s",
            numeric=True,
        ),
        ui.Column("Duration", lambda one: ui.span(one.lasted), numeric=True),
        ui.Column("Reserved", lambda one: ui.span(one.slot), numeric=True),
        ui.Column("Outcome", outcome),
    ]
    return ui.details(
        f"The newest {min(LISTED, len(ran))} runs as a table", ui.table(columns, ran[:LISTED], "", "Runs")
    )


PAGE = Page("/schedule", "Schedule", Action.MEASUREMENT_READ, show, live, refresh_s=15, group=Group.NETWORK)
