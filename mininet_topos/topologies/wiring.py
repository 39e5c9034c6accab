"""Wires of a network with the names of their interfaces, and the rules that use those names.

The order is that of the OpenFlow port numbers: per campus its DTNs and routers, then the circuits.  An
interface is called after its node and what it leads to, ``mu-edge-dtn``; where that is longer than Linux
takes, or taken, after its node and a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv4Network
from itertools import chain, count, pairwise

from mininet_topos.topologies.model import Campus, Circuit, DtnAddresses, End, TransitPath, Wire

FIRST_VLAN, LAST_VLAN = 1701, 4094
FIRST_DTN, LAST_HOST, STEP = 10, 254, 10
"""Host numbers of DTNs, and the distance from one DTN's address to the next if there is room."""
TRANSFER_POOLS = ("203.0.113.0/24", "198.18.0.0/15")
DEFAULT = "0.0.0.0/0"

Campuses = Mapping[str, Campus]
Circuits = Mapping[str, Circuit]
Paths = Mapping[str, TransitPath]


def assign_vlans(paths: Paths) -> None:
    """Give each layer-2 path without a VLAN the first free one, and check that no two paths share one.

    An edge floods what it does not know into all ports of a VLAN, and so would make one network of two paths.

    :raises ValueError: if two paths have one VLAN on a circuit or at an edge.
    """
    declared = {path.vlan for path in paths.values()}
    free = (vlan for vlan in range(FIRST_VLAN, LAST_VLAN + 1) if vlan not in declared)
    taken: dict[tuple[str, int], str] = {}
    for path in paths.values():
        if path.layer == 2:
            path.vlan = next(free) if path.vlan is None else path.vlan
            for place in (*path.circuits, path.nodes[0], path.nodes[-1]):
                other = taken.setdefault((place, path.vlan), path.name)
                if other != path.name:
                    raise ValueError(
                        f"paths.{path.name}.vlan: {path.vlan} is the VLAN of path {other} at {place}; "
                        "expected another, or none for the first free one"
                    )


def check_forks(paths: Paths) -> None:
    """Check that each router has one way to each campus.

    :raises ValueError: if layer-3 paths lead over two.
    """
    ways: dict[tuple[str, str], tuple[str, str]] = {}
    for path in paths.values():
        for node, campus, circuit, _ in _hops(path):
            before, other = ways.setdefault((node, campus), (circuit, path.name))
            if before != circuit:
                raise ValueError(
                    f"paths.{path.name}: leads from {node} to {campus} over circuit {circuit}, and path "
                    f"{other} over {before}; a router has one way to a campus"
                )


def check_used(circuits: Circuits, paths: Paths, edges: Iterable[str]) -> None:
    """Check that no edge has a circuit to flood into that belongs to no path.

    :raises ValueError: if one has.
    """
    used = {name for path in paths.values() for name in path.circuits}
    for edge in edges:
        for circuit in circuits.values():
            if edge in circuit.ends and circuit.campus is None and circuit.name not in used:
                raise ValueError(
                    f"circuits.{circuit.name}: no path uses it, and {edge} would flood into it; "
                    "expected a path over it"
                )


def check_trees(campuses: Campuses, circuits: Circuits) -> None:
    """Check that the switches of each campus are a tree with the edge in it.

    :raises ValueError: if a switch is not joined, or circuits form a loop.
    """
    for campus in campuses.values():
        switches = {campus.edge, *campus.switches}
        within = [circuit for circuit in circuits.values() if switches.issuperset(circuit.ends)]
        behind = ports_behind(campus, circuits)
        for switch in campus.switches:
            if switch not in behind:
                raise ValueError(f"campuses.{campus.name}: no circuit joins {switch} to {campus.edge}")
        if len(within) > len(behind):
            raise ValueError(f"circuits.{within[-1].name}: closes a loop of campus switches, which flood")


def ports_behind(campus: Campus, circuits: Circuits) -> dict[str, Circuit]:
    """Per switch of a campus the circuit of the edge that leads to it."""
    switches = {campus.edge, *campus.switches}
    within = [circuit for circuit in circuits.values() if switches.issuperset(circuit.ends)]
    found: dict[str, Circuit] = {}
    reached = [campus.edge]
    for here in reached:
        for circuit in within:
            there = circuit.beyond(here)
            if here in circuit.ends and there != campus.edge and there not in found:
                found[there] = found.get(here, circuit)
                reached.append(there)
    return found


def address_dtns(campus: Campus, paths: Paths) -> None:
    """Give the DTNs of a campus their addresses, and its paths those that are measured.

    :raises ValueError: if there are more than a /24 has.
    """
    measured = [path for path in paths.values() if path.measured and campus.name in path.campuses]
    room = LAST_HOST + 1 - FIRST_DTN
    if len(campus.attached) + len(measured) > room:
        raise ValueError(
            f"campuses.{campus.name}: {len(campus.attached)} DTNs and {len(measured)} measured paths need "
            f"more addresses than the {room} of its network"
        )
    number = FIRST_DTN
    for dtn, block in _blocks(campus, len(measured)).items():
        held = campus.dtns[dtn] = DtnAddresses(campus.address(number), campus.mac(number), edge_port="")
        if dtn == campus.measuring:
            held.management = f"172.31.0.{10 + campus.number}/24"
            for nth, path in enumerate(measured, start=1):
                held.measured[path.name] = path.addresses[campus.name] = campus.address(number + nth)
        number += block


def _blocks(campus: Campus, measured: int) -> dict[str, int]:
    """Per DTN how many addresses are from its first to the next DTN's: the largest that fit."""
    for step in range(STEP, 0, -1):
        own = step * -(-(1 + measured) // step)
        found = {dtn: own if dtn == campus.measuring else step for dtn in campus.attached}
        if sum(found.values()) <= LAST_HOST + 1 - FIRST_DTN:
            break
    return found


def transfer_addresses(routed: Iterable[Circuit], paths: Paths) -> dict[tuple[str, str], str]:
    """Per circuit between routers and node on it the address there, with prefix length."""
    steps = chain(
        ((name, near, far) for path in paths.values() for near, name, far in _steps(path) if path.layer == 3),
        ((circuit.name, *circuit.ends) for circuit in routed),
    )
    free = chain.from_iterable(IPv4Network(pool).subnets(new_prefix=30) for pool in TRANSFER_POOLS)
    found: dict[tuple[str, str], str] = {}
    for name, near, far in steps:
        if (name, near) not in found:
            first = next(free).network_address + 1
            found[name, near], found[name, far] = f"{first}/30", f"{first + 1}/30"
    return found


def static_routes(
    campuses: Campuses, paths: Paths, transfer: Mapping[tuple[str, str], str]
) -> dict[str, tuple[tuple[str, str], ...]]:
    """Per router the destination and next hop of its routes, in the order of the campuses.

    A router whose every way leads over one neighbour has a default route there.
    """
    ways: dict[str, dict[str, str]] = {}
    for path in paths.values():
        for node, campus, circuit, onward in _hops(path):
            ways.setdefault(node, {})[campus] = transfer[circuit, onward].split("/")[0]
    return {
        node: ((DEFAULT, next(iter(via.values()))),)
        if len(set(via.values())) == 1
        else tuple((campus.network, via[name]) for name, campus in campuses.items() if name in via)
        for node, via in ways.items()
    }


def _steps(path: TransitPath) -> Iterator[tuple[str, str, str]]:
    return ((near, name, far) for (near, far), name in zip(pairwise(path.nodes), path.circuits, strict=True))


def _hops(path: TransitPath) -> Iterator[tuple[str, str, str, str]]:
    """Each router of a layer-3 path with a campus, the circuit and the neighbour that lead there."""
    one, other = path.campuses
    for near, name, far in _steps(path) if path.layer == 3 else ():
        yield near, other, name, far
        yield far, one, name, near


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
