"""From a request to a flow: every check that can refuse it, before anything is kept.

A refusal names the field of the request and the cause; nothing is half-accepted.  What the network
cannot give *now* is no reason to refuse (the flow waits); what it can never give is.
"""

from __future__ import annotations

from collections.abc import Iterable

from adon.broker.events import FlowSubmitted
from adon.broker.flow import Flow, FlowRequest
from adon.broker.sites.offers import offered_at
from adon.broker.tenancy import slice_for
from adon.errors import AdonError, Conflict, InvalidInput, NotFound, Problem
from adon.flowvisor.path import FiveTuple
from adon.flowvisor.topology import Topology
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import Template
from adon.units import format_rate

PROTOCOLS = {"tcp": 6, "udp": 17}
"""IP protocol numbers of the transports a template can name."""


def new_flow(
    number: int, event: FlowSubmitted, catalog: Catalog, topology: Topology, others: Iterable[Flow]
) -> Flow:
    """The flow of a request, its template resolved and everything checked.

    :param others: the flows that have not ended.
    :raises InvalidInput: naming each wrong field: an unknown template or host, both ends at one site, a
        destination the RSpec does not allow, a bound above the RSpec's ceiling or above every path, a job
        that no compute site at the destination would run.
    :raises InvalidInput, Forbidden: as :func:`~adon.broker.tenancy.slice_for`.
    :raises Conflict: if another flow between the same hosts has one of the ports.
    """
    request = event.request
    template = _template(request, catalog)
    _hosts(request, template, topology)
    _bounds(request, template, topology)
    _job(request, template, topology)
    tuples = tuple(FiveTuple(PROTOCOLS[template.protocol], port) for port in sorted(set(request.ports)))
    slice_name = slice_for(event, template, PROTOCOLS[template.protocol], tuples, topology.configuration)
    _distinct(request, template, others, catalog)
    return Flow(
        number=number,
        request=request,
        requester=event.requester,
        template=template.reference,
        submitted_at=event.at,
        state_since=event.at,
        transfer_size=request.size,
        tuples=tuples,
        slice=slice_name,
    )


def _template(request: FlowRequest, catalog: Catalog) -> Template:
    try:
        if request.template is not None:
            return catalog.resolve(request.template)
        return catalog.match(application=request.application, ports=request.ports, dscp=request.dscp)
    except NotFound as error:
        field = "template" if request.template is not None else "application"
        raise InvalidInput.of(field, str(error)) from error


def _hosts(request: FlowRequest, template: Template, topology: Topology) -> None:
    problems, sites = [], {}
    for field in ("source", "destination"):
        try:
            sites[field] = topology.site_of(getattr(request, field))
        except NotFound as error:
            problems.append(Problem(field, str(error)))
    if problems:
        raise InvalidInput(problems)
    if not topology.joins(request.source, request.destination):
        raise InvalidInput.of(
            "destination",
            f"no transit path is configured from {sites['source']!r} to {sites['destination']!r}",
        )
    allowed = template.rspec.sites
    if allowed and sites["destination"] not in allowed:
        raise InvalidInput.of(
            "destination",
            f"template {template.reference} allows the sites {', '.join(allowed)}, "
            f"not {sites['destination']}",
        )


def _job(request: FlowRequest, template: Template, topology: Topology) -> None:
    if request.job is not None:
        campus = topology.site_of(request.destination)
        offered_at(topology.configuration, campus, request.job.job, request.job.arguments, template.name)


def _bounds(request: FlowRequest, template: Template, topology: Topology) -> None:
    qspec = template.qspec.overridden(request.qspec)
    if qspec.throughput is None:
        return
    asked, ceiling = qspec.throughput.min, template.rspec.bandwidth_ceiling
    if ceiling is not None and asked > ceiling:
        raise InvalidInput.of(
            "qspec.throughput.min",
            f"{format_rate(asked)} is above the RSpec's ceiling of {format_rate(ceiling)}",
        )
    found = topology.candidates(request.source, request.destination)
    # Paths over an overlay come and go with its links: what they cannot do now, they may do later.
    capacities = {c.key.path: topology.capacity_of(c.key.path) for c in found}
    known = {path: capacity for path, capacity in capacities.items() if capacity is not None}
    best = max(known, key=lambda path: known[path], default=None)
    if best is not None and not topology.configuration.overlays and asked > known[best]:
        raise InvalidInput.of(
            "qspec.throughput.min",
            f"{format_rate(asked)} can never be met: the best path, {best}, has {format_rate(known[best])}",
        )


def _distinct(request: FlowRequest, template: Template, others: Iterable[Flow], catalog: Catalog) -> None:
    """Two flows that the same packets would match cannot be told apart by a switch.

    Without ports both directions of the two hosts' traffic are matched; with ports, the packets to
    (and the answers from) these ports of the destination.
    """
    there = (request.source, request.destination)
    for other in others:
        ends = (other.request.source, other.request.destination)
        if ends not in (there, there[::-1]) or catalog.resolve(other.template).protocol != template.protocol:
            continue
        if not request.ports and not other.request.ports:
            raise Conflict(
                "ports",
                f"flow {other.id} between these hosts has no ports either: declare some to tell them apart",
            )
        taken = {connection.destination_port for connection in other.tuples} if ends == there else set()
        shared = sorted(taken.intersection(request.ports))
        if shared:
            raise Conflict("ports", f"port {shared[0]} is in use by flow {other.id} between these hosts")


def unservable(flow: Flow, catalog: Catalog, topology: Topology) -> str:
    """Why a flow of an earlier run cannot be served with today's catalog and network; empty if it can."""
    try:
        catalog.resolve(flow.template)
        found = topology.joins(flow.request.source, flow.request.destination)
    except AdonError as error:
        return str(error)
    return "" if found else "no transit path is configured between its sites any more"
