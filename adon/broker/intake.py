"""From a request to a flow: every check that can refuse it, before anything is kept.

A refusal names the field of the request and the cause; nothing is half-accepted.  What the network
cannot give *now* is no reason to refuse (the flow waits); what it can never give is.
"""

from __future__ import annotations

from collections.abc import Iterable

from adon.broker.choice import Need
from adon.broker.events import FlowSubmitted
from adon.broker.flow import Flow, FlowRequest
from adon.broker.resources.amounts import Amounts
from adon.broker.resources.offer import Offer, configured_offers, demand_of
from adon.broker.site_comparison import asked_of
from adon.broker.sites.offers import offered_at
from adon.broker.tenancy import priority_of, slice_for
from adon.broker.use_access import Use, barred_path, refusal
from adon.errors import AdonError, Conflict, Forbidden, InvalidInput, NotFound
from adon.flowvisor.rules.slices import Requester
from adon.flowvisor.topology.path import FiveTuple
from adon.flowvisor.topology.topology import Topology
from adon.nearest_key import unknown_name_problem
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import Template
from adon.timestamps import format_minutes
from adon.units import format_duration, format_rate, format_size

PROTOCOLS = {"tcp": 6, "udp": 17}
"""IP protocol numbers of the transports a template can name."""
FARTHEST_S = 366 * 86_400.0
"""A time that is farther ahead is a slip of the pen."""


def new_flow(
    number: int, event: FlowSubmitted, catalog: Catalog, topology: Topology, others: Iterable[Flow]
) -> Flow:
    """The flow of a request, its template resolved and everything checked.

    :param others: the flows that have not ended.
    :raises InvalidInput: naming each wrong field: an unknown template or host, both ends at one site, a
        destination the RSpec does not allow, a bound above the RSpec's ceiling or above every path, a job
        that no compute site at the destination would run, more of anything than a site at either end has, a
        deadline that no path can meet.
    :raises Forbidden: if ``policy.use_access`` does not let the requester have it on any path.
    :raises InvalidInput, Forbidden: as :func:`~adon.broker.tenancy.slice_for`.
    :raises Conflict: if another flow between the same hosts has one of the ports.
    """
    request = event.request
    template = _template(request, catalog)
    _hosts(request, template, topology)
    _check_allowed(event, template, topology)
    _bounds(request, template, topology)
    _job(request, template, topology)
    _resources(request, template, topology)
    not_before, deadline = _times(request, template, topology, event.at)
    tuples = tuple(FiveTuple(PROTOCOLS[template.protocol], port) for port in sorted(set(request.ports)))
    slice_name = slice_for(event, template, PROTOCOLS[template.protocol], tuples, topology.configuration)
    _share(request, template, slice_name, topology)
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
        roles=tuple(sorted(event.roles)),
        groups=tuple(sorted(event.groups)),
        not_before=not_before,
        deadline=deadline,
    )


def _template(request: FlowRequest, catalog: Catalog) -> Template:
    try:
        if request.template is not None:
            return catalog.resolve(request.template)
        return catalog.match(application=request.application, ports=request.ports, dscp=request.dscp)
    except NotFound as error:
        if request.template is None:
            raise InvalidInput.of("application", error) from error
        raise InvalidInput(unknown_name_problem("template", "template", error.name, catalog.names)) from error


def _hosts(request: FlowRequest, template: Template, topology: Topology) -> None:
    problems, sites = [], {}
    for field in ("source", "destination"):
        try:
            sites[field] = topology.site_of(getattr(request, field))
        except NotFound as error:
            problems.append(unknown_name_problem(field, "host", error.name, topology.hosts))
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


def _check_allowed(event: FlowSubmitted, template: Template, topology: Topology) -> None:
    """What the configuration lets the requester use: template, sites, priority, and one path at least."""
    request, grants = event.request, topology.configuration.policy.use_access
    who = Requester(event.requester, event.roles, event.groups)
    ends = topology.site_of(request.source), topology.site_of(request.destination)
    use = Use(template.name, ends, priority_of(request, template))
    why = refusal(who, use, grants)
    if why:
        raise Forbidden(why)
    if topology.configuration.overlays:
        return  # paths come and go: one that is granted may come
    found = topology.candidates(request.source, request.destination)
    reasons = [barred_path(who, use, grants, one.key.path) for one in found]
    if reasons and all(reasons):
        raise Forbidden("; ".join(reasons))


def _job(request: FlowRequest, template: Template, topology: Topology) -> None:
    if request.job is not None:
        campus = topology.site_of(request.destination)
        offered_at(topology.configuration, campus, request.job.job, request.job.arguments, template.name)


def _bounds(request: FlowRequest, template: Template, topology: Topology) -> None:
    qspec = template.qspec.override(request.qspec)
    if qspec.throughput is None:
        return
    asked, ceiling = qspec.throughput.min, template.rspec.bandwidth_ceiling
    if ceiling is not None and asked > ceiling:
        raise InvalidInput.of(
            "qspec.throughput.min",
            f"{format_rate(asked)} is above the RSpec's ceiling of {format_rate(ceiling)}",
        )
    # Paths over an overlay come and go with its links: what they cannot do now, they may do later.
    best = _best(request, topology)
    if best is not None and asked > best[1]:
        own = request.qspec is not None and request.qspec.throughput is not None
        whose, do = ("", "") if own else (f", which {template.reference} asks for,", "; ask for less")
        why = f"can never be met: the best path, {best[0]}, has {format_rate(best[1])}"
        raise InvalidInput.of("qspec.throughput.min", f"{format_rate(asked)}{whose} {why}{do}")


def _best(request: FlowRequest, topology: Topology) -> tuple[str, float] | None:
    """The path of the largest capacity; None if none is known, or others may come (overlays)."""
    if topology.configuration.overlays:
        return None
    found = topology.candidates(request.source, request.destination)
    capacities = {one.key.path: topology.capacity_of(one.key.path) for one in found}
    known = {path: capacity for path, capacity in capacities.items() if capacity is not None}
    return max(known.items(), key=lambda one: one[1], default=None)


def _resources(request: FlowRequest, template: Template, topology: Topology) -> None:
    """Refuse a request that exceeds the total resources of each compute site at both ends."""
    if template.cost is None:
        return
    configuration, need = topology.configuration, Need.of(template, request)
    source, destination = topology.site_of(request.source), topology.site_of(request.destination)
    offers = [
        offer
        for offer in configured_offers(configuration).values()
        if not template.rspec.sites or offer.campus in template.rspec.sites or offer.campus == source
    ]
    asked = asked_of(need, configuration.policy.reserve_nodes)
    lacking = {
        offer.name: _lacking(offer, asked, configuration.policy.reserve_nodes)
        for offer in offers
        if offer.campus in (source, destination)
    }
    if offers and all(lacking.values()):
        told = "; ".join(f"{name} {', '.join(why)}" for name, why in lacking.items())
        raise InvalidInput.of(
            "template",
            f"{template.reference} asks for {demand_of(need).words}, which can never be met: "
            + (told or f"no compute site is at {source} or {destination}"),
        )


def _lacking(offer: Offer, asked: Amounts, reserve: int) -> list[str]:
    """What a site lacks for ever, in words; nothing if it may have it."""
    if offer.queue_wait is None:
        return [offer.why]
    return [
        f"has {short.there}"
        + (f", {reserve} of them kept in reserve" if short.kind == "nodes" and reserve else "")
        for short in offer.limits.lacks(asked)
    ]


def _times(
    request: FlowRequest, template: Template, topology: Topology, now: float
) -> tuple[float | None, float | None]:
    """``not_before`` and ``deadline`` as times, if they can be kept at all."""
    not_before = None if request.not_before is None else request.not_before.seen_from(now)
    deadline = None if request.deadline is None else request.deadline.seen_from(now)
    begins = now if not_before is None else max(now, not_before)
    for field, at in (("not_before", not_before), ("deadline", deadline)):
        if at is not None and at > now + FARTHEST_S:
            raise InvalidInput.of(field, f"{format_minutes(at)} is more than a year ahead")
    if deadline is None:
        return not_before, None
    if deadline <= begins:
        than = "past" if not_before is None or deadline <= now else "not after not_before"
        raise InvalidInput.of("deadline", f"{format_minutes(deadline)} is {than}")
    best = None if template.cost is not None else _best(request, topology)
    if best is not None and begins + request.size * 8 / best[1] > deadline:
        needed = format_duration(request.size * 8 / best[1])
        raise InvalidInput.of(
            "deadline",
            f"can never be met: {format_size(request.size)} take {needed} on the best path, {best[0]}, "
            f"which has {format_rate(best[1])}; {format_duration(deadline - begins)} are left",
        )
    return not_before, deadline


def _share(request: FlowRequest, template: Template, slice_name: str | None, topology: Topology) -> None:
    """A bound above all that the flow's slice may have of any path."""
    throughput = template.qspec.override(request.qspec).throughput
    tenant = None if slice_name is None else topology.configuration.slices.get(slice_name)
    if throughput is None or tenant is None or topology.configuration.overlays:
        return
    found = topology.candidates(request.source, request.destination)
    shares = {
        one.key.path: tenant.share_of(one.key.path) * capacity
        for one in found
        if (capacity := topology.capacity_of(one.key.path)) is not None
    }
    best = max(shares, key=lambda path: shares[path], default=None)
    if best is not None and throughput.min > shares[best]:
        raise InvalidInput.of(
            "qspec.throughput.min",
            f"{format_rate(throughput.min)} can never be met: the most that slice {slice_name!r} has "
            f"of a path is {format_rate(shares[best])} of {best}",
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
    return "" if found else "a transit path between its sites is no longer configured"
