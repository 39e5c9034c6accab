"""*New transfer*: the request in a researcher's words; beside it, what would be decided now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.errors import AdonError, NotFound
from apps.dashboard import ui
from apps.dashboard.page import Group, Page
from apps.dashboard.transfers import foretelling
from apps.dashboard.transfers.wish import MOST, Typed, again, sliders_of, wish
from apps.dashboard.visit import Visit, visit

TEXTS = (
    "template",
    "source",
    "destination",
    "size",
    "deadline",
    "not_before",
    "label",
    "ports",
    "streams",
    "priority",
    "queue_patience",
)
METRICS = tuple(ui.words.METRIC_NAMES)
NAMED = (*TEXTS, "weights")
"""The fields that a problem can be shown at."""
FIRST, TYPED = "new-first", "new-typed"
MATTERS: Mapping[str, str] = {
    "throughput": "Throughput",
    "rtt": "Round trip",
    "one_way_delay": "One-way delay",
    "jitter": "Jitter",
    "loss": "Loss",
    "health": "Health",
}


def show(here: Visit) -> Component:
    """The form, filled in from an earlier flow if the address names one (``?again=f-3``)."""
    templates = here.client.templates()
    if not templates:
        return ui.empty("No templates yet. A performance engineer adds the first one.")
    hosts = [(one.name, f"{one.name} ({one.site})") for one in here.client.hosts()]
    texts, heading = _filled(here)
    named = texts.get("template", "").partition("@")[0]
    first = named if any(one.name == named for one in templates) else templates[0].name
    usual = sliders_of(here.client.template(first)["weights"])
    names = [(one.name, one.title or one.name) for one in templates]
    form = html.Form(
        [
            ui.field(
                "Application", ui.choice(_id("template"), names, first), "Its template selects the path."
            ),
            html.Div(
                [
                    ui.field("From", ui.choice(_id("source"), hosts, texts.get("source"))),
                    ui.field("To", ui.choice(_id("destination"), hosts, texts.get("destination"))),
                    ui.field(
                        "Size",
                        ui.text_input(_id("size"), texts.get("size", ""), "25 GB"),
                        "A number with a unit.",
                    ),
                    ui.field(
                        "Deadline",
                        ui.text_input(_id("deadline"), "", "8 h, or 2026-11-23 08:00", list="new-moments"),
                        "A duration from now, or your local time. Empty: no deadline.",
                    ),
                ],
                className="grid",
            ),
            html.Datalist(
                [html.Option(value=one) for one in ("1 h", "4 h", "8 h", "24 h")], id="new-moments"
            ),
            html.Fieldset(
                [
                    html.Legend("Weights"),
                    *(_slider(metric, usual.get(metric, 0)) for metric in METRICS),
                    html.Span(id=_problem("weights"), className="problem", **{"aria-live": "polite"}),
                ]
            ),
            ui.details("More", _more(texts), opened=any(texts.get(name) for name in ("ports", "streams"))),
            html.Div(html.Button("Submit", id="new-submit", type="button"), className="deeds"),
            html.Div(id="new-failed"),
        ],
        id="new-form",
    )
    return html.Div(
        [
            ui.head(heading, "The preview shows what ADON would decide now."),
            dcc.Store(id=FIRST, data=usual),
            dcc.Store(id=TYPED),
            ui.columns(ui.card(None, form), ui.card("Preview", html.Div(id="new-preview"), id="new-beside")),
        ]
    )


def _filled(here: Visit) -> tuple[dict[str, str], str]:
    earlier = here.query.get("again")
    if earlier is None:
        return {}, "New transfer"
    try:
        return again(here.client.flow(earlier).request), f"Repeat {earlier}"
    except NotFound:
        return {}, "New transfer"


def _more(texts: Mapping[str, str]) -> Component:
    def line(name: str, label: str, placeholder: str, hint: str) -> Component:
        return ui.field(label, ui.text_input(_id(name), texts.get(name, ""), placeholder), hint)

    return html.Div(
        [
            line("label", "Name", "season 7, run 2", "Shown in the list of flows."),
            line(
                "not_before",
                "Not before",
                "2026-11-23 22:00",
                "Earliest start; reserves the path in advance.",
            ),
            line(
                "ports",
                "Ports",
                "5001 5002",
                "Of the data connections. Empty: learned from the first packets.",
            ),
            line("streams", "Streams", "4", "Parallel TCP connections. Empty: the template's number."),
            line("priority", "Priority", "500", "0 to 999. Empty: the template's."),
            line("queue_patience", "Queue limit", "12 h", "Then the flow expires. Empty: the template's."),
            html.Div(
                dcc.Checklist(
                    id="new-pausable",
                    options=[{"label": " The transfer can be paused and resumed", "value": "yes"}],
                    value=[],
                ),
                className="field",
            ),
        ],
        className="grid",
    )


def _slider(metric: str, value: float) -> Component:
    name = _slide(metric)
    slider = dcc.Input(id=name, type="range", min=0, max=MOST, step=1, value=value)
    return html.Div([html.Label(MATTERS[metric], htmlFor=name), slider], className="slide")


def _id(name: str) -> str:
    return f"new-{name.replace('_', '-')}"


def _slide(metric: str) -> str:
    return f"new-weight-{metric.replace('_', '-')}"


def _problem(name: str) -> str:
    return f"{_id(name)}-problem"


def _typed(texts: Sequence[Any], sliders: Sequence[Any], usual: Mapping[str, float], pausable: Any) -> Typed:
    named = {name: None if text is None else str(text) for name, text in zip(TEXTS, texts, strict=True)}
    slid = {metric: float(value or 0) for metric, value in zip(METRICS, sliders, strict=True)}
    full = {metric: float(usual.get(metric, 0)) for metric in METRICS}
    return Typed(named, slid, full, bool(pausable))


def callbacks(app: Dash) -> None:
    """The sliders follow the template, the preview follows everything, and one button asks for it."""
    texts = [State(_id(name), "value") for name in TEXTS]
    sliders = [State(_slide(metric), "value") for metric in METRICS]
    shown = [Output(_problem(name), "children", allow_duplicate=True) for name in NAMED]

    @app.callback(
        [Output(FIRST, "data"), *(Output(_slide(metric), "value") for metric in METRICS)],
        Input(_id("template"), "value"),
        prevent_initial_call=True,
    )
    def usual(template: str) -> list[Any]:
        set_to = sliders_of(visit().client.template(template)["weights"])
        return [set_to, *(set_to.get(metric, 0) for metric in METRICS)]

    every = [Input(state.component_id, "value") for state in (*texts, *sliders)]
    ui.settled(app, TYPED, [*every, Input("new-pausable", "value")])

    @app.callback(
        [Output("new-preview", "children"), *(Output(_problem(name), "children") for name in NAMED)],
        [Input(TYPED, "data"), State(FIRST, "data")],
        prevent_initial_call=True,
    )
    def preview(values: list[Any], first: Any) -> list[Any]:
        here = visit()
        typed = _typed(values[: len(TEXTS)], values[len(TEXTS) : -1], first or {}, values[-1])
        missing = [name for name in ("source", "destination", "size") if not typed.texts.get(name)]
        if missing:
            says = ui.empty("Enter source, destination and size.")
            return [says, *(["" for _ in NAMED])]
        try:
            told = here.client.preview_flow(wish(typed, here.zone))
        except AdonError as error:
            found = ui.problems_of(error)
            elsewhere = {name: cause for name, cause in found.items() if _root(name) not in NAMED}
            box = ui.failure(error) if elsewhere or not found else ui.empty("Correct the marked fields.")
            return [box, *_at_fields(found)]
        return [[foretelling.verdict(told), *foretelling.why(told.decision)], *(["" for _ in NAMED])]

    @app.callback(
        [
            Output("url", "pathname", allow_duplicate=True),
            Output("url", "search", allow_duplicate=True),
            Output("new-failed", "children"),
            *shown,
        ],
        Input("new-submit", "n_clicks"),
        [*texts, *sliders, State("new-pausable", "value"), State(FIRST, "data")],
        running=[(Output("new-submit", "disabled"), True, False)],
        prevent_initial_call=True,
    )
    def submit(clicks: int | None, *values: Any) -> list[Any]:
        if not clicks or ctx.triggered_id != "new-submit":
            return [no_update] * (3 + len(NAMED))
        here = visit()
        typed = _typed(values[: len(TEXTS)], values[len(TEXTS) : -2], values[-1] or {}, values[-2])
        try:
            flow = here.client.submit(wish(typed, here.zone))
        except AdonError as error:
            return [no_update, no_update, ui.failure(error), *_at_fields(ui.problems_of(error))]
        return [f"/flows/{flow.id}", "", "", *(["" for _ in NAMED])]


def _root(field: str) -> str:
    """The field of the form that a field of the request belongs to."""
    return field.partition(".")[0]


def _at_fields(problems: Mapping[str, str]) -> list[str]:
    found = dict.fromkeys(NAMED, "")
    for name, cause in problems.items():
        if _root(name) in found:
            found[_root(name)] = cause
    return list(found.values())


PAGE = Page("/new", "New transfer", Action.FLOW_SUBMIT, show, group=Group.TRANSFERS, callbacks=callbacks)
