"""Whatever is declared: addresses and names collide nowhere, and packets get where they should."""

from __future__ import annotations

import pickle
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings

from mininet_topos.networks import named, names
from mininet_topos.topologies.wiring import MAX_INTERFACE_NAME
from tests.mininet_topos.topologies.declarations import Declare, drawn, network_of
from tests.mininet_topos.topologies.forwarding import Walk

FEW = settings(suppress_health_check=[HealthCheck.too_slow])


@FEW
@given(drawn())
def test_nothing_that_identifies_is_there_twice(declare: Declare) -> None:
    network = network_of(declare)
    topology = network.topology
    interfaces = [end for link in topology.links for end in link.ends]
    nodes = [*(switch.name for switch in topology.switches), *(host.name for host in topology.hosts)]
    managed = [host for host in topology.hosts if host.management is not None]
    management = [name for host in managed for name in (f"{host.name}-mgmt", f"mgmt-{host.name}")]
    for what in (
        # Switches and their ports are in one namespace: their names may not meet either.
        [*(end.name for end in interfaces), *nodes, *management],
        [switch.dpid for switch in topology.switches],
        [end.mac for end in interfaces if end.mac is not None],
        [
            *(address.ip for end in interfaces for address in end.addresses),
            *(host.management.ip for host in managed if host.management is not None),
        ],
    ):
        assert [value for value, count in Counter(what).items() if count > 1] == []
    assert all(len(name) <= MAX_INTERFACE_NAME for name in [*(end.name for end in interfaces), *management])


@FEW
@given(drawn())
def test_the_same_declaration_gives_the_same_network(declare: Declare) -> None:
    network = network_of(declare)
    assert network_of(declare) == network
    # As it travels to the process that builds it.
    assert pickle.loads(pickle.dumps(network)) == network  # noqa: S301


@FEW
@given(drawn())
def test_every_path_delivers_both_ways_between_every_two_dtns_over_its_own_links(declare: Declare) -> None:
    network = network_of(declare)
    walk = Walk(network)
    for path in network.paths:
        one, other = (network.site(site) for site in path.sites)
        for near, far in ((near.host, far.host) for near in one.dtns for far in other.dtns):
            there, back = walk.passed(path, near, far), walk.passed(path, far, near)
            assert there == back[::-1]
            assert walk.links(there) == path.links


@pytest.mark.parametrize("name", names())
def test_paths_of_built_in_networks_deliver(name: str) -> None:
    network = named(name)
    walk = Walk(network)
    for path in network.paths:
        one, other = (network.site(site).dtns[-1].host for site in path.sites)
        assert walk.links(walk.passed(path, one, other)) == path.links


@FEW
@given(drawn())
def test_each_site_measures_at_one_of_its_dtns_and_there_each_path_has_an_address(declare: Declare) -> None:
    network = network_of(declare)
    assert sum(dtn.management is not None for dtn in network.dtns) == len(network.sites)
    for site in network.sites:
        assert site.measuring == site.dtns[0]
        assert site.measuring.management is not None
        mine = [path.name for path in network.paths if site.name in path.ends]
        assert list(site.measuring.measured) == mine
    for path in network.paths:
        for site in path.sites:
            assert network.owner(path.addresses[site]) == (network.site(site), network.site(site).measuring)


@FEW
@given(drawn())
def test_a_link_s_shape_is_on_its_way_there_and_on_its_way_back(declare: Declare) -> None:
    network = network_of(declare)
    peers = {end.name: other for link in network.topology.links for end, other in _both(link.ends)}
    ends = {end.name: end for link in network.topology.links for end in link.ends}
    for link in network.links:
        assert tuple(ends[name].node for name in link.ends) == link.between
        if link.shape is None:
            assert link.shaped == ()
            continue
        for (source, destination), name in zip(_both(link.between), link.shaped, strict=True):
            assert ends[name].shape == link.shape
            assert ends[name].node in (source, link.name)
            assert peers[name].node == destination


def _both(pair):
    return pair, pair[::-1]
