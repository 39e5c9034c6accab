"""Common parts of the programs at both ends of a flow: ``python -m PROGRAM receive|send LOAD``.

LOAD is a :class:`Load` as JSON.  A program prints JSON lines on standard output, and stops at SIGTERM.

iperf3 does not serve here: it loses its control connection, and with it the result, when the path under test
is cut.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

POLL_INTERVAL = 0.2
"""Seconds within which a program that waits sees a request to stop."""
PATIENCE = 60.0
"""Seconds without any progress after which a flow has failed."""
SENDING, LISTENING, PROGRESS = "sending", "listening", "progress"
SENT, RECEIVED, FAILED = "sent", "received", "failed"
"""Events of the lines; each program ends with one of the last three."""


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
    patience: float = PATIENCE


class FlowFailedError(Exception):
    """The flow cannot continue; the message gives the reason."""


@dataclass(slots=True)
class StopRequest:
    """A request to stop the program; a signal handler sets it, so it has no lock."""

    is_set: bool = False

    def set(self, *_signal: object) -> None:
        """Request the stop; it is a signal handler."""
        self.is_set = True


@dataclass(slots=True)
class ByteCount:
    """Counts of a receiver; times are seconds since the epoch.

    :param began_at: when the first stream or packet arrived; None before.
    :param ended_at: when the last byte arrived.
    :param per_second: bytes of each second since ``began_at``.
    """

    began_at: float | None = None
    ended_at: float = 0.0
    bytes: int = 0
    per_second: list[int] = field(default_factory=list)

    def begin(self, at: float) -> None:
        """Record when the first stream arrived."""
        if self.began_at is None:
            self.began_at = self.ended_at = at

    def add(self, count: int, at: float) -> None:
        """Count bytes; print the progress when a new second starts."""
        self.begin(at)
        assert self.began_at is not None  # noqa: S101 - it has begun
        second = max(0, int(at - self.began_at))
        begins = second >= len(self.per_second)
        self.per_second.extend([0] * (second + 1 - len(self.per_second)))
        self.per_second[second] += count
        self.bytes += count
        self.ended_at = max(self.ended_at, at)
        if begins:
            emit(PROGRESS, **asdict(self))


def emit(event: str, **values: Any) -> None:
    """Print a JSON line without delay."""
    sys.stdout.write(json.dumps({"event": event, **values}) + "\n")
    sys.stdout.flush()


def run_end(
    argv: Sequence[str],
    receive: Callable[[Load, ByteCount, StopRequest], Mapping[str, Any]],
    send: Callable[[Load, StopRequest], Mapping[str, Any]],
) -> None:
    """Run one end of a flow and print its last line.

    :param argv: ``receive`` or ``send``, and the load as JSON.
    """
    side, load = argv[0], Load(**json.loads(argv[1]))
    counted, stop = ByteCount(), StopRequest()
    signal.signal(signal.SIGTERM, stop.set)
    try:
        if side == "receive":
            emit(RECEIVED, **receive(load, counted, stop))
        else:
            emit(SENT, **send(load, stop))
    except (FlowFailedError, OSError) as error:
        emit(FAILED, reason=str(error), **({} if counted.began_at is None else asdict(counted)))
