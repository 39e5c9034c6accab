"""Move real bytes: a memory-to-memory TCP transfer of exactly N bytes over S parallel streams.

The receiver is the witness: it counts every byte of every stream until the sender closes it, and reports
bytes, seconds and a series per second.  The sender's numbers are progress only: what it has written may
still be in a socket buffer.

The streams take their work from one pool (as GridFTP's do): a stream that the network favours sends more,
none is left over at the end.  One thread serves all streams of a side; one block of zeros is all the memory
a transfer needs, whatever its size.

As a program (one JSON object per line; the last one is the report)::

    python -m mininet_topos.transfer receive --bind 10.2.0.10 --port 5001 --streams 4
    python -m mininet_topos.transfer send --bind 10.1.0.10 --to 10.2.0.10 --port 5001 --streams 4 --bytes 1000

Exit status: 0 done; 2 bad arguments; 3 the other side was silent for ``--timeout`` seconds or hung up.
"""

from __future__ import annotations

import argparse
import json
import selectors
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

BLOCK = 65_536
"""Bytes handed to the kernel at a time: 9 ms of a 58 Mbit/s path."""

MAX_STREAMS = 64
CONNECT_RETRY = 0.2
PACE = 0.02
"""Seconds between two looks at whether a sender with a rate may write again."""
DEFAULT_TIMEOUT = 60.0

Tell = Callable[[dict[str, Any]], None]


class TransferFailed(Exception):
    """The transfer did not complete; says how far it came."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """One side of a transfer.

    :param bind: local IPv4 address: on the sending side the one the path's rules name.
    :param ports: TCP ports at the receiver; streams are dealt to them in turn.
    :param timeout: seconds without any progress after which it has failed.
    :param rate: bits/s of all streams together that the sending side does not exceed; None: what TCP gets.
    """

    bind: str
    ports: tuple[int, ...]
    streams: int
    timeout: float = DEFAULT_TIMEOUT
    rate: float | None = None


@dataclass(slots=True)
class Progress:
    """What has moved so far, and when (seconds since the first stream was there)."""

    streams: int
    started: float
    bytes: int = 0
    per_second: list[int] = field(default_factory=list)

    def add(self, count: int, now: float) -> bool:
        """Note ``count`` bytes; True if a new second has begun with them."""
        second = int(now - self.started)
        begun = second >= len(self.per_second)
        self.per_second.extend([0] * (second + 1 - len(self.per_second)))
        self.per_second[second] += count
        self.bytes += count
        return begun

    def report(self, event: str, now: float) -> dict[str, Any]:
        """As printed: ``progress`` or ``done``."""
        seconds = round(now - self.started, 6)
        return {"event": event, "bytes": self.bytes, "seconds": seconds, "streams": self.streams}


@dataclass(frozen=True, slots=True)
class Received:
    """The receiver's report.

    :param started_at: when the first stream was accepted (seconds since 1970).
    :param per_second: bytes that arrived in each second since then.
    """

    bytes: int
    seconds: float
    streams: int
    started_at: float
    per_second: tuple[int, ...]


def receive(transfer: Transfer, tell: Tell) -> Received:
    """Accept the streams and count until each is closed; ``tell`` hears when it listens and every second.

    :raises TransferFailed: if nothing happens for the time-out.
    """
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for port in transfer.ports:
            listener = stack.enter_context(_listener(transfer.bind, port, transfer.streams))
            selector.register(listener, selectors.EVENT_READ, "accept")
        tell({"event": "listening", "ports": list(transfer.ports)})
        progress: Progress | None = None
        started_at = 0.0
        accepted = ended = 0
        buffer = bytearray(4 * BLOCK)
        while ended < transfer.streams:
            for sock, kind in _ready(selector, transfer.timeout, progress):
                if kind == "accept":
                    if progress is None:
                        progress, started_at = Progress(transfer.streams, time.monotonic()), time.time()
                    selector.register(_accept(sock, stack), selectors.EVENT_READ, "stream")
                    accepted += 1
                    continue
                count = _read(sock, buffer, progress)
                if count == 0:
                    selector.unregister(sock)
                    sock.close()
                    ended += 1
                elif progress is not None and progress.add(count, time.monotonic()):
                    tell(progress.report("progress", time.monotonic()))
        if progress is None or accepted != transfer.streams:
            raise TransferFailed(f"{accepted} streams came instead of {transfer.streams}")
        seconds = time.monotonic() - progress.started
        return Received(progress.bytes, seconds, accepted, started_at, tuple(progress.per_second))


def send(transfer: Transfer, to: str, size: int, tell: Tell) -> Progress:
    """Send exactly ``size`` bytes; ``tell`` hears every second how many the kernel has taken.

    :raises TransferFailed: if the receiver cannot be reached, hangs up, or takes nothing for the time-out.
    """
    block = bytes(BLOCK)
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for number in range(transfer.streams):
            port = transfer.ports[number % len(transfer.ports)]
            stream = stack.enter_context(_connected(transfer, to, port))
            selector.register(stream, selectors.EVENT_WRITE, "stream")
        progress = Progress(transfer.streams, time.monotonic())
        while progress.bytes < size:
            if _allowed(transfer, size, progress) <= 0:
                time.sleep(PACE)
                continue
            for sock, _kind in _ready(selector, transfer.timeout, progress):
                count = _write(sock, block[: max(0, _allowed(transfer, size, progress))], progress)
                if progress.add(count, time.monotonic()):
                    tell(progress.report("progress", time.monotonic()))
        _finish([key.fileobj for key in selector.get_map().values()], transfer.timeout, progress)
        return progress


def _allowed(transfer: Transfer, size: int, progress: Progress) -> int:
    """How many bytes may be written now: what is left, or less if the rate says so."""
    if transfer.rate is None:
        return size - progress.bytes
    due = int(transfer.rate / 8 * (time.monotonic() - progress.started + PACE))
    return min(size, due) - progress.bytes


def _ready(
    selector: selectors.BaseSelector, timeout: float, progress: Progress | None
) -> Iterator[tuple[socket.socket, str]]:
    events = selector.select(timeout)
    if not events:
        moved = progress.bytes if progress is not None else 0
        raise TransferFailed(f"nothing moved for {timeout:g} s, after {moved} bytes")
    return ((key.fileobj, key.data) for key, _mask in events)  # type: ignore[misc]


def _listener(address: str, port: int, backlog: int) -> socket.socket:
    listener = socket.create_server((address, port), family=socket.AF_INET, backlog=backlog)
    listener.setblocking(False)
    return listener


def _accept(listener: socket.socket, stack: ExitStack) -> socket.socket:
    stream, _peer = listener.accept()
    stack.enter_context(stream)
    stream.setblocking(False)
    return stream


@contextmanager
def _connected(transfer: Transfer, to: str, port: int) -> Iterator[socket.socket]:
    """A stream to the receiver; one that does not listen yet is tried again."""
    deadline = time.monotonic() + transfer.timeout
    while True:
        try:
            stream = socket.create_connection((to, port), transfer.timeout, (transfer.bind, 0))
            break
        except OSError as error:
            if time.monotonic() >= deadline:
                raise TransferFailed(f"{to} port {port}: {error}") from error
            time.sleep(CONNECT_RETRY)
    with stream:
        stream.setblocking(False)
        yield stream


def _read(stream: socket.socket, buffer: bytearray, progress: Progress | None) -> int:
    try:
        return stream.recv_into(buffer)
    except OSError as error:
        moved = progress.bytes if progress is not None else 0
        raise TransferFailed(f"a stream broke after {moved} bytes: {error}") from error


def _write(stream: socket.socket, block: bytes, progress: Progress) -> int:
    if not block:
        return 0
    try:
        return stream.send(block)
    except BlockingIOError:
        return 0
    except OSError as error:
        raise TransferFailed(f"a stream broke after {progress.bytes} bytes: {error}") from error


def _finish(streams: Sequence[Any], timeout: float, progress: Progress) -> None:
    """Close our direction of all, then wait for the receiver to close its own: it has read everything."""
    try:
        for stream in streams:
            stream.shutdown(socket.SHUT_WR)
        for stream in streams:
            stream.settimeout(timeout)
            stream.recv(1)
    except OSError as error:
        raise TransferFailed(f"a stream broke after {progress.bytes} bytes: {error}") from error


def arguments(side: str, transfer: Transfer, to: str | None = None, size: int | None = None) -> list[str]:
    """The command line that runs one side; what the testbed starts inside a host."""
    argv = [sys.executable, "-m", "mininet_topos.transfer", side, "--bind", transfer.bind]
    for port in transfer.ports:
        argv += ["--port", str(port)]
    argv += ["--streams", str(transfer.streams), "--timeout", str(transfer.timeout)]
    if to is not None:
        argv += ["--to", to]
    if size is not None:
        argv += ["--bytes", str(size)]
        if transfer.rate is not None:
            argv += ["--rate", str(transfer.rate)]
    return argv


def _between(low: int, high: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        value = int(text)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{value} is not in {low}..{high}")
        return value

    return number


def _rate(text: str) -> float:
    value = float(text)
    if not 1000 <= value <= 1e12:
        raise argparse.ArgumentTypeError(f"{value:g} is not in 1e3..1e12")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="transfer", description="memory-to-memory TCP transfer")
    sides = parser.add_subparsers(dest="side", required=True)
    for side in (sides.add_parser("receive"), send_side := sides.add_parser("send")):
        side.add_argument("--bind", required=True)
        side.add_argument("--port", type=_between(1, 65_535), action="append", required=True)
        side.add_argument("--streams", type=_between(1, MAX_STREAMS), default=1)
        side.add_argument("--timeout", type=float, default=DEFAULT_TIMEOUT)
    send_side.add_argument("--to", required=True)
    send_side.add_argument("--bytes", type=_between(1, 10**15), required=True)
    send_side.add_argument("--rate", type=_rate, help="bits/s that are not exceeded")
    return parser


def _tell(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main(argv: Sequence[str] | None = None) -> int:
    """Run one side and print its report."""
    chosen = _parser().parse_args(argv)
    rate = chosen.rate if chosen.side == "send" else None
    transfer = Transfer(chosen.bind, tuple(chosen.port), chosen.streams, chosen.timeout, rate)
    try:
        if chosen.side == "receive":
            _tell({"event": "received", **asdict(receive(transfer, _tell))})
        else:
            _tell(send(transfer, chosen.to, chosen.bytes, _tell).report("sent", time.monotonic()))
    except (TransferFailed, OSError) as error:
        _tell({"event": "failed", "reason": str(error)})
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
