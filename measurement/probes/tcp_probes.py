"""Probes on TCP connections: connecting, echoes, and the bytes that they carry.

The side that sends a stream closes its direction when it is done; the other reports over the same connection
what arrived.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Iterable, Mapping

from measurement.instances import Instance
from measurement.probes import wire
from measurement.probes.kernel_timestamps import (
    ANCILLARY,
    TimedSocket,
    enable_receive_timestamps,
    read_packet_info,
)
from measurement.probes.probe_types import TcpConnect
from measurement.probes.round_trip import SLICE, EchoAnswer, StopSignal
from measurement.probes.wire import PacketKind, ProbePacket

SO_SNDTIMEO = 21
_SEND_TIMEOUT = struct.pack("@ll", 2, 0)
_CHUNK = 1 << 18
_SILENT = 10.0
"""Seconds after which a silent sender counts as gone."""
_RTT_AT = 68
_TCP_INFO = 104


class TcpEchoChannel:
    """Echoes of one length on a connection (see :class:`measurement.probes.round_trip.EchoChannel`)."""

    def __init__(self, sock: socket.socket, keys: wire.ConnectionKeys, length: int) -> None:
        self._socket = sock
        self._keys = keys
        self._length = length
        self._buffer = b""
        self._timed = TimedSocket(sock)
        # Not Python's own time-outs: with one, it would wait where the error queue is empty.
        sock.setblocking(True)
        sock.setsockopt(socket.SOL_SOCKET, SO_SNDTIMEO, _SEND_TIMEOUT)

    def send(self, number: int) -> None:
        """Send a request."""
        packet = ProbePacket(PacketKind.ECHO, self._keys.session, number)
        self._socket.sendall(wire.pack_packet(packet, self._keys.packets, self._length))

    def receive(self, seconds: float) -> Iterable[EchoAnswer]:
        """Wait for answers."""
        if not self._timed.wait_readable(seconds):
            return []
        data, info = self._timed.receive(self._length - len(self._buffer))
        if not data:
            raise ConnectionError("the connection was ended")
        self._buffer += data
        if len(self._buffer) < self._length:
            return []
        packet, self._buffer = wire.read_packet(self._buffer, self._keys.packets), b""
        if packet is None or packet.kind != PacketKind.ANSWER:
            return []
        return [EchoAnswer(packet.number, info.software, packet.resided)]

    def send_times(self) -> Mapping[int, int]:
        """Return when requests were sent: the kernel counts bytes, and reports a request's last one."""
        times = self._timed.send_times()
        return {(last + 1) // self._length - 1: at for last, at in times.items()}


def echo_stream(sock: socket.socket, keys: wire.ConnectionKeys, length: int, stop: StopSignal) -> None:
    """Answer echoes until the other side ends the connection, or is silent for long."""
    enable_receive_timestamps(sock)
    sock.settimeout(SLICE)
    buffer, last = b"", time.monotonic()
    while not stop.is_set() and time.monotonic() - last < _SILENT:
        try:
            data, ancillary, _, _ = sock.recvmsg(length - len(buffer), ANCILLARY)
        except TimeoutError:
            continue
        except OSError:
            return
        if not data:
            return
        buffer, last = buffer + data, time.monotonic()
        if len(buffer) < length:
            continue
        packet, buffer = wire.read_packet(buffer, keys.packets), b""
        if packet is None or packet.kind != PacketKind.ECHO:
            return
        arrived = read_packet_info(ancillary).software
        resided = 0 if arrived is None else max(0, time.time_ns() - arrived)
        answer = ProbePacket(PacketKind.ANSWER, packet.session, packet.number, resided=resided)
        with contextlib.suppress(OSError):
            sock.sendall(wire.pack_packet(answer, keys.packets, length))


def measure_connect_times(target: Instance, probe: TcpConnect, stop: StopSignal) -> tuple[float | None, ...]:
    """Return the times to establish a connection; None where it takes too long.

    The system finishes the handshake of TCP, so neither side's Python is in it except for waking up here.

    :raises OSError: if the target refuses, or there is no route to it.
    """
    times = list[float | None]()
    family = socket.AF_INET6 if ":" in target.address else socket.AF_INET
    while len(times) < probe.count and not stop.is_set():
        if len(times) >= 2 and not any(time is not None for time in times):
            break  # a target that does not answer twice is silent
        with socket.socket(family, socket.SOCK_STREAM) as sock:
            sock.settimeout(probe.timeout)
            began = time.monotonic_ns()
            try:
                sock.connect((target.address, target.port))
            except TimeoutError:
                times.append(None)
                continue
            times.append(_handshake_seconds(sock, time.monotonic_ns() - began))
            # A reset leaves no connection in TIME_WAIT, of which there would be thousands.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        time.sleep(probe.interval)
    return (*times, *(None for _ in range(probe.count - len(times))))


def _handshake_seconds(sock: socket.socket, elapsed_ns: int) -> float:
    """Return the kernel's own measurement of the handshake where it was undisturbed, else ours.

    A fresh connection's only round-trip sample is that of SYN and SYN-ACK (tcp_info(7): ``tcpi_rtt``,
    microseconds); after a SYN was sent again the kernel takes none, and the elapsed time counts.
    """
    info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO)
    sample = int.from_bytes(info[_RTT_AT : _RTT_AT + 4], "little") * 1000
    return (sample if 0 < sample <= elapsed_ns and elapsed_ns < 1_000_000_000 else elapsed_ns) / 1e9


def send_stream(sock: socket.socket, seconds: float, stop: StopSignal) -> None:
    """Send as much as possible for so long, and end this direction.

    :raises OSError: if the connection breaks.
    """
    data = bytes(_CHUNK)
    sock.settimeout(SLICE)
    until = time.monotonic() + seconds
    while not stop.is_set() and time.monotonic() < until:
        with contextlib.suppress(TimeoutError):
            sock.send(data)
    sock.shutdown(socket.SHUT_WR)


def count_stream(sock: socket.socket, intervals: int, interval: float, stop: StopSignal) -> list[int]:
    """Return the bytes per interval from the first byte until the other side ends its direction."""
    counts = [0] * intervals
    buffer = bytearray(_CHUNK)
    sock.settimeout(SLICE)
    began: float | None = None
    last = time.monotonic()
    while not stop.is_set():
        try:
            received = sock.recv_into(buffer)
        except TimeoutError:
            if time.monotonic() - last > _SILENT:
                break
            continue
        except OSError:
            break
        if received == 0:
            break
        last = time.monotonic()
        began = last if began is None else began
        number = int((last - began) / interval)
        if number < intervals:
            counts[number] += received
        elif last - began > 2 * intervals * interval + _SILENT:
            break  # it was told how long to send
    return counts
