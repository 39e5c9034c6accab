"""One-way delay: numbered, time-stamped UDP packets from a sender to a receiver of ours.

Follows RFC 7679 (delay) and RFC 7680 (loss) in what is measured, and OWAMP (RFC 4656) in its roles, not
in its wire format.  The receiver opens a session only when a point on its allow list asks for one over
REST, listens for that session's token from that session's source address only, for a bounded time, and
sends **nothing**: results are fetched over REST, so it cannot be used to amplify.  Receive times are the
kernel's, send times are taken just before the packet is handed to the kernel.
"""

from __future__ import annotations

import errno
import ipaddress
import secrets
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from measurement.point.specs import Latency
from measurement.probes import kernel_timestamps as timestamps

TOKEN_BYTES = 16
MOST_SESSIONS = 16
ANY_PORT = range(1)
"""Port 0: the kernel chooses a free port."""
_HEADER = struct.Struct(f"!{TOKEN_BYTES}sIq")
_NTP_EPOCH = 2_208_988_800
_BUFFER = 65_536


class Packet(NamedTuple):
    """A packet that arrived: its number, both times in ns since the epoch, and its TTL if known."""

    number: int
    sent: int
    received: int
    ttl: int | None


def pack(token: bytes, number: int, sent: int, padding: int = 0) -> bytes:
    """A packet on the wire: token, number, time in nanoseconds, zeroes."""
    return _HEADER.pack(token, number, sent) + bytes(padding)


def unpack(data: bytes, token: bytes) -> tuple[int, int] | None:
    """(number, time sent) of a packet of this session; None for any other datagram."""
    if len(data) < _HEADER.size:
        return None
    found, number, sent = _HEADER.unpack_from(data)
    return (number, sent) if secrets.compare_digest(found, token) else None


def send(spec: Latency, port: int, token: bytes, pause: Callable[[float], None]) -> None:
    """Send a session's packets on an even schedule.

    :param pause: sleeps; may raise when the run is cancelled.
    :raises OSError: when the network refuses.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        if spec.source is not None:
            out.bind((spec.source, 0))
        if spec.ip_tos is not None:
            out.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, spec.ip_tos)
        out.connect((spec.dest, port))
        begin = time.monotonic()
        for number in range(spec.packet_count):
            ahead = begin + number * spec.packet_interval - time.monotonic()
            if ahead > 0:
                pause(ahead)
            out.send(pack(token, number, time.time_ns(), spec.packet_padding))


class Receiver:
    """One session at the receiving end.

    :param address: the measurement address to listen on.
    :param source: the address that packets may come from; None for any (the token still counts).
    :param most: how many packets to keep.
    :param lifetime: seconds after which it closes by itself.
    :param ports: ports to listen on; the last free one is taken, because iperf3 takes the first ones.
    :raises OSError: when the address is not ours, or no port is free.
    """

    def __init__(
        self, address: str, source: str | None, most: int, lifetime: float, ports: range = ANY_PORT
    ) -> None:
        self.token = secrets.token_bytes(TOKEN_BYTES)
        self._source = source
        self._most = most
        self._ends = time.monotonic() + lifetime
        self._packets: list[Packet] = []
        self._closing = threading.Event()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            timestamps.enable_receive_timestamps(self._socket)
            timestamps.enable_hop_limits(self._socket)
            self._socket.settimeout(0.25)
            _bind(self._socket, address, ports)
        except OSError:
            self._socket.close()
            raise
        self.port = int(self._socket.getsockname()[1])
        self._thread = threading.Thread(target=self._listen, name=f"owd-{self.port}", daemon=True)
        self._thread.start()

    @property
    def over(self) -> bool:
        """True when nothing is received any more."""
        return not self._thread.is_alive()

    def close(self) -> list[Packet]:
        """Stop listening; returns the packets that arrived, in the order of arrival."""
        self._closing.set()
        self._thread.join()
        return self._packets

    def _listen(self) -> None:
        with self._socket:
            while not self._closing.is_set() and time.monotonic() < self._ends:
                try:
                    data, extra, _, sender = self._socket.recvmsg(_BUFFER, timestamps.ANCILLARY)
                except TimeoutError:
                    continue
                self._keep(data, extra, sender[0])

    def _keep(self, data: bytes, extra: Sequence[tuple[int, int, bytes]], sender: str) -> None:
        if self._source is not None and sender != self._source:
            return
        found = unpack(data, self.token)
        if found is not None and len(self._packets) < self._most:
            said = timestamps.read_packet_info(extra)
            received = time.time_ns() if said.software is None else said.software
            self._packets.append(Packet(*found, received, said.ttl))


def _bind(receiver: socket.socket, address: str, ports: range) -> None:
    for port in reversed(ports):
        try:
            receiver.bind((address, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
        else:
            return
    raise OSError(errno.EADDRINUSE, f"no UDP port of {ports.start} to {ports.stop - 1} is free")


class Sessions:
    """The receiving sessions that are open, by name.

    :param ports: ports that they listen on.
    """

    def __init__(self, ports: range = ANY_PORT) -> None:
        self._ports = ports
        self._lock = threading.Lock()
        self._open: dict[str, Receiver] = {}

    def open(self, address: str, source: str | None, most: int, lifetime: float) -> tuple[str, Receiver]:
        """Start a session.

        :raises ValueError: when there are too many, or the address is not an IPv4 address of ours.
        """
        try:
            ipaddress.IPv4Address(address)
        except ValueError:
            raise ValueError(f"{address[:60]!r} is not an IPv4 address") from None
        with self._lock:
            for name in [name for name, receiver in self._open.items() if receiver.over]:
                del self._open[name]
            if len(self._open) >= MOST_SESSIONS:
                raise ValueError("too many one-way delay sessions are open")
            try:
                receiver = Receiver(address, source, most, lifetime, self._ports)
            except OSError as error:
                raise ValueError(f"cannot listen on {address}: {error.strerror}") from None
            name = secrets.token_hex(16)
            self._open[name] = receiver
        return name, receiver

    def close(self, name: str) -> list[Packet] | None:
        """End a session and take its packets; None when there is no such session."""
        with self._lock:
            receiver = self._open.pop(name, None)
        return None if receiver is None else receiver.close()


def result(packets: Iterable[Packet], spec: Latency) -> dict[str, Any]:
    """What arrived, as a pScheduler latency result; the clocks' error is unknown, so it is left out."""
    arrived = [packet for packet in packets if packet.number < spec.packet_count]
    first: dict[int, Packet] = {}
    for packet in arrived:
        first.setdefault(packet.number, packet)
    found: dict[str, Any] = {
        "schema": 1,
        "succeeded": True,
        "packets-sent": spec.packet_count,
        "packets-received": len(first),
        "packets-lost": spec.packet_count - len(first),
        "packets-duplicated": len(arrived) - len(first),
        "packets-reordered": _count_reordered(first),
        "histogram-latency": _count(
            f"{(p.received - p.sent) / 1e9 / spec.bucket_width:.2f}" for p in first.values()
        ),
        "histogram-ttl": _count(str(p.ttl) for p in first.values() if p.ttl is not None),
    }
    if spec.output_raw:
        found["raw-packets"] = list(_raw(first, spec.packet_count))
    return found


def _count_reordered(numbers: Iterable[int]) -> int:
    highest, late = -1, 0
    for number in numbers:
        late += number < highest
        highest = max(highest, number)
    return late


def _count(keys: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for key in keys:
        counts[key] = counts.get(key, 0) + 1
    return counts


def _raw(first: dict[int, Packet], count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        packet = first.get(number)
        if packet is None:
            yield {"seq-num": number, "src-ts": 0, "dst-ts": 0}
        else:
            stamps = {"src-ts": ntp(packet.sent), "dst-ts": ntp(packet.received)}
            yield {"seq-num": number, **stamps, "ip-ttl": packet.ttl}


def ntp(nanoseconds: int) -> int:
    """A time in the 64-bit NTP format: seconds since 1900 times 2^32."""
    return _NTP_EPOCH * 2**32 + nanoseconds * 2**32 // 10**9
