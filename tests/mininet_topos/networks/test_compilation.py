"""Whatever is described: addresses and names collide nowhere, and packets get where they should."""

from __future__ import annotations

import json
import pickle
from collections import Counter

import pytest
from hypothesis import HealthCheck, assume, given, settings

from adon.errors import InvalidInput
from mininet_topos.networks import Network, described, named, names
from mininet_topos.topology import MAX_INTERFACE_NAME
from tests.mininet_topos.networks.descriptions import PAIR, drawn
from tests.mininet_topos.networks.forwarding import Walk
from tests.support.refusals import refused

FEW = settings(suppress_health_check=[HealthCheck.too_slow])


def network_of(description) -> Network:
    """The network; one whose rates nobody wrote is refused, which is tested elsewhere."""
    try:
        return described(json.dumps(description))
    except InvalidInput as error:
        assume("no link of it has a rate" not in str(error))
        raise


@FEW
@given(drawn())
def test_nothing_that_identifies_is_there_twice(description):
    network = network_of(description)
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
def test_the_same_description_gives_the_same_network(description):
    network = network_of(description)
    assert network_of(description) == network
    # As it travels to the process that builds it.
    assert pickle.loads(pickle.dumps(network)) == network  # noqa: S301


@FEW
@given(drawn())
def test_every_path_delivers_both_ways_between_every_two_dtns_over_its_own_links(description):
    network = network_of(description)
    walk = Walk(network)
    for path in network.paths:
        one, other = (network.site(site) for site in path.sites)
        for near, far in ((near.host, far.host) for near in one.dtns for far in other.dtns):
            there, back = walk.passed(path, near, far), walk.passed(path, far, near)
            assert there == back[::-1]
            assert walk.links(there) == path.links


@pytest.mark.parametrize("name", names())
def test_paths_of_built_in_networks_deliver(name):
    network = named(name)
    walk = Walk(network)
    for path in network.paths:
        one, other = (network.site(site).dtns[-1].host for site in path.sites)
        assert walk.links(walk.passed(path, one, other)) == path.links


@FEW
@given(drawn())
def test_each_site_measures_at_one_of_its_dtns_and_there_each_path_has_an_address(description):
    network = network_of(description)
    assert sum(dtn.management is not None for dtn in network.dtns) == len(network.sites)
    for site in network.sites:
        assert site.measuring.host == description["sites"][site.name]["measuring"]
        assert site.measuring.management is not None
        mine = [path.name for path in network.paths if site.name in path.ends]
        assert list(site.measuring.measured) == mine
    for path in network.paths:
        for site in path.sites:
            assert network.owner(path.addresses[site]) == (network.site(site), network.site(site).measuring)


@FEW
@given(drawn())
def test_a_link_s_shape_is_on_its_way_there_and_on_its_way_back(description):
    network = network_of(description)
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


def test_a_campus_whose_switches_form_a_loop_is_refused():
    text = PAIR.replace("  one:\n", "  one: {switches: [o-a, o-b]}\n").replace(
        "paths:\n",
        "  l1: {between: [one-edge, o-a]}\n"
        "  l2: {between: [o-a, o-b]}\n"
        "  l3: {between: [o-b, one-edge]}\n"
        "paths:\n",
    )
    with refused("invalid", "sites.one.switches"):
        described(text)


def test_more_dtns_than_addresses_are_refused():
    with refused("invalid", "sites.one.dtns"):
        described(crowded(244))


def crowded(dtns: int, paths: int = 2, measuring: int = 0) -> str:
    """The site ``one`` with so many DTNs and measured paths."""
    many = "".join(f"  p{number}: {{layer: 2, over: [one, tr1, tr2, two]}}\n" for number in range(paths - 2))
    hosts = "".join(f"d{number:03}: , " for number in range(dtns))
    site = f"  one: {{dtns: {{{hosts}}}, measuring: d{measuring:03}}}\n"
    return PAIR.replace("  one:\n", site).replace("paths:\n", "paths:\n" + many)


@pytest.mark.parametrize(
    ("dtns", "paths", "measuring", "last"),
    [
        (2, 2, 0, "10.1.0.20"),
        (9, 23, 0, "10.1.0.110"),  # 30 for the first
        (9, 23, 8, "10.1.0.90"),  # and for the last, behind which is nobody
        (24, 2, 3, "10.1.0.240"),
        (25, 2, 3, "10.1.0.226"),  # 9 apart
        (243, 2, 0, "10.1.0.254"),
        (1, 244, 0, "10.1.0.10"),
        (5, 240, 4, "10.1.0.14"),
    ],
)
def test_as_many_dtns_and_measured_paths_as_there_are_addresses(dtns, paths, measuring, last):
    site = described(crowded(dtns, paths, measuring)).site("one")
    assert str(site.dtns[-1].address) == last
    held = [address for dtn in site.dtns for address in (dtn.address, *dtn.measured.values())]
    assert len(set(held)) == dtns + paths
    assert all(address in site.network and 10 <= int(address) % 256 <= 254 for address in held)


def test_of_several_dtns_each_has_its_own_and_the_chosen_one_measures():
    text = PAIR.replace("  one:\n", "  one: {dtns: {d1: , d2: }, measuring: d2}\n")
    one = described(text).site("one")
    assert [(str(dtn.address), dtn.mac) for dtn in one.dtns] == [
        ("10.1.0.10", "02:00:00:00:0a:0a"),
        ("10.1.0.20", "02:00:00:00:0a:14"),
    ]
    assert [len(dtn.measured) for dtn in one.dtns] == [0, 2]
    assert str(one.measuring.measured["al2s"]) == "10.1.0.21"


def test_a_site_whose_paths_are_many_keeps_their_addresses_apart():
    """Eleven measured paths and the data are two blocks of ten."""
    many = "".join(f"  p{number}: {{layer: 2, over: [one, tr1, tr2, two]}}\n" for number in range(10))
    text = PAIR.replace("  one:\n", "  one: {dtns: {d1: , d2: }}\n").replace("paths:\n", "paths:\n" + many)
    network = described(text)
    assert [str(dtn.address) for dtn in network.site("one").dtns] == ["10.1.0.10", "10.1.0.30"]
    assert str(network.dtn("d1").measured["internet"]) == "10.1.0.22"
