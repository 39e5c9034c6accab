"""Numbered packets at a constant rate over UDP, as remote visualisation and video send them.

These flows ([ADON] 5; the journal's queue scenario) neither back off nor send again: what arrives counts, and
how evenly.  The kernel stamps arrivals, so that a busy Python does not look like a busy network.

- lost: packets that were sent and never arrived (RFC 7680), by their numbers.
- jitter: mean absolute difference of the one-way delays of consecutive packets that arrived (RFC 3393).

As a program (one JSON object per line)::

    python -m mininet_topos.traffic.udp_stream receive --bind 10.2.0.10 --port 5001
    python -m mininet_topos.traffic.udp_stream send --bind 10.1.0.10 --to 10.2.0.10 --port 5001 --rate 1e6
"""

from __future__ import annotations

import math
import socket
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from measurement.probes.stamps import ANCILLARY, beside, receive_stamps
from mininet_topos.traffic.endpoint import (
    EXIT_FAILED,
    FAILED,
    LISTENING,
    PATIENCE,
    POLL_INTERVAL,
    PROGRESS,
    RECEIVED,
    SENDING,
    SENT,
    ByteCount,
    FlowFailedError,
    StopRequest,
    emit,
    make_parser,
    number_between,
    stop_on_sigterm,
)

HEADER = struct.Struct("!QQ")
"""Number from 0, and when it was sent (nanoseconds since the epoch)."""
END = (1 << 64) - 1
"""Number of the packets that announce the end; their second word is the number of packets sent."""
FAREWELLS, FAREWELL_INTERVAL = 10, 0.05
MIN_SIZE, MAX_SIZE = 64, 1200
"""Bytes of payload."""
INTERVAL = 0.02
"""Seconds between two packets at most, where their size permits it: as voice and video over RTP have it."""
BUFFER = 1 << 20


@dataclass(slots=True)
class PacketCount:
    """Packets that arrived; each number counts once.

    :param steps: sum of the absolute differences of consecutive delays, nanoseconds.
    :param sent: number of packets that the sender announced at its end; None if that did not arrive.
    """

    bytes: ByteCount | None = None
    seen: set[int] = field(default_factory=set)
    steps: int = 0
    sent: int | None = None
    _delay: int | None = None

    def add(self, number: int, sent: int, at: int, size: int) -> bool:
        """Count a packet, with times in nanoseconds; True if a second begins with it."""
        if number in self.seen:
            return False
        self.seen.add(number)
        if self._delay is not None:
            self.steps += abs(at - sent - self._delay)
        self._delay = at - sent
        if self.bytes is None:
            self.bytes = ByteCount(at / 1e9, at / 1e9)
        return self.bytes.add(size, at / 1e9)

    def report(self) -> dict[str, Any]:
        """Return the line of the end; jitter in seconds, 0 with less than two packets."""
        assert self.bytes is not None  # noqa: S101 - a packet arrived
        jitter = self.steps / (len(self.seen) - 1) / 1e9 if len(self.seen) > 1 else 0.0
        return {**asdict(self.bytes), "packets": len(self.seen), "sent": self.sent, "jitter": jitter}


def packet_size(rate: float) -> int:
    """Return the bytes of payload of each packet at so many bits/s."""
    return min(MAX_SIZE, max(MIN_SIZE, math.ceil(rate * INTERVAL / 8)))


def packet_total(rate: float, size: int | None) -> float:
    """Return the number of packets that carry ``size`` bytes at a rate; infinite without a size."""
    return math.inf if size is None else max(1, round(size / packet_size(rate)))


def receive(bind: str, port: int, patience: float, stop: StopRequest) -> PacketCount:
    """Count packets until the sender announces the end, or until ``stop``.

    :raises FlowFailedError: if no packet arrives for ``patience`` seconds, or before ``stop``.
    """
    counted = PacketCount()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        receive_stamps(sock)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        sock.bind((bind, port))
        sock.settimeout(POLL_INTERVAL)
        emit(LISTENING)
        for number, word, at, size in _packets(sock, patience, stop):
            if number == END:
                counted.sent = word
                break
            if counted.add(number, word, at, size) and counted.bytes is not None:
                series = counted.bytes.per_second
                emit(PROGRESS, bytes=counted.bytes.bytes, second=len(series) - 1, of_second=series[-1])
    if counted.bytes is None:
        raise FlowFailedError("no packet arrived" + ("" if stop.is_set else f" for {patience:g} s"))
    return counted


def _packets(sock: socket.socket, patience: float, stop: StopRequest) -> Iterator[tuple[int, int, int, int]]:
    """Yield number, second word, time of arrival and size of each packet."""
    last = time.monotonic()
    while not stop.is_set and time.monotonic() - last < patience:
        try:
            data, extra, _flags, _sender = sock.recvmsg(MAX_SIZE, ANCILLARY)
        except TimeoutError:
            continue
        last = time.monotonic()
        if len(data) >= HEADER.size:
            stamp = beside(extra).software
            yield *HEADER.unpack_from(data), time.time_ns() if stamp is None else stamp, len(data)


def send(bind: str, to: str, port: int, rate: float, size: int | None, stop: StopRequest) -> int:
    """Send packets; return their number.

    :param rate: bits/s of payload.
    :param size: bytes, in whole packets; None for as many as go until ``stop``.
    """
    length, total, sent = packet_size(rate), packet_total(rate, size), 0
    padding = bytes(length - HEADER.size)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind((bind, 0))
        sock.connect((to, port))
        emit(SENDING)
        began = time.monotonic()
        while sent < total and not stop.is_set:
            wait = began + sent * length * 8 / rate - time.monotonic()
            if wait > 0:
                time.sleep(min(wait, POLL_INTERVAL))
                continue
            _send_packet(sock, HEADER.pack(sent, time.time_ns()) + padding)
            sent += 1
        for _ in range(FAREWELLS):
            time.sleep(FAREWELL_INTERVAL)
            _send_packet(sock, HEADER.pack(END, sent))
    return sent


def _send_packet(sock: socket.socket, packet: bytes) -> None:
    with suppress(OSError):  # no listener, or the way is down for now (ICMP): this packet is lost
        sock.send(packet)


def receiver_argv(bind: str, port: int, patience: float = PATIENCE) -> list[str]:
    """Return the command of the receiving end."""
    return [*_argv("receive", bind, port), "--patience", f"{patience:g}"]


def sender_argv(bind: str, port: int, to: str, rate: float, size: int | None) -> list[str]:
    """Return the command of the sending end; arguments as of :func:`send`."""
    argv = [*_argv("send", bind, port), "--to", to, "--rate", str(rate)]
    return argv if size is None else [*argv, "--bytes", str(size)]


def _argv(side: str, bind: str, port: int) -> list[str]:
    return [
        *(sys.executable, "-m", "mininet_topos.traffic.udp_stream", side),
        *("--bind", bind, "--port", str(port)),
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one end; exit status 3 if no packet arrived."""
    parser, _, sender = make_parser("udp_stream")
    sender.add_argument("--rate", type=number_between(1e3, 1e9), required=True, help="bits/s of payload")
    sender.add_argument("--bytes", type=number_between(1, 10**15), help="without it, until SIGTERM")
    chosen = parser.parse_args(argv)
    stop = stop_on_sigterm()
    try:
        if chosen.side == "receive":
            emit(RECEIVED, **receive(chosen.bind, chosen.port, chosen.patience, stop).report())
        else:
            sent = send(chosen.bind, chosen.to, chosen.port, chosen.rate, chosen.bytes, stop)
            emit(SENT, packets=sent)
    except (FlowFailedError, OSError) as error:
        emit(FAILED, reason=str(error))
        return EXIT_FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
