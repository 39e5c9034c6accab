"""The slice and the marking of a flow, worked out when it is requested.

Joins a request and its template with the configuration, and asks :mod:`adon.flowvisor.rules.slices`.  A
request that its slice can never have is refused here, before anything is kept or compiled.
"""

from __future__ import annotations

from collections.abc import Collection

from adon.broker.events import FlowSubmitted
from adon.broker.flow import FlowRequest
from adon.config import Configuration
from adon.config.network import Host
from adon.errors import Forbidden, InvalidInput, Problem
from adon.flowvisor.rules.slices import (
    Requester,
    SliceNeeds,
    list_connections,
    permanent_violation,
    select_slice,
)
from adon.flowvisor.topology.path import FiveTuple
from adon.marking import Marking
from adon.templates_catalog.model import Template


def slice_for(
    event: FlowSubmitted,
    template: Template,
    protocol: int,
    tuples: Collection[FiveTuple],
    configuration: Configuration,
) -> str | None:
    """The slice that a requested flow belongs to; None where there are no slices.

    :param tuples: the connections that it declares.
    :raises Forbidden: if the requester is a member of no slice, or not of the one named.
    :raises InvalidInput: if the slice may not have such a flow, or there is no slice to name.
    """
    slices, request = configuration.slices, event.request
    if not slices:
        if request.slice is not None:
            raise InvalidInput.of("slice", f"there is no slice {request.slice!r}: this network has none")
        return None
    ask = ask_of(request, template, protocol, tuples, configuration)
    found = select_slice(slices, Requester(event.requester, event.roles, event.groups), request.slice, ask)
    if isinstance(found, Problem):
        raise Forbidden(found.cause)
    refused = permanent_violation(found, slices[found], ask)
    if refused is not None:
        raise InvalidInput(refused)
    return found


def ask_of(
    request: FlowRequest,
    template: Template,
    protocol: int,
    tuples: Collection[FiveTuple],
    configuration: Configuration,
) -> SliceNeeds:
    """What a flow asks of its slice.

    Of connections that were learnt nothing is asked: they belong to the flow because its hosts do.
    """
    source, destination = _host(request.source, configuration), _host(request.destination, configuration)
    throughput = template.qspec.override(request.qspec).throughput
    return SliceNeeds(
        space=list_connections(_addresses(source[1]), _addresses(destination[1]), protocol, tuples),
        ends=(source[0], destination[0]),
        priority=priority_of(request, template),
        dscp=asked_marking(request, template).dscp,
        bound=0.0 if throughput is None else throughput.min,
    )


def priority_of(request: FlowRequest, template: Template) -> int:
    """What the request asked for, else what the template says; 0..999."""
    return template.priority if request.priority is None else request.priority


def asked_marking(request: FlowRequest, template: Template) -> Marking:
    """How the request, else the template, wants a flow marked."""
    return (Marking() if request.marking is None else request.marking).over(template.marking)


def marking_of(
    request: FlowRequest, template: Template, slice_name: str | None, configuration: Configuration
) -> Marking:
    """How a flow is marked: as asked, else as its slice is, else as the policy says for its priority."""
    asked = asked_marking(request, template)
    tenant = None if slice_name is None else configuration.slices.get(slice_name)
    priority = priority_of(request, template)
    bits = None if tenant is None else tenant.mark
    if bits is None:
        rules = configuration.policy.dscp_by_priority
        bits = next((r.dscp for r in rules if r.priorities[0] <= priority <= r.priorities[1]), None)
    return asked.over(Marking(dscp=bits))


def _host(name: str, configuration: Configuration) -> tuple[str, Host]:
    """A DTN and its site; :mod:`adon.broker.intake` has checked that there is one."""
    return next((s, site.hosts[name]) for s, site in configuration.sites.items() if name in site.hosts)


def _addresses(host: Host) -> tuple[str, ...]:
    return tuple(str(each) for each in (host.address, host.address6) if each is not None)
