"""What is measured on TCP connections: connecting, echoes, and what they carry.  For threads that wait.

An agreed connection is handed over by the two event loops; the one that sends closes its direction when it
is done, and the one that receives says over the same connection what came.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterable, Mapping

from measurement.instances import Instance
from measurement.probes import stamps, wire
from measurement.probes.round_trips import SLICE, Answer
from measurement.probes.timed_socket import TimedSocket

SO_SNDTIMEO = 21
_SEND_TIMEOUT = struct.pack("@ll", 2, 0)
_CHUNK = 1 << 18
_SILENT = 10.0
"""Seconds after which a sender that says nothing counts as gone."""


class TcpChannel:
    """Echoes of one length on an agreed connection (see :class:`measurement.probes.round_trips.Channel`)."""

    def __init__(self, sock: socket.socket, keys: wire.Keys, length: int) -> None:
        self._socket = sock
        self._keys = keys
        self._length = length
        self._held = b""
        self._timed = TimedSocket(sock)
        # Not Python's own time-outs: with one, it would wait where the queue of errors is empty.
        sock.setblocking(True)
        sock.setsockopt(socket.SOL_SOCKET, SO_SNDTIMEO, _SEND_TIMEOUT)

    def send(self, number: int) -> None:
        """Send a request."""
        packet = wire.Packet(wire.Kind.ECHO, self._keys.session, number)
        self._socket.sendall(wire.packed(packet, self._keys.packets, self._length))

    def receive(self, seconds: float) -> Iterable[Answer]:
        """Wait for answers."""
        if not self._timed.readable(seconds):
            return []
        data, said = self._timed.receive(self._length - len(self._held))
        if not data:
            raise ConnectionError("the connection was ended")
        self._held += data
        if len(self._held) < self._length:
            return []
        packet, self._held = wire.unpacked(self._held, self._keys.packets), b""
        if packet is None or packet.kind != wire.Kind.ANSWER:
            return []
        return [Answer(packet.number, said.software, packet.resided)]

    def went_out(self) -> Mapping[int, int]:
        """Times of going out: the kernel counts bytes, and tells the number of a request's last."""
        outs = self._timed.went_out()
        return {(last + 1) // self._length - 1: at for last, at in outs.items()}


def echo(sock: socket.socket, keys: wire.Keys, length: int, ended: threading.Event) -> None:
    """Answer echoes until the other side ends the connection, or says nothing for long."""
    stamps.receive_stamps(sock)
    sock.settimeout(SLICE)
    held, heard = b"", time.monotonic()
    while not ended.is_set() and time.monotonic() - heard < _SILENT:
        try:
            data, ancillary, _, _ = sock.recvmsg(length - len(held), stamps.ANCILLARY)
        except TimeoutError:
            continue
        except OSError:
            return
        if not data:
            return
        held, heard = held + data, time.monotonic()
        if len(held) < length:
            continue
        packet, held = wire.unpacked(held, keys.packets), b""
        if packet is None or packet.kind != wire.Kind.ECHO:
            return
        came = stamps.beside(ancillary).software
        resided = 0 if came is None else max(0, time.time_ns() - came)
        answer = wire.Packet(wire.Kind.ANSWER, packet.session, packet.number, resided=resided)
        with contextlib.suppress(OSError):
            sock.sendall(wire.packed(answer, keys.packets, length))


def connect_times(
    target: Instance, count: int, interval: float, timeout: float, ended: threading.Event
) -> tuple[float | None, ...]:
    """How long it takes to establish a connection, ``count`` times; None where it is not in time.

    The system finishes the handshake of TCP, so neither side's Python is in it but for waking up here.

    :raises OSError: if the target refuses, or there is no way to it.
    """
    times = list[float | None]()
    family = socket.AF_INET6 if ":" in target.address else socket.AF_INET
    while len(times) < count and not ended.is_set():
        if len(times) >= 2 and not any(time is not None for time in times):
            break  # who does not answer twice is silent
        with socket.socket(family, socket.SOCK_STREAM) as sock:
            sock.settimeout(timeout)
            begun = time.monotonic_ns()
            try:
                sock.connect((target.address, target.port))
            except TimeoutError:
                times.append(None)
                continue
            times.append(_handshake(sock, time.monotonic_ns() - begun))
            # A reset leaves no connection in TIME_WAIT, of which there would be thousands.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        time.sleep(interval)
    return (*times, *(None for _ in range(count - len(times))))


_RTT_AT = 68
_TCP_INFO = 104


def _handshake(sock: socket.socket, elapsed_ns: int) -> float:
    """Seconds of the handshake: the kernel's own measurement where it was undisturbed, else ours.

    A fresh connection's only round-trip sample is that of SYN and SYN-ACK (tcp_info(7): ``tcpi_rtt``,
    microseconds); after a SYN was sent again the kernel takes none, and what counts is how long it took.
    """
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO)
    sample = int.from_bytes(info[_RTT_AT : _RTT_AT + 4], "little") * 1000
    return (sample if 0 < sample <= elapsed_ns and elapsed_ns < 1_000_000_000 else elapsed_ns) / 1e9


def pour(sock: socket.socket, seconds: float, ended: threading.Event) -> int:
    """Send as much as goes, for so long, and end this direction; how many bytes the system took.

    :raises OSError: if the connection breaks.
    """
    data = bytes(_CHUNK)
    sock.settimeout(SLICE)
    until, count = time.monotonic() + seconds, 0
    while not ended.is_set() and time.monotonic() < until:
        try:
            count += sock.send(data)
        except TimeoutError:
            continue
    sock.shutdown(socket.SHUT_WR)
    return count


def drain(sock: socket.socket, intervals: int, interval: float, ended: threading.Event) -> list[int]:
    """What comes until the other side ends its direction, as bytes per interval from the first byte on."""
    counts = [0] * intervals
    buffer = bytearray(_CHUNK)
    sock.settimeout(SLICE)
    begun: float | None = None
    heard = time.monotonic()
    while not ended.is_set():
        try:
            got = sock.recv_into(buffer)
        except TimeoutError:
            if time.monotonic() - heard > _SILENT:
                break
            continue
        except OSError:
            break
        if got == 0:
            break
        heard = time.monotonic()
        begun = heard if begun is None else begun
        number = int((heard - begun) / interval)
        if number < intervals:
            counts[number] += got
        elif heard - begun > 2 * intervals * interval + _SILENT:
            break  # it was told how long to send
    return counts
