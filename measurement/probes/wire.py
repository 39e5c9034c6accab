"""The bytes between two agents: handshake, frames on TCP, packets on UDP.  Values and functions only.

On a new TCP connection the client speaks first; whoever does not know the key learns nothing of it, and the
server sends no more bytes than it got until the client has proved that it knows it::

    client                                        server
    hello: magic, version, nonce, padding  ---->
                                           <----  hello: magic, version, nonce, padding
    code(key, "client", both hellos)       ---->
                                           <----  code(key, "server", both hellos)

A server of another version answers with its own hello, so that both can say which two versions met.
From both hellos, with fresh nonces of both sides, keys for this connection and each direction are derived;
what was recorded of one connection is worth nothing on another.

A **frame** is its length, a JSON object and the code of direction, number and object; numbers count up from 0
on each side and are not sent, so a frame that is missing, doubled or changed is found.  A **packet** carries
the session (derived, too), a number, and a code of eight bytes.

All codes are keyed BLAKE2b (RFC 7693), which takes a third of HMAC's time: trains of 20 000 packets are
authenticated one by one, and the connections of a round of probes are thousands.
"""

from __future__ import annotations

import enum
import hashlib
import hmac
import struct
from collections.abc import Callable
from dataclasses import dataclass

VERSION = 1
NONCE = 32
_HELLO = struct.Struct(f"!8sHH{NONCE}s20x")
_MAGIC = b"ADONPROB"
HELLO_BYTES = _HELLO.size
PROOF_BYTES = 32

_LENGTH = struct.Struct("!I")
_FRAME_MAC = 32
MOST_FRAME = 4 << 20
"""Bytes of one message: arrivals of the longest train's segments fit."""
MOST_ORDER = 64 << 10
"""Bytes of what is asked."""


class WireError(ValueError):
    """What came is not of this protocol, or not of somebody who knows the key."""


class OtherVersionError(WireError):
    """The other side speaks another version."""


def hello(nonce: bytes, version: int = VERSION) -> bytes:
    """How both sides begin."""
    return _HELLO.pack(_MAGIC, version, 0, nonce)


def check_hello(data: bytes) -> None:
    """Whether one can go on after this.

    :raises OtherVersionError: naming both versions.
    :raises WireError: if it is of another protocol.
    """
    magic, version, _, _ = _HELLO.unpack(data)
    if magic != _MAGIC:
        raise WireError("what answers there is no probe agent")
    if version != VERSION:
        raise OtherVersionError(f"the other side speaks version {version}, this one {VERSION}")


@dataclass(frozen=True, slots=True)
class Keys:
    """What both sides of one connection work out of the key and both hellos.

    :param client_proof, server_proof: what shows that one knows the key.
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
    def of(cls, key: bytes, client_hello: bytes, server_hello: bytes) -> Keys:
        """See the class."""

        def derived(label: bytes) -> bytes:
            said = b"adon-probes " + label + client_hello + server_hello
            return hashlib.blake2b(said, key=key, digest_size=PROOF_BYTES).digest()

        return cls(
            derived(b"client"),
            derived(b"server"),
            derived(b"to server"),
            derived(b"to client"),
            derived(b"session")[:8],
            derived(b"packets"),
        )


def same(one: bytes, other: bytes) -> bool:
    """Whether two codes are equal, in a time that does not tell where they differ."""
    return hmac.compare_digest(one, other)


def frame(key: bytes, number: int, message: bytes) -> bytes:
    """A message as bytes of a connection."""
    return _LENGTH.pack(len(message)) + message + _frame_mac(key, number, message)


def frame_rest(head: bytes, most: int) -> int:
    """How many bytes of the frame follow its first four.

    :raises WireError: if the message is longer than ``most`` bytes.
    """
    (length,) = _LENGTH.unpack(head)
    if length > most:
        raise WireError(f"a message of {length} bytes is longer than {most}")
    return int(length) + _FRAME_MAC


FRAME_HEAD = _LENGTH.size


def frame_message(key: bytes, number: int, rest: bytes) -> bytes:
    """What is in a frame.

    :raises WireError: if it is not the one that must come next from who knows the key.
    """
    message, code = rest[:-_FRAME_MAC], rest[-_FRAME_MAC:]
    if not same(code, _frame_mac(key, number, message)):
        raise WireError("a message is changed, repeated or missing")
    return message


def _frame_mac(key: bytes, number: int, message: bytes) -> bytes:
    return hashlib.blake2b(number.to_bytes(8, "big") + message, key=key, digest_size=_FRAME_MAC).digest()


class Kind(enum.IntEnum):
    """What a packet is for."""

    ECHO = 1
    """It is to be answered, with as many bytes."""
    ANSWER = 2
    FILL = 3
    """It only takes its time on the way; nobody answers."""
    TRAIN = 4
    BACK = 5
    """What the target of an order sends, of a train or sandwich; nobody answers, and no agent takes it."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A probe packet.

    :param number: of the client's in this session, never used twice; an answer has its request's, and what
        comes back on request the ones that the client has set aside for it.
    :param received: of an answer: when the request came, nanoseconds since 1970 by the answerer's clock.
    :param resided: of an answer: nanoseconds from then to when the answer was sent.
    :param offset: of an answer: nanoseconds between the answerer's two clocks, since 1970 and monotonic:
        it changes when the former is set.
    :param ttl: of an answer: the hop limit that the request still had; 0 if it is not known.
    :param after: of an answer: whether the packet numbered one less had come.
    """

    kind: Kind
    session: bytes
    number: int
    received: int = 0
    resided: int = 0
    offset: int = 0
    ttl: int = 0
    after: bool = False


_PACKET = struct.Struct("!BBBB8sIqIq")
_CODE = 8
PACKET_BYTES = _PACKET.size + _CODE
NUMBER_AT = 12
"""Where a packet's number is, four bytes in network order."""
_AFTER = 1
_LONGEST_STAY = 2**32 - 1


def packed(packet: Packet, key: bytes, length: int) -> bytes:
    """A packet of so many bytes, the rest being zero."""
    head = _PACKET.pack(
        VERSION,
        packet.kind,
        packet.ttl,
        _AFTER if packet.after else 0,
        packet.session,
        packet.number,
        packet.received,
        min(packet.resided, _LONGEST_STAY),
        packet.offset,
    )
    return (head + _code(key, head)).ljust(length, b"\0")


def answering(packet: Packet, key: bytes, length: int, offset: int) -> Callable[[int], bytes]:
    """An answer that is ready but for how long its request stayed: bytes, given that, in nanoseconds."""
    flags = _AFTER if packet.after else 0
    fixed = (VERSION, packet.kind, packet.ttl, flags, packet.session, packet.number, packet.received)
    padding = bytes(length - PACKET_BYTES)
    pack, code = _PACKET.pack, hashlib.blake2b

    def sealed(resided: int) -> bytes:
        head = pack(*fixed, min(resided, _LONGEST_STAY), offset)
        return head + code(head, key=key, digest_size=_CODE).digest() + padding

    return sealed


def session_of(data: bytes) -> bytes | None:
    """Whose packet it claims to be; None if it is none of this protocol and version."""
    if len(data) < PACKET_BYTES or data[0] != VERSION:
        return None
    return data[4:12]


_KINDS = {kind.value: kind for kind in Kind}


def unpacked(data: bytes | memoryview, key: bytes) -> Packet | None:
    """A packet of who knows the session's key; None for any other."""
    if len(data) < PACKET_BYTES:
        return None
    head, code = bytes(data[: _PACKET.size]), bytes(data[_PACKET.size : PACKET_BYTES])
    if not same(code, _code(key, head)):
        return None
    version, kind, ttl, flags, session, number, received, resided, offset = _PACKET.unpack(head)
    named = _KINDS.get(kind)
    if version != VERSION or named is None:
        return None
    return Packet(named, session, number, received, resided, offset, ttl, bool(flags & _AFTER))


def sealed_in_a_row(kind: Kind, session: bytes, first: int, count: int, key: bytes) -> list[bytes]:
    """So many packets without padding, numbered from ``first``; as :func:`packed`, for trains."""
    pack, code = _PACKET.pack, hashlib.blake2b
    made = []
    for number in range(first, first + count):
        head = pack(VERSION, kind, 0, 0, session, number, 0, 0, 0)
        made.append(head + code(head, key=key, digest_size=_CODE).digest())
    return made


def number_of(data: bytes, kind: Kind, key: bytes) -> int | None:
    """The number of a genuine packet of this kind, None for any other; as :func:`unpacked`, for trains."""
    head = data[: _PACKET.size]
    if len(data) < PACKET_BYTES or data[0] != VERSION or data[1] != kind:
        return None
    if not same(data[_PACKET.size : PACKET_BYTES], _code(key, head)):
        return None
    return int.from_bytes(head[NUMBER_AT : NUMBER_AT + 4], "big")


def _code(key: bytes, head: bytes) -> bytes:
    return hashlib.blake2b(head, key=key, digest_size=_CODE).digest()
