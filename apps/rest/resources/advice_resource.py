"""TCP and transfer advice: for a flow, and for given numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from adon.access.policy import Action
from adon.api import routes
from adon.api.advice import (
    AdviceBody,
    AdviceQuery,
    AdviceView,
    HostAdviceView,
    HostBody,
    PathBody,
    PathFactsView,
    SettingView,
)
from adon.broker.flow import Flow
from adon.errors import InvalidInput, problems_of
from adon.tcp_advice.advice import advise
from adon.tcp_advice.facts import HostFacts, Interface, PathFacts, TestedRate
from adon.tcp_advice.host_check import Check, check_host
from adon.tcp_advice.host_output import read_host
from adon.uncertain import Uncertain
from apps.rest.advice_facts import Subject, subject_of
from apps.rest.authorisation import read_subject
from apps.rest.dispatch import handles
from apps.rest.services import services


@handles(routes.GET_ADVICE)
def get_advice(flow: Flow, query: AdviceQuery) -> AdviceView:
    """Return the settings that both hosts of a flow should have, their present values and the gain."""
    return _advice_view(subject_of(flow, query.path))


@handles(routes.WHAT_IF_ADVICE)
def what_if_advice(body: AdviceBody) -> AdviceView:
    """Return advice for given numbers and settings; ``flow`` supplies those that are missing."""
    known = Subject(PathFacts(), HostFacts("sender"), HostFacts("receiver"), 1)
    if body.flow is not None:
        known = subject_of(read_subject("flow", body.flow, Action.FLOW_READ))
    try:
        path = replace(known.path, **_given_facts(body.path))
    except ValueError as error:
        raise InvalidInput(problems_of(error, "path")) from error
    subject = Subject(
        path,
        _host(body.sender, "sender", known.sender),
        _host(body.receiver, "receiver", known.receiver),
        known.streams if body.streams is None else body.streams,
    )
    return _advice_view(subject)


def _given_facts(body: PathBody) -> dict[str, Any]:
    """Return the facts of a path that a request gives."""
    reached = None if body.reached is None else Uncertain(body.reached)
    facts = {
        "rate": body.rate,
        "rtt": None if body.rtt is None else Uncertain(body.rtt, body.rtt_deviation),
        "loss": None if body.loss is None else Uncertain(body.loss),
        "mtu": body.mtu,
        "reached": None if reached is None else TestedRate(reached, body.reached_streams),
        "shallow": body.shallow_queues,
    }
    return {name: value for name, value in facts.items() if value is not None}


def _host(body: HostBody, role: str, known: HostFacts) -> HostFacts:
    """Return a host: its commands' output first, then single numbers, else what is known."""
    name = known.name if body.name is None else body.name
    host = known
    if body.text:
        try:
            host = read_host(body.text, name, body.interface, services().clock())
        except InvalidInput as error:
            raise InvalidInput(one.under(role) for one in error.problems) from error
    memory = next((one for one in (body.memory, host.memory, known.memory) if one is not None), None)
    interface = host.interface
    if body.rate is not None or body.mtu is not None:
        interface = interface or Interface(body.interface or "eth0")
        rate = interface.rate if body.rate is None else body.rate
        mtu = interface.mtu if body.mtu is None else body.mtu
        interface = replace(interface, rate=rate, mtu=mtu)
    return replace(host, name=name, interface=interface, memory=memory)


def _advice_view(subject: Subject) -> AdviceView:
    advice = advise(subject.path, subject.sender, subject.receiver, subject.streams)
    facts = (subject.sender, subject.receiver)
    hosts = [_host_view(check_host(end, host)) for end, host in zip(advice.hosts, facts, strict=True)]
    return AdviceView.of(
        advice,
        path=_path_view(advice.path),
        congestion_control=advice.control,
        unknown=advice.gaps,
        hosts=hosts,
        both_applied=all(host.verdict == "applied" for host in hosts),
    )


def _host_view(checked: Check) -> HostAdviceView:
    settings = [
        SettingView.of(one.setting, present=one.present, verdict=one.verdict) for one in checked.findings
    ]
    return HostAdviceView.of(checked, settings=settings)


def _path_view(path: PathFacts) -> PathFactsView:
    rtt, reached = path.rtt, path.reached
    return PathFactsView.of(
        path,
        path=path.name,
        rtt_seconds=None if rtt is None else rtt.mean,
        rtt_deviation_seconds=None if rtt is None else rtt.deviation,
        loss_ratio=None if path.loss is None else path.loss.mean,
        reached_bps=None if reached is None else reached.rate.mean,
        reached_streams=None if reached is None else reached.streams,
    )
