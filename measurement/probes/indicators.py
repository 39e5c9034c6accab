"""The indicators of a path's health that put no load on it, as probes ([HEALTH] 5.1)."""

from __future__ import annotations

from measurement.probes.orders import IcmpEcho, Probe, Sandwich, TcpConnect, TcpEcho, UdpEcho
from measurement.probes.sizes import ICMP_SIZES, SMALL, UDP_SIZES


def light(count: int, interval: float, timeout: float) -> tuple[Probe, ...]:
    """Round trips by ICMP and UDP, sandwiches, TCP's handshakes, and round trips over TCP at last.

    :param count: requests of each kind and size.
    :param interval: seconds between two of them, at least.
    :param timeout: seconds after which one is silent.
    """
    each = (count, interval, timeout)
    return (
        *(IcmpEcho(size, *each) for size in ICMP_SIZES),
        *(UdpEcho(size, *each) for size in UDP_SIZES),
        Sandwich(SMALL, *each),
        TcpConnect(SMALL, *each),
        TcpEcho(SMALL, *each),
    )
