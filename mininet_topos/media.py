"""A medium over UDP: packets at a constant rate, as remote visualisation and video send them.

RIVVIR's and ElderCare's flows ([ADON] 5, the journal's queue scenario) do not back off and do not send
again: what matters is what arrives, and how evenly.  The receiver is the witness.  It counts different
packets, and has the kernel say when each arrived, so that a busy Python does not look like a busy network.
Both ends run on one machine, by one clock.

- lost: packets sent that never arrived (RFC 7680), told by their numbers; the sender says at the end how many
  there were.
- jitter: the mean absolute difference of the one-way delays of consecutive packets that arrived (RFC 3393),
  the quantity that measurement points report by that name.
- delay: the mean one-way delay (RFC 7679).

As a program (one JSON object per line; the last one is the report)::

    python -m mininet_topos.media receive --bind 10.2.0.10 --port 5001
    python -m mininet_topos.media send --bind 10.1.0.10 --to 10.2.0.10 --port 5001 --rate 1e6 --seconds 30

A sender that gets SIGTERM sends no more, and says farewell; a receiver counts no more, and reports.

Exit status: 0 done; 2 bad arguments; 3 nothing arrived for ``--timeout`` seconds, or until SIGTERM.
"""

from __future__ import annotations

import argparse
import math
import socket
import struct
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from measurement.probes.stamps import ANCILLARY, beside, receive_stamps
from mininet_topos.saying import say
from mininet_topos.stopping import LOOK_S, Stop, stop_by_sigterm

HEADER = struct.Struct("!QQ")
"""Number from 0, and when it was sent (nanoseconds since 1970)."""
END = (1 << 64) - 1
"""The number of the packets that say that it is over; where others have their time they have the count."""
FAREWELLS = 10
FAREWELL_PAUSE = 0.05

SMALLEST, LARGEST = 64, 1200
"""Bytes of payload."""
INTERVAL = 0.02
"""Seconds between two packets at most, where their size allows: as voice and video over RTP have it."""
DEFAULT_TIMEOUT = 60.0
BUFFER = 1 << 20


class MediaFailed(Exception):
    """Nothing arrived, or nothing could be sent."""


@dataclass(frozen=True, slots=True)
class Received:
    """The receiver's report.

    :param sent: packets, as the sender said at its end; None if that was not heard.
    :param jitter, delay: seconds; 0 with less than two packets, and with none.
    :param seconds: from the first packet to the last.
    :param silent: seconds since the last packet; 0 if none came.
    :param started_at: when the first packet arrived (seconds since 1970).
    :param per_second: bytes of payload that arrived in each second since then.
    :param jitter_per_second: as ``jitter``, of the packets of each second; None where there were less than 2.
    """

    bytes: int
    packets: int
    sent: int | None
    jitter: float
    delay: float
    seconds: float
    silent: float
    started_at: float
    per_second: tuple[int, ...]
    jitter_per_second: tuple[float | None, ...]

    @property
    def lost(self) -> float | None:
        """The share of the packets that did not arrive; None if it is not known how many there were."""
        return None if not self.sent else 1.0 - self.packets / self.sent


@dataclass(slots=True)
class Witness:
    """What has arrived so far; times in nanoseconds."""

    seen: set[int] = field(default_factory=set)
    first: int | None = None
    last: int = 0
    before: int | None = None
    delays: int = 0
    bytes_by_second: list[int] = field(default_factory=list)
    steps_by_second: list[list[int]] = field(default_factory=list)

    def arrived(self, number: int, sent: int, at: int, size: int) -> bool:
        """Note a packet, one that comes twice counts once; True if a new second has begun with it."""
        if number in self.seen:
            return False
        self.seen.add(number)
        self.first = at if self.first is None else self.first
        self.last = max(self.last, at)
        second = max(0, at - self.first) // 1_000_000_000
        begun = second >= len(self.bytes_by_second)
        while len(self.bytes_by_second) <= second:
            self.bytes_by_second.append(0)
            self.steps_by_second.append([])
        self.bytes_by_second[second] += size
        delay = at - sent
        self.delays += delay
        if self.before is not None:
            self.steps_by_second[second].append(abs(delay - self.before))
        self.before = delay
        return begun

    def begun(self) -> dict[str, Any]:
        """As printed when a second begins: of whom nothing more is heard is known by these."""
        second = {"second": len(self.bytes_by_second) - 1, "of_second": self.bytes_by_second[-1]}
        return {"event": "progress", "bytes": sum(self.bytes_by_second), **second}

    def report(self, sent: int | None, now: int) -> Received:
        """The sums; ``now`` is when it is made."""
        steps = [step for second in self.steps_by_second for step in second]
        count = len(self.seen)
        return Received(
            bytes=sum(self.bytes_by_second),
            packets=count,
            sent=sent,
            jitter=_mean(steps) or 0.0,
            delay=self.delays / count / 1e9 if count else 0.0,
            seconds=0.0 if self.first is None else (self.last - self.first) / 1e9,
            silent=0.0 if self.first is None else max(0, now - self.last) / 1e9,
            started_at=0.0 if self.first is None else self.first / 1e9,
            per_second=tuple(self.bytes_by_second),
            jitter_per_second=tuple(_mean(second) for second in self.steps_by_second),
        )


def _mean(nanoseconds: Sequence[int]) -> float | None:
    return sum(nanoseconds) / len(nanoseconds) / 1e9 if nanoseconds else None


def packet_size(rate: float) -> int:
    """Bytes of payload of each packet of a medium at so many bits/s."""
    return min(LARGEST, max(SMALLEST, math.ceil(rate * INTERVAL / 8)))


def receive(bind: str, port: int, timeout: float = DEFAULT_TIMEOUT, stop: Stop | None = None) -> Received:
    """Count packets until the sender says that it was all; tells on standard output that it listens.

    :param stop: is set when no more is to be counted; what has arrived by then is the report.
    :raises MediaFailed: if nothing ever arrives within the time-out, or before it is stopped.
    """
    stop = Stop() if stop is None else stop
    witness = Witness()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        receive_stamps(sock)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        sock.bind((bind, port))
        sock.settimeout(min(timeout, LOOK_S))
        say({"event": "listening", "ports": [port]})
        for number, word, at, size in _packets(sock, timeout, stop):
            if number == END:
                return witness.report(word, time.time_ns())
            if witness.arrived(number, word, at, size):
                say(witness.begun())
    if not witness.seen:
        why = "before it was told to end" if stop.is_set() else f"for {timeout:g} s"
        raise MediaFailed(f"nothing arrived {why}")
    return witness.report(None, time.time_ns())  # the end was lost with the path: what had arrived counts


def _packets(sock: socket.socket, timeout: float, stop: Stop) -> Iterator[tuple[int, int, int, int]]:
    """Number, second word of the header, time of arrival and size of each, until none comes any more."""
    silent_until = time.monotonic() + timeout
    while not stop.is_set():
        try:
            data, extra, _flags, _sender = sock.recvmsg(LARGEST, ANCILLARY)
        except TimeoutError:
            if time.monotonic() >= silent_until:
                return
            continue
        silent_until = time.monotonic() + timeout
        if len(data) < HEADER.size:
            continue
        at = beside(extra).software
        number, word = HEADER.unpack_from(data)
        yield number, word, time.time_ns() if at is None else at, len(data)


def send(
    bind: str,
    to: str,
    port: int,
    rate: float,
    seconds: float,
    stop: Stop | None = None,
) -> int:
    """Send packets at this rate of payload, bits/s, for so long; how many.

    :param stop: is set when no more is to be sent; looked at between two packets, so that each that went out
        is counted.
    """
    stop = Stop() if stop is None else stop
    size = packet_size(rate)
    total = max(1, round(rate * seconds / 8 / size))
    padding = bytes(size - HEADER.size)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind((bind, 0))
        sock.connect((to, port))
        say({"event": "sending"})
        began = time.monotonic()
        sent = 0
        while sent < total and not stop.wait(max(0.0, began + sent * size * 8 / rate - time.monotonic())):
            _sent(sock, HEADER.pack(sent, time.time_ns()) + padding)
            sent += 1
        for _ in range(FAREWELLS):
            time.sleep(FAREWELL_PAUSE)
            _sent(sock, HEADER.pack(END, sent))
    return sent


def _sent(sock: socket.socket, packet: bytes) -> None:
    try:
        sock.send(packet)
    except OSError:
        # Nobody listens, or the way is down for now (ICMP): this packet is lost, others follow.
        return


def arguments(side: str, bind: str, port: int, *, timeout: float = DEFAULT_TIMEOUT) -> list[str]:
    """The command line of either side; the sender's goes on with :func:`sending`."""
    argv = [sys.executable, "-m", "mininet_topos.media", side, "--bind", bind, "--port", str(port)]
    return [*argv, "--timeout", f"{timeout:g}"] if side == "receive" else argv


def sending(to: str, rate: float, seconds: float) -> list[str]:
    """What a sender is told beside where it is."""
    return ["--to", to, "--rate", f"{rate:g}", "--seconds", f"{seconds:g}"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="media", description="packets at a constant rate over UDP")
    sides = parser.add_subparsers(dest="side", required=True)
    for side in (receiver := sides.add_parser("receive"), sender := sides.add_parser("send")):
        side.add_argument("--bind", required=True)
        side.add_argument("--port", type=int, choices=range(1, 65_536), metavar="PORT", required=True)
    receiver.add_argument("--timeout", type=_number(0.1, 86_400), default=DEFAULT_TIMEOUT)
    sender.add_argument("--to", required=True)
    sender.add_argument("--rate", type=_number(1000, 1e9), required=True, help="bits/s of payload")
    sender.add_argument("--seconds", type=_number(0.1, 86_400), required=True)
    return parser


def _number(low: float, high: float) -> Any:
    def number(text: str) -> float:
        value = float(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{value:g} is not in {low:g}..{high:g}")
        return value

    return number


def main(argv: Sequence[str] | None = None) -> int:
    """Run one side and print its report."""
    chosen = _parser().parse_args(argv)
    try:
        if chosen.side == "receive":
            done = receive(chosen.bind, chosen.port, chosen.timeout, stop_by_sigterm())
            say({"event": "received", **asdict(done), "lost": done.lost})
        else:
            ways = (chosen.bind, chosen.to, chosen.port, chosen.rate, chosen.seconds)
            say({"event": "sent", "packets": send(*ways, stop_by_sigterm())})
    except (MediaFailed, OSError) as error:
        say({"event": "failed", "reason": str(error)})
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
