"""Wires of a network with the names of their interfaces, and the rules that use those names.

The order is that of the OpenFlow port numbers: per campus its DTNs and routers, then the circuits.  An
interface is called after its node and what it leads to, ``mu-edge-dtn``; where that is longer than Linux
takes, or taken, after its node and a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count, pairwise

from mininet_topos.topologies.model import Campus, Circuit, End, TransitPath, Wire
from mininet_topos.topologies.numbering import ports_behind

MAX_INTERFACE_NAME = 15
"""IFNAMSIZ - 1 (``linux/if.h``)."""
CAMPUS_VLAN = "vlan_mode=access tag=1"


def campus_wires(campus: Campus, circuits: Mapping[str, Circuit]) -> Iterator[Wire]:
    """The wires of a campus's DTNs and routers."""
    for dtn, held in campus.dtns.items():
        label = dtn.removeprefix(f"{campus.name}-")
        aliases = tuple(f"{address}/24" for address in held.measured.values())
        host = End(dtn, "data", mac=held.mac, address=f"{held.address}/24", aliases=aliases)
        circuit = next((one for one in circuits.values() if dtn in one.ends), None)
        port = End(campus.attached[dtn], label, vlans=CAMPUS_VLAN)
        yield from [Wire(port, host)] if circuit is None else _on_circuit(circuit, port, host)
    for number, router in enumerate(campus.routers, start=1):
        label = router.removeprefix(f"{campus.name}-")
        lan = End(router, "lan", mac=campus.mac(number), address=f"{campus.address(number)}/24")
        yield Wire(End(campus.edge, label, vlans=CAMPUS_VLAN), lan)


def circuit_wires(
    circuit: Circuit, paths: Iterable[TransitPath], transfer: Mapping[tuple[str, str], str], edges: set[str]
) -> Iterator[Wire]:
    """The wires of a circuit between switches or routers."""
    vlans = sorted({path.vlan for path in paths if circuit.name in path.circuits and path.vlan is not None})
    trunk = f"vlan_mode=trunk trunks={','.join(map(str, vlans))}"
    ends = []
    for node in circuit.ends:
        towards = circuit.name if circuit.line else circuit.beyond(node)
        carried = CAMPUS_VLAN if circuit.campus is not None else trunk if node in edges else ""
        ends.append(End(node, towards, address=transfer.get((circuit.name, node)), vlans=carried))
    yield from _on_circuit(circuit, *ends)


def _on_circuit(circuit: Circuit, one: End, other: End) -> Iterator[Wire]:
    """One wire, or two with a line between them; ends that the circuit names are called so."""
    for end in (one, other):
        chosen = dict(zip(circuit.ends, circuit.port_names, strict=True))[end.node]
        end.label, end.chosen = chosen or end.label, chosen is not None
    if circuit.line:
        for end in (one, other):
            yield Wire(end, End(circuit.name, end.node), circuit)
    else:
        yield Wire(one, other, circuit)


def name_interfaces(wires: Sequence[Wire], taken: Iterable[str]) -> None:
    """Name all interfaces; those that a declaration names first.

    :raises ValueError: if a declared name is too long or taken.
    """
    used = set(taken)
    ends = [end for wire in wires for end in wire.ends]
    for end in ends:
        end.name = f"{end.node}-{end.label}"
        if end.chosen:
            if len(end.name) > MAX_INTERFACE_NAME or end.name in used:
                cause = "is taken" if end.name in used else f"is longer than {MAX_INTERFACE_NAME} characters"
                raise ValueError(f"{end.node}: the interface name {end.name} {cause}; expected another")
            used.add(end.name)
    for end in ends:
        if not end.chosen:
            if len(end.name) > MAX_INTERFACE_NAME or end.name in used:
                numbered = (f"{end.node}-{number}" for number in count(1))
                end.name = next(name for name in numbered if name not in used)
            used.add(end.name)


def record_interfaces(circuits: Mapping[str, Circuit], wires: Sequence[Wire]) -> None:
    """Write into each circuit the interfaces of its nodes, and those that are shaped."""
    for circuit in circuits.values():
        ends = [end for wire in wires if wire.circuit is circuit for end in wire.ends]
        at = {end.node: end.name for end in ends}
        one, other = circuit.ends
        circuit.interfaces = at[one], at[other]
        line = {end.label: end.name for end in ends if end.node == circuit.name}
        if circuit.rate is not None:
            circuit.shaped = (line[other], line[one]) if circuit.line else circuit.interfaces


def edge_port(campus: Campus, node: str, circuits: Mapping[str, Circuit], wires: Iterable[Wire]) -> str:
    """The port of the edge that leads to a DTN or router of the campus."""
    switch = campus.attached.get(node, campus.edge)
    if switch != campus.edge:
        return port_at(ports_behind(campus, circuits)[switch], campus.edge)
    for circuit in circuits.values():
        if {*circuit.ends} == {node, switch}:
            return port_at(circuit, switch)
    return next(wire.one.name for wire in wires if (wire.one.node, wire.other.node) == (switch, node))


def provider_rules(path: TransitPath, circuits: Mapping[str, Circuit]) -> Iterator[tuple[str, str]]:
    """Each provider switch of a path with the rules that carry the path's VLAN through it."""
    switches = path.nodes[1:-1] if path.layer == 2 else ()
    for (before, after), switch in zip(pairwise(path.circuits), switches, strict=False):
        left, right = (port_at(circuits[name], switch) for name in (before, after))
        for source, destination in ((left, right), (right, left)):
            yield switch, f"priority=100,dl_vlan={path.vlan},in_port={source},actions=output:{destination}"


def port_at(circuit: Circuit, node: str) -> str:
    """The interface of a node on a circuit."""
    return circuit.interfaces[circuit.ends.index(node)]
