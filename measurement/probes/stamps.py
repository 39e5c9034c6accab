"""Times that the kernel takes of packets (Linux ``SO_TIMESTAMPING``).

A packet is stamped when the driver hands it over, long before Python wakes up, and, on request, when it
goes out; where a network card takes times itself, and was told to, its times are used for differences among
packets.  All are by the clock since 1970, which may be set: :func:`stepped` says whether it was.
"""

from __future__ import annotations

import socket
import struct
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

TIMESTAMPING = 37
RXQ_OVFL = 40
"""Linux socket options (asm-generic/socket.h); Python's socket module does not have them."""

_TX_HARDWARE, _TX_SOFTWARE, _RX_HARDWARE, _RX_SOFTWARE = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_SOFTWARE, _RAW_HARDWARE, _OPT_ID, _OPT_TSONLY = 1 << 4, 1 << 6, 1 << 7, 1 << 11
_SPECS = struct.Struct("@qqqqqq")
_ORIGIN_TIMESTAMPING = 4
_IP_RECVTTL, _IPV6_RECVHOPLIMIT = 12, 51

RECVERR = {socket.IPPROTO_IP: 11, socket.IPPROTO_IPV6: 25}
"""By level, the option and the type of what comes beside a packet of the error queue (ip(7), ipv6(7))."""
EXTENDED_ERROR = struct.Struct("@IBBBBII")
"""Its beginning: ``struct sock_extended_err``."""
ANCILLARY = 512
"""Bytes that hold all that comes beside a packet."""
STEP = 500_000
"""Nanoseconds that two clocks may drift apart, besides :data:`_SLEW`, before one of them was set."""
_OF_ERRORS = int(socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
_TRIES, _CLOSE = 10, 20_000
_SLEW = 600e-6
"""A clock is slewed by at most 500 parts in a million (adjtimex(2)), and reading it takes time."""

Ancillary = Iterable[tuple[int, int, bytes]]


def offset_now() -> int:
    """Nanoseconds between the clock since 1970 and the one that is never set.

    Where others had the processor between two readings, they are read again, a few times.
    """
    return min(_readings(), key=lambda reading: reading[0])[1]


def _readings() -> Iterator[tuple[int, int]]:
    """How far apart the readings were, and what they say, until they were close together."""
    for _ in range(_TRIES):
        before = time.monotonic_ns()
        wall = time.time_ns()
        after = time.monotonic_ns()
        yield after - before, wall - (before + after) // 2
        if after - before < _CLOSE:
            return


def stepped(offset_before: int, offset_after: int, elapsed_ns: int) -> bool:
    """Whether the clock since 1970 was set between two readings of :func:`offset_now`."""
    return abs(offset_after - offset_before) > STEP + _SLEW * elapsed_ns


def receive_stamps(sock: socket.socket, *, hardware: bool = False) -> None:
    """Have the kernel tell when packets came.

    :param hardware: by the network card, too, where it does so.
    """
    wanted = _RX_SOFTWARE | _SOFTWARE
    sock.setsockopt(
        socket.SOL_SOCKET, TIMESTAMPING, wanted | (_RX_HARDWARE | _RAW_HARDWARE if hardware else 0)
    )


def both_stamps(sock: socket.socket) -> None:
    """Have the kernel tell when packets came and when they went out (see :func:`went_out`)."""
    flags = _RX_SOFTWARE | _TX_SOFTWARE | _SOFTWARE | _OPT_ID | _OPT_TSONLY
    sock.setsockopt(socket.SOL_SOCKET, TIMESTAMPING, flags)


def no_stamps(sock: socket.socket) -> None:
    """Have the kernel time nothing any more."""
    sock.setsockopt(socket.SOL_SOCKET, TIMESTAMPING, 0)


def hop_limits(sock: socket.socket) -> None:
    """Have the kernel tell the hop limit of packets that come."""
    if sock.family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, _IPV6_RECVHOPLIMIT, 1)
    else:
        sock.setsockopt(socket.IPPROTO_IP, _IP_RECVTTL, 1)


@dataclass(frozen=True, slots=True)
class Beside:
    """What the kernel says beside a packet.

    :param software: when it came, nanoseconds since 1970; None if it is not said.
    :param hardware: by the network card's own clock; None likewise.
    :param ttl: the hop limit it still had.
    :param overflowed: packets that this socket had no place for so far.
    """

    software: int | None = None
    hardware: int | None = None
    ttl: int | None = None
    overflowed: int = 0


def beside(ancillary: Ancillary) -> Beside:
    """Read what came with a packet."""
    software = hardware = ttl = None
    overflowed = 0
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == TIMESTAMPING and len(data) >= _SPECS.size:
            first, nanoseconds, _, _, card, card_nanoseconds = _SPECS.unpack_from(data)
            software = first * 10**9 + nanoseconds or None
            hardware = card * 10**9 + card_nanoseconds or None
        elif level == socket.SOL_SOCKET and kind == RXQ_OVFL:
            overflowed = int.from_bytes(data[:4], sys.byteorder)
        elif (level, kind) in ((socket.IPPROTO_IP, socket.IP_TTL), (socket.IPPROTO_IPV6, 52)):
            ttl = int.from_bytes(data[:4], sys.byteorder)
    return Beside(software, hardware, ttl, overflowed)


def went_out(sock: socket.socket) -> dict[int, int]:
    """When packets went out: nanoseconds since 1970, by how many were sent on the socket before each.

    Empties the socket's error queue; errors in it that are no times are left to the next call to send.
    """
    found = dict[int, int]()
    while True:
        try:
            _, ancillary, _, _ = sock.recvmsg(1, ANCILLARY, _OF_ERRORS)
        except BlockingIOError:
            return found
        stamp = number = None
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == TIMESTAMPING:
                seconds, nanoseconds, *_ = _SPECS.unpack_from(data)
                stamp = seconds * 10**9 + nanoseconds
            elif RECVERR.get(level) == kind and len(data) >= EXTENDED_ERROR.size:
                _, origin, _, _, _, _, extra = EXTENDED_ERROR.unpack_from(data)
                number = extra if origin == _ORIGIN_TIMESTAMPING else None
        if stamp is not None and number is not None:
            found[number] = stamp
