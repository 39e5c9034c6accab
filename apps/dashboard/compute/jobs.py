"""Jobs at compute sites: asked for here or by flows, followed, ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dash import ALL, Dash, Input, Output, State, ctx, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.sites import JobView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Column, Tone
from apps.dashboard.visit import Visit, visit

SHOWN = 100
TONES: Mapping[str, Tone] = {"running": "good", "succeeded": "good", "failed": "bad", "waiting": "wait"}
END = "job-end"


def show(here: Visit) -> Component:
    """Heading, and the form for users who may submit jobs."""
    parts = [
        ui.head(
            "Jobs",
            "Programs that run at compute sites. The configuration of a site names the permitted programs.",
        )
    ]
    offered = [(one.name, job) for one in here.client.sites() for job in one.jobs]
    if here.may(Action.JOB_SUBMIT, here.actor.name) and offered:
        choices = [(f"{site}/{job}", f"{job} at {site}") for site, job in offered]
        form = html.Div(
            [
                ui.field("Program", ui.choice("job-what", choices, choices[0][0])),
                ui.field(
                    "Arguments", ui.text_input("job-arguments", "", "--in data.fq"), "Separated by spaces."
                ),
                ui.field("Data", ui.text_input("job-size", "", "25 GB"), "Amount of input, if known."),
            ],
            className="grid",
        )
        button = html.Button("Run", id="job-submit", type="button")
        parts.append(ui.card(None, ui.details("Run a program", form, button)))
    return html.Div([*parts, html.Div(id="job-done")])


def live(here: Visit) -> Component:
    """The newest jobs that one may see."""
    columns = [
        Column("Job", lambda one: html.Strong(one.id)),
        Column("State", lambda one: ui.badge(one.state, TONES.get(one.state, "plain"))),
        Column(
            "Program",
            lambda one: html.Span([html.Code(" ".join([one.job, *one.arguments])), f" at {one.site}"]),
        ),
        Column("Requester", lambda one: _whom(one)),
        Column("Requested", lambda one: ui.when(one.asked_at, here)),
        Column("Queued", lambda one: _waited(one)),
        Column("Ran", lambda one: ui.span(one.ran_seconds), numeric=True),
        Column("Why", lambda one: one.reason),
        Column("", lambda one: _end(one, here)),
    ]
    nothing = ui.empty("No jobs yet. A flow can also start a job.")
    return ui.card(None, ui.table(columns, here.client.jobs(limit=SHOWN), nothing, "Jobs"))


def _whom(job: JobView) -> Any:
    return ui.link(job.flow, f"/flows/{job.flow}") if job.flow else job.requester


def _waited(job: JobView) -> Component:
    said = (
        "" if job.predicted_seconds is None else html.Small(f" (predicted {ui.span(job.predicted_seconds)})")
    )
    return html.Span([ui.span(job.waited_seconds), said])


def _end(job: JobView, here: Visit) -> Any:
    if job.final or not here.may(Action.JOB_CANCEL, job.requester):
        return ""
    name = {"type": END, "index": job.id}
    return html.Button("Cancel", id=name, className="danger small", disabled=job.cancelling)


def callbacks(app: Dash) -> None:
    """Running a program, and ending one."""

    @app.callback(
        Output("job-done", "children"),
        Input("job-submit", "n_clicks"),
        State("job-what", "value"),
        State("job-arguments", "value"),
        State("job-size", "value"),
        running=[(Output("job-submit", "disabled"), True, False)],
        prevent_initial_call=True,
    )
    def run(clicks: int | None, what: str, arguments: str | None, size: str | None) -> Any:
        if not clicks:
            return no_update
        site, _, job = what.partition("/")
        request: dict[str, Any] = {"site": site, "job": job, "arguments": (arguments or "").split()}
        if size:
            request["size"] = size
        try:
            made = visit().client.submit_job(request)
        except AdonError as error:
            return ui.failure(error)
        return ui.notice(f"{made.id} is submitted to {site}.", "good")

    @app.callback(
        Output("job-done", "children", allow_duplicate=True),
        Input({"type": END, "index": ALL}, "n_clicks"),
        prevent_initial_call=True,
    )
    def end(clicks: list[int | None]) -> Any:
        if not any(clicks) or not isinstance(ctx.triggered_id, dict):
            return no_update
        try:
            job = visit().client.cancel_job(str(ctx.triggered_id["index"]))
        except AdonError as error:
            return ui.failure(error)
        return ui.notice(f"{job.id} is being cancelled.", "good")


PAGE = Page("/jobs", "Jobs", Action.JOB_READ, show, live, group=Group.TRANSFERS, callbacks=callbacks)
