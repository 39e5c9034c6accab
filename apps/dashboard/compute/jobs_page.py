"""``/jobs``: jobs at compute sites."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import Dash, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.sites import JobView
from apps.dashboard import ui
from apps.dashboard.entry_form import EntryForm, FormField, on_row_button, row_button
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Tone
from apps.dashboard.ui.document_table import Columns, document_table, object_link
from apps.dashboard.visit import Visit

SHOWN = 100
TONES: Mapping[str, Tone] = {"running": "good", "succeeded": "good", "failed": "bad", "waiting": "wait"}
CANCEL, SUBMIT, RESULT = "job-cancel", "job-submit", "job-done"
FORM = EntryForm(
    "job",
    (
        FormField("program", "Program", kind="choice"),
        FormField("arguments", "Arguments", "--in data.fq", "Separated by spaces."),
        FormField("size", "Data", "25 GB", "Amount of input, if known."),
    ),
)


def show(here: Visit) -> Component:
    """Heading, and the form for users who may submit jobs."""
    lead = "Programs that run at compute sites. The configuration of a site names the permitted programs."
    parts = [ui.head("Jobs", lead)]
    programs = [
        (f"{one.name}/{job}", f"{job} at {one.name}") for one in here.client.sites() for job in one.jobs
    ]
    if here.may(Action.JOB_SUBMIT, here.actor.name) and programs:
        fields = FORM.draw({"program": programs[0][0]}, {"program": programs})
        button = html.Button("Run", id=SUBMIT, type="button")
        parts.append(ui.card(None, ui.details("Run a program", html.Div(fields, className="grid"), button)))
    return html.Div([*parts, html.Div(id=RESULT)])


def live(here: Visit) -> Component:
    """The newest jobs that the user may see."""
    columns: Columns = {
        "Job": lambda one: html.Strong(one.id),
        "State": lambda one: ui.badge(one.state, TONES.get(one.state, "plain")),
        "Program": lambda one: html.Span([html.Code(" ".join([one.job, *one.arguments])), f" at {one.site}"]),
        "Requester": lambda one: object_link("flow", one.flow) if one.flow else one.requester,
        "Requested": "asked_at",
        "Queued": _queue_wait,
        "Ran": "ran_seconds",
        "Reason": "reason",
        "": lambda one: _cancel_button(one, here),
    }
    nothing = ui.empty("No jobs yet. A flow can also start a job.")
    return ui.card(None, document_table(here, columns, here.client.jobs(limit=SHOWN), nothing, "Jobs"))


def _queue_wait(job: JobView) -> Component:
    predicted = job.predicted_seconds
    note = "" if predicted is None else html.Small(f" (predicted {ui.span(predicted)})")
    return html.Span([ui.span(job.waited_seconds), note])


def _cancel_button(job: JobView, here: Visit) -> Any:
    if job.final or not here.may(Action.JOB_CANCEL, job.requester):
        return ""
    return row_button(CANCEL, job.id, "Cancel", disabled=job.cancelling)


def submit_job(here: Visit, entered: dict[str, Any]) -> Component:
    """Submit a job and report its id."""
    site, _, job = entered["program"].partition("/")
    request: dict[str, Any] = {"site": site, "job": job, "arguments": entered.get("arguments", "").split()}
    if "size" in entered:
        request["size"] = entered["size"]
    return ui.notice(f"{here.client.submit_job(request).id} is submitted to {site}.", "good")


def cancel_job(here: Visit, job: str) -> Component:
    """Cancel a job and report it."""
    return ui.notice(f"{here.client.cancel_job(job).id} is being cancelled.", "good")


def register_callbacks(app: Dash) -> None:
    """Submit and cancel jobs."""
    FORM.on_submit(app, SUBMIT, RESULT, submit_job)
    on_row_button(app, CANCEL, RESULT, cancel_job)


PAGE = Page("/jobs", "Jobs", Action.JOB_READ, show, live, group=Group.TRANSFERS, callbacks=register_callbacks)
