"""UDP probes to another agent: echoes, hop limits, and whether a length arrives at all."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterable, Mapping

from measurement.instances import Instance
from measurement.probes import wire
from measurement.probes.findings import Failure, ProbeError, Route
from measurement.probes.orders import SHORTEST_UDP
from measurement.probes.round_trips import SLICE, Answer
from measurement.probes.timed_socket import TimedSocket

_IP_MTU_DISCOVER, _IP_PMTUDISC_DO, _IP_MTU = 10, 2, 14
_IPV6_MTU_DISCOVER, _IPV6_MTU = 23, 24
_HEADERS = {socket.AF_INET: 28, socket.AF_INET6: 48}
HOP_LIMIT = 64
"""Of what is sent: the answerer says what is left of it."""
_FITS_TRIES, _FITS_TIMEOUT = 3, 0.5
_BUFFER = 1 << 17


class Numbers:
    """Counts the packets of a connection: no number is used twice, whichever socket it goes out on.

    :param first: what it begins with.
    """

    def __init__(self, first: int = 0) -> None:
        self._next = first

    def take(self, count: int) -> int:
        """So many numbers in a row; the first of them."""
        first, self._next = self._next, self._next + count
        return first


class UdpPath:
    """Where UDP probes of one connection go; packets are never fragmented.

    :param keys: of the connection with the agent there; :param numbers: of its packets.
    :param local: an agent's own address and port, to send from; what comes from there meanwhile comes here.
    :raises ProbeError: ``unreachable``.
    """

    def __init__(
        self, target: Instance, keys: wire.Keys, numbers: Numbers, local: tuple[str, int] | None = None
    ) -> None:
        self._keys = keys
        family = socket.AF_INET6 if ":" in target.address else socket.AF_INET
        self._headers = _HEADERS[family]
        sock = socket.socket(family, socket.SOCK_DGRAM)
        try:
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, _IPV6_MTU_DISCOVER, _IP_PMTUDISC_DO)
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, HOP_LIMIT)
            else:
                sock.setsockopt(socket.IPPROTO_IP, _IP_MTU_DISCOVER, _IP_PMTUDISC_DO)
                sock.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, HOP_LIMIT)
            if local is not None:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                sock.bind(local)
            sock.connect((target.address, target.port))
            self.timed = TimedSocket(sock)
        except OSError as error:
            sock.close()
            raise ProbeError(Failure.UNREACHABLE, f"{target.name}: {error.strerror}") from None
        self._numbers = numbers
        self._sent = list[int]()

    def payload(self) -> int:
        """Bytes that fill a packet of the path's MTU, as far as it is known."""
        sock = self.timed.socket
        level, option = (
            (socket.IPPROTO_IPV6, _IPV6_MTU)
            if sock.family == socket.AF_INET6
            else (socket.IPPROTO_IP, _IP_MTU)
        )
        return min(65_000, sock.getsockopt(level, option) - self._headers)

    def sealed(self, kind: wire.Kind, number: int, length: int) -> bytes:
        """A packet's bytes."""
        return wire.packed(wire.Packet(kind, self._keys.session, number), self._keys.packets, length)

    def sealed_in_a_row(self, kind: wire.Kind, first: int, count: int) -> list[bytes]:
        """How so many packets begin, numbered from ``first``."""
        return wire.sealed_in_a_row(kind, self._keys.session, first, count, self._keys.packets)

    def send(self, kind: wire.Kind, length: int) -> int:
        """Send a packet; its number.

        :raises OSError: ``EMSGSIZE`` and the like.
        """
        number = self.reserve(1)
        self.timed.socket.send(self.sealed(kind, number, length))
        self._sent.append(number)
        return number

    def reserve(self, count: int) -> int:
        """Numbers for packets of this connection; the first of them."""
        return self._numbers.take(count)

    def time_again(self) -> None:
        """Have packets timed again after a train, which is sent without."""
        self.timed = TimedSocket(self.timed.socket)
        self._sent.clear()

    def went_out(self) -> Mapping[int, int]:
        """When packets went out, by the kernel, nanoseconds since 1970, by their numbers."""
        outs = self.timed.went_out()  # by how many were sent on this socket before
        return {self._sent[place]: at for place, at in outs.items() if place < len(self._sent)}

    def answer(
        self, seconds: float, kind: wire.Kind = wire.Kind.ANSWER
    ) -> tuple[wire.Packet, int | None] | None:
        """Wait for an answer of the agent's; with when it came, by the kernel, nanoseconds since 1970.

        :param kind: of packet; others are passed over.
        :raises OSError: as the network said.
        """
        if not self.timed.readable(seconds):
            return None
        data, said = self.timed.receive(_BUFFER)
        packet = wire.unpacked(data, self._keys.packets)
        if packet is None or packet.kind != kind or packet.session != self._keys.session:
            return None
        return packet, said.software

    def close(self) -> None:
        """End it."""
        self.timed.socket.close()


class UdpChannel:
    """Echoes of one length (see :class:`measurement.probes.round_trips.Channel`)."""

    def __init__(self, path: UdpPath, length: int) -> None:
        self._path = path
        self._length = length
        self._begun: int | None = None

    def send(self, number: int) -> None:
        """Send a request."""
        sent = self._path.send(wire.Kind.ECHO, self._length)
        self._begun = sent - number

    def receive(self, seconds: float) -> Iterable[Answer]:
        """Wait for answers."""
        found = self._path.answer(seconds)
        if found is None or self._begun is None:
            return []
        packet, back = found
        number = packet.number - self._begun
        return [Answer(number, back, packet.resided)] if number >= 0 else []

    def went_out(self) -> Mapping[int, int]:
        """Times of going out."""
        begun = self._begun
        return {} if begun is None else {number - begun: at for number, at in self._path.went_out().items()}


def arrives(path: UdpPath, length: int, ended: threading.Event) -> bool | None:
    """Whether packets of this length arrive; None if even short ones do not.

    A long packet goes ahead of a short one, and the answer to the latter says whether the former came: what
    is in the way of long packets on the way back does not count.

    :raises OSError: as the network said.
    """
    short = None
    for _ in range(_FITS_TRIES):
        path.send(wire.Kind.FILL, length)
        found = answer_to(path, path.send(wire.Kind.ECHO, SHORTEST_UDP), _FITS_TIMEOUT, ended)
        if found is not None and found.after:
            return True
        short = False if found is not None else short
    return short


def comes_back(path: UdpPath, length: int, ended: threading.Event) -> bool:
    """Whether a packet of this length and its answer, which is as long, arrive.

    :raises OSError: as the network said.
    """
    return any(
        not ended.is_set() and answer_to(path, path.send(wire.Kind.ECHO, length), _FITS_TIMEOUT, ended)
        for _ in range(_FITS_TRIES)
    )


def hops(path: UdpPath, most: int, timeout: float, ended: threading.Event) -> Route:
    """How many hops there are, by the hop limit that is left at the target."""
    for _ in range(3):
        number = path.send(wire.Kind.ECHO, SHORTEST_UDP)
        found = answer_to(path, number, timeout / 3, ended)
        if found is not None and found.ttl:
            count = HOP_LIMIT - found.ttl + 1
            return Route(count if count <= most else None)
    return Route(None)


def answer_to(path: UdpPath, number: int, seconds: float, ended: threading.Event) -> wire.Packet | None:
    """Wait for the answer to one packet; None if it does not come.

    :raises OSError: as the network said.
    """
    until = time.monotonic() + seconds
    while not ended.is_set() and (left := until - time.monotonic()) > 0:
        found = path.answer(min(left, SLICE))
        if found is not None and found[0].number == number:
            return found[0]
    return None
