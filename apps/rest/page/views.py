"""Signing in, flows and templates.  They do what the API does, through the same functions and policy."""

from __future__ import annotations

from collections.abc import Mapping

from flask import Response, g, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from adon import yamlfile
from adon.access.policy import Action, Object, may
from adon.broker.flow import Flow, FlowState
from adon.errors import Conflict, InvalidInput, NotFound, Problem, Unavailable
from adon.store.flow_rows import FlowFilter
from adon.templates_catalog.model import Template
from apps.rest import seen
from apps.rest.api import flows as flow_api
from apps.rest.api.common import flow_number
from apps.rest.api.network import path_list, waiting
from apps.rest.api.templates import latest
from apps.rest.guard import action, check_flow, only_own
from apps.rest.models import DecisionView, FlowView
from apps.rest.outcome_models import OutcomeView
from apps.rest.page import form, frame
from apps.rest.page.advising import advice_for
from apps.rest.page.standing import packet_of, rules_of, spares, switch_names
from apps.rest.queue_models import WaitingView
from apps.rest.services import services
from measurement.anomaly.alarm import Alarm
from measurement.anomaly.model import Severity
from measurement.model import Metric

SHOWN = 25
"""Flows on the overview."""
MOST_ALARMS = 50

page = frame.blueprint("page", static_folder="static")


# -- looking -------------------------------------------------------------------------------------------


@page.get("/")
@action(Action.PATH_READ)
def overview() -> str:
    """Alarms in force, paths, flows and the queue."""
    try:
        paths, queue = path_list(), [flow.id for flow in waiting()[1]]
    except Unavailable:
        paths, queue = None, []  # the page says so, and shows what the store still tells
    own = only_own(Action.FLOW_READ, "flow")
    found = services().store.flows(FlowFilter(requester=own), SHOWN)
    return render_template(
        "overview.html",
        alarms=alarms_in_force(),
        now=services().clock(),
        acknowledging=may(g.actor, Action.ALARM_ACKNOWLEDGE, Object("alarm")).allowed,
        paths=paths,
        queue=queue,
        flows=[FlowView.of(flow) for flow in found],
        refresh=5,
    )


def alarms_in_force() -> list[Alarm] | None:
    """The worst first, then the newest; None if the archive cannot be read."""
    try:
        found = seen.alarms(services(), g.actor, open_only=True, limit=MOST_ALARMS)
    except Unavailable:
        return None
    return sorted(found, key=lambda alarm: alarm.severity is not Severity.CRITICAL)


@page.get("/flows/<id_>")
@action(Action.FLOW_READ)
def show_flow(id_: str) -> str:
    """One flow: its state, and what was decided about it."""
    flow = _flow(id_, Action.FLOW_READ)
    store = services().store
    decisions = [DecisionView.of(one) for one in reversed(store.decisions(flow.number))]
    cancellable = may(g.actor, Action.FLOW_CANCEL, Object("flow", flow.requester)).allowed
    return render_template(
        "flow.html",
        flow=FlowView.of(flow),
        decisions=decisions,
        outcome=_outcome(flow),
        history=store.history(flow.number),
        spares=spares(flow),
        rules=rules_of(flow),
        names=switch_names(),
        trace=packet_of(flow),
        advice=advice_for(flow),
        waiting=_waiting(flow),
        cancellable=cancellable and not flow.state.final,
        refresh=None if flow.state.final else 3,
    )


def _waiting(flow: Flow) -> WaitingView | None:
    """What a flow waits for; None for one that does not wait, or if the controller cannot say."""
    if flow.state is not FlowState.QUEUED:
        return None
    try:
        return flow_api.waiting(flow)
    except (Conflict, Unavailable):
        return None  # it has just been admitted, or the page says elsewhere that nobody answers


def _flow(name: str, wanted: Action) -> Flow:
    flow = services().store.flow(flow_number(name))
    check_flow(wanted, flow)
    return flow


def _outcome(flow: Flow) -> OutcomeView | None:
    """What a flow that has ended leaves behind; None where that was not kept yet when it ended."""
    if not flow.state.final:
        return None
    try:
        return OutcomeView.of(services().store.outcome(flow.number))
    except NotFound:
        return None


@page.get("/templates")
@action(Action.TEMPLATE_READ)
def show_templates() -> str:
    """The catalog."""
    return render_template("templates.html", templates=latest())


@page.get("/templates/<name>/<int:version>")
@action(Action.TEMPLATE_READ)
def show_template(name: str, version: int) -> str:
    """One version, as it would be written."""
    saved = services().store.template(name, version)
    return render_template("template.html", saved=saved, text=yamlfile.dump(saved.template))


# -- doing ---------------------------------------------------------------------------------------------


@page.get("/flows/new")
@action(Action.FLOW_SUBMIT)
def new_flow() -> str:
    """The form, with the weights of the chosen template."""
    return _form(dict(request.args), ())


def _form(typed: Mapping[str, str], problems: tuple[Problem, ...]) -> str:
    templates = latest()
    names = [template.name for template in templates]
    chosen = next((one for one in templates if one.name == typed.get("template")), None)
    if chosen is None and templates:
        chosen = templates[0]
    return render_template(
        "new_flow.html",
        names=names,
        chosen=chosen,
        hosts=services().hosts,
        typed={**_weights_of(chosen), **typed},
        problems=problems,
        prefix=form.WEIGHT,
    )


def _weights_of(template: Template | None) -> dict[str, str]:
    weights = {} if template is None else template.weights
    return {form.WEIGHT + metric: f"{weights.get(metric, 0):g}" for metric in Metric}


@page.post("/flows/new")
@action(Action.FLOW_SUBMIT)
def submit_flow() -> AnyResponse:
    """Hand the request to the controller; shows the flow, or the form with what is wrong."""
    typed = request.form.to_dict()
    try:
        flow = flow_api.submit(form.wish(typed))
    except InvalidInput as error:
        return Response(_form(typed, error.problems), 422)
    except Conflict as error:
        return Response(_form(typed, (Problem(error.field, error.cause),)), 409)
    except (NotFound, Unavailable) as error:
        return Response(_form(typed, (Problem("", str(error)),)), error.status)
    return redirect(url_for("page.show_flow", id_=flow.id), 303)


@page.post("/flows/<id_>/cancel")
@action(Action.FLOW_CANCEL)
def cancel_flow(id_: str) -> AnyResponse:
    """Cancel a flow."""
    flow_api.cancel(_flow(id_, Action.FLOW_CANCEL))
    return redirect(url_for("page.show_flow", id_=id_), 303)
