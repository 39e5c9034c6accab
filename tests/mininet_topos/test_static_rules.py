"""What the rules do to real packets is shown in test_testbed.py: each path gives what it should give."""

from __future__ import annotations

import re
from ipaddress import IPv4Address

import pytest

from mininet_topos.static_rules import PRIORITY, pin

MU, OSU = IPv4Address("10.1.0.10"), IPv4Address("10.2.0.10")


class Switches:
    """Takes rules as ``ovs-ofctl`` does, and keeps them per switch."""

    def __init__(self):
        self.rules = {}

    def ofctl(self, *arguments):
        names, command, switch, rule = arguments
        assert (names, command) == ("--names", "add-flow")
        self.rules.setdefault(switch, []).append(rule)
        return ""


def pinned(path):
    switches = Switches()
    pin(switches, path, MU, OSU)
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


def test_the_overlay_is_entered_tagged_for_the_other_dtn_and_left_as_from_the_gateway():
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


def test_the_routed_path_is_entered_through_the_campus_s_own_router():
    rules = pinned("internet")
    assert actions(rules["mu-edge"], MU) == 'set_field:02:00:00:00:0a:01->eth_dst,output:"mu-edge-rtr"'
    assert actions(rules["osu-edge"], MU) == 'output:"osu-edge-dtn"'
    assert actions(rules["osu-edge"], OSU) == 'set_field:02:00:00:00:0b:01->eth_dst,output:"osu-edge-rtr"'


def test_there_are_two_paths():
    with pytest.raises(KeyError):
        pinned("elsewhere")
