"""Many packets by one call to the kernel: ``sendmmsg`` and ``recvmmsg`` (Linux), which Python does not offer.

Plain ``send`` of Python sends about as many packets per second as a link of 1 Gbit/s carries, with pauses
whenever another thread runs; with batches the bursts are back to back, and the receiver keeps up.
UDP segmentation by the kernel (GSO) would be quicker still, but what limits the rate of a virtual link would
then see one packet of 64 kB where the path has forty, and pass it at once.
"""

from __future__ import annotations

import ctypes
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass

BATCH = 256
"""Packets of one call."""
_CONTROL = 192
_DONTWAIT = int(socket.MSG_DONTWAIT)


class _Iovec(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


class _Header(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_void_p),
        ("name_length", ctypes.c_uint32),
        ("vectors", ctypes.POINTER(_Iovec)),
        ("vector_count", ctypes.c_size_t),
        ("control", ctypes.c_void_p),
        ("control_length", ctypes.c_size_t),
        ("flags", ctypes.c_int),
    )


class _Message(ctypes.Structure):
    _fields_ = (("header", _Header), ("length", ctypes.c_uint32))


_LIBC = ctypes.CDLL(None, use_errno=True)


def send_all(sock: socket.socket, heads: Sequence[bytes], length: int) -> int:
    """Send packets on a connected socket, as quickly as it takes them.

    :param heads: how each begins, all equally long; zeroes follow.
    :param length: bytes of each.
    :returns: how many were sent: fewer if the kernel made this wait longer than the socket's ``SO_SNDTIMEO``.
    :raises OSError: ``EMSGSIZE``, ``ECONNREFUSED`` and the like, if none could be sent.
    """
    own = len(heads[0])
    packets = ctypes.create_string_buffer(b"".join(heads), own * len(heads))
    padding = ctypes.create_string_buffer(max(1, length - own))
    vectors = (_Iovec * (2 * len(heads)))()
    messages = (_Message * len(heads))()
    for number in range(len(heads)):
        vectors[2 * number] = _Iovec(ctypes.addressof(packets) + number * own, own)
        vectors[2 * number + 1] = _Iovec(ctypes.addressof(padding), length - own)
        header = messages[number].header
        header.vectors = ctypes.cast(
            ctypes.byref(vectors, 2 * number * ctypes.sizeof(_Iovec)), ctypes.POINTER(_Iovec)
        )
        header.vector_count = 2
    sent = 0
    while sent < len(heads):
        begin = ctypes.byref(messages, sent * ctypes.sizeof(_Message))
        count = _LIBC.sendmmsg(sock.fileno(), begin, min(BATCH, len(heads) - sent), 0)
        if count <= 0:
            if sent:
                break
            number = ctypes.get_errno()
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
            header.vectors = ctypes.pointer(self._vectors[number])
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
            try:
                raise OSError(number, os.strerror(number))
            except (BlockingIOError, InterruptedError):
                return None
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
    while at + 16 <= len(data):
        length = int.from_bytes(data[at : at + 8], "little")
        level = int.from_bytes(data[at + 8 : at + 12], "little")
        kind = int.from_bytes(data[at + 12 : at + 16], "little")
        if length < 16:
            break
        found.append((level, kind, bytes(data[at + 16 : at + length])))
        at += (length + 7) & ~7
    return found
