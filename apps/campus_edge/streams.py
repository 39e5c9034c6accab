"""Bytes to and from a switch: plain TCP, or TLS where we hold the record layer ourselves.

One thread reads a connection and another writes it.  An OpenSSL connection must not be used by two threads
at once (``SSL_read`` may have to write, and CPython 3.11 puts no lock around it), so the TLS state lives
between two memory buffers under a lock, and each thread moves the encrypted bytes itself.

Reading waits no longer than it is told to; a write that the peer does not take within ``write_timeout``
fails, and the connection is over.
"""

from __future__ import annotations

import os
import select
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from typing import Any, Protocol

CHUNK = 65_536


class Stream(Protocol):
    """What a connection needs of its transport."""

    def recv(self, timeout: float) -> bytes:
        """What has arrived; empty at the end.

        :raises TimeoutError: if nothing came within so many seconds.
        :raises OSError: if the connection broke.
        """

    def sendall(self, data: bytes) -> None:
        """Send everything.

        :raises OSError: if the peer does not take it in time.
        """

    def writable(self) -> bool:
        """Whether a few kilobytes can be sent without waiting; only for who alone writes."""

    def shutdown(self) -> None:
        """End the connection: whoever reads or writes it wakes up."""

    def close(self) -> None:
        """Give the descriptor back; nobody may use it any more."""


class PlainStream:
    """TCP as it is."""

    def __init__(self, connection: socket.socket, write_timeout: float) -> None:
        self._socket = connection
        self._socket.settimeout(write_timeout)

    def recv(self, timeout: float) -> bytes:
        """See :meth:`Stream.recv`."""
        # A socket with a time-out does not block: what is there already needs no poll before it.
        try:
            return os.read(self._socket.fileno(), CHUNK)
        except BlockingIOError:
            wait_readable(self._socket, timeout)
            return os.read(self._socket.fileno(), CHUNK)

    def sendall(self, data: bytes) -> None:
        """See :meth:`Stream.sendall`."""
        # The time-out is of one call: a large batch is given in parts, of which each must move.
        for begin in range(0, len(data), CHUNK):
            self._socket.sendall(data[begin : begin + CHUNK])

    def writable(self) -> bool:
        """See :meth:`Stream.writable`."""
        poll = select.poll()
        poll.register(self._socket, select.POLLOUT)
        return bool(poll.poll(0))

    def shutdown(self) -> None:
        """See :meth:`Stream.shutdown`."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # it ended already

    def close(self) -> None:
        """See :meth:`Stream.close`."""
        self._socket.close()


class TlsStream:
    """TLS over a plain stream; :meth:`handshake` comes first."""

    def __init__(self, plain: PlainStream, context: ssl.SSLContext) -> None:
        self._plain = plain
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._state = threading.Lock()
        # Records must leave in the order in which they were made, whoever made them.
        self._order = threading.Lock()

    def handshake(self, deadline: float) -> None:
        """Agree on keys and see the peer's certificate.

        :param deadline: of ``time.monotonic``.
        :raises ssl.SSLError: if the peer is refused, or refuses us.
        :raises TimeoutError: if it takes too long.
        :raises OSError: if the connection broke.
        """
        while True:
            try:
                self._tls.do_handshake()
            except ssl.SSLWantReadError:
                self._flush()
                self._take(deadline - time.monotonic())
                continue
            except ssl.SSLError:
                self._flush()  # the alert that says why
                raise
            self._flush()
            return

    @property
    def names(self) -> frozenset[str]:
        """Common name and DNS names of the peer's certificate, in lower case."""
        return certificate_names(self._tls.getpeercert() or {})

    def recv(self, timeout: float) -> bytes:
        """See :meth:`Stream.recv`."""
        deadline = time.monotonic() + timeout
        while True:
            with self._state:
                try:
                    data = self._tls.read(CHUNK)
                except ssl.SSLWantReadError:
                    data = None
                except ssl.SSLZeroReturnError:
                    data = b""
                owed = self._outgoing.pending
            if owed:
                self._flush()
            if data is not None:
                return data
            self._take(deadline - time.monotonic())

    def sendall(self, data: bytes) -> None:
        """See :meth:`Stream.sendall`."""
        with self._order:
            with self._state:
                for begin in range(0, len(data), CHUNK):
                    self._tls.write(data[begin : begin + CHUNK])
                records = self._outgoing.read()
            self._plain.sendall(records)

    def writable(self) -> bool:
        """See :meth:`Stream.writable`; while the reader sends what TLS itself has to say, no."""
        return not self._order.locked() and self._plain.writable()

    def shutdown(self) -> None:
        """See :meth:`Stream.shutdown`."""
        self._plain.shutdown()

    def close(self) -> None:
        """See :meth:`Stream.close`."""
        self._plain.close()

    def _take(self, timeout: float) -> None:
        data = self._plain.recv(max(0.0, timeout))
        with self._state:
            if data:
                self._incoming.write(data)
            else:
                self._incoming.write_eof()

    def _flush(self) -> None:
        with self._order:
            with self._state:
                records = self._outgoing.read()
            if records:
                self._plain.sendall(records)


def wait_readable(connection: socket.socket, timeout: float) -> None:
    """Wait until there is something to read, or the end.

    :raises TimeoutError: if there is not, for so many seconds.
    """
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    if not poll.poll(max(0.0, timeout) * 1000):
        raise TimeoutError


def certificate_names(certificate: Mapping[str, Any]) -> frozenset[str]:
    """The names that a certificate proves, in lower case: its common name and its DNS names.

    :param certificate: as ``SSLSocket.getpeercert`` tells it.
    """
    subject = certificate.get("subject", ())
    common = {value for part in subject for key, value in part if key == "commonName"}
    dns = {value for kind, value in certificate.get("subjectAltName", ()) if kind == "DNS"}
    return frozenset(name.lower() for name in common | dns)
