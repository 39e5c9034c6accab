"""Campus networks: trees of switches in one line, DTNs on links with a rate."""

from __future__ import annotations

import pytest

from mininet_topos.networks import Network, described, named
from mininet_topos.topology import Kind
from tests.mininet_topos.networks.descriptions import PAIR
from tests.mininet_topos.networks.forwarding import Walk
from tests.support.refusals import refused

GROWN = PAIR.replace("  one:\n", "  one: {tree: [2, 1], dtns: {d1: {}, d2: {at: one-21}}}\n")
CABLED = PAIR.replace("  one:\n", "  one: {switches: [lab], dtns: {d1: {}, d2: {}}}\n").replace(
    "links:\n",
    "links:\n  nic: {between: [d1, one-edge], rate: 20 Mbps, delay: 1 ms}\n"
    "  up: {between: [one-edge, lab]}\n  patch: {between: {lab: desk, d2: eth}}\n",
)


def read(text: str) -> Network:
    return described(text, "pair.yaml")


def test_a_tree_of_switches() -> None:
    network = read(GROWN)
    site = network.site("one")
    assert site.switches == ("one-1", "one-11", "one-2", "one-21")
    assert [link.between for link in network.links if link.name.endswith("u")] == [
        ("one-1", "one-edge"),
        ("one-11", "one-1"),
        ("one-2", "one-edge"),
        ("one-21", "one-2"),
    ]
    assert network.dtn("d2").port == "one-edge-one-2"
    written = GROWN.replace("tree: [2, 1]", "switches: [one-1, one-11, one-2, one-21]").replace(
        "links:\n",
        "links:\n  PLACEHOLDER\n",
    )
    for name, above in (
        ("one-21", "one-2"),
        ("one-2", "one-edge"),
        ("one-11", "one-1"),
        ("one-1", "one-edge"),
    ):
        entry = f"{name}u: {{between: [{name}, {above}]}}\n  PLACEHOLDER"
        written = written.replace("PLACEHOLDER", entry)
    assert {link.name for link in read(written.replace("  PLACEHOLDER\n", "")).links} == {
        link.name for link in network.links
    }


def test_five_sites_of_twenty_switches() -> None:
    network = named("five_sites")
    assert [1 + len(site.switches) for site in network.sites] == [20] * 5
    assert sum(switch.controlled for switch in network.topology.switches) == 5
    assert all(len(network.between(one, other)) == 3 for one, other in (("nw", "ne"), ("sw", "mw")))
    for path in network.paths:
        if path.name.startswith("first-"):
            pair = path.name.removeprefix("first-")
            common = set(path.links) & set(network.path(f"second-{pair}").links)
            assert len(common) == 2  # the ways into the two campuses


@pytest.mark.parametrize(
    ("one", "other", "hops"),
    [("r1-h1", "r1-h2", 2), ("r1-h1", "r2-h1", 4), ("r1-h2", "r4-h1", 6)],
)
def test_hops_between_hosts_of_the_tree_are_those_of_choreo(one: str, other: str, hops: int) -> None:
    """[CHOREO] 3.3.1: two within a rack, four or six to another."""
    network = named("choreo_tree")
    sites = network.site_of(one).name, network.site_of(other).name
    links = () if sites[0] == sites[1] else network.path(f"root1-{'-'.join(sites)}").links
    assert len(links) + 2 == hops


def test_a_dtn_on_a_link_with_a_rate() -> None:
    network = read(CABLED)
    nic = network.link("nic")
    assert nic.shape is not None
    assert (nic.shape.rate, nic.shape.delay) == (20e6, 0.001)
    assert network.topology.host("nic").kind is Kind.LINE
    dtn = network.dtn("d1")
    assert dtn.port == nic.ends[1] == "one-edge-d1"
    held = {end.name: end for end in network.topology.interfaces("d1")}
    assert held[nic.ends[0]].mac == dtn.mac
    assert held[nic.ends[0]].addresses[0].ip == dtn.address
    assert {
        end.node for name in nic.shaped for end in network.topology.interfaces("nic") if end.name == name
    } == {"nic"}


def test_a_dtn_on_a_link_without_one() -> None:
    network = read(CABLED)
    patch = network.link("patch")
    assert patch.ends == ("lab-desk", "d2-eth")
    assert patch.shape is None
    assert network.dtn("d2").port == "one-edge-lab"
    assert [end.name for end in network.topology.interfaces("d2")] == ["d2-eth"]


@pytest.mark.parametrize("text", [GROWN, CABLED])
def test_paths_deliver_to_every_dtn(text: str) -> None:
    network = read(text)
    walk = Walk(network)
    for path in network.paths:
        for near, far in (("d1", "two-dtn"), ("d2", "two-dtn")):
            there, back = walk.passed(path, near, far), walk.passed(path, far, near)
            assert there == back[::-1]


@pytest.mark.parametrize(
    ("text", "code", "field"),
    [
        (GROWN.replace("[2, 1]", "[2, 10]"), "out-of-range", "sites.one.tree.1"),
        (GROWN.replace("[2, 1]", "[1, 1, 1, 1, 1]"), "wrong-length", "sites.one.tree"),
        (
            GROWN.replace("links:\n", "links:\n  one-1u: {between: [one-1, one-edge]}\n"),
            "invalid",
            "links.one-1u",
        ),
        (GROWN.replace("tree:", "switches: [one-1], tree:"), "invalid", "sites.one.switches"),
        (CABLED.replace("d1: {}", "d1: {at: lab}"), "invalid", "sites.one.dtns.d1.at"),
        (
            CABLED.replace("links:\n", "links:\n  other: {between: [d1, lab]}\n"),
            "invalid",
            "links.nic.between",
        ),
        (CABLED.replace("[d1, one-edge]", "[d1, two-edge]"), "invalid", "links.nic.between"),
        (CABLED.replace("[d1, one-edge]", "[d1, d2]"), "invalid", "links.nic.between"),
        (CABLED.replace("[d1, one-edge]", "[d1, one-rtr]"), "invalid", "links.nic.between"),
    ],
)
def test_what_cannot_be_is_told_with_its_place(text: str, code: str, field: str) -> None:
    with refused(code, field):
        read(text)
