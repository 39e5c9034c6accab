"""TCP and transfer advice: for a flow, and for supposed numbers."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus

from flask import Response
from pydantic import Field

from adon.access.policy import Action
from adon.api.advice import AdviceBody, AdviceView, HostBody
from adon.broker.tuning.advice import Advice, advise
from adon.broker.tuning.checking import check
from adon.broker.tuning.facts import HostFacts, Interface, PathFacts
from adon.broker.tuning.reading import read_host
from adon.errors import InvalidInput, problems_of
from apps.rest.advice_facts import Subject, subject_of
from apps.rest.advice_views import overridden, to_advice_view, to_host_advice_view
from apps.rest.answers import done, json_answer
from apps.rest.api.common import FlowAddress, Query, answers, blueprint, flow_number
from apps.rest.guard import action
from apps.rest.owned import check_flow
from apps.rest.services import services

api = blueprint("advice", "TCP and transfer advice")


class AdviceQuery(Query):
    """For which path."""

    path: str | None = Field(default=None, max_length=100, description="another one than the flow is on")


@api.get("/flows/<id>/advice", responses=answers(200, AdviceView, 409))
@action(Action.FLOW_READ)
def get_advice(path: FlowAddress, query: AdviceQuery) -> Response:
    """What both hosts of a flow should be set to, whether they are, and what that gains."""
    flow = services().store.flow(path.number)
    check_flow(Action.FLOW_READ, flow)
    subject = subject_of(flow, query.path)
    return json_answer(advice_view(subject))


def advice_of(subject: Subject) -> Advice:
    """The advice for a subject."""
    return advise(subject.path, subject.sender, subject.receiver, subject.streams)


def advice_view(subject: Subject) -> AdviceView:
    """The advice for a flow as it is answered."""
    return _view(advice_of(subject), (subject.sender, subject.receiver))


def _view(advice: Advice, hosts: tuple[HostFacts, HostFacts]) -> AdviceView:
    ends = [to_host_advice_view(end, check(end, host)) for end, host in zip(advice.hosts, hosts, strict=True)]
    return to_advice_view(advice, ends)


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
        subject = subject_of(flow)
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
        return advice_view(subject)
    return _view(advise(path, sender, receiver, streams), (sender, receiver))


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
