"""Many packets by one call to the kernel: ``sendmmsg`` and ``recvmmsg`` (Linux), which Python does not offer.

Plain ``send`` of Python sends about as many packets per second as a link of 1 Gbit/s carries, with pauses
whenever another thread runs; with batches the bursts are back to back, and the receiver keeps up.
UDP segmentation by the kernel (GSO) would be quicker still, but what limits the rate of a virtual link would
then see one packet of 64 kB where the path has forty, and pass it at once.
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
"""Packets of one call."""
_CONTROL = 192
_BESIDE = struct.Struct("@Nii")
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


class Burst:
    """Packets that are ready to be sent one right after the other.

    :param heads: how each begins, all equally long; zeroes follow.
    :param length: bytes of each.
    """

    def __init__(self, heads: Sequence[bytes], length: int) -> None:
        own = len(heads[0])
        self._count = len(heads)
        self._packets = ctypes.create_string_buffer(b"".join(heads), own * len(heads))
        self._padding = ctypes.create_string_buffer(max(1, length - own))
        self._vectors = (_Iovec * (2 * len(heads)))()
        self._messages = (_Message * len(heads))()
        packets, padding = ctypes.addressof(self._packets), ctypes.addressof(self._padding)
        vectors = ctypes.addressof(self._vectors)
        for number in range(len(heads)):
            self._vectors[2 * number] = _Iovec(packets + number * own, own)
            self._vectors[2 * number + 1] = _Iovec(padding, length - own)
            header = self._messages[number].header
            header.vectors = vectors + 2 * number * ctypes.sizeof(_Iovec)
            header.vector_count = 2

    def send(self, sock: socket.socket) -> int:
        """Send them on a connected socket, as quickly as it takes them.

        :returns: how many were sent: fewer if that took longer than the socket's ``SO_SNDTIMEO``.
        :raises OSError: ``EMSGSIZE``, ``ECONNREFUSED`` and the like, if none could be sent.
        """
        sent = 0
        while sent < self._count:
            begin = ctypes.byref(self._messages, sent * ctypes.sizeof(_Message))
            count = _LIBC.sendmmsg(sock.fileno(), begin, min(BATCH, self._count - sent), 0)
            if count <= 0:
                number = ctypes.get_errno()
                if sent or number == errno.EAGAIN:
                    break
                raise OSError(number, os.strerror(number))
            sent += count
        return sent


@dataclass(frozen=True, slots=True)
class Batch:
    """Packets as they came, not yet read: how each begins, and what the kernel says beside it."""

    heads: bytes
    controls: bytes
    lengths: tuple[int, ...]
    control_lengths: tuple[int, ...]


class Receiver:
    """Takes batches of packets off a socket.

    :param head: bytes of each packet that are of interest; the rest is not even copied.
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

    def take(self) -> Batch | None:
        """What has come, without waiting; None if nothing has.

        :raises OSError: as the socket says.
        """
        for message in self._messages:
            message.header.control_length = _CONTROL
        count = _LIBC.recvmmsg(self._socket.fileno(), self._messages, BATCH, _DONTWAIT, None)
        if count < 0:
            number = ctypes.get_errno()
            if number in (errno.EAGAIN, errno.EINTR):
                return None
            raise OSError(number, os.strerror(number))
        got = self._messages[:count]
        return Batch(
            self._heads.raw[: count * self.head],
            self._controls.raw[: count * _CONTROL],
            tuple(message.length for message in got),
            tuple(message.header.control_length for message in got),
        )


def ancillary(batch: Batch, number: int) -> list[tuple[int, int, bytes]]:
    """What the kernel said beside one packet, as ``socket.recvmsg`` has it (cmsg(3))."""
    begin = number * _CONTROL
    data = memoryview(batch.controls)[begin : begin + batch.control_lengths[number]]
    found = []
    at = 0
    while at + _BESIDE.size <= len(data):
        length, level, kind = _BESIDE.unpack_from(data, at)
        if length < _BESIDE.size:
            break
        found.append((level, kind, bytes(data[at + _BESIDE.size : at + length])))
        at += (length + 7) & ~7
    return found
