"""Common parts of the programs at both ends of a flow: JSON lines on standard output, a stop by SIGTERM.

iperf3 does not serve here: it loses its control connection, and with it the result, when the path under test
is cut.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

POLL_INTERVAL = 0.2
"""Seconds within which a program that waits sees a request to stop."""
PATIENCE = 60.0
"""Seconds without any progress after which a flow has failed."""
SENDING, LISTENING, PROGRESS = "sending", "listening", "progress"
SENT, RECEIVED, FAILED = "sent", "received", "failed"
"""Events of the lines; each program ends with one of the last three."""
EXIT_FAILED = 3


class FlowFailedError(Exception):
    """The flow cannot continue; the message gives the reason."""


@dataclass(slots=True)
class StopRequest:
    """Whether the program must stop; a signal handler sets it, so it has no lock."""

    is_set: bool = False

    def set(self, *_signal: object) -> None:
        """Request the stop; it is a signal handler."""
        self.is_set = True


@dataclass(slots=True)
class ByteCount:
    """What a receiver has counted; times are seconds since the epoch.

    :param began_at: when the first stream or packet arrived; None before.
    :param ended_at: when the last byte arrived.
    :param per_second: bytes of each second since ``began_at``.
    """

    began_at: float | None = None
    ended_at: float = 0.0
    bytes: int = 0
    per_second: list[int] = field(default_factory=list)

    def begin(self, at: float) -> None:
        """Note the arrival of a stream; the first one counts."""
        if self.began_at is None:
            self.began_at = self.ended_at = at

    def add(self, count: int, at: float) -> None:
        """Count bytes; print the progress if a second begins with them."""
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
    """Print one line at once."""
    sys.stdout.write(json.dumps({"event": event, **values}) + "\n")
    sys.stdout.flush()


def run_end(
    side: str,
    receive: Callable[[ByteCount, StopRequest], Mapping[str, Any]],
    send: Callable[[StopRequest], Mapping[str, Any]],
) -> int:
    """Run one end of a flow, print its last line and return its exit status: 3 if the flow failed.

    :param side: ``receive`` or ``send``.
    """
    counted, stop = ByteCount(), StopRequest()
    signal.signal(signal.SIGTERM, stop.set)
    try:
        if side == "receive":
            emit(RECEIVED, **receive(counted, stop))
        else:
            emit(SENT, **send(stop))
    except (FlowFailedError, OSError) as error:
        emit(FAILED, reason=str(error), **({} if counted.began_at is None else asdict(counted)))
        return EXIT_FAILED
    return 0


def make_parser(
    name: str,
) -> tuple[argparse.ArgumentParser, argparse.ArgumentParser, argparse.ArgumentParser]:
    """Return a parser and those of its commands ``receive`` and ``send``, with what both ends take."""
    parser = argparse.ArgumentParser(prog=name)
    sides = parser.add_subparsers(dest="side", required=True)
    receiver, sender = sides.add_parser("receive"), sides.add_parser("send")
    for side in (receiver, sender):
        side.add_argument("--bind", required=True, metavar="ADDRESS")
        side.add_argument("--port", type=int, choices=range(1, 65_536), metavar="PORT", required=True)
        side.add_argument("--patience", type=number_between(0.1, 86_400.0), default=PATIENCE)
    sender.add_argument("--to", required=True, metavar="ADDRESS")
    sender.add_argument("--bytes", type=number_between(1, 10**15), help="without it, until SIGTERM")
    return parser, receiver, sender


def number_between(low: float, high: float) -> Callable[[str], float]:
    """Return a parser of numbers within two bounds, of the type of the bounds."""

    def parse(text: str) -> float:
        value = type(low)(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{value:g} is out of range; expected {low:g} to {high:g}")
        return value

    return parse
