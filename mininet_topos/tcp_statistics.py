"""What the kernel knows of a TCP connection (tcp(7), ``TCP_INFO``): segments, retransmissions, round trip."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable
from dataclasses import dataclass

# <linux/tcp.h>, struct tcp_info: eight bytes, 24 numbers of 32 bits, four of 64, then segs_out.
_HEAD = struct.Struct("@8x24I4QI")
_RTT, _TOTAL_RETRANS, _SEGS_OUT = 15, 23, 28


@dataclass(frozen=True, slots=True)
class TcpStatistics:
    """Of one or several connections.

    :param segments: sent, with those sent again and those without data.
    :param retransmitted: sent again.
    :param rtt: smoothed round trip, seconds; of several connections the mean.
    """

    segments: int
    retransmitted: int
    rtt: float


def read(sock: socket.socket) -> TcpStatistics:
    """Of a connected socket."""
    found = _HEAD.unpack(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _HEAD.size))
    return TcpStatistics(found[_SEGS_OUT], found[_TOTAL_RETRANS], found[_RTT] / 1e6)


def together(each: Iterable[TcpStatistics]) -> TcpStatistics:
    """Of several connections.

    :raises ValueError: if there is none.
    """
    parts = list(each)
    if not parts:
        raise ValueError("there are no connections")
    segments, again = (sum(getattr(one, name) for one in parts) for name in ("segments", "retransmitted"))
    return TcpStatistics(segments, again, sum(one.rtt for one in parts) / len(parts))
