"""The routers on the way to another agent: probes with growing hop limits, and who says that one was used up.

The system hands over ICMP's "time exceeded" with the packet that it is about (``IP_RECVERR``, ip(7)), so no
privileges are needed.
"""

from __future__ import annotations

import ipaddress
import select
import socket
import sys
import threading
import time

from measurement.probes import wire
from measurement.probes.findings import Route
from measurement.probes.orders import SHORTEST_UDP
from measurement.probes.round_trips import SLICE
from measurement.probes.stamps import ANCILLARY, EXTENDED_ERROR, RECVERR, no_stamps
from measurement.probes.udp import HOP_LIMIT, UdpPath

_FROM_ICMP = (2, 3)
_TIME_EXCEEDED = (11, 3)


def routers(path: UdpPath, count: int, timeout: float, ended: threading.Event) -> Route:
    """The addresses of the ``count - 1`` routers before the target, None for those that do not say.

    :param path: used for nothing else afterwards: it gets errors as messages from now on.
    """
    sock = path.timed.socket
    no_stamps(sock)
    version6 = sock.family == socket.AF_INET6
    level = socket.IPPROTO_IPV6 if version6 else socket.IPPROTO_IP
    sock.setsockopt(level, RECVERR[level], 1)
    limit = socket.IPV6_UNICAST_HOPS if version6 else socket.IP_TTL
    sent = dict[int, int]()
    for hop in range(1, count):
        sock.setsockopt(level, limit, hop)
        number = path.reserve(1)
        sock.send(path.sealed(wire.Kind.FILL, number, SHORTEST_UDP))
        sent[number] = hop
    sock.setsockopt(level, limit, HOP_LIMIT)
    found = dict[int, str]()
    until = time.monotonic() + timeout
    poll = select.poll()
    poll.register(sock, 0)  # only POLLERR, which is always told
    while len(found) < len(sent) and not ended.is_set() and (left := until - time.monotonic()) > 0:
        if poll.poll(min(left, SLICE) * 1e3):
            told = _told(sock)
            if told is not None and told[0] in sent:
                found[sent[told[0]]] = told[1]
    return Route(count, tuple(found.get(hop) for hop in range(1, count)))


def _told(sock: socket.socket) -> tuple[int, str] | None:
    """The number of a packet that did not get through, and who says so; None for anything else."""
    try:
        data, ancillary, _, _ = sock.recvmsg(
            SHORTEST_UDP, ANCILLARY, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT
        )
    except BlockingIOError:
        return None
    for level, kind, said in ancillary:
        if RECVERR.get(level) != kind:
            continue
        _, origin, icmp, _, _, _, _ = EXTENDED_ERROR.unpack_from(said)
        if origin in _FROM_ICMP and icmp in _TIME_EXCEEDED and len(data) >= wire.NUMBER_AT + 4:
            number = int.from_bytes(data[wire.NUMBER_AT : wire.NUMBER_AT + 4], "big")
            return number, _offender(said[EXTENDED_ERROR.size :])
    return None


def _offender(address: bytes) -> str:
    """The address in a ``struct sockaddr_in`` or ``sockaddr_in6`` (ip(7), ``SO_EE_OFFENDER``)."""
    family = int.from_bytes(address[:2], sys.byteorder)
    part = address[8:24] if family == socket.AF_INET6 else address[4:8]
    return str(ipaddress.ip_address(part))
