"""``adon path trace``: where a packet from one DTN to another would go now, told from what the switches hold.

Joins what is believed to be in the switches with the topology, and asks :mod:`adon.flowvisor.trace`.
Rules that are not ours are known by their match; where one would take the packet, the trace says so and
ends.
"""

from __future__ import annotations

from collections.abc import Mapping

from adon.broker.question import Question
from adon.broker.world import World
from adon.errors import InvalidInput
from adon.flowvisor.datapath import Packet, Step
from adon.flowvisor.match import ETH_TYPE_IPV4, ETH_TYPE_IPV6
from adon.flowvisor.path import Attachment
from adon.flowvisor.pipeline import is_ours, owner_of
from adon.flowvisor.rule import Rule, dpid_text, rule_text
from adon.flowvisor.trace import Leg, Trace, trace, wires

EPHEMERAL = 49_152
"""Stands for the port that the sender's system would choose (RFC 6335, 6)."""


def traced(world: World, question: Question) -> Mapping[str, object]:
    """The packet's way as plain JSON values: legs, steps and rules as ``ovs-ofctl`` prints them, and why.

    :raises NotFound: if a DTN is not configured.
    :raises Unavailable: if its switch has not reported its port.
    :raises InvalidInput: if a DTN has no address of this version of IP.
    """
    topology = world.network.topology
    source, destination = topology.attachment(question.source), topology.attachment(question.destination)
    packet = _packet(question, source, destination)
    paths = [candidate.path for candidate in topology.directions() if candidate.path is not None]
    found = trace(
        packet,
        source.dpid,
        source.port,
        world.network.entries,
        wires(paths),
        _hosts(world),
        topology.port_live,
    )
    return _told(world, found, packet)


def _packet(question: Question, source: Attachment, destination: Attachment) -> Packet:
    sender, receiver = (
        (source.ipv4(), destination.ipv4()) if question.version == 4 else (source.ipv6(), destination.ipv6())
    )
    for field, host, address in (("source", source, sender), ("destination", destination, receiver)):
        if address is None:
            raise InvalidInput.of(field, f"{host.host!r} has no IPv{question.version} address")
    return Packet(
        eth_src=source.mac,
        eth_dst=source.gateway_mac,
        ip_src=str(sender),
        ip_dst=str(receiver),
        ip_proto=question.protocol,
        tp_src=EPHEMERAL if question.source_port is None else question.source_port,
        tp_dst=question.port,
        eth_type=ETH_TYPE_IPV4 if question.version == 4 else ETH_TYPE_IPV6,
    )


def _hosts(world: World) -> dict[tuple[int, int], str]:
    """Which DTN hangs on which port, as far as ports are known."""
    topology = world.network.topology
    found: dict[tuple[int, int], str] = {}
    for site in world.configuration.sites.values():
        dpid = world.configuration.switches[site.edge].dpid
        for name, host in site.hosts.items():
            state = topology.ports.get(dpid, {}).get(host.port)
            if state is not None:
                found.setdefault((dpid, state.number), name)
    return found


def _told(world: World, found: Trace, packet: Packet) -> dict[str, object]:
    return {
        "packet": _header(packet),
        "legs": [_leg(world, leg) for leg in found.legs],
        "ends": [
            {
                "fate": end.fate.name.lower(),
                "text": f"{end.fate}{': ' + end.detail if end.detail else ''}",
                "switch": world.network.topology.switch_name(end.dpid),
                "packet": _header(end.packet),
            }
            for end in found.ends
        ],
        "paths": list(found.paths),
        "copies": found.copies,
    }


def _leg(world: World, leg: Leg) -> dict[str, object]:
    return {
        "switch": world.network.topology.switch_name(leg.dpid),
        "dpid": dpid_text(leg.dpid),
        "in_port": leg.in_port,
        "path": leg.by,
        "packet": _header(leg.packet),
        "steps": [_step(world, step) for step in leg.passage.steps],
        "outputs": [port for port, _ in leg.passage.outputs],
    }


def _step(world: World, step: Step) -> dict[str, object]:
    if step.rule is None:
        return {"table": step.table, "rule": None, "owner": None, "why": "no rule takes it: dropped"}
    ours = is_ours(step.rule)
    owner = owner_of(step.rule) if ours else None
    return {
        "table": step.table,
        "rule": rule_text(step.rule) if ours else _foreign_text(step.rule),
        "owner": owner,
        "why": _why(world, step.rule) if ours else "not ours: what it does is not known to us",
    }


def _foreign_text(rule: Rule) -> str:
    return rule_text(rule).partition(" actions=")[0].partition(", ")[2]


def _why(world: World, rule: Rule) -> str:
    """Why a rule of ours is there."""
    owner = owner_of(rule)
    flow = world.flows.owner(owner)
    if flow is not None:
        return f"flow {flow.id} of {flow.requester} on {flow.path}: {flow.reason}"
    kind, _, number = owner.partition("-")
    if kind == "path":
        known = (c.path for c in world.network.topology.directions() if c.path is not None)
        name = next((path.key.path for path in known if path.index == int(number)), "")
        return f"path {name}" if name else "a path that is not configured any more"
    return "the pipeline itself" if kind == "switch" else "an owner that is not known any more"


def _header(packet: Packet) -> dict[str, object]:
    return {
        "eth_src": packet.eth_src,
        "eth_dst": packet.eth_dst,
        "vlan": packet.vlan,
        "ip_src": packet.ip_src,
        "ip_dst": packet.ip_dst,
        "ip_proto": packet.ip_proto,
        "tp_src": packet.tp_src,
        "tp_dst": packet.tp_dst,
        "dscp": packet.dscp,
    }
