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
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress

from mininet_topos.traffic import endpoint
from mininet_topos.traffic.endpoint import Delivery, FlowFailedError, Load

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


def receive(load: Load, delivery: Delivery) -> None:
    """Count bytes until each stream is closed or reset, or until the stop.

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
        endpoint.emit(endpoint.READY, delivery)
        accepted, deadline, buffer = 0, math.inf, bytearray(4 * BLOCK)
        for ready in _select(selector, load.patience):
            if time.monotonic() >= deadline:
                break
            if ready is listener:
                selector.register(stack.enter_context(_accept(listener, load)), selectors.EVENT_READ)
                delivery.begin(time.time())
                accepted += 1
                if accepted == load.streams:
                    selector.unregister(listener)
            elif ready is not None:
                try:
                    size = ready.recv_into(buffer)
                except OSError:  # a reset
                    size = 0
                    deadline = min(deadline, time.monotonic() + RESET_PATIENCE)
                if size == 0:
                    selector.unregister(ready)
                else:
                    delivery.add(size, time.time())
        if accepted != load.streams:
            raise FlowFailedError(f"{accepted} of {load.streams} streams arrived")


def send(load: Load, delivery: Delivery) -> None:
    """Send bytes until ``size`` or the stop.

    :raises FlowFailedError: if the receiver cannot be reached, hangs up, or takes nothing for ``patience`` s.
    """
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        streams = [stack.enter_context(_connect(load)) for _ in range(load.streams)]
        for stream in streams:
            selector.register(stream, selectors.EVENT_WRITE)
        endpoint.emit(endpoint.READY, delivery)
        try:
            _write_all(selector, load)
            _finish(selector, streams, load)
            delivery.packets_sent, delivery.packets_lost = _close(streams)
        except OSError as error:
            raise FlowFailedError(f"a stream broke: {error}") from error


def _write_all(selector: selectors.BaseSelector, load: Load) -> None:
    block, began, written = bytes(BLOCK), time.monotonic(), 0
    for stream in _select(selector, load.patience):
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


def _finish(selector: selectors.BaseSelector, streams: Iterable[socket.socket], load: Load) -> None:
    """Close the sending direction, then wait until the receiver has read everything and closes its own."""
    if endpoint.is_stopped():
        return
    for stream in streams:
        stream.shutdown(socket.SHUT_WR)
        selector.modify(stream, selectors.EVENT_READ)
    for ready in _select(selector, load.patience):
        if ready is not None:
            ready.recv(1)
            selector.unregister(ready)


def _select(selector: selectors.BaseSelector, patience: float) -> Iterator[socket.socket | None]:
    """Yield each socket that is ready, and None after each round, until none is registered or the stop."""
    last = time.monotonic()
    while selector.get_map() and not endpoint.is_stopped():
        events = selector.select(endpoint.POLL_INTERVAL)
        for key, _ in events:
            yield key.fileobj  # type: ignore[misc]
        yield None
        now = time.monotonic()
        last = now if events else last
        if now - last > patience:
            raise FlowFailedError(f"nothing moved for {patience:g} s")


def _accept(listener: socket.socket, load: Load) -> socket.socket:
    stream, _peer = listener.accept()
    if load.window is not None:
        # Since Linux 6.6 the advertised window grows beyond half of the buffer with the size of packets.
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, load.window)
    stream.setblocking(False)
    return stream


def _connect(load: Load) -> socket.socket:
    """Return a stream to the receiver; repeat a refused connection."""
    deadline = time.monotonic() + load.patience
    _, receiver = load.destination
    while True:
        try:
            stream = socket.create_connection((receiver, load.port), load.patience, (load.source[1], 0))
            break
        except OSError as error:
            if time.monotonic() >= deadline or endpoint.is_stopped():
                raise FlowFailedError(f"{receiver} port {load.port}: {error}") from error
            time.sleep(CONNECT_RETRY)
    if load.window is not None:
        stream.setsockopt(socket.SOL_SOCKET, _SNDBUFFORCE, load.window)
    stream.setblocking(False)
    return stream


def _close(streams: Iterable[socket.socket]) -> tuple[int, int]:
    """Close all; return the numbers of sent and of retransmitted segments (``TCP_INFO`` in tcp(7)).

    After the stop the kernel discards the bytes in its buffers (SO_LINGER in socket(7)).
    """
    sent = lost = 0
    for stream in streams:
        info = _TCP_INFO.unpack(stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size))
        sent += info[_SEGMENTS_OUT]
        lost += info[_TOTAL_RETRANSMITTED]
        if endpoint.is_stopped():
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.close()
    return sent, lost


if __name__ == "__main__":
    endpoint.run_end(sys.argv[1:], {"receive": receive, "send": send})
