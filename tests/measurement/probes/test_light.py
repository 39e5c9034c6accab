"""Light probes that follow each other, together."""

from __future__ import annotations

import itertools
import threading

from hypothesis import given
from hypothesis import strategies as st

from measurement.instances import Instance
from measurement.probes.findings import Failed, Failure, ProbeError, RoundTrips
from measurement.probes.light import found, grouped
from measurement.probes.orders import Hops, IcmpEcho, Probe, Sandwich, TcpConnect, TcpEcho, Train, UdpEcho

LIGHT = (IcmpEcho(), UdpEcho(), Sandwich(), TcpConnect())
OTHERS = (Train(), TcpEcho(), Hops())


@given(st.lists(st.sampled_from((*LIGHT, *OTHERS)), max_size=12))
def test_grouped_leaves_all_in_their_order_and_no_two_groups_side_by_side(probes: list[Probe]) -> None:
    parts = [*grouped(probes)]
    assert [one for part in parts for one in (part if isinstance(part, tuple) else (part,))] == probes
    assert all(all(one in LIGHT for one in part) for part in parts if isinstance(part, tuple))
    assert not any(part in LIGHT for part in parts if not isinstance(part, tuple))
    groups = [isinstance(part, tuple) for part in parts]
    assert (True, True) not in {*itertools.pairwise(groups)}


def test_what_needs_no_agent_is_found_without_one() -> None:
    nobody = Instance("nobody", "127.0.0.1", 1)
    gone = ProbeError(Failure.DENIED, "it does not accept our key")
    probes = (UdpEcho(), IcmpEcho(count=1), Sandwich(), TcpConnect(count=1))
    udp, icmp, sandwich, connect = found(probes, nobody, gone, threading.Event())
    assert isinstance(icmp, RoundTrips)
    assert icmp.answered
    for failed in (udp, sandwich):
        assert failed == Failed(Failure.DENIED, "it does not accept our key")
    assert isinstance(connect, Failed)
    assert connect.why == Failure.VANISHED
