"""ICMP echo requests (RFC 792, RFC 4443): without privileges where the system allows it, else as root."""

from __future__ import annotations

import secrets
import socket
import struct
from collections.abc import Iterable, Mapping

from measurement.probes.findings import FailureCause, ProbeError
from measurement.probes.kernel_timestamps import TimedSocket
from measurement.probes.round_trip import EchoAnswer

_HEAD = struct.Struct("!BBHHH")
_REQUEST: dict[int, int] = {socket.AF_INET: 8, socket.AF_INET6: 128}
_REPLY: dict[int, int] = {socket.AF_INET: 0, socket.AF_INET6: 129}
_COOKIE = 8


def icmp_checksum(data: bytes) -> int:
    """Return the Internet checksum (RFC 1071).

    Adding 16-bit words with the carry added again is adding modulo 2**16 - 1, where 2**16 is 1: so it is the
    remainder of all the bytes as one number, a division that takes Python a hundredth of adding up words.
    The remainder 0 stands for 2**16 - 1, unless all bytes are zero.
    """
    whole = int.from_bytes(data + b"\0" * (len(data) % 2), "big")
    total = whole % 0xFFFF or (0xFFFF if whole else 0)
    return ~total & 0xFFFF


def pack_request(family: int, identifier: int, number: int, data: bytes) -> bytes:
    """Return an echo request; the kernel fills in ICMPv6's checksum."""
    head = _HEAD.pack(_REQUEST[family], 0, 0, identifier, number)
    if family == socket.AF_INET6:
        return head + data
    return _HEAD.pack(_REQUEST[family], 0, icmp_checksum(head + data), identifier, number) + data


def read_reply(family: int, message: bytes, cookie: bytes) -> int | None:
    """Return the number of an echo reply with this cookie; None for any other message."""
    if len(message) < _HEAD.size + _COOKIE or message[0] != _REPLY[family]:
        return None
    number = int(_HEAD.unpack_from(message)[4])
    return number if message[_HEAD.size : _HEAD.size + _COOKIE] == cookie else None


class IcmpChannel:
    """Echo requests of one length to one address.

    :raises ProbeError: ``not-permitted``, ``unreachable``.
    """

    def __init__(self, address: str, length: int) -> None:
        self._family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._cookie = secrets.token_bytes(_COOKIE)
        self._data = self._cookie + bytes(length - _COOKIE)
        self._identifier = secrets.randbelow(1 << 16)
        sock, self._raw = _open_socket(self._family)
        try:
            sock.connect((address, 0))
            self._timed = TimedSocket(sock)
        except OSError as error:
            sock.close()
            raise ProbeError(FailureCause.UNREACHABLE, f"{address}: {error.strerror}") from None

    def send(self, number: int) -> None:
        """Send a request."""
        self._timed.socket.send(pack_request(self._family, self._identifier, number, self._data))

    def receive(self, seconds: float) -> Iterable[EchoAnswer]:
        """Wait for replies."""
        if not self._timed.wait_readable(seconds):
            return []
        message, info = self._timed.receive(len(self._data) + 128)
        if self._raw and self._family == socket.AF_INET:
            message = message[(message[0] & 0xF) * 4 :]
        number = read_reply(self._family, message, self._cookie)
        return [] if number is None else [EchoAnswer(number, info.software)]

    def send_times(self) -> Mapping[int, int]:
        """Return when requests were sent."""
        return self._timed.send_times()

    def close(self) -> None:
        """Close the socket."""
        self._timed.socket.close()


def _open_socket(family: int) -> tuple[socket.socket, bool]:
    """Return a socket, and whether it is raw."""
    protocol = socket.IPPROTO_ICMPV6 if family == socket.AF_INET6 else socket.IPPROTO_ICMP
    try:
        return socket.socket(family, socket.SOCK_DGRAM, protocol), False
    except PermissionError:
        try:
            return socket.socket(family, socket.SOCK_RAW, protocol), True
        except PermissionError:
            cause = "ICMP needs this group in net.ipv4.ping_group_range, or the capability CAP_NET_RAW"
            raise ProbeError(FailureCause.NOT_PERMITTED, cause) from None
