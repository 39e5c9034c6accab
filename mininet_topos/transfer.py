"""Move real bytes: a memory-to-memory TCP transfer of N bytes, or of N seconds, over parallel streams.

The receiver is the witness: it counts every byte of every stream until the sender closes it, and reports
bytes, seconds and a series per second, also of a transfer that fails.  The sender's numbers are progress
only: what it has written may still be in a socket buffer.

The streams take their work from one pool (as GridFTP's do): a stream that the network favours sends more,
none is left over at the end.  One thread serves all streams of a side; one block of zeros is all the memory
a transfer needs, whatever its size.

A transfer of seconds is cut off after them, or when it is stopped, on both sides: what the sender's buffers
still hold could keep a slow path busy for minutes.

As a program (one JSON object per line; the last one is the report)::

    python -m mininet_topos.transfer receive --bind 10.2.0.10 --port 5001 --streams 4
    python -m mininet_topos.transfer send --bind 10.1.0.10 --to 10.2.0.10 --port 5001 --streams 4 --bytes 1000

A side that gets SIGTERM sends, or counts, no more, and reports.  With ``--into DIR`` a receiver writes what
arrives to a file there, which has no name and is gone with it; what it counts is written.

Exit status: 0 done; 2 bad arguments; 3 the other side was silent for ``--timeout`` seconds or hung up.
"""

from __future__ import annotations

import argparse
import math
import selectors
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO

from mininet_topos import tcp_statistics, windows
from mininet_topos.saying import say
from mininet_topos.stopping import LOOK_S, Stop, stop_by_sigterm, until_sigterm
from mininet_topos.tcp_statistics import TcpStatistics

BLOCK = 65_536
"""Bytes handed to the kernel at a time: 9 ms of a 58 Mbit/s path."""

MAX_STREAMS = 128
CONNECT_RETRY = 0.2
PACE = 0.02
"""Seconds between two looks at whether a sender with a rate may write again."""
DEFAULT_TIMEOUT = 60.0
HURRY_S = 1.0
"""Seconds by which the receiver of a transfer of seconds may be over before its sender."""
RESET_S = 1.0
"""Seconds in which the other streams of a transfer of seconds end after the first was cut off: a reset may
get lost, and none is sent again."""
STOPPED_S = 5.0
"""Seconds that a sender of so many bytes that was stopped waits for what is under way to arrive."""

Tell = Callable[[dict[str, Any]], None]


class TransferFailed(Exception):
    """The transfer did not complete; says how far it came.

    :ivar counted: what had arrived by then, of the receiving side; None if no stream came.
    """

    counted: Received | None = None


@dataclass(frozen=True, slots=True)
class Transfer:
    """One side of a transfer.

    :param bind: local IPv4 address: on the sending side the one the path's rules name.
    :param ports: TCP ports at the receiver; streams are dealt to them in turn.
    :param timeout: seconds without any progress after which it has failed.
    :param rate: bits/s of all streams together that the sending side does not exceed; None: what TCP gets.
    :param window: bytes of each stream that may be under way (:mod:`mininet_topos.windows`), to be said to
        both sides; None: the kernel tunes it.
    :param into: on the receiving side, a folder on the disk that what arrives is written to; None: it is
        forgotten.
    """

    bind: str
    ports: tuple[int, ...]
    streams: int
    timeout: float = DEFAULT_TIMEOUT
    rate: float | None = None
    window: int | None = None
    into: str | None = None


@dataclass(slots=True)
class Progress:
    """What has moved so far, and when (seconds since the first stream was there).

    :param last: when the last bytes moved, by the clock of ``started``; None if none has.
    """

    streams: int
    started: float
    last: float | None = None
    bytes: int = 0
    per_second: list[int] = field(default_factory=list)
    statistics: TcpStatistics | None = None
    """The sender's, when it has sent everything."""

    def add(self, count: int, now: float) -> bool:
        """Note ``count`` bytes; True if a new second has begun with them."""
        second = int(now - self.started)
        begun = second >= len(self.per_second)
        self.per_second.extend([0] * (second + 1 - len(self.per_second)))
        self.per_second[second] += count
        self.bytes += count
        self.last = now
        return begun

    def begun(self, now: float) -> dict[str, Any]:
        """As printed when a second begins: of whom nothing more is heard is known by these."""
        second = {"second": len(self.per_second) - 1, "of_second": self.per_second[-1]}
        return {**self.report("progress", now), **second}

    def report(self, event: str, now: float) -> dict[str, Any]:
        """As printed: ``progress`` or ``done``."""
        seconds = round(now - self.started, 6)
        told = {"event": event, "bytes": self.bytes, "seconds": seconds, "streams": self.streams}
        return told if self.statistics is None else {**told, **asdict(self.statistics)}


@dataclass(frozen=True, slots=True)
class Received:
    """The receiver's report.

    :param seconds: from the first stream to the last byte.
    :param silent: seconds since the last byte.
    :param started_at: when the first stream was accepted (seconds since 1970).
    :param per_second: bytes that arrived in each second since then.
    """

    bytes: int
    seconds: float
    silent: float
    streams: int
    started_at: float
    per_second: tuple[int, ...]


@dataclass(slots=True)
class _Reception:
    """What has been accepted of so many streams, and counted.

    :param started_at: when the first stream was accepted (seconds since 1970).
    """

    streams: int
    progress: Progress | None = None
    started_at: float = 0.0
    accepted: int = 0

    def accept(self) -> bool:
        """Note one more stream; True if it was the last."""
        if self.progress is None:
            self.progress, self.started_at = Progress(self.streams, time.monotonic()), time.time()
        self.accepted += 1
        return self.accepted == self.streams

    def report(self) -> Received | None:
        """The sums; None if no stream came."""
        progress = self.progress
        if progress is None:
            return None
        last = progress.started if progress.last is None else progress.last
        times = (last - progress.started, time.monotonic() - last)
        series = tuple(progress.per_second)
        return Received(progress.bytes, *times, self.accepted, self.started_at, series)

    def whole(self) -> Received:
        """The sums.

        :raises TransferFailed: if a stream is missing.
        """
        report = self.report()
        if report is None or report.streams != self.streams:
            raise TransferFailed(f"{self.accepted} streams came instead of {self.streams}")
        return report


def receive(transfer: Transfer, tell: Tell, seconds: float = math.inf, stop: Stop | None = None) -> Received:
    """Accept the streams and count until each is closed; ``tell`` hears when it listens and every second.

    :param seconds: for which is counted at most, from when all streams are there.
    :param stop: is set when no more is to be counted; what has arrived by then is the report.
    :raises TransferFailed: if nothing happens for the time-out, or what arrives cannot be written.
    :raises OSError: if it cannot listen, or has no file to write to.
    """
    stop = Stop() if stop is None else stop
    with ExitStack() as stack:
        store = None
        if transfer.into is not None:
            store = stack.enter_context(tempfile.TemporaryFile(dir=transfer.into, buffering=0))
        selector = stack.enter_context(selectors.DefaultSelector())
        for port in transfer.ports:
            listener = stack.enter_context(_listener(transfer, port))
            selector.register(listener, selectors.EVENT_READ, "accept")
        tell({"event": "listening", "ports": list(transfer.ports)})
        reception, over, ended = _Reception(transfer.streams), math.inf, 0
        buffer = bytearray(4 * BLOCK)
        try:
            while ended < transfer.streams and time.monotonic() < over and not stop.is_set():
                for sock, kind in _ready(selector, transfer.timeout, reception.progress, over, stop):
                    if kind == "accept":
                        selector.register(_accept(sock, stack, transfer), selectors.EVENT_READ, "stream")
                        if reception.accept():
                            over = time.monotonic() + seconds
                        continue
                    progress = reception.progress
                    count = _read(sock, buffer, progress, cut_off=math.isfinite(seconds))
                    if store is not None:
                        _store(store, memoryview(buffer)[:count])
                    if count == 0:
                        selector.unregister(sock)
                        sock.close()
                        ended += 1
                        over = min(over, time.monotonic() + RESET_S) if math.isfinite(seconds) else over
                    elif progress is not None and progress.add(count, time.monotonic()):
                        tell(progress.begun(time.monotonic()))
            return reception.whole()
        except TransferFailed as failed:
            failed.counted = reception.report()
            raise


def send(
    transfer: Transfer,
    to: str,
    size: int | None,
    tell: Tell,
    seconds: float = math.inf,
    until: AbstractContextManager[None] | None = None,
) -> Progress:
    """Send exactly ``size`` bytes; ``tell`` hears every second how many the kernel has taken.

    :param size: None: as many as go in ``seconds``; what is under way then is lost.
    :param until: a context that is left when no more is to be sent; of so many bytes, those under way
        still arrive.
    :raises TransferFailed: if the receiver cannot be reached, hangs up, or takes nothing for the time-out.
    """
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for number in range(transfer.streams):
            port = transfer.ports[number % len(transfer.ports)]
            stream = stack.enter_context(_connected(transfer, to, port))
            selector.register(stream, selectors.EVENT_WRITE, "stream")
        progress = Progress(transfer.streams, time.monotonic())
        tell({"event": "sending"})
        stopped = True
        with nullcontext() if until is None else until:
            _send_all(selector, transfer, size, seconds, progress, tell)
            stopped = False
        streams = [key.fileobj for key in selector.get_map().values()]
        if size is None:
            _cut_off(streams, progress)
        else:
            _finish(streams, STOPPED_S if stopped else transfer.timeout, progress)
        return progress


def _send_all(
    selector: selectors.BaseSelector,
    transfer: Transfer,
    size: int | None,
    seconds: float,
    progress: Progress,
    tell: Tell,
) -> None:
    block = bytes(BLOCK)
    over = progress.started + seconds
    while (size is None or progress.bytes < size) and time.monotonic() < over:
        if _allowed(transfer, size, progress) <= 0:
            time.sleep(PACE)
            continue
        for sock, _kind in _ready(selector, transfer.timeout, progress, over):
            try:
                count = _write(sock, block[: max(0, _allowed(transfer, size, progress))], progress)
            except TransferFailed:
                if size is None and time.monotonic() >= over - HURRY_S:
                    return  # the receiver's seconds were over first
                raise
            if progress.add(count, time.monotonic()):
                tell(progress.report("progress", time.monotonic()))


def _allowed(transfer: Transfer, size: int | None, progress: Progress) -> int:
    """How many bytes may be written now: what is left, or less if the rate says so."""
    left = BLOCK if size is None else size - progress.bytes
    if transfer.rate is None:
        return left
    due = int(transfer.rate / 8 * (time.monotonic() - progress.started + PACE))
    return min(left, due - progress.bytes)


def _ready(
    selector: selectors.BaseSelector,
    timeout: float,
    progress: Progress | None,
    over: float = math.inf,
    stop: Stop | None = None,
) -> Iterator[tuple[socket.socket, str]]:
    """What can be gone on with; nothing if it is over, or stopped, meanwhile."""
    silent_until = time.monotonic() + timeout
    longest = math.inf if stop is None else LOOK_S
    while True:
        now = time.monotonic()
        events = selector.select(max(0.0, min(silent_until - now, over - now, longest)))
        now = time.monotonic()
        if events or now >= over or (stop is not None and stop.is_set()):
            return ((key.fileobj, key.data) for key, _mask in events)  # type: ignore[misc]
        if now >= silent_until:
            moved = progress.bytes if progress is not None else 0
            raise TransferFailed(f"nothing moved for {timeout:g} s, after {moved} bytes")


def _listener(transfer: Transfer, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if transfer.window is not None:
            windows.limit(listener, "receive", transfer.window)  # what is accepted inherits it
        listener.bind((transfer.bind, port))
        listener.listen(transfer.streams)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def _accept(listener: socket.socket, stack: ExitStack, transfer: Transfer) -> socket.socket:
    stream, _peer = listener.accept()
    stack.enter_context(stream)
    if transfer.window is not None:
        windows.clamp(stream, transfer.window)
    stream.setblocking(False)
    return stream


@contextmanager
def _connected(transfer: Transfer, to: str, port: int) -> Iterator[socket.socket]:
    """A stream to the receiver; one that does not listen yet is tried again."""
    deadline = time.monotonic() + transfer.timeout
    while True:
        try:
            stream = _connection(transfer, to, port)
            break
        except windows.NotGiven:
            raise  # asking again would not help
        except OSError as error:
            if time.monotonic() >= deadline:
                raise TransferFailed(f"{to} port {port}: {error}") from error
            time.sleep(CONNECT_RETRY)
    with stream:
        stream.setblocking(False)
        yield stream


def _connection(transfer: Transfer, to: str, port: int) -> socket.socket:
    stream = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if transfer.window is not None:
            windows.limit(stream, "send", transfer.window)
        stream.settimeout(transfer.timeout)
        stream.bind((transfer.bind, 0))
        stream.connect((to, port))
    except OSError:
        stream.close()
        raise
    return stream


def _read(stream: socket.socket, buffer: bytearray, progress: Progress | None, *, cut_off: bool) -> int:
    try:
        return stream.recv_into(buffer)
    except OSError as error:
        if cut_off and isinstance(error, ConnectionResetError):
            return 0
        moved = progress.bytes if progress is not None else 0
        raise TransferFailed(f"a stream broke after {moved} bytes: {error}") from error


def _store(file: BinaryIO, block: memoryview) -> None:
    try:
        while block:
            block = block[file.write(block) :]
    except OSError as error:
        raise TransferFailed(f"what arrives cannot be written: {error}") from error


def _write(stream: socket.socket, block: bytes, progress: Progress) -> int:
    if not block:
        return 0
    try:
        return stream.send(block)
    except BlockingIOError:
        return 0
    except OSError as error:
        raise TransferFailed(f"a stream broke after {progress.bytes} bytes: {error}") from error


def _cut_off(streams: Sequence[Any], progress: Progress) -> None:
    """Close all at once; the kernel forgets what is under way (SO_LINGER of socket(7))."""
    try:
        progress.statistics = tcp_statistics.together(tcp_statistics.read(stream) for stream in streams)
        for stream in streams:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            stream.close()
    except OSError as error:
        raise TransferFailed(f"a stream broke after {progress.bytes} bytes: {error}") from error


def _finish(streams: Sequence[Any], timeout: float, progress: Progress) -> None:
    """Close our direction of all, then wait for the receiver to close its own: it has read everything."""
    deadline = time.monotonic() + timeout
    try:
        for stream in streams:
            stream.shutdown(socket.SHUT_WR)
        for stream in streams:
            stream.settimeout(max(PACE, deadline - time.monotonic()))
            stream.recv(1)
        progress.statistics = tcp_statistics.together(tcp_statistics.read(stream) for stream in streams)
    except OSError as error:
        raise TransferFailed(f"a stream broke after {progress.bytes} bytes: {error}") from error


def arguments(
    side: str,
    transfer: Transfer,
    to: str | None = None,
    size: int | None = None,
    seconds: float | None = None,
) -> list[str]:
    """The command line that runs one side; what the testbed starts inside a host."""
    argv = [sys.executable, "-m", "mininet_topos.transfer", side, "--bind", transfer.bind]
    for port in transfer.ports:
        argv += ["--port", str(port)]
    argv += ["--streams", str(transfer.streams), "--timeout", str(transfer.timeout)]
    if transfer.window is not None:
        argv += ["--window", str(transfer.window)]
    if to is not None:
        argv += ["--to", to]
    if size is not None:
        argv += ["--bytes", str(size)]
    if seconds is not None:
        argv += ["--seconds", str(seconds)]
    if side == "receive" and transfer.into is not None:
        argv += ["--into", transfer.into]
    if side == "send" and transfer.rate is not None:
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


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value <= 86_400:
        raise argparse.ArgumentTypeError(f"{value:g} is not in 0..86400")
    return value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="transfer", description="memory-to-memory TCP transfer")
    sides = parser.add_subparsers(dest="side", required=True)
    for side in (receive_side := sides.add_parser("receive"), send_side := sides.add_parser("send")):
        side.add_argument("--bind", required=True)
        side.add_argument("--port", type=_between(1, 65_535), action="append", required=True)
        side.add_argument("--streams", type=_between(1, MAX_STREAMS), default=1)
        side.add_argument("--timeout", type=float, default=DEFAULT_TIMEOUT)
        side.add_argument("--window", type=_between(windows.LEAST, windows.MOST), help="bytes per stream")
    receive_side.add_argument("--into", metavar="DIR", help="write what arrives to a file there")
    receive_side.add_argument("--seconds", type=_seconds, help="count for so long")
    send_side.add_argument("--to", required=True)
    amount = send_side.add_mutually_exclusive_group(required=True)
    amount.add_argument("--bytes", type=_between(1, 10**15))
    amount.add_argument("--seconds", type=_seconds, help="send for so long, as much as goes")
    send_side.add_argument("--rate", type=_rate, help="bits/s that are not exceeded")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one side and print its report."""
    chosen = _parser().parse_args(argv)
    rate, into = (chosen.rate, None) if chosen.side == "send" else (None, chosen.into)
    ports = tuple(chosen.port)
    transfer = Transfer(chosen.bind, ports, chosen.streams, chosen.timeout, rate, chosen.window, into)
    try:
        seconds = math.inf if chosen.seconds is None else chosen.seconds
        if chosen.side == "receive":
            say({"event": "received", **asdict(receive(transfer, say, seconds, stop_by_sigterm()))})
        else:
            sent = send(transfer, chosen.to, chosen.bytes, say, seconds, until_sigterm())
            say(sent.report("sent", time.monotonic()))
    except (TransferFailed, OSError) as error:
        counted = error.counted if isinstance(error, TransferFailed) else None
        say({"event": "failed", "reason": str(error), **({} if counted is None else asdict(counted))})
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
