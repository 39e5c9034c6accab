"""Many packets by one system call: ``sendmmsg`` and ``recvmmsg`` (Linux), which Python does not offer.

Plain ``send`` of Python sends about as many packets per second as a link of 1 Gbit/s carries, with pauses
whenever another thread runs.  With batches the bursts are back to back, and the receiver keeps up.  Where the
kernel splits messages into packets late (UDP segmentation, udp(7)), :data:`PACKETS_PER_MESSAGE` packets are
one piece of work for virtual links, as a TCP connection's are; more would let a rate limit pass at once what
is many packets on a real link.
"""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass

BATCH = 256
"""Packets that one call receives, and messages that one call sends."""
PACKETS_PER_MESSAGE = 16
_SOL_UDP, _UDP_SEGMENT = 17, 103
_CONTROL = 192
_LONGEST_MESSAGE = 65_000
_CONTROL_HEAD = struct.Struct("@Nii")
_DONTWAIT = int(socket.MSG_DONTWAIT)


class _Iovec(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class _Header(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_void_p),
        ("name_length", ctypes.c_uint32),
        ("vectors", ctypes.c_void_p),
        ("vector_count", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_length", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    )


class _Message(ctypes.Structure):
    _fields_ = (("header", _Header), ("length", ctypes.c_uint32))


_LIBC = ctypes.CDLL(None, use_errno=True)


def split_messages(sock: socket.socket, length: int, count: int) -> int:
    """Have the kernel split messages into packets of so many bytes; return how many to put into a message.

    All messages of a burst are equally long, so it makes no difference whether a rate limit lets one through
    before or after it waits.

    :param count: packets of a burst.
    :returns: 1 where the kernel does not split.
    """
    limit = max(1, min(PACKETS_PER_MESSAGE, _LONGEST_MESSAGE // length))
    packets = max(each for each in range(1, limit + 1) if count % each == 0)
    try:
        sock.setsockopt(_SOL_UDP, _UDP_SEGMENT, length if packets > 1 else 0)
    except OSError:
        return 1
    return packets


def send_packets_singly(sock: socket.socket) -> None:
    """Have the kernel send every message as one packet again."""
    sock.setsockopt(_SOL_UDP, _UDP_SEGMENT, 0)


class PacketBatch:
    """Packets that are ready to be sent back to back.

    :param heads: their first bytes, all equally long; zeros follow.
    :param length: bytes of each packet.
    :param per_message: packets of one message (see :func:`split_messages`).
    """

    def __init__(self, heads: Sequence[bytes], length: int, per_message: int) -> None:
        own = len(heads[0])
        self._counts = [min(per_message, len(heads) - begin) for begin in range(0, len(heads), per_message)]
        self._packets = ctypes.create_string_buffer(b"".join(heads), own * len(heads))
        self._padding = ctypes.create_string_buffer(max(1, length - own))
        self._vectors = (_Iovec * (2 * len(heads)))()
        self._messages = (_Message * len(self._counts))()
        packets, padding = ctypes.addressof(self._packets), ctypes.addressof(self._padding)
        for number in range(len(heads)):
            self._vectors[2 * number] = _Iovec(packets + number * own, own)
            self._vectors[2 * number + 1] = _Iovec(padding, length - own)
        vectors = ctypes.addressof(self._vectors)
        for number, count in enumerate(self._counts):
            header = self._messages[number].header
            header.vectors = vectors + 2 * number * per_message * ctypes.sizeof(_Iovec)
            header.vector_count = 2 * count

    def send(self, sock: socket.socket) -> int:
        """Send them on a connected socket, as quickly as possible.

        :returns: how many were sent: fewer if it took longer than the socket's ``SO_SNDTIMEO``.
        :raises OSError: ``EMSGSIZE``, ``ECONNREFUSED`` and the like, if none could be sent.
        """
        sent = 0
        while sent < len(self._counts):
            begin = ctypes.byref(self._messages, sent * ctypes.sizeof(_Message))
            count = _LIBC.sendmmsg(sock.fileno(), begin, min(BATCH, len(self._counts) - sent), 0)
            if count <= 0:
                number = ctypes.get_errno()
                if sent or number == errno.EAGAIN:
                    break
                raise OSError(number, os.strerror(number))
            sent += count
        return sum(self._counts[:sent])


@dataclass(frozen=True, slots=True)
class ReceivedBatch:
    """Packets as they arrived, not yet parsed: the first bytes of each, and its control messages."""

    heads: bytes
    controls: bytes
    lengths: tuple[int, ...]
    control_lengths: tuple[int, ...]


class BatchReceiver:
    """Receives batches of packets.

    :param head: first bytes of each packet that are copied; the rest is dropped.
    """

    def __init__(self, sock: socket.socket, head: int) -> None:
        self._socket = sock
        self.head = head
        self._heads = ctypes.create_string_buffer(BATCH * head)
        self._controls = ctypes.create_string_buffer(BATCH * _CONTROL)
        self._vectors = (_Iovec * BATCH)()
        self._messages = (_Message * BATCH)()
        for number in range(BATCH):
            self._vectors[number] = _Iovec(ctypes.addressof(self._heads) + number * head, head)
            header = self._messages[number].header
            header.vectors = ctypes.addressof(self._vectors) + number * ctypes.sizeof(_Iovec)
            header.vector_count = 1
            header.control = ctypes.addressof(self._controls) + number * _CONTROL
            header.control_length = _CONTROL
        self._used = 0

    def receive(self) -> ReceivedBatch | None:
        """Return packets that have arrived, without waiting; None if there are none.

        :raises OSError: as the socket reports.
        """
        for message in self._messages[: self._used]:
            message.header.control_length = _CONTROL  # the kernel wrote the used length there
        count = _LIBC.recvmmsg(self._socket.fileno(), self._messages, BATCH, _DONTWAIT, None)
        if count < 0:
            number = ctypes.get_errno()
            self._used = 0
            if number in (errno.EAGAIN, errno.EINTR):
                return None
            raise OSError(number, os.strerror(number))
        self._used = count
        got = self._messages[:count]
        return ReceivedBatch(
            ctypes.string_at(self._heads, count * self.head),
            ctypes.string_at(self._controls, count * _CONTROL),
            tuple(message.length for message in got),
            tuple(message.header.control_length for message in got),
        )


def control_messages(batch: ReceivedBatch, number: int) -> list[tuple[int, int, bytes]]:
    """Return the control messages of one packet, as ``socket.recvmsg`` does (cmsg(3))."""
    begin = number * _CONTROL
    data = memoryview(batch.controls)[begin : begin + batch.control_lengths[number]]
    found = []
    at = 0
    while at + _CONTROL_HEAD.size <= len(data):
        length, level, kind = _CONTROL_HEAD.unpack_from(data, at)
        if length < _CONTROL_HEAD.size:
            break
        found.append((level, kind, bytes(data[at + _CONTROL_HEAD.size : at + length])))
        at += (length + 7) & ~7
    return found
