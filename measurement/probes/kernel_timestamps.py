"""Times that the kernel takes of packets (Linux ``SO_TIMESTAMPING``).

A packet is stamped when the driver hands it over, long before Python wakes up, and, on request, when it is
sent.  A network card that takes times itself has its times used for differences among packets.  All times are
of the wall clock, which may be set: :class:`ClockCheck` finds that.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

TIMESTAMPING = 37
RXQ_OVFL = 40
"""Linux socket options (asm-generic/socket.h); Python's socket module does not have them."""

_TX_SOFTWARE, _RX_HARDWARE, _RX_SOFTWARE = 1 << 1, 1 << 2, 1 << 3
_SOFTWARE, _RAW_HARDWARE, _OPT_ID, _OPT_TSONLY = 1 << 4, 1 << 6, 1 << 7, 1 << 11
_SPECS = struct.Struct("@qqqqqq")
_ORIGIN_TIMESTAMPING = 4
_IP_RECVTTL, _IPV6_RECVHOPLIMIT = 12, 51
_RECVERR = {socket.IPPROTO_IP: 11, socket.IPPROTO_IPV6: 25}
"""By level, the type of the control message of a packet in the error queue (ip(7), ipv6(7))."""
_EXTENDED_ERROR = struct.Struct("@IBBBBII")
"""Its beginning: ``struct sock_extended_err``."""
ANCILLARY = 512
"""Bytes that hold all control messages of a packet."""
STEP = 500_000
"""Nanoseconds that two clocks may drift apart, in addition to :data:`_SLEW`, before one of them was set."""
_ERROR_QUEUE = int(socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
_TRIES, _CLOSE = 10, 20_000
_SLEW = 600e-6
"""A clock is slewed by at most 500 parts in a million (adjtimex(2)), and reading it takes time."""

Ancillary = Iterable[tuple[int, int, bytes]]


def clock_offset() -> int:
    """Return the nanoseconds between the wall clock and the monotonic clock.

    Where another process had the processor between two readings, they are read again, a few times.
    """
    return min(_read_offsets(), key=lambda reading: reading[0])[1]


def _read_offsets() -> Iterator[tuple[int, int]]:
    """Yield how long each reading took, and the offset, until a reading was quick."""
    for _ in range(_TRIES):
        before = time.monotonic_ns()
        wall = time.time_ns()
        after = time.monotonic_ns()
        yield after - before, wall - (before + after) // 2
        if after - before < _CLOSE:
            return


def clock_was_stepped(offset_before: int, offset_after: int, elapsed_ns: int) -> bool:
    """Return whether the wall clock was set between two readings of :func:`clock_offset`."""
    return abs(offset_after - offset_before) > STEP + _SLEW * elapsed_ns


class ClockCheck:
    """Finds whether the wall clock was set since this object was made.

    :param read_offset: as :func:`clock_offset`.
    """

    def __init__(self, read_offset: Callable[[], int] = clock_offset) -> None:
        self._read_offset = read_offset
        self.offset = read_offset()
        self._began = time.monotonic_ns()

    def was_stepped(self) -> bool:
        """Return whether the clock was set meanwhile."""
        elapsed = time.monotonic_ns() - self._began
        return clock_was_stepped(self.offset, self._read_offset(), elapsed)


def enable_receive_timestamps(sock: socket.socket, *, hardware: bool = False) -> None:
    """Have the kernel report when packets arrived.

    :param hardware: also by the clock of the network card, if it has one.
    """
    card = _RX_HARDWARE | _RAW_HARDWARE if hardware else 0
    sock.setsockopt(socket.SOL_SOCKET, TIMESTAMPING, _RX_SOFTWARE | _SOFTWARE | card)


def disable_timestamps(sock: socket.socket) -> None:
    """Have the kernel take no more times."""
    sock.setsockopt(socket.SOL_SOCKET, TIMESTAMPING, 0)


def enable_hop_limits(sock: socket.socket) -> None:
    """Have the kernel report the hop limit of packets that arrive."""
    if sock.family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, _IPV6_RECVHOPLIMIT, 1)
    else:
        sock.setsockopt(socket.IPPROTO_IP, _IP_RECVTTL, 1)


@dataclass(frozen=True, slots=True)
class PacketInfo:
    """Control messages of the kernel about one packet.

    :param software: arrival, nanoseconds since 1970; None if it is not reported.
    :param hardware: arrival by the network card's own clock; None likewise.
    :param ttl: the hop limit that was left.
    :param overflowed: packets that this socket had no place for so far.
    """

    software: int | None = None
    hardware: int | None = None
    ttl: int | None = None
    overflowed: int = 0


def read_packet_info(ancillary: Ancillary) -> PacketInfo:
    """Parse the control messages of a packet."""
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
    return PacketInfo(software, hardware, ttl, overflowed)


def read_send_times(sock: socket.socket) -> dict[int, int]:
    """Return when packets were sent: nanoseconds since 1970, by the number of packets sent before each.

    Empties the socket's error queue; errors in it that are no times are left to the next call of ``send``.
    """
    found = dict[int, int]()
    while True:
        try:
            _, ancillary, _, _ = sock.recvmsg(1, ANCILLARY, _ERROR_QUEUE)
        except BlockingIOError:
            return found
        stamp = read_packet_info(ancillary).software
        for level, kind, data in ancillary:
            if stamp is not None and _RECVERR.get(level) == kind and len(data) >= _EXTENDED_ERROR.size:
                _, origin, _, _, _, _, number = _EXTENDED_ERROR.unpack_from(data)
                if origin == _ORIGIN_TIMESTAMPING:
                    found[number] = stamp


class TimedSocket:
    """A connected socket whose packets, or bytes, the kernel times in both directions.

    :param sock: connected; the kernel numbers what is sent on it from 0 from now on.
    :raises OSError: if the system takes no such times.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        flags = _RX_SOFTWARE | _TX_SOFTWARE | _SOFTWARE | _OPT_ID | _OPT_TSONLY
        sock.setsockopt(socket.SOL_SOCKET, TIMESTAMPING, flags)
        self._send_times = dict[int, int]()
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)

    def wait_readable(self, seconds: float) -> bool:
        """Wait for a packet; return False if none arrives in time.

        :raises OSError: as the network reported, e.g. ``ECONNREFUSED`` or ``EMSGSIZE``.
        """
        until = time.monotonic() + seconds
        while True:
            found = self._poll.poll(max(0.0, until - time.monotonic()) * 1e3)
            if any(event & select.POLLIN for _, event in found):
                return True
            if not found:
                return False
            # Send times wait in the error queue, which always wakes poll(2).
            if not self._collect():
                number = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if number:
                    raise OSError(number, os.strerror(number))

    def receive(self, length: int) -> tuple[bytes, PacketInfo]:
        """Return a packet that has arrived, and the kernel's control messages.

        :raises OSError: if there is none, or as the network reported.
        """
        data, ancillary, _, _ = self.socket.recvmsg(length, ANCILLARY, socket.MSG_DONTWAIT)
        return data, read_packet_info(ancillary)

    def send_times(self) -> Mapping[int, int]:
        """Return when packets were sent, nanoseconds since 1970, by their number on this socket."""
        self._collect()
        return self._send_times

    def _collect(self) -> bool:
        found = read_send_times(self.socket)
        self._send_times |= found
        return bool(found)
