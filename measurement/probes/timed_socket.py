"""A connected socket whose packets, or bytes, the kernel times, going out and coming in."""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Mapping

from measurement.probes import stamps


class TimedSocket:
    """See the module's text.

    :param sock: connected; what is sent on it is numbered from 0 by the kernel from now on.
    :raises OSError: if the system takes no such times.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        stamps.both_stamps(sock)
        self._outs = dict[int, int]()
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)

    def readable(self, seconds: float) -> bool:
        """Wait for a packet; False if none comes in time.

        :raises OSError: as the network said, e.g. ``ECONNREFUSED`` or ``EMSGSIZE``.
        """
        until = time.monotonic() + seconds
        while True:
            found = self._poll.poll(max(0.0, until - time.monotonic()) * 1e3)
            if any(event & select.POLLIN for _, event in found):
                return True
            if not found:
                return False
            # Times of going out wait in the queue of errors, and poll(2) always tells of that.
            if not self._collect():
                number = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if number:
                    raise OSError(number, os.strerror(number))

    def receive(self, length: int) -> tuple[bytes, stamps.Beside]:
        """A packet that is there, and what the kernel says beside it.

        :raises OSError: if there is none, or as the network said.
        """
        data, ancillary, _, _ = self.socket.recvmsg(length, stamps.ANCILLARY, socket.MSG_DONTWAIT)
        return data, stamps.beside(ancillary)

    def went_out(self) -> Mapping[int, int]:
        """When packets went out, nanoseconds since 1970, by their number on this socket."""
        self._collect()
        return self._outs

    def _collect(self) -> bool:
        found = stamps.went_out(self.socket)
        self._outs |= found
        return bool(found)
