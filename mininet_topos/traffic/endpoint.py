"""Common parts of the programs at both ends of a flow: ``python -m PROGRAM receive|send LOAD``.

LOAD is a :class:`Load` as JSON.  A program prints JSON lines on standard output: an event with the fields of
a :class:`Delivery`.  It stops at SIGTERM.

iperf3 does not serve here: it loses its control connection, and with it the result, when the path under test
is cut.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

POLL_INTERVAL = 0.2
"""Seconds within which a program that waits sees a request to stop."""
READY, PROGRESS, ENDED = "ready", "progress", "ended"
"""Events of the lines: listens or sends, a new second of the receiver, the last line."""


@dataclass(frozen=True, slots=True)
class Load:
    """Traffic of a flow.

    :param source, destination: host, and its IPv4 address.
    :param port: of the receiver.
    :param size: bytes to send; None to send until the stop.
    :param rate: bits/s: the rate of UDP, which needs one; an upper bound of all TCP streams together.
    :param window: limit of the bytes in flight of each TCP stream; None for that of the kernel.
    :param patience: seconds without progress after which the flow fails.
    """

    source: tuple[str, str]
    destination: tuple[str, str]
    port: int
    protocol: Literal["tcp", "udp"] = "tcp"
    size: int | None = None
    streams: int = 1
    rate: float | None = None
    window: int | None = None
    patience: float = 60.0


class FlowFailedError(Exception):
    """The flow cannot continue; the message gives the reason."""


@dataclass(slots=True)
class Delivery:
    """Result of a load, or what one end knows of it; times are seconds since the epoch.

    :param began_at: when the first stream or packet arrived; None if none is known to have arrived.
    :param ended_at: when the last byte arrived; of a flow that was stopped, not before the stop.
    :param received: bytes.
    :param per_second: bytes of each second since ``began_at``.
    :param packets_received: UDP packets.
    :param packets_sent, packets_lost: UDP packets; TCP segments and retransmissions.
    :param jitter: seconds (UDP).
    :param problem: why the delivery is incomplete; empty if it is complete.
    """

    ended_at: float = 0.0
    began_at: float | None = None
    received: int = 0
    per_second: list[int] = field(default_factory=list)
    packets_received: int = 0
    packets_sent: int | None = None
    packets_lost: int | None = None
    jitter: float | None = None
    problem: str = ""

    def begin(self, at: float) -> float:
        """Record when the first stream arrived, and return it."""
        if self.began_at is None:
            self.began_at = self.ended_at = at
        return self.began_at

    def add(self, count: int, at: float) -> None:
        """Count bytes; print the progress when a new second starts."""
        second = max(0, int(at - self.begin(at)))
        begins = second >= len(self.per_second)
        self.per_second.extend([0] * (second + 1 - len(self.per_second)))
        self.per_second[second] += count
        self.received += count
        self.ended_at = max(self.ended_at, at)
        if begins:
            emit(PROGRESS, self)


Side = Callable[[Load, Delivery], None]
"""One end of a flow; fills in what it knows of the delivery."""


def emit(event: str, delivery: Delivery) -> None:
    """Print a JSON line without delay."""
    sys.stdout.write(json.dumps({"event": event, **asdict(delivery)}) + "\n")
    sys.stdout.flush()


def is_stopped() -> bool:
    """Return whether SIGTERM has arrived; the programs block it, so that it interrupts nothing."""
    return signal.SIGTERM in signal.sigpending()


def run_end(argv: Sequence[str], sides: Mapping[str, Side]) -> None:
    """Run one end of a flow and print its last line.

    :param argv: name of the side, and the load as JSON.
    """
    load, delivery = Load(**json.loads(argv[1])), Delivery()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        sides[argv[0]](load, delivery)
    except (FlowFailedError, OSError) as error:
        delivery.problem = str(error)
    emit(ENDED, delivery)
