from __future__ import annotations

import pytest

from adon.errors import InvalidInput
from mininet_topos.mu_osu import MU, OSU, MuOsu, dtn_addresses, edge_port
from mininet_topos.topology import Kind, Vlans


def test_goodput_is_the_papers_divided_by_the_scale():
    assert (MuOsu().l2_goodput, MuOsu().l3_goodput) == (58e6, 6.5e6)
    assert MuOsu(1000).l2_goodput == 5.8e6


def test_the_wire_carries_headers_too():
    """About 60.6 and 6.8 Mbit/s, spec section 11."""
    assert MuOsu().overlay.rate / 1e6 == pytest.approx(60.8, abs=0.05)
    assert MuOsu().routed.rate / 1e6 == pytest.approx(6.8, abs=0.05)


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf")])
def test_a_scale_that_is_no_positive_number_is_refused(scale):
    with pytest.raises(InvalidInput, match="scale"):
        MuOsu(scale)


@pytest.mark.parametrize("scale", [1, 100_000])
def test_a_scale_whose_rates_cannot_be_built_is_refused(scale):
    with pytest.raises(InvalidInput, match="rate"):
        MuOsu(scale).topology()


def test_both_directions_of_both_paths_are_shaped_and_no_more():
    shaped = {
        end.name: end.shape for link in MuOsu().topology().links for end in link.ends if end.shape is not None
    }
    assert shaped == {
        "line-t1": MuOsu().overlay,
        "line-t2": MuOsu().overlay,
        "mu-rtr-wan": MuOsu().routed,
        "core-mu": MuOsu().routed,
    }


@pytest.mark.parametrize("campus", [MU, OSU])
def test_the_overlay_port_carries_the_overlays_vlan_only(campus):
    ports = {end.name: end.vlans for end in MuOsu().topology().interfaces(campus.edge)}
    assert ports == {
        edge_port(campus, "dtn"): Vlans(access=1),
        edge_port(campus, "rtr"): Vlans(access=1),
        edge_port(campus, "al2s"): Vlans(trunk=1701),
    }


def test_the_edges_belong_to_adon_and_the_campus_rule_is_not_ours():
    topology = MuOsu().topology()
    edges = [switch for switch in topology.switches if switch.controlled]
    assert [(edge.name, f"{edge.dpid:016x}", edge.rules) for edge in edges] == [
        ("mu-edge", "0000000000000a01", ("priority=0,actions=NORMAL",)),
        ("osu-edge", "0000000000000a02", ("priority=0,actions=NORMAL",)),
    ]


def test_addresses():
    assert {name: str(address) for name, address in dtn_addresses(OSU).items()} == {
        "data": "10.2.0.10",
        "al2s": "10.2.0.11",
        "internet": "10.2.0.12",
    }
    assert (MU.dtn_mac, MU.gateway_mac) == ("02:00:00:00:0a:0a", "02:00:00:00:0a:01")


def test_only_the_dtns_have_a_measurement_point():
    hosts = MuOsu().topology().hosts
    assert {h.name for h in hosts if h.management is not None} == {"mu-dtn", "osu-dtn"}
    assert [h.name for h in hosts if h.kind is Kind.LINE] == ["line"]


def test_layer_3_may_be_made_wider_than_the_thesiss():
    assert MuOsu(400, 3.2e9).l3_goodput == 8e6
    assert MuOsu(400, 3.2e9).l2_goodput == MuOsu(400).l2_goodput
    with pytest.raises(InvalidInput, match="layer3"):
        MuOsu(400, 0)
