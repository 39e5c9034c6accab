"""Which rules steer a flow, and the measurements, over their paths.

Joins what the broker knows of a flow (request, path chosen, connections learnt) with the topology as
switches report it, and hands them to :mod:`adon.flowvisor.rules.rule_compiler`.  As long as a switch has not
reported a port that is needed there are no rules: that is said by None or left out, it is no error.
Functions of values only.
"""

from __future__ import annotations

from collections.abc import Callable

from adon.broker.choice import Choice, Need
from adon.broker.flow import Flow
from adon.broker.intake import PROTOCOLS
from adon.errors import Unavailable
from adon.flowvisor.rules.connections import HostAddresses, connection_rules, reactive_rules
from adon.flowvisor.rules.pipeline import discovery_rules, pipeline_rules, pipelines_of
from adon.flowvisor.rules.rule import Entry
from adon.flowvisor.rules.rule_compiler import (
    PLAIN,
    RuleInputs,
    Treatment,
    flow_rules,
    learn_rules,
    measurement_rules,
    path_rules,
)
from adon.flowvisor.topology.path import Attachment, CandidatePath
from adon.flowvisor.topology.topology import Topology


def find_attachments(flow: Flow, topology: Topology) -> tuple[Attachment, Attachment] | None:
    """Where a flow's hosts hang; None as long as a switch has not reported the port of one."""
    try:
        return topology.attachment(flow.request.source), topology.attachment(flow.request.destination)
    except Unavailable:
        return None


def rules_for_flow(
    flow: Flow,
    need: Need,
    choice: Choice,
    priority: int,
    topology: Topology,
    treatment: Treatment = PLAIN,
) -> tuple[Entry, ...] | None:
    """The rules of a flow on its path, the other candidates standing by; None without a port they need.

    :param priority: the flow's, 0..999.
    :param treatment: what its packets get beside their path.
    """
    ends, chosen = find_attachments(flow, topology), choice.paths.get(str(flow.path))
    if ends is None or chosen is None:
        return None
    steered = RuleInputs(
        flow.number,
        *ends,
        chosen,
        _standby(choice, chosen, topology),
        treatment,
        pipelines_of(topology.configuration),
    )
    rules: tuple[Entry, ...] = ()
    if not flow.request.ports:
        protocol = PROTOCOLS[need.template.protocol]
        rules = learn_rules(steered, protocol, curious=not flow.aggregated)
    if flow.tuples:
        idle = int(need.template.selection.idle_timeout)
        rules += flow_rules(steered, flow.tuples, priority, idle)
    if flow.unannounced:
        rules = connection_rules(rules, ends[0], pipelines_of(topology.configuration))
    return tuple(dict.fromkeys(rules))


def _standby(choice: Choice, chosen: CandidatePath, topology: Topology) -> tuple[CandidatePath, ...]:
    """The paths that stand ready beside the chosen one: stable from one look to the next."""
    others = [path for path in choice.paths.values() if path.key != chosen.key]
    return tuple(others[: topology.configuration.policy.standby_paths])


def rules_for_paths(
    topology: Topology, kept: Callable[[str], tuple[Entry, ...]] = lambda _: ()
) -> dict[str, tuple[Entry, ...]]:
    """Per owner (``path-0``), what a path needs whatever its flows, and what pins its measurement addresses.

    Of a path whose ports are not all known, or a test whose ends are not, there are none.

    :param kept: what an owner has now: it stays while the backup path is unknown.
    """
    pipelines = pipelines_of(topology.configuration)
    by_owner: dict[str, tuple[Entry, ...]] = {}
    for candidate in topology.directions():
        path = candidate.path
        if path is not None and path.key.source < path.key.destination:
            owner, backups = f"path-{path.index}", topology.backups(path)
            undecided = kept(owner) if backups is None else ()
            by_owner[owner] = undecided or path_rules(path, pipelines, backups)
    for test in topology.configuration.measurements.tests:
        path = topology.candidate(test.key).path
        if path is None:
            continue
        try:
            source, destination = topology.test_ends(test)
        except Unavailable:
            continue
        rules = measurement_rules(source, destination, path, pipelines)
        known = by_owner.get(f"path-{path.index}", ())
        by_owner[f"path-{path.index}"] = known + tuple(r for r in rules if r not in known)
    return by_owner


def rules_for_switches(topology: Topology) -> dict[str, tuple[Entry, ...]]:
    """Per owner (``switch-0``), what each switch needs before any path: table misses, what we are shown."""
    discovers = topology.configuration.discovery.enabled
    spaces = [space for entry in topology.configuration.policy.reactive for space in entry.flowspace]
    hosts = _hosts(topology)
    made: dict[str, tuple[Entry, ...]] = {}
    for index, switch in enumerate(topology.configuration.switches.values()):
        if spaces and switch.dpid not in topology.ports:
            continue  # which ports its hosts hang on is not known: its rules stay as they are (R10)
        pipeline = pipelines_of(topology.configuration)[switch.dpid]
        rules = pipeline_rules(switch.dpid, index, pipeline, switch.table_miss)
        found = discovery_rules(switch.dpid, index, pipeline) if discovers else ()
        here = [host for host in _attached_hosts(topology) if host.dpid == switch.dpid] if spaces else []
        shown = reactive_rules(spaces, index, pipeline, here, hosts)
        made[f"switch-{index}"] = tuple(dict.fromkeys((*rules, *found, *shown)))
    return made


def _hosts(topology: Topology) -> tuple[HostAddresses, ...]:
    """All hosts, whether or not their switch is there."""
    found = []
    for name, site in topology.configuration.sites.items():
        for host in site.hosts.values():
            addresses = (host.address, host.address6)
            found.append(HostAddresses(name, tuple(str(each) for each in addresses if each is not None)))
    return tuple(found)


def _attached_hosts(topology: Topology) -> tuple[Attachment, ...]:
    """The hosts whose ports are known."""
    known = []
    for site in topology.configuration.sites.values():
        for name in site.hosts:
            try:
                known.append(topology.attachment(name))
            except Unavailable:
                continue
    return tuple(known)
