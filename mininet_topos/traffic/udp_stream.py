"""Numbered packets at a constant rate over UDP, as remote visualisation and video send them.

These flows ([ADON] 5; queue scenario of the journal version) have no congestion control and no
retransmission.  The kernel stamps arrivals, so that a busy program does not look like jitter.

- lost: packets that were sent and never arrived (RFC 7680), by their numbers.
- jitter: mean absolute difference of the one-way delays of consecutive packets that arrived (RFC 3393).
"""

from __future__ import annotations

import math
import socket
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from measurement.probes.kernel_timestamps import ANCILLARY, enable_receive_timestamps, read_packet_info
from mininet_topos.traffic import endpoint
from mininet_topos.traffic.endpoint import Delivery, FlowFailedError, Load

HEADER = struct.Struct("!QQ")
"""Number from 0, and when it was sent (nanoseconds since the epoch)."""
END = (1 << 64) - 1
"""Number of the packets that announce the end."""
FAREWELLS, FAREWELL_INTERVAL = 10, 0.05
MIN_SIZE, MAX_SIZE = 64, 1200
"""Bytes of payload."""
INTERVAL = 0.02
"""Seconds between two packets at most, where their size permits it: as voice and video over RTP have it."""
BUFFER = 1 << 20


@dataclass(slots=True)
class PacketCount:
    """Count of the packets that arrived; each number counts once.

    :ivar _steps: sum of the absolute differences of consecutive delays, nanoseconds.
    """

    delivery: Delivery = field(default_factory=Delivery)
    _seen: set[int] = field(default_factory=set)
    _steps: int = 0
    _delay: int | None = None

    def add(self, number: int, sent: int, at: int, size: int) -> None:
        """Count a packet, with times in nanoseconds."""
        if number in self._seen:
            return
        self._seen.add(number)
        if self._delay is not None:
            self._steps += abs(at - sent - self._delay)
        self._delay = at - sent
        self.delivery.packets_received = len(self._seen)
        self.delivery.jitter = self._steps / max(1, len(self._seen) - 1) / 1e9
        self.delivery.add(size, at / 1e9)


def packet_size(rate: float) -> int:
    """Return the payload of each packet in bytes at a rate in bits/s."""
    return min(MAX_SIZE, max(MIN_SIZE, math.ceil(rate * INTERVAL / 8)))


def packet_total(rate: float, size: int | None) -> float:
    """Return the number of packets that carry ``size`` bytes at a rate; infinite without a size."""
    return math.inf if size is None else max(1, round(size / packet_size(rate)))


def receive(load: Load, delivery: Delivery) -> None:
    """Count packets until the sender announces the end, or until the stop.

    :raises FlowFailedError: if no packet arrives for ``patience`` seconds, or before the stop.
    """
    packets = PacketCount(delivery)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        enable_receive_timestamps(sock)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        sock.bind((load.destination[1], load.port))
        sock.settimeout(endpoint.POLL_INTERVAL)
        endpoint.emit(endpoint.READY, delivery)
        for number, sent, at, size in _packets(sock, load.patience):
            if number == END:
                break
            packets.add(number, sent, at, size)
    if not delivery.packets_received:
        raise FlowFailedError(f"no packet arrived for {load.patience:g} s")


def _packets(sock: socket.socket, patience: float) -> Iterator[tuple[int, int, int, int]]:
    """Yield number, times of sending and arrival, and size of each packet."""
    last = time.monotonic()
    while not endpoint.is_stopped() and time.monotonic() - last < patience:
        try:
            data, extra, _flags, _sender = sock.recvmsg(MAX_SIZE, ANCILLARY)
        except TimeoutError:
            continue
        last = time.monotonic()
        if len(data) >= HEADER.size:
            stamp = read_packet_info(extra).software
            yield *HEADER.unpack_from(data), time.time_ns() if stamp is None else stamp, len(data)


def send(load: Load, delivery: Delivery) -> None:
    """Send whole packets until ``size`` or the stop."""
    assert load.rate is not None  # noqa: S101 - UDP has a rate
    length, total, sent = packet_size(load.rate), packet_total(load.rate, load.size), 0
    padding = bytes(length - HEADER.size)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind((load.source[1], 0))
        sock.connect((load.destination[1], load.port))
        endpoint.emit(endpoint.READY, delivery)
        began = time.monotonic()
        while sent < total and not endpoint.is_stopped():
            wait = began + sent * length * 8 / load.rate - time.monotonic()
            if wait > 0:
                time.sleep(min(wait, endpoint.POLL_INTERVAL))
                continue
            _send_packet(sock, HEADER.pack(sent, time.time_ns()) + padding)
            sent += 1
        for _ in range(FAREWELLS):
            time.sleep(FAREWELL_INTERVAL)
            _send_packet(sock, HEADER.pack(END, sent))
    delivery.packets_sent = sent


def _send_packet(sock: socket.socket, packet: bytes) -> None:
    with suppress(OSError):  # no listener, or no route at this time (ICMP): this packet is lost
        sock.send(packet)


if __name__ == "__main__":
    endpoint.run_end(sys.argv[1:], {"receive": receive, "send": send})
