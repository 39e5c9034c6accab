"""``/workflows``: progress of workflows and state of batch systems, as their hosts reported them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from dash import html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.sites import BatchView, WorkflowUserView, WorkflowView
from apps.dashboard import ui
from apps.dashboard.network.links import tabs
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Tone
from apps.dashboard.visit import Visit

STATES = ("running", "failure", "success", "unknown")
_TONES: dict[str, Tone] = {"success": "good", "failure": "bad"}
MOST = 200


def show(here: Visit) -> Component:
    """Return the heading and the choice of a state."""
    chosen = here.query.get("state", "")
    ways = [("All", _address("")), *((one.capitalize(), _address(one)) for one in STATES)]
    return html.Div(
        [
            ui.head("Workflows", "Pegasus workflows and batch systems, as reported by measurement points."),
            tabs(ways, _address(chosen), "State"),
        ]
    )


def _address(state: str) -> str:
    return f"/workflows?{urlencode({'state': state})}" if state else "/workflows"


def live(here: Visit) -> Component:
    """Return workflows, their number by user, and batch systems."""
    state = here.query.get("state", "")
    found = here.client.workflows(limit=MOST, **({"state": state} if state in STATES else {}))
    return html.Div(
        [
            ui.card("Workflows", _workflows(found.items, here)),
            ui.columns(
                ui.card("Batch systems", _batch(found.batch_systems, here)),
                *([ui.card("By user", _users(found.users, here))] if found.users else []),
            ),
        ]
    )


def _workflows(found: Sequence[WorkflowView], here: Visit) -> Component:
    columns = [
        ui.Column(
            "Workflow",
            lambda one: ui.link(
                one.name, f"/series?{urlencode({'source': one.host, 'destination': one.name})}"
            ),
        ),
        ui.Column("Host", lambda one: one.host),
        ui.Column("State", _state),
        ui.Column("Done", _progress),
        ui.Column("Jobs", lambda one: _counts(one.jobs)),
        ui.Column("Reported", lambda one: ui.ago(one.observed_at, here)),
        ui.Column("Failures", _failures),
    ]
    nothing = ui.empty(
        "No workflows. A measurement point reports the workflows of its `[[pegasus]]` sections."
    )
    return ui.table(columns, found, nothing, "Workflows")


def _state(one: WorkflowView) -> Component:
    parts: list[Any] = [ui.badge(one.state, _TONES.get(one.state, "plain"))]
    if one.stale:
        parts += [" ", ui.badge("stale", "wait")]
    return html.Span(parts)


def _progress(one: WorkflowView) -> Any:
    percent = one.percent_done
    if percent is None:
        return ui.words.NONE
    return ui.bar(percent / 100, f"{percent:.0f} %", _TONES.get(one.state, "plain"))


def _counts(jobs: Mapping[str, int]) -> str:
    total = jobs.get("total")
    told = [f"{number} {name}" for name, number in jobs.items() if number and name != "total"]
    return f"{', '.join(told) or ui.words.NONE}{f' of {total}' if total else ''}"


def _failures(one: WorkflowView) -> Any:
    if not one.failures:
        return html.Span("none", className="muted")
    said = [
        html.Li("; ".join(f"{name} {value}" for name, value in job.items() if value not in (None, ""))[:300])
        for job in one.failures[:20]
    ]
    return ui.details(str(len(one.failures)), html.Ul(said))


def _batch(found: Sequence[BatchView], here: Visit) -> Component:
    def figures(one: BatchView) -> str:
        return ", ".join(f"{value:g} {name.replace('_', ' ')}" for name, value in one.values.items())

    columns = [
        ui.Column(
            "System",
            lambda one: html.Span([html.Strong(one.name), html.Small(f"{one.system} on {one.host}")]),
        ),
        ui.Column("Wait in queue", lambda one: ui.span(one.queue_wait_seconds), numeric=True),
        ui.Column("Nodes", figures),
        ui.Column(
            "Reported",
            lambda one: html.Span(
                [
                    ui.ago(one.observed_at, here),
                    *([" ", ui.badge("stale", "wait")] if one.stale else []),
                ]
            ),
        ),
    ]
    nothing = ui.empty("No batch systems.", ui.link("Compute sites", "/sites"))
    return ui.table(columns, found, nothing, "Batch systems")


def _users(found: Sequence[WorkflowUserView], here: Visit) -> Component:
    columns = [
        ui.Column("User", lambda one: one.name),
        ui.Column("Host", lambda one: one.host),
        ui.Column(
            "Workflows", lambda one: ", ".join(f"{count} {name}" for name, count in one.workflows.items())
        ),
        ui.Column("Reported", lambda one: ui.ago(one.observed_at, here)),
    ]
    return ui.table(columns, found, "None.", "Workflows by user")


PAGE = Page("/workflows", "Workflows", Action.MEASUREMENT_READ, show, live, refresh_s=15, group=Group.NETWORK)
