"""The topology gives the network that docs/testbed.md draws, to the last address."""

from __future__ import annotations

import pytest

from adon.errors import InvalidInput
from mininet_topos.link_shape import LinkShape
from mininet_topos.networks import named
from mininet_topos.topology import Kind
from tests.support.refusals import refused

NETWORK = named("mu_osu")
TOPOLOGY = NETWORK.topology
OVERLAY, ROUTED = NETWORK.path("al2s"), NETWORK.path("internet")


def test_goodput_is_the_papers_divided_by_the_scale():
    assert (OVERLAY.goodput, ROUTED.goodput) == (58e6, 6.5e6)
    assert named("mu_osu", 1000).path("al2s").goodput == 5.8e6


def test_the_wire_carries_headers_too():
    """Of 1518 bytes (tagged; 1514 untagged) TCP delivers 1448: 60.8 and 6.8 Mbit/s, spec section 11."""
    assert OVERLAY.capacity == pytest.approx(58e6 * 1518 / 1448)
    assert ROUTED.capacity == pytest.approx(6.5e6 * 1514 / 1448)


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf")])
def test_a_scale_that_is_no_positive_number_is_refused(scale):
    with pytest.raises(InvalidInput, match="scale"):
        named("mu_osu", scale)


@pytest.mark.parametrize("scale", [1, 100_000])
def test_a_scale_whose_rates_cannot_be_built_is_refused_with_the_circuit(scale):
    with refused("invalid", "circuits.line.rate"):
        named("mu_osu", scale)


def test_both_directions_of_both_paths_are_shaped_and_no_more():
    shaped = {end.name: end.shape for link in TOPOLOGY.links for end in link.ends if end.shape is not None}
    overlay, routed = LinkShape(OVERLAY.capacity, 40, 0.005), LinkShape(ROUTED.capacity, 40, 0.010)
    assert shaped == {"line-t1": overlay, "line-t2": overlay, "mu-rtr-wan": routed, "core-mu": routed}


@pytest.mark.parametrize("site", ["mu", "osu"])
def test_the_overlay_port_carries_the_overlays_vlan_only(site):
    ports = {end.name: end.vlans for end in TOPOLOGY.interfaces(f"{site}-edge")}
    assert ports == {
        f"{site}-edge-dtn": "vlan_mode=access tag=1",
        f"{site}-edge-rtr": "vlan_mode=access tag=1",
        f"{site}-edge-al2s": "vlan_mode=trunk trunks=1701",
    }


def test_ports_are_numbered_dtn_overlay_router_as_the_links_come():
    assert [end.name for end in TOPOLOGY.interfaces("mu-edge")] == [
        "mu-edge-dtn",
        "mu-edge-rtr",
        "mu-edge-al2s",
    ]


def test_the_switches_and_what_is_in_them():
    switches = sorted(
        (switch.name, f"{switch.dpid:04x}", switch.controlled, set(switch.rules))
        for switch in TOPOLOGY.switches
    )
    campus = {"priority=0,actions=NORMAL"}
    assert switches == [
        ("mu-edge", "0a01", True, campus),
        ("osu-edge", "0a02", True, campus),
        ("t1", "0b01", False, through("t1-mu-edge", "t1-line")),
        ("t2", "0b02", False, through("t2-osu-edge", "t2-line")),
    ]


def through(left: str, right: str) -> set[str]:
    """The provider's rules of one of its switches."""
    return {
        f"priority=100,dl_vlan=1701,in_port={source},actions=output:{to}"
        for source, to in ((left, right), (right, left))
    }


def test_addresses():
    mu, osu = NETWORK.dtn("mu-dtn"), NETWORK.dtn("osu-dtn")
    assert (str(osu.address), osu.mac, osu.port) == ("10.2.0.10", "02:00:00:00:0b:0a", "osu-edge-dtn")
    assert {path: str(address) for path, address in osu.measured.items()} == {
        "al2s": "10.2.0.11",
        "internet": "10.2.0.12",
    }
    assert str(mu.management) == "172.31.0.11/24"
    assert (mu.mac, NETWORK.site("mu").gateway_mac) == ("02:00:00:00:0a:0a", "02:00:00:00:0a:01")
    held = {end.name: str(end.addresses[0]) for link in TOPOLOGY.links for end in link.ends if end.addresses}
    assert held == {
        "mu-dtn-data": "10.1.0.10/24",
        "osu-dtn-data": "10.2.0.10/24",
        "mu-rtr-lan": "10.1.0.1/24",
        "osu-rtr-lan": "10.2.0.1/24",
        "mu-rtr-wan": "203.0.113.1/30",
        "core-mu": "203.0.113.2/30",
        "core-osu": "203.0.113.5/30",
        "osu-rtr-wan": "203.0.113.6/30",
    }


def test_routes():
    found = {host.name: [(str(r.destination), r.via) for r in host.routes] for host in TOPOLOGY.hosts}
    assert found == {
        "mu-dtn": [("0.0.0.0/0", "10.1.0.1")],
        "osu-dtn": [("0.0.0.0/0", "10.2.0.1")],
        "mu-rtr": [("0.0.0.0/0", "203.0.113.2")],
        "osu-rtr": [("0.0.0.0/0", "203.0.113.5")],
        "core": [("10.1.0.0/24", "203.0.113.1"), ("10.2.0.0/24", "203.0.113.6")],
        "line": [],
    }


def test_only_the_dtns_have_a_measurement_point():
    assert {h.name for h in TOPOLOGY.hosts if h.management is not None} == {"mu-dtn", "osu-dtn"}
    assert [h.name for h in TOPOLOGY.hosts if h.kind is Kind.LINE] == ["line"]
