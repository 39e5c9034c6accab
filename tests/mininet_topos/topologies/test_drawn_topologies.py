"""Whatever is declared: addresses and names collide nowhere, and packets get where they should."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings

from mininet_topos.topologies.campus_topo import MANAGEMENT_BRIDGE, MAX_INTERFACE_NAME, CampusTopo
from mininet_topos.topology_catalog import BUILT_IN, load_topology
from tests.mininet_topos.topologies.declarations import Declare, drawn, topo_of
from tests.mininet_topos.topologies.forwarding import Walk, wires_of

FEW = settings(suppress_health_check=[HealthCheck.too_slow])


@FEW
@given(drawn())
def test_nothing_that_identifies_is_there_twice(declare: Declare) -> None:
    topo = topo_of(declare)
    ends = [end for wire in wires_of(topo) for end in wire]
    management = [
        name
        for campus in topo.campuses.values()
        for name in (f"{campus.measuring}-mgmt", f"mgmt-{campus.measuring}")
    ]
    interfaces = [end.name for end in ends]
    held = [address for end in ends for address in (end.address, *end.aliases) if address]
    for identifiers in (
        # Switches and their ports are in one namespace: their names may not meet either.
        [*interfaces, *topo.nodes(), *management],
        [topo.nodeInfo(switch)["dpid"] for switch in topo.switches() if switch != MANAGEMENT_BRIDGE],
        [end.mac for end in ends if end.mac],
        [*held, *(campus.management for campus in topo.campuses.values())],
    ):
        assert [value for value, count in Counter(identifiers).items() if count > 1] == []
    assert all(len(name) <= MAX_INTERFACE_NAME for name in (*interfaces, *management))


@FEW
@given(drawn())
def test_the_same_declaration_gives_the_same_network(declare: Declare) -> None:
    def numbers(topo: CampusTopo) -> object:
        nodes = {name: topo.nodeInfo(name) for name in topo.nodes()}
        return wires_of(topo), topo.campuses, topo.circuits, topo.paths, nodes

    assert numbers(topo_of(declare)) == numbers(topo_of(declare))


@FEW
@given(drawn())
def test_every_path_delivers_both_ways_between_every_two_dtns_over_its_own_circuits(declare: Declare) -> None:
    topo = topo_of(declare)
    walk = Walk(topo)
    for name, path in topo.paths.items():
        one, other = (topo.campuses[campus].dtns for campus in path.campuses)
        for near, far in ((near, far) for near in one for far in other):
            there, back = walk.passed(name, near, far), walk.passed(name, far, near)
            assert there == back[::-1]
            assert walk.circuits(there) == path.circuits


@pytest.mark.parametrize("name", BUILT_IN)
def test_paths_of_built_in_networks_deliver(name: str) -> None:
    topo = load_topology(name)
    walk = Walk(topo)
    for path in topo.paths.values():
        one, other = ([*topo.campuses[campus].dtns][-1] for campus in path.campuses)
        assert walk.circuits(walk.passed(path.name, one, other)) == path.circuits


@FEW
@given(drawn())
def test_each_campus_measures_at_its_first_dtn_where_each_path_has_an_address(declare: Declare) -> None:
    topo = topo_of(declare)
    for campus in topo.campuses.values():
        assert campus.measuring == next(iter(campus.dtns))
        (data,) = (end for wire in wires_of(topo) for end in wire if end.node == campus.measuring)
        mine = [path for path in topo.paths.values() if campus.name in path.campuses]
        assert data.aliases == tuple(path.addresses[campus.name] for path in mine)


@FEW
@given(drawn())
def test_a_circuit_s_shape_is_on_its_way_there_and_on_its_way_back(declare: Declare) -> None:
    topo = topo_of(declare)
    walk = Walk(topo)
    ends, peers = walk.interfaces, walk.peers
    for circuit in topo.circuits.values():
        nodes = tuple(circuit.interfaces)
        assert tuple(ends[its.name].node for its in circuit.interfaces.values()) == nodes
        if circuit.shape is None:
            assert circuit.shaped == ()
            continue
        ways = (nodes, nodes[::-1])
        for (source, destination), its in zip(ways, circuit.shaped, strict=True):
            assert ends[its.name].node == its.node
            assert its.node in (source, circuit.name)
            assert peers[its.name].node == destination
