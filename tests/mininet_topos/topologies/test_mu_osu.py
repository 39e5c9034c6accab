"""The topology gives the network that docs/testbed.md draws, to the last address."""

from __future__ import annotations

import pytest

from mininet_topos.topologies.campus_topo import MANAGEMENT_BRIDGE
from mininet_topos.topology_catalog import load_topology
from tests.mininet_topos.topologies.forwarding import Walk
from tests.support.refusals import refused

TOPO = load_topology("mu_osu")
OVERLAY, ROUTED = TOPO.paths["al2s"], TOPO.paths["internet"]


def test_goodput_is_the_papers_divided_by_the_scale():
    assert (OVERLAY.goodput, ROUTED.goodput) == pytest.approx((58e6, 6.5e6))
    assert load_topology("mu_osu", 1000).paths["al2s"].goodput == pytest.approx(5.8e6)


def test_the_wire_carries_headers_too():
    """Of 1518 bytes (tagged; 1514 untagged) TCP delivers 1448: 60.8 and 6.8 Mbit/s, spec section 11."""
    assert OVERLAY.capacity == pytest.approx(58e6 * 1518 / 1448)
    assert ROUTED.capacity == pytest.approx(6.5e6 * 1514 / 1448)


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf")])
def test_a_scale_that_is_no_positive_number_is_refused(scale):
    with refused("invalid", "scale"):
        load_topology("mu_osu", scale)


@pytest.mark.parametrize("scale", [1, 100_000])
def test_a_scale_whose_rates_cannot_be_built_is_refused_with_the_circuit(scale):
    with refused("invalid", "circuits.line.rate"):
        load_topology("mu_osu", scale)


def test_both_directions_of_both_paths_are_shaped_and_no_more():
    shaped = {end.name: one.shape for one in TOPO.circuits.values() for end in one.shaped}
    assert {name: (shape.rate, shape.queue, shape.delay) for name, shape in shaped.items()} == {
        "line-t2": (OVERLAY.capacity, 40, 0.005),
        "line-t1": (OVERLAY.capacity, 40, 0.005),
        "mu-rtr-wan": (ROUTED.capacity, 40, 0.010),
        "core-mu": (ROUTED.capacity, 40, 0.010),
    }


@pytest.mark.parametrize("campus", ["mu", "osu"])
def test_the_overlay_port_carries_the_overlays_vlan_only(campus):
    assert {end.name: end.vlans for end in Walk(TOPO).at[f"{campus}-edge"]} == {
        f"{campus}-edge-dtn": "vlan_mode=access tag=1",
        f"{campus}-edge-rtr": "vlan_mode=access tag=1",
        f"{campus}-edge-al2s": "vlan_mode=trunk trunks=1701",
    }


def test_the_switches_and_what_is_in_them():
    found = {name: TOPO.nodeInfo(name) for name in TOPO.switches() if name != MANAGEMENT_BRIDGE}
    campus = {"priority=0,actions=NORMAL"}
    assert {
        name: (info["dpid"][-4:], info["cls"].controlled, {*info["rules"]}) for name, info in found.items()
    } == {
        "mu-edge": ("0a01", True, campus),
        "osu-edge": ("0a02", True, campus),
        "t1": ("0b01", False, through("t1-mu-edge", "t1-line")),
        "t2": ("0b02", False, through("t2-osu-edge", "t2-line")),
    }


def through(left: str, right: str) -> set[str]:
    """The provider's rules of one of its switches."""
    return {
        f"priority=100,dl_vlan=1701,in_port={source},actions=output:{to}"
        for source, to in ((left, right), (right, left))
    }


def test_addresses():
    mu, osu = TOPO.campuses["mu"].dtns["mu-dtn"], TOPO.campuses["osu"].dtns["osu-dtn"]
    assert (osu.address, osu.mac) == ("10.2.0.10", "02:00:00:00:0b:0a")
    assert TOPO.campuses["osu"].ports["osu-dtn"] == "osu-edge-dtn"
    assert {name: path.addresses["osu"] for name, path in TOPO.paths.items()} == {
        "al2s": "10.2.0.11",
        "internet": "10.2.0.12",
    }
    assert TOPO.campuses["mu"].management == "172.31.0.11"
    assert (mu.mac, TOPO.campuses["mu"].gateway_mac) == ("02:00:00:00:0a:0a", "02:00:00:00:0a:01")
    assert {
        end.name: f"{end.address}/{end.prefix}" for end in Walk(TOPO).interfaces.values() if end.address
    } == {
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
    assert {name: list(TOPO.nodeInfo(name).get("routes", ())) for name in TOPO.hosts()} == {
        "mu-dtn": [("0.0.0.0/0", "10.1.0.1")],
        "osu-dtn": [("0.0.0.0/0", "10.2.0.1")],
        "mu-rtr": [("0.0.0.0/0", "203.0.113.2")],
        "osu-rtr": [("0.0.0.0/0", "203.0.113.5")],
        "core": [("10.1.0.0/24", "203.0.113.1"), ("10.2.0.0/24", "203.0.113.6")],
        "line": [],
    }
