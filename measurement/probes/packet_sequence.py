"""Packet sequences: one side sends numbered packets by a plan, the other notes when each arrives.

A train is a plan of bursts, a sandwich one of single packets.  The direction assigns the two roles:
:func:`run_sequence` is the only function that knows it.
"""

from __future__ import annotations

import base64
import errno
import math
import select
import socket
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from measurement.probes import kernel_timestamps as timestamps
from measurement.probes import packet_batches, wire
from measurement.probes import probe_types as types
from measurement.probes.documents import from_document, to_document
from measurement.probes.probe_types import check_range
from measurement.probes.round_trip import StopSignal
from measurement.probes.secure_channel import ANSWER_TIMEOUT, SecureChannel
from measurement.probes.tcp_probes import SO_SNDTIMEO
from measurement.probes.udp_path import Direction, UdpPath
from measurement.probes.wire import PacketKind

LONGEST_SEND = 5.0
"""Seconds beyond the pauses: a slower path shows its rate by the first packets of a train."""
QUIET = 0.2
"""Seconds without a packet, after the sender has finished, until the rest counts as lost."""
GATHER = 0.003
"""Seconds that packets may wait to be taken with others: the kernel has timed them, and waking up costs."""
_SEND_TIMEOUT = struct.pack("@ll", 0, 500_000)
_RCVBUFFORCE = 33
_RECEIVE_BUFFER = 16 << 20
_LARGE_BUFFER = 4 << 20
"""Bytes, as the kernel counts them: some 1700 packets, or 20 ms at 1 Gbit/s."""


@dataclass(frozen=True, slots=True)
class PacketGroup:
    """Packets that are sent back to back.

    :param length: bytes of payload; None for the path's MTU.
    :param pause: seconds after the group.
    """

    length: int | None
    count: int
    pause: float

    def __post_init__(self) -> None:
        if self.length is not None:
            check_range("length", self.length, types.SHORTEST_UDP, types.LONGEST_ECHO)
        check_range("count", self.count, 1, types.MAX_PACKETS)
        check_range("pause", self.pause, 0, types.LONGEST)


@dataclass(frozen=True, slots=True)
class PacketPlan:
    """Groups of packets that are sent one after the other, so many times.

    :raises ValueError: for a plan with too many packets, or that takes too long.
    """

    groups: tuple[PacketGroup, ...]
    repeats: int

    def __post_init__(self) -> None:
        check_range("packets", self.packets, 1, types.MAX_PACKETS)
        check_range("seconds", self.seconds, 0, types.LONGEST)

    @property
    def packets(self) -> int:
        """Number of packets."""
        return self.repeats * sum(group.count for group in self.groups)

    @property
    def seconds(self) -> float:
        """Sum of the pauses."""
        return self.repeats * math.fsum(group.pause for group in self.groups)

    @property
    def burst(self) -> PacketGroup | None:
        """The first group of several packets; None if all are single, which puts no load on a path."""
        return next((group for group in self.groups if group.count > 1), None)


@dataclass(frozen=True, slots=True)
class SentSequence:
    """Part of a sequence that was sent.

    :param groups: whole groups.
    :param largest: bytes of payload of the longest packet.
    :param times_ns: of each single packet, by one clock of the sender.
    """

    groups: int
    largest: int
    times_ns: tuple[int, ...] = ()


def send_sequence(
    path: UdpPath, plan: PacketPlan, first: int, kind: PacketKind, stop: StopSignal
) -> SentSequence:
    """Send packets numbered from ``first``; groups for which the path is too slow are not sent.

    :raises OSError: ``EMSGSIZE`` and the like.
    """
    sock, burst = path.socket, plan.burst
    if burst is None:
        return _send_groups(path, plan, first, kind, 1, stop)
    timestamps.disable_timestamps(sock)  # when the packets of a burst were sent is not needed
    sock.setblocking(True)
    sock.setsockopt(socket.SOL_SOCKET, SO_SNDTIMEO, _SEND_TIMEOUT)
    per_message = packet_batches.split_messages(sock, burst.length or path.payload(), burst.count)
    try:
        return _send_groups(path, plan, first, kind, per_message, stop)
    except OSError as error:
        if per_message == 1 or error.errno not in (errno.EIO, errno.EINVAL):
            raise
        # A device without checksums of its own takes no packets that are to be split (udp(7)).
        packet_batches.send_packets_singly(sock)
        return _send_groups(path, plan, first, kind, 1, stop)
    finally:
        packet_batches.send_packets_singly(sock)


def _pack_bursts(
    path: UdpPath, plan: PacketPlan, first: int, kind: PacketKind, per_message: int
) -> dict[int, packet_batches.PacketBatch]:
    """Return the groups of several packets by their first number, ready to be sent."""
    batches, number = dict[int, packet_batches.PacketBatch](), first
    for group in plan.groups * plan.repeats:
        if group.count > 1:
            heads = path.pack_heads(kind, number, group.count)
            length = group.length or path.payload()
            batches[number] = packet_batches.PacketBatch(heads, length, per_message)
        number += group.count
    return batches


def _send_groups(
    path: UdpPath, plan: PacketPlan, first: int, kind: PacketKind, per_message: int, stop: StopSignal
) -> SentSequence:
    batches = _pack_bursts(path, plan, first, kind, per_message)
    mtu, clock = path.payload(), timestamps.ClockCheck()
    singles = dict[int, int]()  # the time of sending by number
    number, sent = first, 0
    until = time.monotonic() + LONGEST_SEND + plan.seconds
    for group in plan.groups * plan.repeats:
        if stop.is_set() or time.monotonic() > until:
            break
        if number not in batches:
            path.send(kind, group.length or mtu, number)
            singles[number] = time.monotonic_ns() + clock.offset
        elif batches[number].send(path.socket) < group.count:
            break
        number, sent = number + group.count, sent + 1
        time.sleep(group.pause)
    kernel_times = path.send_times() if singles and not clock.was_stepped() else {}
    times = tuple(kernel_times.get(number, at) for number, at in singles.items())
    return SentSequence(sent, max(group.length or mtu for group in plan.groups), times)


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Packets of a sequence that arrived.

    :param times_ns: nanoseconds of the receiver's clock by place in the sequence, from 0.
    :param overflowed: packets that the receiver's socket had no place for.
    :param stepped: whether the clock was set meanwhile.
    """

    times_ns: Mapping[int, int]
    overflowed: int
    stepped: bool

    def seconds(self) -> dict[int, float]:
        """Return seconds since the first arrival by place."""
        begin = min(self.times_ns.values(), default=0)
        return {place: (at - begin) / 1e9 for place, at in self.times_ns.items()}

    def to_json(self, packets: int) -> dict[str, Any]:
        """Return eight bytes per packet in base64, 0 for one that did not arrive."""
        times = struct.pack(f"<{packets}q", *(self.times_ns.get(place, 0) for place in range(packets)))
        text = base64.b64encode(times).decode()
        return {"times": text, "overflowed": self.overflowed, "stepped": self.stepped}

    @classmethod
    def from_json(cls, document: Any) -> Arrivals:
        """Read the result of :meth:`to_json`.

        :raises ValueError, KeyError, TypeError, struct.error: if it is invalid.
        """
        data = base64.b64decode(document["times"], validate=True)
        times = (at for (at,) in struct.iter_unpack("<q", data))
        present = {place: at for place, at in enumerate(times) if at}
        return cls(present, int(document["overflowed"]), bool(document["stepped"]))


class SequenceReceiver:
    """Notes when the packets of a sequence arrive.

    :param sock: connected to the sender.
    :param packets: length of the sequence.
    :param first: the number of its first packet.
    :param kind: of its packets; others are ignored.
    :param read_offset: see :class:`~measurement.probes.kernel_timestamps.ClockCheck`.
    :raises OSError: if the kernel does not time arrivals there.
    """

    def __init__(
        self,
        sock: socket.socket,
        keys: wire.ConnectionKeys,
        packets: int,
        first: int,
        kind: PacketKind,
        read_offset: Callable[[], int] = timestamps.clock_offset,
    ) -> None:
        self._socket = sock
        self._keys = keys
        self._packets = packets
        self._first = first
        self._kind = kind
        self._batches = list[packet_batches.ReceivedBatch]()
        self._clock = timestamps.ClockCheck(read_offset)
        self._receiver = packet_batches.BatchReceiver(sock, wire.PACKET_BYTES)
        self._gather = GATHER if _enlarge_buffer(sock) else 0.0
        sock.setsockopt(socket.SOL_SOCKET, timestamps.RXQ_OVFL, 1)
        timestamps.enable_receive_timestamps(sock, hardware=True)
        timestamps.read_send_times(sock)  # of earlier packets; they would wake poll(2)

    def receive(self, control: socket.socket, seconds: float, stop: StopSignal) -> None:
        """Receive until the last packet arrived, or none for a while after the sender's message.

        :param control: the connection with the sender; a message there means that it has finished.
        :param seconds: maximum time.
        :raises OSError: as the network reported.
        """
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        poll.register(control, select.POLLIN)
        finished = False
        now = time.monotonic()
        until, quiet_since = now + seconds, now
        while not stop.is_set() and now < until:
            ready = {number for number, _ in poll.poll(QUIET / 4 * 1e3)}
            now = time.monotonic()
            if control.fileno() in ready:
                finished, quiet_since = True, now
                poll.unregister(control)
            if self._socket.fileno() in ready:
                before = len(self._batches)
                if self._receive_batch():
                    return
                quiet_since = now if len(self._batches) > before else quiet_since
            if finished and now - quiet_since >= QUIET:
                return

    def arrivals(self) -> Arrivals:
        """Return the arrivals of genuine packets; the card's times if it took all."""
        by_kernel, by_card = dict[int, int](), dict[int, int]()
        overflowed = 0
        for batch in self._batches:
            for number, length in enumerate(batch.lengths):
                begin = number * wire.PACKET_BYTES
                info = timestamps.read_packet_info(packet_batches.control_messages(batch, number))
                overflowed = max(overflowed, info.overflowed)
                place = self._place(batch.heads[begin : begin + min(wire.PACKET_BYTES, length)])
                if place is None or place in by_kernel or info.software is None:
                    continue
                by_kernel[place] = info.software
                if info.hardware is not None:
                    by_card[place] = info.hardware
        times = by_card if len(by_card) == len(by_kernel) else by_kernel
        return Arrivals(times, overflowed, self._clock.was_stepped())

    def _receive_batch(self) -> bool:
        """Receive what has arrived; return whether the last packet of the sequence is there."""
        time.sleep(self._gather)
        try:
            batch = self._receiver.receive()
        except OSError as error:
            if error.errno == errno.ECONNREFUSED:  # an ICMP message about an earlier packet of ours
                return False
            raise
        if batch is None:
            return False
        self._batches.append(batch)
        begin = (len(batch.lengths) - 1) * wire.PACKET_BYTES + wire.NUMBER_AT
        number = int.from_bytes(batch.heads[begin : begin + 4], "big")  # unchecked: enough to stop
        return number == self._first + self._packets - 1

    def _place(self, head: bytes) -> int | None:
        number = wire.read_number(head, self._kind, self._keys.packets)
        place = -1 if number is None else number - self._first
        return place if 0 <= place < self._packets else None


def run_sequence(
    channel: SecureChannel, path: UdpPath, plan: PacketPlan, direction: Direction, stop: StopSignal
) -> tuple[SentSequence, Arrivals]:
    """Carry out a sequence between this instance and the target.

    :raises ProbeError: as the target answers, or ``vanished``.
    :raises OSError: as the network reported.
    """
    first = path.reserve(plan.packets)
    request = {"plan": to_document(plan), "first": first}
    if direction is Direction.FORWARD:
        channel.request("receive", ANSWER_TIMEOUT, **request)
        try:
            sent = send_sequence(path, plan, first, PacketKind.SEQUENCE, stop)
        finally:
            answer = channel.request("sent", ANSWER_TIMEOUT + LONGEST_SEND)
        arrivals = Arrivals.from_json(answer)
    else:
        receiver = SequenceReceiver(path.socket, channel.keys, plan.packets, first, PacketKind.SEQUENCE_BACK)
        longest = types.LONGEST_BACK + LONGEST_SEND + ANSWER_TIMEOUT
        channel.send({"do": "send", **request})
        try:
            receiver.receive(channel.socket, longest, stop)
        finally:
            answer = channel.receive_answer(longest)
        sent = from_document(SentSequence, answer, "sent")
        arrivals = receiver.arrivals()
    path.restart_timestamps()
    return sent, arrivals


def _enlarge_buffer(sock: socket.socket) -> bool:
    """Return whether whole bursts have place: without privileges ``net.core.rmem_max`` is the limit."""
    try:
        sock.setsockopt(socket.SOL_SOCKET, _RCVBUFFORCE, _RECEIVE_BUFFER)
    except PermissionError:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BUFFER)
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) >= _LARGE_BUFFER
