"""Move real bytes from memory to memory over parallel TCP streams; the receiver counts.

What a sender has written may still be in a socket buffer; bytes count when the receiver has them, also those
of a transfer that fails.  The streams take their work from one pool, as GridFTP's do: a stream that the
network favours sends more.  A sender that gets SIGTERM cuts its streams off, since a slow path could be busy
for minutes with what its buffers hold.

As a program (one JSON object per line)::

    python -m mininet_topos.traffic.tcp_transfer receive --bind 10.2.0.10 --port 5001 --streams 4
    python -m mininet_topos.traffic.tcp_transfer send --bind 10.1.0.10 --to 10.2.0.10 --port 5001 --streams 4
"""

from __future__ import annotations

import math
import selectors
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass

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

BLOCK = 65_536
"""Bytes handed to the kernel at a time: 9 ms of a 58 Mbit/s path."""
MAX_STREAMS = 128
CONNECT_RETRY = 0.2
PACE_INTERVAL = 0.02
"""Seconds between two writes of a sender with a rate."""
RESET_PATIENCE = 1.0
"""Seconds in which the other streams end after the first was cut off: a reset may get lost."""
MIN_WINDOW, MAX_WINDOW = 4096, 1 << 30
"""Bytes; below, the kernel takes its own minimum (tcp(7))."""

# <asm-generic/socket.h>: as SO_SNDBUF and SO_RCVBUF, beyond the limits of net.core; for CAP_NET_ADMIN.
_SNDBUFFORCE, _RCVBUFFORCE = 32, 33
# <linux/tcp.h>, struct tcp_info: eight bytes, 24 numbers of 32 bits, four of 64, then segs_out.
_TCP_INFO = struct.Struct("@8x24I4QI")
_TOTAL_RETRANSMITTED, _SEGMENTS_OUT = 23, 28


@dataclass(frozen=True, slots=True)
class TransferEnd:
    """One end of a transfer.

    :param bind: local IPv4 address.
    :param patience: seconds without progress after which the transfer has failed.
    :param window: bytes of each stream that may be under way; None for the kernel's choice.
    """

    bind: str
    port: int
    streams: int = 1
    patience: float = PATIENCE
    window: int | None = None


def receive(end: TransferEnd, stop: StopRequest, count: Callable[[ByteCount], object]) -> ByteCount:
    """Count until each stream is closed or cut off, or until ``stop``.

    :param count: is given the count when it is made, with the first stream.
    :raises FlowFailedError: if nothing arrives for ``patience`` seconds, or a stream is missing.
    :raises OSError: if the address cannot be bound or the window is refused.
    """
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        listener = stack.enter_context(_listen(end))
        selector.register(listener, selectors.EVENT_READ)
        emit(LISTENING)
        counted: ByteCount | None = None
        accepted = closed = 0
        over, buffer = math.inf, bytearray(4 * BLOCK)
        for ready in _select(selector, end.patience, stop):
            if closed == end.streams or time.monotonic() >= over:
                break
            if ready is None:
                continue
            now = time.time()
            if ready is listener:
                selector.register(_accept(listener, stack, end), selectors.EVENT_READ)
                accepted += 1
                if counted is None:
                    counted = ByteCount(now, now)
                    count(counted)
                continue
            assert counted is not None  # noqa: S101 - a stream was accepted before
            size, was_reset = _read(ready, buffer)
            if size == 0:
                selector.unregister(ready)
                closed += 1
                over = min(over, time.monotonic() + RESET_PATIENCE) if was_reset else over
            elif counted.add(size, now):
                last = len(counted.per_second) - 1
                emit(PROGRESS, bytes=counted.bytes, second=last, of_second=counted.per_second[-1])
        if counted is None or accepted != end.streams:
            raise FlowFailedError(f"{accepted} of {end.streams} streams arrived")
        return counted


def send(
    end: TransferEnd, to: str, size: int | None, rate: float | None, stop: StopRequest
) -> tuple[int, int]:
    """Send bytes; return the numbers of sent and of retransmitted segments.

    :param size: bytes; None for as many as go until ``stop``.
    :param rate: bits/s of all streams together, at most; None for what TCP gets.
    :raises FlowFailedError: if the receiver cannot be reached, hangs up, or takes nothing for ``patience`` s.
    """
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        streams = [stack.enter_context(_connect(end, to, stop)) for _ in range(end.streams)]
        for stream in streams:
            selector.register(stream, selectors.EVENT_WRITE)
        emit(SENDING)
        try:
            _write_all(selector, end, size, rate, stop)
            _finish(selector, streams, end, stop)
            return _close(streams, at_once=stop.is_set)
        except OSError as error:
            raise FlowFailedError(f"a stream broke: {error}") from error


def _write_all(
    selector: selectors.BaseSelector,
    end: TransferEnd,
    size: int | None,
    rate: float | None,
    stop: StopRequest,
) -> None:
    block, began, written = bytes(BLOCK), time.monotonic(), 0
    for stream in _select(selector, end.patience, stop):
        if written == size:
            return
        if stream is None:
            continue
        allowed = BLOCK if size is None else size - written
        if rate is not None:
            allowed = min(allowed, int(rate / 8 * (time.monotonic() - began + PACE_INTERVAL)) - written)
        if allowed <= 0:
            time.sleep(PACE_INTERVAL)
            continue
        with suppress(BlockingIOError):
            written += stream.send(block[:allowed])


def _finish(
    selector: selectors.BaseSelector, streams: Sequence[socket.socket], end: TransferEnd, stop: StopRequest
) -> None:
    """Close the sending direction, then wait until the receiver has read everything and closes its own."""
    if stop.is_set:
        return
    for stream in streams:
        stream.shutdown(socket.SHUT_WR)
        selector.modify(stream, selectors.EVENT_READ)
    for ready in _select(selector, end.patience, stop):
        if ready is not None:
            ready.recv(1)
            selector.unregister(ready)
        if not selector.get_map():
            return


def _select(
    selector: selectors.BaseSelector, patience: float, stop: StopRequest
) -> Iterator[socket.socket | None]:
    """Yield each socket that is ready, and None after each round, until ``stop``."""
    last = time.monotonic()
    while not stop.is_set:
        events = selector.select(POLL_INTERVAL)
        for key, _ in events:
            yield key.fileobj  # type: ignore[misc]
        yield None
        now = time.monotonic()
        last = now if events else last
        if now - last > patience:
            raise FlowFailedError(f"nothing moved for {patience:g} s")


def _listen(end: TransferEnd) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if end.window is not None:
            _set_buffer(listener, _RCVBUFFORCE, socket.SO_RCVBUF, end.window)  # accepted streams inherit it
        listener.bind((end.bind, end.port))
        listener.listen(end.streams)
    except OSError:
        listener.close()
        raise
    listener.setblocking(False)
    return listener


def _accept(listener: socket.socket, stack: ExitStack, end: TransferEnd) -> socket.socket:
    stream, _peer = listener.accept()
    stack.enter_context(stream)
    if end.window is not None:
        # Since Linux 6.6 the advertised window grows beyond half of the buffer with the size of packets.
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, end.window)
    stream.setblocking(False)
    return stream


def _connect(end: TransferEnd, to: str, stop: StopRequest) -> socket.socket:
    """Return a stream to the receiver; one that is refused is tried again."""
    deadline = time.monotonic() + end.patience
    while True:
        stream = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            if end.window is not None:
                _set_buffer(stream, _SNDBUFFORCE, socket.SO_SNDBUF, end.window)
            stream.settimeout(end.patience)
            stream.bind((end.bind, 0))
            stream.connect((to, end.port))
        except OSError as error:
            stream.close()
            if time.monotonic() >= deadline or stop.is_set:
                raise FlowFailedError(f"{to} port {end.port}: {error}") from error
            time.sleep(CONNECT_RETRY)
            continue
        stream.setblocking(False)
        return stream


def _set_buffer(sock: socket.socket, forced: int, ordinary: int, window: int) -> None:
    """Set a buffer, before the connection is made: its first packets agree on the scale (RFC 7323, 2.2).

    Of what the kernel gives, half is the window (socket(7), tcp(7)).

    :raises FlowFailedError: if the kernel gives less.
    """
    try:
        sock.setsockopt(socket.SOL_SOCKET, forced, window)
    except PermissionError:
        sock.setsockopt(socket.SOL_SOCKET, ordinary, window)
    given = sock.getsockopt(socket.SOL_SOCKET, ordinary) // 2
    if given < window:
        raise FlowFailedError(
            f"window: the kernel gives {given} of {window} bytes; raise net.core.[rw]mem_max"
        )


def _read(stream: socket.socket, buffer: bytearray) -> tuple[int, bool]:
    """Return bytes that arrived, 0 at the end; and whether the stream was cut off."""
    try:
        return stream.recv_into(buffer), False
    except OSError:
        return 0, True


def _close(streams: Iterable[socket.socket], *, at_once: bool) -> tuple[int, int]:
    """Close all; return the numbers of sent and of retransmitted segments (``TCP_INFO`` in tcp(7)).

    :param at_once: whether the kernel discards what is under way (SO_LINGER in socket(7)).
    """
    found = []
    for stream in streams:
        found.append(_TCP_INFO.unpack(stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)))
        if at_once:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.close()
    return sum(one[_SEGMENTS_OUT] for one in found), sum(one[_TOTAL_RETRANSMITTED] for one in found)


def receiver_argv(end: TransferEnd) -> list[str]:
    """Return the command of the receiving end."""
    return _argv("receive", end)


def sender_argv(end: TransferEnd, to: str, size: int | None, rate: float | None) -> list[str]:
    """Return the command of the sending end; arguments as of :func:`send`."""
    argv = [*_argv("send", end), "--to", to]
    argv += [] if size is None else ["--bytes", str(size)]
    return argv if rate is None else [*argv, "--rate", str(rate)]


def _argv(side: str, end: TransferEnd) -> list[str]:
    argv = [sys.executable, "-m", "mininet_topos.traffic.tcp_transfer", side, "--bind", end.bind]
    argv += ["--port", str(end.port), "--streams", str(end.streams), "--patience", f"{end.patience:g}"]
    return argv if end.window is None else [*argv, "--window", str(end.window)]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one end; exit status 3 if the transfer failed."""
    parser, receiver, sender = make_parser("tcp_transfer")
    for side in (receiver, sender):
        side.add_argument("--streams", type=number_between(1, MAX_STREAMS), default=1)
        side.add_argument("--window", type=number_between(MIN_WINDOW, MAX_WINDOW), help="bytes per stream")
    sender.add_argument("--bytes", type=number_between(1, 10**15), help="without it, until SIGTERM")
    sender.add_argument("--rate", type=number_between(1e3, 1e12), help="bits/s at most")
    chosen = parser.parse_args(argv)
    end = TransferEnd(chosen.bind, chosen.port, chosen.streams, chosen.patience, chosen.window)
    stop, counts = stop_on_sigterm(), list[ByteCount]()
    try:
        if chosen.side == "receive":
            emit(RECEIVED, **asdict(receive(end, stop, counts.append)))
        else:
            segments, retransmitted = send(end, chosen.to, chosen.bytes, chosen.rate, stop)
            emit(SENT, packets=segments, lost=retransmitted)
    except (FlowFailedError, OSError) as error:
        emit(FAILED, reason=str(error), **(asdict(counts[0]) if counts else {}))
        return EXIT_FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
