"""Matches as ovs-ofctl prints them."""

from __future__ import annotations

import pytest

from adon.flowvisor.match import Masked, Match, match_text


@pytest.mark.parametrize(
    ("match", "text"),
    [
        (Match(), ""),
        (Match(in_port=3, vlan=100), "in_port=3,dl_vlan=100"),
        (
            Match(eth_type=0x0800, ip_proto=6, ip_src="10.1.0.10", tp_dst=5001),
            "tcp,nw_src=10.1.0.10,tp_dst=5001",
        ),
        (Match(eth_type=0x86DD, ip_proto=17, ip_dst="2001:db8::/64"), "udp6,ipv6_dst=2001:db8::/64"),
        (Match(eth_type=0x86DD), "ipv6"),
        (Match(eth_type=0x0800, ip_proto=47), "ip,nw_proto=47"),
        (Match(eth_type=0x88CC), "dl_type=0x88cc"),
        (Match(metadata=Masked(3, 0xFFFFFF)), "metadata=0x3/0xffffff"),
        (Match(in_port=1, other='["x"]'), 'in_port=1,["x"]'),
    ],
)
def test_text(match: Match, text: str) -> None:
    assert match_text(match) == text
