"""Transfer of bytes from memory to memory over parallel TCP streams; the receiver counts.

A byte counts when the receiver has it, also in a transfer that fails.  The streams take blocks from one pool,
as those of GridFTP do, so a faster stream sends more.  At SIGTERM a sender discards its socket buffers: a
slow path would need minutes to empty them.
"""

from __future__ import annotations

import math
import selectors
import socket
import struct
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from typing import Any

from mininet_topos.traffic import endpoint
from mininet_topos.traffic.endpoint import ByteCount, FlowFailedError, Load, StopRequest

BLOCK = 65_536
"""Bytes handed to the kernel at a time: 9 ms of a 58 Mbit/s path."""
CONNECT_RETRY = 0.2
PACE_INTERVAL = 0.02
"""Seconds between two writes of a sender with a rate."""
RESET_PATIENCE = 1.0
"""Seconds in which the other streams end after the reset of the first: a reset can get lost."""
# <asm-generic/socket.h>: as SO_SNDBUF and SO_RCVBUF, beyond the limits of net.core; for CAP_NET_ADMIN.  The
# kernel doubles the value; half of the buffer is the window (socket(7), tcp(7)).
_SNDBUFFORCE, _RCVBUFFORCE = 32, 33
# <linux/tcp.h>, struct tcp_info: eight bytes, 24 numbers of 32 bits, four of 64, then segs_out.
_TCP_INFO = struct.Struct("@8x24I4QI")
_TOTAL_RETRANSMITTED, _SEGMENTS_OUT = 23, 28


def receive(load: Load, counted: ByteCount, stop: StopRequest) -> Mapping[str, Any]:
    """Count bytes until each stream is closed or reset, or until ``stop``; return the fields of ``counted``.

    :raises FlowFailedError: if nothing arrives for ``patience`` seconds, or a stream is missing.
    :raises OSError: if the address cannot be bound, or a window is set without CAP_NET_ADMIN.
    """
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        listener = stack.enter_context(
            socket.create_server((load.destination[1], load.port), backlog=load.streams)
        )
        listener.setblocking(False)
        if load.window is not None:
            # Accepted streams inherit it: their first packets agree on the scale (RFC 7323, 2.2).
            listener.setsockopt(socket.SOL_SOCKET, _RCVBUFFORCE, load.window)
        selector.register(listener, selectors.EVENT_READ)
        endpoint.emit(endpoint.LISTENING)
        accepted = closed = 0
        deadline, buffer = math.inf, bytearray(4 * BLOCK)
        for ready in _select(selector, load.patience, stop):
            if closed == load.streams or time.monotonic() >= deadline:
                break
            if ready is listener:
                selector.register(_accept(listener, stack, load), selectors.EVENT_READ)
                accepted += 1
                counted.begin(time.time())
            elif ready is not None:
                size, was_reset = _read(ready, buffer)
                if size > 0:
                    counted.add(size, time.time())
                    continue
                selector.unregister(ready)
                closed += 1
                deadline = min(deadline, time.monotonic() + RESET_PATIENCE) if was_reset else deadline
        if accepted != load.streams:
            raise FlowFailedError(f"{accepted} of {load.streams} streams arrived")
        return asdict(counted)


def send(load: Load, stop: StopRequest) -> Mapping[str, Any]:
    """Send bytes; return the numbers of sent segments (``packets``) and of retransmitted ones (``lost``).

    :raises FlowFailedError: if the receiver cannot be reached, hangs up, or takes nothing for ``patience`` s.
    """
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        streams = [stack.enter_context(_connect(load, stop)) for _ in range(load.streams)]
        for stream in streams:
            selector.register(stream, selectors.EVENT_WRITE)
        endpoint.emit(endpoint.SENDING)
        try:
            _write_all(selector, load, stop)
            _finish(selector, streams, load, stop)
            segments, retransmitted = _close(streams, at_once=stop.is_set)
        except OSError as error:
            raise FlowFailedError(f"a stream broke: {error}") from error
        return {"packets": segments, "lost": retransmitted}


def _write_all(selector: selectors.BaseSelector, load: Load, stop: StopRequest) -> None:
    block, began, written = bytes(BLOCK), time.monotonic(), 0
    for stream in _select(selector, load.patience, stop):
        if written == load.size:
            return
        if stream is None:
            continue
        allowed = BLOCK if load.size is None else load.size - written
        if load.rate is not None:
            allowed = min(allowed, int(load.rate / 8 * (time.monotonic() - began + PACE_INTERVAL)) - written)
        if allowed <= 0:
            time.sleep(PACE_INTERVAL)
            continue
        with suppress(BlockingIOError):
            written += stream.send(block[:allowed])


def _finish(
    selector: selectors.BaseSelector, streams: Sequence[socket.socket], load: Load, stop: StopRequest
) -> None:
    """Close the sending direction, then wait until the receiver has read everything and closes its own."""
    if stop.is_set:
        return
    for stream in streams:
        stream.shutdown(socket.SHUT_WR)
        selector.modify(stream, selectors.EVENT_READ)
    for ready in _select(selector, load.patience, stop):
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
        events = selector.select(endpoint.POLL_INTERVAL)
        for key, _ in events:
            yield key.fileobj  # type: ignore[misc]
        yield None
        now = time.monotonic()
        last = now if events else last
        if now - last > patience:
            raise FlowFailedError(f"nothing moved for {patience:g} s")


def _accept(listener: socket.socket, stack: ExitStack, load: Load) -> socket.socket:
    stream, _peer = listener.accept()
    stack.enter_context(stream)
    if load.window is not None:
        # Since Linux 6.6 the advertised window grows beyond half of the buffer with the size of packets.
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, load.window)
    stream.setblocking(False)
    return stream


def _connect(load: Load, stop: StopRequest) -> socket.socket:
    """Return a stream to the receiver; repeat a refused connection."""
    deadline = time.monotonic() + load.patience
    _, receiver = load.destination
    while True:
        try:
            stream = socket.create_connection((receiver, load.port), load.patience, (load.source[1], 0))
            break
        except OSError as error:
            if time.monotonic() >= deadline or stop.is_set:
                raise FlowFailedError(f"{receiver} port {load.port}: {error}") from error
            time.sleep(CONNECT_RETRY)
    if load.window is not None:
        stream.setsockopt(socket.SOL_SOCKET, _SNDBUFFORCE, load.window)
    stream.setblocking(False)
    return stream


def _read(stream: socket.socket, buffer: bytearray) -> tuple[int, bool]:
    """Return the number of bytes that arrived, 0 at the end, and whether the stream was reset."""
    try:
        return stream.recv_into(buffer), False
    except OSError:
        return 0, True


def _close(streams: Iterable[socket.socket], *, at_once: bool) -> tuple[int, int]:
    """Close all; return the numbers of sent and of retransmitted segments (``TCP_INFO`` in tcp(7)).

    :param at_once: whether the kernel discards the bytes in its buffers (SO_LINGER in socket(7)).
    """
    found = []
    for stream in streams:
        found.append(_TCP_INFO.unpack(stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)))
        if at_once:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.close()
    return sum(one[_SEGMENTS_OUT] for one in found), sum(one[_TOTAL_RETRANSMITTED] for one in found)


if __name__ == "__main__":
    endpoint.run_end(sys.argv[1:], receive, send)
