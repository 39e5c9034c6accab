"""TCP and transfer advice: for a flow, and for supposed numbers."""

from __future__ import annotations

from dataclasses import replace

from adon.access.policy import Action
from adon.api import routes
from adon.api.advice import AdviceBody, AdviceQuery, AdviceView, HostBody
from adon.broker.flow import Flow
from adon.errors import InvalidInput, problems_of
from adon.tcp_advice.advice import Advice, advise
from adon.tcp_advice.facts import HostFacts, Interface, PathFacts
from adon.tcp_advice.host_check import check_host
from adon.tcp_advice.host_output import read_host
from apps.rest.advice_facts import Subject, subject_of
from apps.rest.advice_views import overridden, to_advice_view, to_host_advice_view
from apps.rest.authorisation import read_subject
from apps.rest.dispatch import handles
from apps.rest.services import services


@handles(routes.GET_ADVICE)
def get_advice(flow: Flow, query: AdviceQuery) -> AdviceView:
    """Return the settings that both hosts of a flow should have, their present values and the gain."""
    return _advice_view(subject_of(flow, query.path))


def _advice_view(subject: Subject) -> AdviceView:
    advice = advise(subject.path, subject.sender, subject.receiver, subject.streams)
    return _view(advice, (subject.sender, subject.receiver))


def _view(advice: Advice, hosts: tuple[HostFacts, HostFacts]) -> AdviceView:
    ends = [to_host_advice_view(check_host(end, host)) for end, host in zip(advice.hosts, hosts, strict=True)]
    return to_advice_view(advice, ends)


@handles(routes.WHAT_IF_ADVICE)
def what_if_advice(body: AdviceBody) -> AdviceView:
    """Return advice for given numbers and settings; ``flow`` supplies those that are missing."""
    subject = None
    if body.flow is not None:
        subject = subject_of(read_subject("flow", body.flow, Action.FLOW_READ))
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
        return _advice_view(subject)
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
