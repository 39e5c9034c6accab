"""Wire format between two agents: handshake, frames on TCP, packets on UDP.  Values and functions only.

On a new TCP connection the client speaks first.  A side without the key learns nothing of it, and the server
sends no more bytes than it received until the client has proved that it knows the key::

    client                                        server
    hello: magic, version, nonce, padding  ---->
                                           <----  hello: magic, version, nonce, padding
    code(key, "client", both hellos)       ---->
                                           <----  code(key, "server", both hellos)

A server of another version answers with its own hello, so that both can report the two versions.
Keys for this connection and each direction are derived from both hellos, with fresh nonces of both sides: a
recording of one connection is worthless on another.

A **frame** is its length, a JSON object and the code of direction, number and object.  Numbers count up from
0 on each side and are not sent, so a frame that is missing, doubled or changed is detected.  A **packet** has
the session (derived, too), a number, and a code of eight bytes.

All codes are keyed BLAKE2b (RFC 7693), which takes a third of HMAC's time: the 20 000 packets of a train are
authenticated one by one, and a round of probes has thousands of connections.
"""

from __future__ import annotations

import enum
import hashlib
import hmac
import struct
from collections.abc import Callable
from dataclasses import dataclass

VERSION = 2
NONCE = 32
_HELLO = struct.Struct(f"!8sHH{NONCE}s20x")
_MAGIC = b"ADONPROB"
HELLO_BYTES = _HELLO.size
PROOF_BYTES = 32

_LENGTH = struct.Struct("!I")
_FRAME_MAC = 32
MAX_FRAME = 4 << 20
"""Bytes of one message: the arrivals of the longest train fit."""
MAX_REQUEST = 64 << 10
"""Bytes of a request."""


class WireError(ValueError):
    """Data that are not of this protocol, or not from a side that knows the key."""


class OtherVersionError(WireError):
    """The other side speaks another version."""


def pack_hello(nonce: bytes, version: int = VERSION) -> bytes:
    """Return the first message of both sides."""
    return _HELLO.pack(_MAGIC, version, 0, nonce)


def check_hello(data: bytes) -> None:
    """Check the first message of the other side.

    :raises OtherVersionError: naming both versions.
    :raises WireError: if it is of another protocol.
    """
    magic, version, _, _ = _HELLO.unpack(data)
    if magic != _MAGIC:
        raise WireError("the service at this port is not a probe agent")
    if version != VERSION:
        raise OtherVersionError(f"the other side speaks version {version}, this one {VERSION}")


@dataclass(frozen=True, slots=True)
class ConnectionKeys:
    """Keys that both sides of a connection derive from the shared key and both hellos.

    :param client_proof, server_proof: prove that a side knows the shared key.
    :param to_server, to_client: keys of frames' codes by direction.
    :param session: the name of the connection's UDP packets, 8 bytes.
    :param packets: the key of their codes.
    """

    client_proof: bytes
    server_proof: bytes
    to_server: bytes
    to_client: bytes
    session: bytes
    packets: bytes

    @classmethod
    def derive(cls, key: bytes, client_hello: bytes, server_hello: bytes) -> ConnectionKeys:
        """Derive all keys of a connection."""
        context = client_hello + server_hello
        labels = (b"client", b"server", b"to server", b"to client", b"session", b"packets")
        client, server, to_server, to_client, session, packets = (
            hashlib.blake2b(b"adon-probes " + label + context, key=key, digest_size=PROOF_BYTES).digest()
            for label in labels
        )
        return cls(client, server, to_server, to_client, session[:8], packets)


def pack_frame(key: bytes, number: int, message: bytes) -> bytes:
    """Return a message as bytes of a connection."""
    return _LENGTH.pack(len(message)) + message + _frame_mac(key, number, message)


FRAME_HEAD = _LENGTH.size


def read_frame_length(head: bytes, limit: int) -> int:
    """Return how many bytes of the frame follow its first four.

    :raises WireError: if the message is longer than ``limit`` bytes.
    """
    (length,) = _LENGTH.unpack(head)
    if length > limit:
        raise WireError(f"a message of {length} bytes is longer than {limit}")
    return int(length) + _FRAME_MAC


def open_frame(key: bytes, number: int, rest: bytes) -> bytes:
    """Return the message of a frame.

    :raises WireError: if it is not the next frame of the side that knows the key.
    """
    message, code = rest[:-_FRAME_MAC], rest[-_FRAME_MAC:]
    if not hmac.compare_digest(code, _frame_mac(key, number, message)):
        raise WireError("a message is changed, repeated or missing")
    return message


def _frame_mac(key: bytes, number: int, message: bytes) -> bytes:
    return hashlib.blake2b(number.to_bytes(8, "big") + message, key=key, digest_size=_FRAME_MAC).digest()


class PacketKind(enum.IntEnum):
    """Purpose of a packet."""

    ECHO = 1
    """The agent answers it with as many bytes."""
    ANSWER = 2
    FILL = 3
    """It only takes its time on the path; the agent does not answer."""
    SEQUENCE = 4
    """Part of a sequence to the target; the agent does not answer."""
    SEQUENCE_BACK = 5
    """Part of a sequence that the target sends; no agent accepts or answers it."""


@dataclass(frozen=True, slots=True)
class ProbePacket:
    """A probe packet.

    :param number: the client's in this session, never used twice; an answer has its request's, and a sequence
        of the target has numbers that the client reserved for it.
    :param received: of an answer: when the request arrived, nanoseconds since 1970 by the target's clock.
    :param resided: of an answer: nanoseconds from then to when the answer was sent.
    :param ttl: of an answer: the hop limit that the request still had; 0 if it is not known.
    :param after: of an answer: whether the packet numbered one less had arrived.
    """

    kind: PacketKind
    session: bytes
    number: int
    received: int = 0
    resided: int = 0
    ttl: int = 0
    after: bool = False


_PACKET = struct.Struct("!BBBB8sIqI")
_CODE = 8
PACKET_BYTES = _PACKET.size + _CODE
NUMBER_AT = 12
"""Position of a packet's number, four bytes in network order."""
_AFTER = 1
_LONGEST_STAY = 2**32 - 1
_KINDS = {kind.value: kind for kind in PacketKind}


def pack_packet(packet: ProbePacket, key: bytes, length: int) -> bytes:
    """Return a packet of so many bytes, padded with zeros."""
    return seal_answer(packet, key, length)(packet.resided)


def seal_answer(packet: ProbePacket, key: bytes, length: int) -> Callable[[int], bytes]:
    """Prepare an answer; the returned function adds the stay in nanoseconds at the last moment."""
    flags = _AFTER if packet.after else 0
    fixed = (VERSION, packet.kind, packet.ttl, flags, packet.session, packet.number, packet.received)
    padding = bytes(max(0, length - PACKET_BYTES))

    def seal(resided: int) -> bytes:
        head = _PACKET.pack(*fixed, min(resided, _LONGEST_STAY))
        return head + _packet_mac(key, head) + padding

    return seal


def read_session(data: bytes) -> bytes | None:
    """Return the session that a packet names; None if it is not of this protocol and version."""
    if len(data) < PACKET_BYTES or data[0] != VERSION:
        return None
    return data[4:12]


def read_packet(data: bytes, key: bytes) -> ProbePacket | None:
    """Return a packet of a side that knows the session's key; None for any other."""
    if len(data) < PACKET_BYTES:
        return None
    head, code = data[: _PACKET.size], data[_PACKET.size : PACKET_BYTES]
    if not hmac.compare_digest(code, _packet_mac(key, head)):
        return None
    version, value, ttl, flags, session, number, received, resided = _PACKET.unpack(head)
    kind = _KINDS.get(value)
    if version != VERSION or kind is None:
        return None
    return ProbePacket(kind, session, number, received, resided, ttl, bool(flags & _AFTER))


def pack_heads(kind: PacketKind, session: bytes, first: int, count: int, key: bytes) -> list[bytes]:
    """Return packets without padding, numbered from ``first``.

    For trains: a third of the time of :func:`pack_packet`.
    """
    heads = []
    for number in range(first, first + count):
        head = _PACKET.pack(VERSION, kind, 0, 0, session, number, 0, 0)
        heads.append(head + _packet_mac(key, head))
    return heads


def read_number(data: bytes, kind: PacketKind, key: bytes) -> int | None:
    """Return the number of a genuine packet of this kind.

    For trains: half the time of :func:`read_packet`.
    """
    head = data[: _PACKET.size]
    if len(data) < PACKET_BYTES or data[0] != VERSION or data[1] != kind:
        return None
    if not hmac.compare_digest(data[_PACKET.size : PACKET_BYTES], _packet_mac(key, head)):
        return None
    return int.from_bytes(head[NUMBER_AT : NUMBER_AT + 4], "big")


def _packet_mac(key: bytes, head: bytes) -> bytes:
    return hashlib.blake2b(head, key=key, digest_size=_CODE).digest()
