"""``/new``: request of a transfer, with a preview of the decision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dash_bootstrap_components as dbc
from dash import Dash, Input, Output, State, dcc, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.flows import PreviewView
from adon.errors import AdonError, InvalidInput, NotFound
from adon.units import format_size, parse_size
from apps.dashboard import ui
from apps.dashboard.entry_form import EntryForm, FormField
from apps.dashboard.page import Group, Page
from apps.dashboard.policy.decision_view import decision_summary
from apps.dashboard.ui.blocks import Tone
from apps.dashboard.visit import Visit, visit

FORM = EntryForm(
    "new",
    (
        FormField("template", "Application", "", "Its template selects the path.", "choice"),
        FormField("source", "From", kind="choice"),
        FormField("destination", "To", kind="choice"),
        FormField("size", "Size", "25 GB", "A number with a unit."),
        FormField(
            "deadline",
            "Deadline",
            "8 h, or 2026-11-23 08:00",
            "A duration from now, or your local time. Empty: no deadline.",
            "time",
        ),
        FormField("label", "Name", "season 7, run 2", "Shown in the list of flows."),
        FormField(
            "not_before",
            "Not before",
            "2026-11-23 22:00",
            "Earliest start; reserves the path in advance.",
            "time",
        ),
        FormField(
            "ports",
            "Ports",
            "5001 5002",
            "Of the data connections. Empty: learned from the first packets.",
            "integers",
        ),
        FormField(
            "streams", "Streams", "4", "Parallel TCP connections. Empty: the template's number.", "integer"
        ),
        FormField("priority", "Priority", "500", "0 to 999. Empty: the template's.", "integer"),
        FormField("queue_patience", "Queue limit", "12 h", "Then the flow expires. Empty: the template's."),
    ),
)
USUAL = ("source", "destination", "size", "deadline")
RARE = ("label", "not_before", "ports", "streams", "priority", "queue_patience")
REPEATED = ("template", "source", "destination", "size", "label", "streams", "priority", "queue_patience")
"""Fields that a repeated request takes over; its times have passed."""
METRICS = tuple(ui.words.METRIC_NAMES)
SLIDER_END = 10
DEFAULTS, ENTERED, PAUSABLE = "new-first", "new-typed", "new-pausable"
SUBMIT, RESULT, PREVIEW = "new-submit", "new-failed", "new-preview"


def show(here: Visit) -> Component:
    """The form, filled in from an earlier flow if the address names one (``?again=f-3``)."""
    templates = here.client.templates()
    if not templates:
        return ui.empty("No templates yet. A performance engineer adds the first one.")
    values, title = _initial_values(here)
    names = [(one.name, one.title or one.name) for one in templates]
    if values.get("template") not in dict(names):
        values["template"] = templates[0].name
    weights = slider_values(here.client.template(values["template"])["weights"])
    return html.Div(
        [
            ui.head(title, "The preview shows what ADON would decide now."),
            dcc.Store(id=DEFAULTS, data=weights),
            dcc.Store(id=ENTERED),
            ui.columns(
                ui.card(None, _form(here, values, names, weights)),
                ui.card("Preview", html.Div(id=PREVIEW), id="new-beside"),
            ),
        ]
    )


def _initial_values(here: Visit) -> tuple[dict[str, str], str]:
    earlier, template = here.query.get("again"), here.query.get("template")
    try:
        if earlier is not None:
            return repeated_values(here.client.flow(earlier).request), f"Repeat {earlier}"
    except NotFound:
        template = None
    return {"template": template} if template else {}, "New transfer"


def repeated_values(request: Mapping[str, Any]) -> dict[str, str]:
    """Return the values of the form for the request of an earlier flow."""
    values = {name: str(request[name]) for name in REPEATED if request.get(name) is not None}
    values["template"] = values.get("template", "").partition("@")[0]
    if "size" in values:
        exact = parse_size(values["size"])
        short = format_size(exact)
        if parse_size(short) == exact:
            values["size"] = short
    if request.get("ports"):
        values["ports"] = " ".join(str(port) for port in request["ports"])
    return values


def _form(
    here: Visit,
    values: Mapping[str, str],
    templates: Sequence[tuple[str, str]],
    weights: Mapping[str, float],
) -> Component:
    hosts = [(one.name, f"{one.name} ({one.site})") for one in here.client.hosts()]
    options = {"template": templates, "source": hosts, "destination": hosts}
    pausable = dbc.Checkbox(id=PAUSABLE, label="The transfer can be paused and resumed", value=False)
    rare = html.Div([*FORM.draw(values, names=RARE), html.Div(pausable, className="field")], className="grid")
    return html.Form(
        [
            *FORM.draw(values, options, names=("template",)),
            html.Div(FORM.draw(values, options, names=USUAL), className="grid"),
            html.Fieldset([html.Legend("Weights"), *(_slider(m, weights.get(m, 0)) for m in METRICS)]),
            ui.details("More", rare, opened=any(values.get(name) for name in ("ports", "streams"))),
            html.Div(html.Button("Submit", id=SUBMIT, type="button"), className="deeds"),
            html.Div(id=RESULT),
        ],
        id="new-form",
    )


def _slider(metric: str, value: float) -> Component:
    name = _slider_id(metric)
    slider = dcc.Input(id=name, type="range", min=0, max=SLIDER_END, step=1, value=value)
    return html.Div([html.Label(ui.words.METRIC_NAMES[metric], htmlFor=name), slider], className="slide")


def _slider_id(metric: str) -> str:
    return f"new-weight-{metric.replace('_', '-')}"


def slider_values(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the positions of the sliders for the weights of a template: the largest is at the end."""
    largest = max(weights.values(), default=0.0)
    return {name: round(SLIDER_END * one / largest) for name, one in weights.items()} if largest else {}


def transfer_request(
    entered: Mapping[str, Any], sliders: Sequence[Any], pausable: Any, defaults: Mapping[str, float] | None
) -> dict[str, Any]:
    """Return the request of a filled-in form.

    :param entered: the fields that are not empty.
    :param defaults: positions of the sliders for the template's own weights.
    :raises InvalidInput: if all sliders are at zero.
    """
    request = dict(entered)
    weights = {metric: float(value or 0) for metric, value in zip(METRICS, sliders, strict=True)}
    usual = {metric: float((defaults or {}).get(metric, 0)) for metric in METRICS}
    if weights != usual:
        request["weights"] = {metric: weight for metric, weight in weights.items() if weight}
        if not request["weights"]:
            raise InvalidInput.of("weights", "all weights are zero; move at least one slider above zero")
    if pausable:
        request["pausable"] = True
    return request


def preview(here: Visit, values: Sequence[Any], defaults: Mapping[str, float] | None) -> list[Any]:
    """Return the preview of entered values, and the problem of each field."""
    count = len(FORM.fields)
    try:
        entered = FORM.read(values[:count], here.zone)
        if not {"source", "destination", "size"} <= set(entered):
            return [ui.empty("Enter source, destination and size."), *FORM.place_problems(None)[1]]
        request = transfer_request(entered, values[count:-1], values[-1], defaults)
        found = here.client.preview_flow(request)
    except AdonError as error:
        box, problems = FORM.place_problems(error)
        return [ui.empty("Correct the marked fields.") if box is None else box, *problems]
    shown = [preview_notice(found), *decision_summary(found.decision, here)]
    return [shown, *FORM.place_problems(None)[1]]


def preview_notice(preview: PreviewView) -> Component:
    """Return the outcome in a sentence, with its duration and its consequences for others."""
    outcome: list[Any]
    if preview.outcome == "admit":
        where = f"Starts now on {preview.path}"
        if preview.compute_site:
            where += f", computed at {preview.compute_site}"
        rate = preview.throughput
        outcome = [html.Strong(where), f", at about {ui.rate(rate.expected_bps)}" if rate else ""]
    else:
        reasons = html.Ul([html.Li(one) for one in preview.waits_for])
        outcome = [html.Strong("Would be queued"), reasons if preview.waits_for else ""]
    tone: Tone = "good" if preview.outcome == "admit" else "wait"
    return ui.notice([*outcome, _duration(preview), *map(html.P, _consequences(preview))], tone)


def _duration(preview: PreviewView) -> Component | None:
    forecast = preview.forecast
    if forecast is None:
        return None
    interval = f"{ui.span(forecast.low_seconds)} to {ui.span(forecast.high_seconds)}"
    note = f"({ui.share(forecast.coverage)} interval: {interval})"
    return html.P([f"Takes about {ui.span(forecast.expected_seconds)} ", html.Small(note)])


def _consequences(preview: PreviewView) -> list[str]:
    found = []
    if preview.moved:
        found.append(f"{ui.count(preview.moved, 'active flow')} would be rerouted.")
    if preview.displaced:
        found.append(f"{ui.count(preview.displaced, 'active flow')} would be preempted and queued.")
    if preview.booking is not None:
        found.append(
            f"{ui.rate(preview.booking.rate_bps)} of {preview.booking.path} would be reserved for it."
        )
    if preview.advised:
        found.append("Dry run: no rule would be installed.")
    return found


def submit(here: Visit, entered: dict[str, Any], *others: Any) -> str:
    """Submit the request; return the address of its flow.

    :param others: positions of the sliders, pausable, defaults of the sliders.
    """
    *sliders, pausable, defaults = others
    return f"/flows/{here.client.submit(transfer_request(entered, sliders, pausable, defaults)).id}"


def register_callbacks(app: Dash) -> None:
    """Set the sliders by the template, draw the preview, and submit."""
    sliders = [State(_slider_id(metric), "value") for metric in METRICS]
    pausable = State(PAUSABLE, "value")

    @app.callback(
        [Output(DEFAULTS, "data"), *(Output(_slider_id(metric), "value") for metric in METRICS)],
        Input(FORM.id("template"), "value"),
        prevent_initial_call=True,
    )
    def set_sliders(template: str) -> list[Any]:
        positions = slider_values(visit().client.template(template)["weights"])
        return [positions, *(positions.get(metric, 0) for metric in METRICS)]

    entered = [Input(one.component_id, "value") for one in (*FORM.states(), *sliders, pausable)]
    ui.settled(app, ENTERED, entered)

    @app.callback(
        [Output(PREVIEW, "children"), *FORM.problem_outputs(duplicate=True)],
        [Input(ENTERED, "data"), State(DEFAULTS, "data")],
        prevent_initial_call=True,
    )
    def draw_preview(values: list[Any], defaults: Mapping[str, float] | None) -> list[Any]:
        return preview(visit(), values, defaults)

    FORM.on_submit(app, SUBMIT, RESULT, submit, *sliders, pausable, State(DEFAULTS, "data"))


PAGE = Page(
    "/new", "New transfer", Action.FLOW_SUBMIT, show, group=Group.TRANSFERS, callbacks=register_callbacks
)
