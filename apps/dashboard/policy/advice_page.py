"""``/advice``: recommended TCP settings and streams for a flow, or for entered values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dash import Dash, State, html
from dash.development.base_component import Component

from adon.access.policy import Action
from adon.api.advice import AdviceView, GapView, HostAdviceView, ItemView, PathFactsView, RangeView
from adon.errors import AdonError
from apps.dashboard import ui
from apps.dashboard.entry_form import EntryForm, FormField
from apps.dashboard.filter_form import Filter, FilterForm, address
from apps.dashboard.page import Group, Page
from apps.dashboard.ui.blocks import Tone
from apps.dashboard.ui.document_table import Columns, document_table
from apps.dashboard.visit import Visit

PATH = "/advice"
COMPUTE, RESULT = "advice-ask", "advice-said"
RECENT = 8
FILTERS = FilterForm(PATH, (Filter("flow", "Flow", "f-17"), Filter("path", "Path", "path of the flow")))
COMMANDS = "of sysctl -a; ip -d link; tc qdisc; ethtool DEVICE; ss -tin; cat /proc/meminfo, in any order"
PATH_FIELDS = ("rate", "rtt", "loss", "reached")
HOSTS = ("sender", "receiver")
FORM = EntryForm(
    "advice",
    (
        FormField("rate", "Path capacity", "10 Gbps"),
        FormField("rtt", "Round trip", "35 ms"),
        FormField("loss", "Loss", "0.01 %"),
        FormField("reached", "Measured throughput", "2.4 Gbps"),
        FormField("streams", "Open streams", "1", kind="integer"),
        FormField("sender", "Sender: output of its commands", "", COMMANDS, "output"),
        FormField("receiver", "Receiver: output of its commands", "", COMMANDS, "output"),
    ),
)
CONFIDENCE: Mapping[str, Tone] = {"high": "good", "medium": "wait", "low": "bad"}
VERDICTS: Mapping[str, Tone] = {"applied": "good", "differs": "bad", "unknown": "plain"}
NAMES = {"mtu": "MTU", "control": "Congestion control"}


def show(here: Visit) -> Component:
    """Advice for a flow or a list of flows, and the form for other values."""
    flow = here.query.get("flow")
    lead = "Recommended settings of both hosts, their present values, and the predicted throughput."
    return html.Div(
        [
            ui.head("Transfer advice", lead),
            FILTERS.draw(here),
            _flow_advice(here, flow) if flow else _flow_list(here),
            _form(flow),
            html.Div(id=RESULT, **{"aria-live": "polite"}),
        ]
    )


def _flow_list(here: Visit) -> Component:
    columns: Columns = {
        "Flow": lambda one: ui.link(one.id, address(PATH, {"flow": one.id})),
        "Route": lambda one: f"{one.source} → {one.destination}",
        "Template": "template",
        "Path": "path",
        "Requested": "submitted_at",
    }
    nothing = ui.empty("No flows yet. Enter values below.", ui.link("New transfer", "/new"))
    flows = here.client.flows(limit=RECENT)
    return ui.card("Flow", document_table(here, columns, flows, nothing, "The newest flows"))


def _flow_advice(here: Visit, flow: str) -> Component:
    try:
        found = here.client.advice(flow, here.query.get("path") or None)
    except AdonError as error:
        return ui.failure(error)
    title = html.H2(["For ", ui.link(flow, f"/flows/{flow}"), f" on {found.path.path}"])
    return html.Div([title, advice_view(found, here)])


def _form(flow: str | None) -> Component:
    note = f"Empty fields use the values of {flow}." if flow else "Empty fields are unknown."
    return ui.card(
        "Other values",
        html.P(note, className="muted"),
        html.Div(FORM.draw(names=(*PATH_FIELDS, "streams")), className="grid"),
        html.Div(FORM.draw(names=HOSTS), className="columns textarea-short"),
        html.Button("Compute advice", id=COMPUTE, type="button"),
    )


def advice_request(entered: Mapping[str, Any], flow: str | None) -> dict[str, Any]:
    """Return the request of a filled-in form.

    :param flow: flow for the values that were not entered.
    """
    request: dict[str, Any] = {"path": {name: entered[name] for name in PATH_FIELDS if name in entered}}
    request |= {name: {"text": entered[name]} for name in HOSTS if name in entered}
    if "streams" in entered:
        request["streams"] = entered["streams"]
    return request | ({"flow": flow} if flow else {})


def compute_advice(here: Visit, entered: dict[str, Any], flow: str | None) -> Component:
    """Return the advice for entered values."""
    found = here.client.advise(advice_request(entered, flow))
    return html.Div([html.H2("Advice for these values"), advice_view(found, here)])


def advice_view(found: AdviceView, here: Visit) -> Component:
    """Return prediction, settings, hosts and unknown values of an advice."""
    columns: Columns = {
        "Setting": lambda one: NAMES.get(one.name, one.name.capitalize()),
        "Recommended": lambda one: html.Strong(one.value),
        "Reason": _reason,
        "Confidence": lambda one: ui.badge(one.confidence, CONFIDENCE.get(one.confidence, "plain")),
    }
    nothing = ui.empty("No advice: the values below are unknown.")
    table = document_table(here, columns, found.items, nothing, "Recommended settings")
    return html.Div(
        [
            _prediction(found),
            ui.card("Recommended settings", table, _inputs(found.path)),
            ui.columns(*(_host(one, here) for one in found.hosts)),
            _gaps(found.unknown) if found.unknown else None,
        ]
    )


def prediction_text(found: AdviceView) -> str:
    """Return the predicted throughput and gain in a sentence; empty without a prediction."""
    prediction = found.prediction
    if prediction is None:
        return ""
    text = f"Predicted: {_range(prediction.after_bps)}"
    if found.both_applied:
        return f"All settings applied. {text}."
    if prediction.before_bps is not None:
        text += f", now {_rate(prediction.before_bps.expected)}"
    if prediction.gain is not None and prediction.gain.expected is not None:
        text += f": {prediction.gain.expected:.3g} times as fast"
    return f"{text}."


def _range(found: RangeView | None) -> str:
    if found is None:
        return "unknown"
    return f"{_rate(found.expected)} ({_rate(found.low)} to {_rate(found.high)})"


def _rate(bits_per_second: float | None) -> str:
    return "?" if bits_per_second is None else ui.rate(bits_per_second)


def _prediction(found: AdviceView) -> Component:
    if found.prediction is None:
        return ui.notice("Not enough data for a prediction.", "wait")
    basis = html.Small(f"{found.prediction.formula}; basis: {found.prediction.basis}.")
    tone: Tone = "good" if found.both_applied else "plain"
    return ui.notice([html.Strong(prediction_text(found)), html.P(basis)], tone)


def _reason(one: ItemView) -> Component:
    formula = [html.Br(), html.Small(one.formula, className="muted")] if one.formula else []
    return html.Span([one.reason, *formula])


def _inputs(path: PathFactsView) -> Component:
    streams = f" with {ui.count(path.reached_streams, 'stream')}" if path.reached_streams else ""
    reached = None if path.reached_bps is None else ui.rate(path.reached_bps) + streams
    facts = ui.facts(
        ("Path", path.path),
        ("Capacity", ui.rate(path.rate_bps)),
        ("Round trip", ui.span(path.rtt_seconds)),
        ("Loss", ui.share(path.loss_ratio)),
        ("MTU", path.mtu and str(path.mtu)),
        ("Measured throughput", reached),
    )
    return ui.details("Inputs", facts)


def _host(one: HostAdviceView, here: Visit) -> Component:
    missing = [setting for setting in one.settings if setting.verdict != "applied"]
    columns: Columns = {
        "Setting": lambda each: html.Span(
            [html.Code(each.key), html.Br(), html.Small(each.reason, className="muted")]
        ),
        "Recommended": lambda each: ("≥ " if each.compare == "at least" else "") + each.value,
        "Present": lambda each: "unknown" if each.present is None else each.present,
    }
    nothing = "All recommended settings are applied." if one.settings else "No advice."
    notes = [html.P(remark) for remark in one.remarks]
    if one.settings:
        applied = f"{len(one.settings) - len(missing)} of {len(one.settings)} applied"
        source = f", from {one.source}" if one.source else ""
        at = [" at ", ui.when(one.observed_at, here)] if one.observed_at else []
        notes.insert(0, html.P([applied, source, *at, "."], className="muted"))
    title = html.Span([f"{one.host} ({one.role}) ", ui.badge(one.verdict, VERDICTS[one.verdict])])
    return ui.card(title, document_table(here, columns, missing, nothing, f"Settings of {one.host}"), *notes)


def _gaps(gaps: Sequence[GapView]) -> Component:
    items = [
        html.Li([html.Strong(one.what), f"; needed for: {one.without}. Measure with: {one.measure}."])
        for one in gaps
    ]
    return ui.card("Unknown values", html.Ul(items, className="plain-list"))


def register_callbacks(app: Dash) -> None:
    """Write the flow into the address, and compute the advice for entered values."""
    FILTERS.register(app)
    FORM.on_submit(app, COMPUTE, RESULT, compute_advice, State("advice-flow", "value"))


PAGE = Page(PATH, "Transfer advice", Action.FLOW_READ, show, group=Group.POLICY, callbacks=register_callbacks)
