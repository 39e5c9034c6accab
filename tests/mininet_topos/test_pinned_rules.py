"""Rules that pin flows; test_testbed.py sends packets through them."""

from __future__ import annotations

import re

import pytest

from mininet_topos.pinned_rules import PRIORITY, PinnedFlow, path_rules, pin_flow, unpin_flow
from mininet_topos.topology_catalog import load_topology
from tests.support.refusals import refused

MU, OSU = "10.1.0.10", "10.2.0.10"
TOPO = load_topology("mu_osu")
ALL = PinnedFlow("mu-dtn", "osu-dtn")


class Switches:
    """Stands in for ``ovs-ofctl``; keeps the rules per switch."""

    def __init__(self):
        self.rules = {}
        self.words = []

    def ofctl(self, *arguments):
        self.words.append(arguments)
        if arguments[0] == "--names":
            _names, command, switch, rule = arguments
            assert command == "add-flow"
            self.rules.setdefault(switch, []).append(rule)
        return ""


def pinned(path, traffic=ALL):
    switches = Switches()
    pin_flow(switches.ofctl, TOPO, path, traffic)
    return switches.rules


def actions(rules, source):
    (found,) = [rule for rule in rules if f"nw_src={source}" in rule]
    return found.split("actions=")[1]


@pytest.mark.parametrize("path", ["al2s", "internet"])
def test_both_directions_are_pinned_at_both_edges(path):
    rules = pinned(path)
    assert {switch: len(found) for switch, found in rules.items()} == {"mu-edge": 2, "osu-edge": 2}
    for found in rules.values():
        pairs = {tuple(re.search(r"nw_src=([\d.]+),nw_dst=([\d.]+)", rule).groups()) for rule in found}
        assert pairs == {("10.1.0.10", "10.2.0.10"), ("10.2.0.10", "10.1.0.10")}
        assert all(f"priority={PRIORITY},in_port=" in rule for rule in found)


def test_layer_2_path_rewrites_mac_addresses_and_tags_both_ways():
    """Spec section 2, "MAC rewriting both ways"; 5797 is VLAN 1701 with the bit that says a tag is there."""
    rules = pinned("al2s")
    for near, far, source, dtn_mac, gateway_mac in (
        ("mu", "osu", MU, "02:00:00:00:0b:0a", "02:00:00:00:0b:01"),
        ("osu", "mu", OSU, "02:00:00:00:0a:0a", "02:00:00:00:0a:01"),
    ):
        assert actions(rules[f"{near}-edge"], source) == (
            "push_vlan:0x8100,set_field:5797->vlan_vid,"
            f'set_field:{dtn_mac}->eth_dst,output:"{near}-edge-al2s"'
        )
        arriving = actions(rules[f"{far}-edge"], source)
        assert arriving == f'pop_vlan,set_field:{gateway_mac}->eth_src,output:"{far}-edge-dtn"'
        assert any(f'in_port="{far}-edge-al2s",dl_vlan=1701' in rule for rule in rules[f"{far}-edge"])


def test_layer_3_path_leaves_by_the_router_of_the_campus():
    rules = pinned("internet")
    assert actions(rules["mu-edge"], MU) == 'set_field:02:00:00:00:0a:01->eth_dst,output:"mu-edge-rtr"'
    assert actions(rules["osu-edge"], MU) == 'output:"osu-edge-dtn"'
    assert actions(rules["osu-edge"], OSU) == 'set_field:02:00:00:00:0b:01->eth_dst,output:"osu-edge-rtr"'


def test_port_of_the_destination_selects_one_flow():
    found = [rule for _, rule in path_rules(TOPO, "al2s", PinnedFlow("mu-dtn", "osu-dtn", "tcp", 5001))]
    there = {rule.split(",", 1)[1].partition(",actions=")[0] for rule in found if "dl_vlan" not in rule}
    assert there == {
        "tcp,nw_src=10.1.0.10,nw_dst=10.2.0.10,tp_dst=5001",
        "tcp,nw_src=10.2.0.10,nw_dst=10.1.0.10,tp_src=5001",
    }


def test_rules_that_deliver_come_first():
    """Packets of a flow that is rerouted must not arrive at a far edge without a rule."""
    assert ["dl_vlan" in rule for _, rule in path_rules(TOPO, "al2s", ALL)] == [True, True, False, False]


def test_other_addresses_of_the_dtns_can_be_pinned():
    addresses = "10.1.0.11", "10.2.0.11"
    for _, rule in path_rules(TOPO, "al2s", PinnedFlow("mu-dtn", "osu-dtn", addresses=addresses)):
        assert set(re.findall(r"nw_...=([\d.]+)", rule)) == {*addresses}


def test_unpin_removes_the_rules_of_a_cookie_from_every_edge():
    switches = Switches()
    unpin_flow(switches.ofctl, TOPO, 0xE7)
    assert switches.words == [("del-flows", edge, "cookie=0xe7/-1") for edge in ("mu-edge", "osu-edge")]


@pytest.mark.parametrize(
    ("path", "traffic", "code", "field"),
    [
        ("elsewhere", ALL, "invalid", "path"),
        ("al2s", PinnedFlow("mu-dtn", "nowhere"), "invalid", "host"),
        ("al2s", PinnedFlow("mu-dtn", "mu-dtn"), "invalid", "path"),
    ],
)
def test_unknown_path_or_host_is_refused(path, traffic, code, field):
    with refused(code, field):
        path_rules(TOPO, path, traffic)


def test_router_of_the_path_and_port_of_the_dtn_are_used():
    """The DTN e-dtn3 is behind a switch of the campus; the research path has a router of its own."""
    found = path_rules(load_topology("two_campuses"), "research", PinnedFlow("e-dtn3", "w-dtn2"))
    there = {switch: rule for switch, rule in found if "nw_src=10.1.0.30" in rule}
    assert there["e-edge"].startswith('in_port="e-edge-e-lab"')
    assert there["e-edge"].endswith('actions=set_field:02:00:00:00:0a:02->eth_dst,output:"e-edge-e-rtr2"')
    assert there["w-edge"].endswith('actions=output:"w-edge-w-dtn2"')
