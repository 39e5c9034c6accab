"""Sending a packet train, and noting when its packets come.  For threads that wait."""

from __future__ import annotations

import errno
import itertools
import select
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from measurement.probes import bursts, stamps, wire
from measurement.probes.streams import SO_SNDTIMEO
from measurement.probes.train import Arrived, Shape, edges
from measurement.probes.udp import UdpPath

LONGEST_SEND = 5.0
"""Seconds: a path that takes longer for a train is told by its first packets already."""
QUIET = 0.2
"""Seconds after which no more is expected of a train."""
_RCVBUFFORCE = 33
TOGETHER = 0.003
"""Seconds that packets may wait to be taken with others: the kernel has timed them, and waking up costs."""
_RECEIVE_BUFFER = 16 << 20
_ENOUGH = 4 << 20
"""Bytes, as the kernel counts them: some 1700 packets, or 20 ms at 1 Gbit/s."""
_SEND_TIMEOUT = struct.pack("@ll", 0, 500_000)


@dataclass(frozen=True, slots=True)
class Sent:
    """What went out of a train.

    :param bursts: whole ones; :param began: by the clock that is never set, seconds.
    """

    bursts: int
    began: float


def send_train(
    path: UdpPath, shape: Shape, first: int, ended: threading.Event, kind: wire.Kind = wire.Kind.TRAIN
) -> Sent:
    """Send a train whose packets are numbered from ``first``; bursts for which the path is too slow stay out.

    :raises OSError: ``EMSGSIZE`` and the like.
    """
    sock = path.timed.socket
    count = bursts.together(sock, shape.packet, shape.burst)
    try:
        return _sent(path, shape, _Heads(kind, first), count, ended)
    except OSError as error:
        if count == 1 or error.errno not in (errno.EIO, errno.EINVAL):
            raise
        # A device without checksums of its own takes no packets that are to be split (udp(7)).
        return _sent(path, shape, _Heads(kind, first), 1, ended)
    finally:
        bursts.alone(sock)


@dataclass(frozen=True, slots=True)
class _Heads:
    """What a train's packets are: their kind, and the number of the first."""

    kind: wire.Kind
    first: int

    def from_here(self, count: int) -> _Heads:
        """Of those that come so many later."""
        return _Heads(self.kind, self.first + count)


def _sent(path: UdpPath, shape: Shape, heads: _Heads, together: int, ended: threading.Event) -> Sent:
    sock = path.timed.socket
    if together == 1:
        bursts.alone(sock)
    made = [
        _burst(path, shape, heads.from_here(number * shape.burst), together) for number in range(shape.bursts)
    ]
    stamps.no_stamps(sock)  # nobody asks when these went out
    sock.setsockopt(socket.SOL_SOCKET, SO_SNDTIMEO, _SEND_TIMEOUT)
    sock.setblocking(True)
    began, whole = time.monotonic(), 0
    for each in made:
        if ended.is_set() or time.monotonic() - began > LONGEST_SEND:
            break
        if each.send(sock) < shape.burst:
            break
        whole += 1
        time.sleep(shape.pause)
    return Sent(whole, began)


def _burst(path: UdpPath, shape: Shape, heads: _Heads, together: int) -> bursts.Burst:
    sealed = path.sealed_in_a_row(heads.kind, heads.first, shape.burst)
    return bursts.Burst(sealed, shape.packet, together)


@dataclass(frozen=True, slots=True)
class Came:
    """What came of a train, and what the clocks did meanwhile.

    :param segments: per burst; None where nothing of one came.
    :param overflowed: packets that the socket had no place for.
    :param stepped: whether the clock that times packets was set.
    """

    segments: tuple[tuple[Arrived | None, ...], ...]
    overflowed: int
    stepped: bool


def train_socket(local: tuple[str, int], source: tuple[Any, ...]) -> socket.socket:
    """A socket for one sender's packets alone, on an agent's own port.

    :param local: where the agent listens, address and port.
    :param source: where the sender's probes came from.
    :raises OSError: if there is no such socket to be had.
    """
    family = socket.AF_INET6 if ":" in source[0] else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sock.bind(local)
        sock.connect(source)
    except OSError:
        sock.close()
        raise
    return sock


class TrainReceiver:
    """Notes a train's packets.

    :param sock: connected to who sends them; it is this receiver's from now on.
    :param kind: of the packets; others are passed over.
    :param clock_offset: nanoseconds between the clock since 1970 and the one that is never set.
    :raises OSError: if the kernel does not time what comes there.
    """

    def __init__(
        self,
        sock: socket.socket,
        keys: wire.Keys,
        shape: Shape,
        first: int,
        kind: wire.Kind = wire.Kind.TRAIN,
        clock_offset: Callable[[], int] = stamps.offset_now,
    ) -> None:
        self._keys = keys
        self._shape = shape
        self._first = first
        self._kind = kind
        self._clock_offset = clock_offset
        self._batches = list[bursts.Batch]()
        self._last = threading.Event()
        self._offset = clock_offset()
        self._begun = time.monotonic_ns()
        self._socket = sock
        try:
            self._patience = TOGETHER if _large_buffer(sock) else 0.0
            sock.setsockopt(socket.SOL_SOCKET, stamps.RXQ_OVFL, 1)
            stamps.receive_stamps(sock, hardware=True)
            stamps.went_out(sock)  # of earlier packets; they would wake us up
        except OSError:
            sock.close()
            raise

    def receive(self, seconds: float, ended: threading.Event) -> None:
        """Take packets off the socket until the train's last came, or this long."""
        taker = bursts.Receiver(self._socket, wire.PACKET_BYTES)
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        final = self._first + self._shape.burst * self._shape.bursts - 1
        until = time.monotonic() + seconds
        with self._socket:
            while not ended.is_set() and not self._last.is_set() and time.monotonic() < until:
                if not poll.poll(100):
                    continue
                self._last.wait(self._patience)
                batch = _taken(taker)
                if batch is not None:
                    self._batches.append(batch)
                    if _number(batch, len(batch.lengths) - 1) == final:
                        return

    def stop(self) -> None:
        """Take no more."""
        self._last.set()

    @property
    def batches(self) -> int:
        """How many were taken so far: while this grows, packets come."""
        return len(self._batches)

    def came(self, segments: int) -> Came:
        """What was noted, each burst in so many segments."""
        times, overflowed = self._times()
        elapsed = time.monotonic_ns() - self._begun
        set_meanwhile = stamps.stepped(self._offset, self._clock_offset(), elapsed)
        return Came(segmented(self._shape, times, segments), overflowed, set_meanwhile)

    def _times(self) -> tuple[Mapping[int, float], int]:
        by_kernel, by_card = dict[int, int](), dict[int, int]()
        overflowed = 0
        for batch in self._batches:
            for number in range(len(batch.lengths)):
                begin = number * wire.PACKET_BYTES
                head = batch.heads[begin : begin + min(wire.PACKET_BYTES, batch.lengths[number])]
                named = wire.number_of(head, self._kind, self._keys.packets)
                said = stamps.beside(bursts.ancillary(batch, number))
                overflowed = max(overflowed, said.overflowed)
                if named is None or said.software is None:
                    continue
                place = named - self._first
                if not 0 <= place < self._shape.burst * self._shape.bursts or place in by_kernel:
                    continue
                by_kernel[place] = said.software
                if said.hardware is not None:
                    by_card[place] = said.hardware
        chosen = by_card if len(by_card) == len(by_kernel) else by_kernel
        begin = min(chosen.values(), default=0)
        times = {place: (at - begin) / 1e9 for place, at in chosen.items()}
        return times, overflowed


def segmented(
    shape: Shape, times: Mapping[int, float], segments: int
) -> tuple[tuple[Arrived | None, ...], ...]:
    """Arrivals of each burst's segments.

    :param times: seconds by place in the train, from 0.
    :param segments: how many a burst has at most; each has at least two packets.
    """
    places = edges(shape.burst, segments)

    def burst_of(base: int) -> Iterable[Arrived | None]:
        for begin, end in itertools.pairwise(places):
            yield Arrived.of(
                (place, times[base + place]) for place in range(begin, end) if base + place in times
            )

    return tuple(tuple(burst_of(number * shape.burst)) for number in range(shape.bursts))


def _number(batch: bursts.Batch, place: int) -> int:
    """A packet's number, unchecked: enough to know when to stop."""
    begin = place * wire.PACKET_BYTES + wire.NUMBER_AT
    return int.from_bytes(batch.heads[begin : begin + 4], "big")


def _taken(taker: bursts.Receiver) -> bursts.Batch | None:
    try:
        return taker.take()
    except OSError as error:
        if error.errno == errno.ECONNREFUSED:  # an ICMP message about an earlier answer of ours
            return None
        raise


def _large_buffer(sock: socket.socket) -> bool:
    """Whether there is place for whole bursts: without privileges ``net.core.rmem_max`` says how much."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, _RCVBUFFORCE, _RECEIVE_BUFFER)
    except PermissionError:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) >= _ENOUGH
