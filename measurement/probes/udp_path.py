"""UDP path to the agent of a target: one socket for an order, and what its probes have shown.

If each probe showed again that packets of its length arrive, that would be a good part of its time.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterable, Mapping
from enum import StrEnum

from measurement.instances import Instance
from measurement.probes import wire
from measurement.probes.findings import FailureCause, HopCount, ProbeError, RoundTrips
from measurement.probes.kernel_timestamps import TimedSocket
from measurement.probes.probe_types import LONGEST_ECHO, SHORTEST_UDP, Hops
from measurement.probes.round_trip import SLICE, EchoAnswer, StopSignal, measure_round_trips
from measurement.probes.wire import PacketKind

HOP_LIMIT = 64
"""Of the packets that are sent: the target reports the rest of it."""
_MTU_DISCOVER, _PMTUDISC_DO = {socket.AF_INET: 10, socket.AF_INET6: 23}, 2
_MTU = {socket.AF_INET: 14, socket.AF_INET6: 24}
_LEVEL = {socket.AF_INET: socket.IPPROTO_IP, socket.AF_INET6: socket.IPPROTO_IPV6}
_HOPS = {socket.AF_INET: socket.IP_TTL, socket.AF_INET6: socket.IPV6_UNICAST_HOPS}
_HEADERS = {socket.AF_INET: 28, socket.AF_INET6: 48}
_TRIES, _TRY_TIMEOUT, _ECHO_TIMEOUT = 3, 0.5, 1.0
_BUFFER = 1 << 17


class Direction(StrEnum):
    """Direction of packets."""

    FORWARD = "forward"
    """From the instance that carries out the order to the target."""
    BACK = "back"


class UdpPath:
    """Sends and receives the UDP packets of one connection; packets are never fragmented.

    :param keys: of the connection with the agent.
    :param first: the number of the first packet; no number is used twice, whichever socket sends it.
    :param local: an agent's own address and port, to send from; packets from the target then arrive here.
        All methods raise ProbeError (``unreachable``) if the socket cannot be opened.
    """

    def __init__(
        self,
        target: Instance,
        keys: wire.ConnectionKeys,
        first: int = 0,
        local: tuple[str, int] | None = None,
    ) -> None:
        self._target = target
        self._keys = keys
        self._next = first
        self._local = local
        self._family = socket.AF_INET6 if ":" in target.address else socket.AF_INET
        self._sent = list[int]()
        self._round_trips = list[float]()
        self.longest_arrived = dict.fromkeys(Direction, 0)
        """Bytes of the longest packets that have arrived, by direction."""
        self._timed: TimedSocket | None = None

    @property
    def timed(self) -> TimedSocket:
        """The socket; it is opened on demand."""
        if self._timed is None:
            self._timed = self._open()
        return self._timed

    @property
    def socket(self) -> socket.socket:
        """The same without times."""
        return self.timed.socket

    def _open(self) -> TimedSocket:
        sock = socket.socket(self._family, socket.SOCK_DGRAM)
        try:
            sock.setsockopt(_LEVEL[self._family], _MTU_DISCOVER[self._family], _PMTUDISC_DO)
            sock.setsockopt(_LEVEL[self._family], _HOPS[self._family], HOP_LIMIT)
            if self._local is not None:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                sock.bind(self._local)
            sock.connect((self._target.address, self._target.port))
            return TimedSocket(sock)
        except OSError as error:
            sock.close()
            cause = f"{self._target.name}: {error.strerror}"
            raise ProbeError(FailureCause.UNREACHABLE, cause) from None

    def close(self) -> None:
        """Close the socket, and forget what probes have shown.

        The next probe opens another socket, which late packets and errors do not reach.
        """
        if self._timed is not None:
            self._timed.socket.close()
        self._timed = None
        self._sent.clear()
        self._round_trips.clear()
        self.longest_arrived = dict.fromkeys(Direction, 0)

    def payload(self) -> int:
        """Return the bytes that fill a packet of the path's MTU, as far as it is known."""
        mtu = self.socket.getsockopt(_LEVEL[self._family], _MTU[self._family])
        return min(LONGEST_ECHO, mtu - _HEADERS[self._family])

    def reserve(self, count: int) -> int:
        """Return the first of so many packet numbers, which nothing else uses."""
        first, self._next = self._next, self._next + count
        return first

    def send(self, kind: PacketKind, length: int, number: int | None = None) -> int:
        """Send a packet; return its number.

        :param number: a reserved one; None for the next.
        :raises OSError: ``EMSGSIZE`` and the like.
        """
        number = self.reserve(1) if number is None else number
        packet = wire.ProbePacket(kind, self._keys.session, number)
        self.socket.send(wire.pack_packet(packet, self._keys.packets, length))
        self._sent.append(number)
        return number

    def pack_heads(self, kind: PacketKind, first: int, count: int) -> list[bytes]:
        """Return the first bytes of so many packets, numbered from ``first``."""
        return wire.pack_heads(kind, self._keys.session, first, count, self._keys.packets)

    def restart_timestamps(self) -> None:
        """Have the kernel time packets again after a sequence, which changes the socket's options."""
        self._timed = TimedSocket(self.socket)
        self._sent.clear()

    def send_times(self) -> Mapping[int, int]:
        """Return when packets were sent, by the kernel, nanoseconds since 1970, by their numbers."""
        times = self.timed.send_times()  # by the number of packets sent on this socket before
        return {self._sent[place]: at for place, at in times.items() if place < len(self._sent)}

    def receive_answer(self, seconds: float) -> tuple[wire.ProbePacket, int | None] | None:
        """Wait for an answer of the agent; return it with its arrival, by the kernel, nanoseconds since 1970.

        :raises OSError: as the network reported.
        """
        if not self.timed.wait_readable(seconds):
            return None
        data, info = self.timed.receive(_BUFFER)
        packet = wire.read_packet(data, self._keys.packets)
        if packet is None or packet.kind != PacketKind.ANSWER or packet.session != self._keys.session:
            return None
        return packet, info.software

    def measure_echoes(
        self, length: int, count: int, interval: float, timeout: float, stop: StopSignal
    ) -> RoundTrips:
        """Return round trips of packets of so many bytes.

        :raises ProbeError: ``too-large`` if none is answered, and shorter ones arrive.
        :raises OSError: as the network reported.
        """
        channel = UdpEchoChannel(self, length)
        result = RoundTrips(measure_round_trips(channel, count, interval, timeout, stop))
        if not result.answered and length > SHORTEST_UDP and self.packets_arrive(length, stop) is False:
            raise _too_large(length, "arrive")
        if None in result.times:
            self.close()
        else:
            for direction in Direction:
                self.note_length(direction, length)
            self._round_trips += result.answered if length == SHORTEST_UDP else ()
        return result

    def note_length(self, direction: Direction, length: int) -> None:
        """Note that packets of so many bytes arrive."""
        self.longest_arrived[direction] = max(self.longest_arrived[direction], length)

    def verify(self, echoes: int, direction: Direction, length: int, stop: StopSignal) -> tuple[float, ...]:
        """Return round trips of so many short packets, as far as they are answered.

        After any answer the target's agent knows where the path begins.

        :param length: bytes of packets that must arrive in this direction.
        :raises ProbeError: ``too-large`` if they do not.
        :raises OSError: as the network reported.
        """
        missing = echoes - len(self._round_trips)
        round_trips = tuple(self._round_trips)
        if missing > 0:
            round_trips += self.measure_echoes(SHORTEST_UDP, missing, 0.0, _ECHO_TIMEOUT, stop).answered
        if round_trips and length > self.longest_arrived[direction]:
            arrive = self.packets_arrive if direction is Direction.FORWARD else self.packets_return
            if arrive(length, stop) is False:
                raise _too_large(length, "arrive" if direction is Direction.FORWARD else "come back")
            self.note_length(direction, length)
        return round_trips

    def packets_arrive(self, length: int, stop: StopSignal) -> bool | None:
        """Return whether packets of this length arrive; None if even short ones do not.

        A short packet follows a long one, and its answer reports whether the long one arrived: an obstacle
        for long packets on the reverse path does not count.

        :raises OSError: as the network reported.
        """
        short = None
        for _ in range(_TRIES):
            self.send(PacketKind.FILL, length)
            answer = self.await_answer(self.send(PacketKind.ECHO, SHORTEST_UDP), _TRY_TIMEOUT, stop)
            if answer is not None and answer.after:
                return True
            short = False if answer is not None else short
        return short

    def packets_return(self, length: int, stop: StopSignal) -> bool:
        """Return whether a packet of this length and its answer, which is as long, arrive.

        :raises OSError: as the network reported.
        """
        for _ in range(_TRIES):
            if self.await_answer(self.send(PacketKind.ECHO, length), _TRY_TIMEOUT, stop) is not None:
                return True
        return False

    def count_hops(self, probe: Hops, stop: StopSignal) -> HopCount:
        """Return the number of hops, by the hop limit that is left at the target.

        :raises OSError: as the network reported.
        """
        for _ in range(_TRIES):
            answer = self.await_answer(self.send(PacketKind.ECHO, SHORTEST_UDP), probe.timeout / _TRIES, stop)
            if answer is not None and answer.ttl:
                count = HOP_LIMIT - answer.ttl + 1
                return HopCount(count if count <= probe.most else None)
        return HopCount(None)

    def await_answer(self, number: int, seconds: float, stop: StopSignal) -> wire.ProbePacket | None:
        """Wait for the answer to one packet; None if it does not arrive.

        :raises OSError: as the network reported.
        """
        until = time.monotonic() + seconds
        while not stop.is_set() and (left := until - time.monotonic()) > 0:
            answer = self.receive_answer(min(left, SLICE))
            if answer is not None and answer[0].number == number:
                return answer[0]
        return None


class UdpEchoChannel:
    """Echoes of one length (see :class:`measurement.probes.round_trip.EchoChannel`)."""

    def __init__(self, path: UdpPath, length: int) -> None:
        self._path = path
        self._length = length
        self._first = 0

    def send(self, number: int) -> None:
        """Send a request."""
        self._first = self._path.send(PacketKind.ECHO, self._length) - number

    def receive(self, seconds: float) -> Iterable[EchoAnswer]:
        """Wait for answers."""
        found = self._path.receive_answer(seconds)
        if found is None or found[0].number < self._first:
            return []
        packet, arrived = found
        return [EchoAnswer(packet.number - self._first, arrived, packet.resided)]

    def send_times(self) -> Mapping[int, int]:
        """Return when requests were sent."""
        return {number - self._first: at for number, at in self._path.send_times().items()}


def _too_large(length: int, what: str) -> ProbeError:
    cause = f"packets with {length} bytes do not {what}, shorter ones do"
    return ProbeError(FailureCause.TOO_LARGE, cause)
