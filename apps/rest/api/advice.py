"""TCP and transfer advice: for a flow, for supposed numbers, and accepting what transfers have confirmed."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import Any

from flask import Response
from pydantic import Field

from adon.access.policy import Action
from adon.broker.tuning.advice import Advice, advise
from adon.broker.tuning.checking import Verdict as Applied
from adon.broker.tuning.checking import check
from adon.broker.tuning.confirmation import Confirmation, Verdict, comparable, confirm
from adon.broker.tuning.facts import HostFacts, Interface, PathFacts
from adon.broker.tuning.practice import best_practice, practice_for, with_practice
from adon.broker.tuning.reading import read_host
from adon.broker.tuning.tools import TOOLS, Tool, tool_named
from adon.errors import Conflict, InvalidInput, problems_of
from adon.store import codec
from adon.templates_catalog.best_practice import BestPractice
from apps.rest.advice_facts import Subject, host_facts, subject_of
from apps.rest.advice_models import (
    AcceptAdviceBody,
    AcceptView,
    AdviceBody,
    AdviceView,
    ConfirmationView,
    HostAdviceView,
    HostBody,
    ToolView,
    chosen_for,
    overridden,
)
from apps.rest.answers import done, json_answer
from apps.rest.api.common import PREFIX, FlowAddress, Query, answers, blueprint, flow_number
from apps.rest.guard import action, requester
from apps.rest.owned import check_flow
from apps.rest.services import services

MOST_OUTCOMES = 5_000
"""The latest outcomes of a template that are looked through for those of one path."""

api = blueprint("advice", "TCP and transfer advice")


class AdviceQuery(Query):
    """For which path, and in which tool's words."""

    path: str | None = Field(default=None, max_length=100, description="another one than the flow is on")
    tool: str | None = Field(default=None, max_length=40, description="irods, globus, rclone, ...")


@api.get("/flows/<id>/advice", responses=answers(200, AdviceView, 409))
@action(Action.FLOW_READ)
def get_advice(path: FlowAddress, query: AdviceQuery) -> Response:
    """What both hosts of a flow should be set to, whether they are, and what that gains."""
    flow = services().store.flow(path.number)
    check_flow(Action.FLOW_READ, flow)
    subject = subject_of(flow, query.path, query.tool)
    return json_answer(advice_view(subject, flow.id))


def advice_of(subject: Subject) -> Advice:
    """The advice for a subject."""
    return advise(subject.path, subject.sender, subject.receiver, subject.tool.bound, subject.streams)


def advice_view(subject: Subject, flow: str) -> AdviceView:
    """The advice for a flow as it is answered."""
    practice = practice_for(subject.template, subject.path.name, subject.sender.name, subject.receiver.name)
    hosts = subject.sender, subject.receiver
    return _view(advice_of(subject), hosts, subject.tool, subject.streams, practice, flow)


def _view(
    advice: Advice,
    hosts: tuple[HostFacts, HostFacts],
    tool: Tool,
    streams: int,
    practice: BestPractice | None,
    flow: str | None,
) -> AdviceView:
    ends = [
        HostAdviceView.of(advice, end, check(end, host), _interface_name(host), flow)
        for end, host in zip(advice.hosts, hosts, strict=True)
    ]
    chosen = chosen_for(advice, streams)
    tools = [ToolView.of(one, chosen, asked=one.name == tool.name) for one in TOOLS]
    return AdviceView.of(advice, ends, tools, practice)


def _interface_name(host: HostFacts) -> str | None:
    return None if host.interface is None else host.interface.name


@api.post("/advice", responses=answers(200, AdviceView, 400, 409, 413, 415))
@action(Action.FLOW_READ, asks=True)
def what_if_advice(body: AdviceBody) -> Response:
    """Advice for supposed numbers and pasted settings; with a flow, what is left out is taken from it."""
    return done(answered(body), HTTPStatus.OK)


def answered(body: AdviceBody) -> AdviceView:
    """The answer to a question.

    :raises InvalidInput: for numbers that no path has, or a text in which nothing is known.
    """
    subject = None
    if body.flow is not None:
        flow = services().store.flow(flow_number(body.flow))
        check_flow(Action.FLOW_READ, flow)
        subject = subject_of(flow, tool=body.tool)
    base = PathFacts() if subject is None else subject.path
    try:
        path = overridden(base, body.path)
    except ValueError as error:
        raise InvalidInput(problems_of(error, "path")) from error
    sender = _host(body.sender, "sender", None if subject is None else subject.sender)
    receiver = _host(body.receiver, "receiver", None if subject is None else subject.receiver)
    streams = body.streams if body.streams is not None else 1 if subject is None else subject.streams
    if subject is not None and body.flow is not None:
        subject = replace(subject, path=path, sender=sender, receiver=receiver, streams=streams)
        return advice_view(subject, body.flow)
    tool = TOOLS[0] if body.tool is None else tool_named(body.tool)
    advice = advise(path, sender, receiver, tool.bound, streams)
    return _view(advice, (sender, receiver), tool, streams, None, None)


def _host(body: HostBody, role: str, known: HostFacts | None) -> HostFacts:
    """A host as the question has it: pasted text first, then single numbers, else what is known."""
    name = body.name if body.name is not None else role if known is None else known.name
    host = HostFacts(name) if known is None else known
    if body.text:
        try:
            host = read_host(body.text, name, body.interface, services().clock())
        except InvalidInput as error:
            raise InvalidInput(one.under(role) for one in error.problems) from error
        if host.memory is None and known is not None:
            host = replace(host, memory=known.memory)
    interface = host.interface
    if body.rate is not None or body.mtu is not None:
        interface = (
            Interface("eth0" if body.interface is None else body.interface)
            if interface is None
            else interface
        )
        rate = interface.rate if body.rate is None else body.rate
        mtu = interface.mtu if body.mtu is None else body.mtu
        interface = replace(interface, rate=rate, mtu=mtu)
    memory = host.memory if body.memory is None else body.memory
    return replace(host, name=name, interface=interface, memory=memory)


@api.post("/advice/accept", responses={"200": AcceptView, **answers(201, AcceptView, 400, 409, 413, 415)})
@action(Action.TEMPLATE_ADD)
def accept_advice(body: AcceptAdviceBody) -> Response:
    """Keep confirmed advice as a best practice in a new version of the flow's template."""
    view, where = accepted(body)
    status = HTTPStatus.OK if where is None else HTTPStatus.CREATED
    return done(view, status, where)


def accepted(body: AcceptAdviceBody) -> tuple[AcceptView, str | None]:
    """What became of it, and where the new version is; None if it was only proposed.

    :raises Conflict: if the outcomes do not confirm the advice.
    """
    flow = services().store.flow(flow_number(body.flow))
    check_flow(Action.FLOW_READ, flow)
    # As it was known before: what is set by now gains nothing any more.
    subject = subject_of(flow, body.path, body.tool, body.applied_at)
    advice = advice_of(subject)
    confirmation = _confirmation(subject, advice, body.applied_at)
    if body.propose and confirmation.verdict is not Verdict.CONFIRMED:
        return AcceptView(
            confirmation=ConfirmationView.of(confirmation), best_practice=None, template=None
        ), None
    _require_applied(advice)
    actor = requester()
    now = services().clock()
    practice = best_practice(advice, confirmation, body.applied_at, now, actor.name)
    view: dict[str, Any] = {
        "confirmation": ConfirmationView.of(confirmation),
        "best_practice": practice.model_dump(mode="json"),
    }
    if body.propose:
        return AcceptView(**view, template=None), None
    latest = services().store.template(subject.template.name).template
    command = {"template": with_practice(latest, practice), "author": actor.name}
    saved = codec.decode_template(services().controller.call("template.add", command))
    where = f"{PREFIX}/templates/{saved.name}/versions/{saved.version}"
    return AcceptView(**view, template=saved.reference), where


def _require_applied(advice: Advice) -> None:
    """Refuse where a host is known to be set otherwise: then the transfers confirm something else.

    :raises Conflict: naming the host and the setting.
    """
    for end in advice.hosts:
        for one in check(end, host_facts(end.host)).findings:
            if one.verdict is Applied.DIFFERS:
                setting = one.setting
                raise Conflict(end.host, f"{setting.key} is {one.present}, advised was {setting.value}")


def _confirmation(subject: Subject, advice: Advice, applied_at: float) -> Confirmation:
    found = services().store.outcomes(template=subject.template.name, limit=MOST_OUTCOMES)
    outcomes = comparable(found, subject.path.name, subject.sender.name, subject.receiver.name)
    predicted = None if advice.prediction is None else advice.prediction.gain
    return confirm(outcomes, applied_at, predicted)
