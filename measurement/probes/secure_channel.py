"""Authenticated connection between two agents, or a client and an agent: messages on a TCP socket.

One thread uses a channel at a time, and one request is under way at a time.  A channel reads no byte beyond
the message that it waits for, so a probe can use the socket itself for what follows.
"""

from __future__ import annotations

import contextlib
import errno
import hmac
import json
import os
import secrets
import select
import socket
import stat
import time
from pathlib import Path
from typing import Any, Self

from measurement.instances import Instance
from measurement.probes import wire
from measurement.probes.findings import FailureCause, ProbeError

CONNECT_TIMEOUT = 5.0
ANSWER_TIMEOUT = 5.0
"""Seconds to wait for an answer that needs no measurement."""
_KEEPALIVE = ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3))
"""A host that disappears is noticed after 25 seconds."""
_CLOSED = select.POLLRDHUP | select.POLLHUP | select.POLLERR
KEY_BYTES = 32


class SecureChannel:
    """One side of a connection after both have proved that they know the key."""

    def __init__(self, sock: socket.socket, keys: wire.ConnectionKeys, *, server: bool) -> None:
        self.socket = sock
        self.keys = keys
        self._out, self._in = (keys.to_client, keys.to_server) if server else (keys.to_server, keys.to_client)
        self._sent = self._received = 0
        self.client_address = ""
        """The address of the client as the server sees it."""

    @classmethod
    def connect(cls, instance: Instance, key: bytes, timeout: float = CONNECT_TIMEOUT) -> Self:
        """Connect to an instance's agent.

        :raises ProbeError: ``unreachable``, ``denied``, ``version``, ``limited`` or ``vanished``.
        """
        family = socket.AF_INET6 if ":" in instance.address else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM)
        where = f"{instance.name} ({instance.address} port {instance.port})"
        deadline = time.monotonic() + timeout
        try:
            _connect(sock, instance, timeout)
            channel = cls(sock, _prove_to_server(sock, key, deadline), server=False)
            channel.client_address = str(channel.receive(timeout).get("seen", ""))
        except TimeoutError:
            sock.close()
            cause = f"{where} does not answer within {timeout:g} s"
            raise ProbeError(FailureCause.UNREACHABLE, cause) from None
        except (ProbeError, OSError, ValueError) as error:
            sock.close()
            why = error.why if isinstance(error, ProbeError) else FailureCause.VANISHED
            raise ProbeError(why, f"{where}: {error}") from None
        return channel

    @classmethod
    def accept(cls, sock: socket.socket, key: bytes, timeout: float = CONNECT_TIMEOUT) -> Self:
        """Authenticate a client that connected; it waits for :meth:`greet`.

        :raises WireError: if it does not know the key, or speaks another version or protocol.
        :raises OSError: if the connection breaks, or the client is too slow (``TimeoutError``).
        """
        set_connection_options(sock)
        channel = cls(sock, _prove_to_client(sock, key, time.monotonic() + timeout), server=True)
        channel.client_address = str(sock.getpeername()[0])
        return channel

    def greet(self) -> None:
        """Tell the client that its packets are answered from now on, and its address.

        :raises OSError: if the connection breaks.
        """
        self.send({"seen": self.client_address})

    def send(self, message: dict[str, Any]) -> None:
        """Send one message.

        :raises OSError: if the connection breaks.
        """
        text = json.dumps(message, separators=(",", ":")).encode()
        frame = wire.pack_frame(self._out, self._sent, text)
        self._sent += 1
        self.socket.settimeout(ANSWER_TIMEOUT)
        self.socket.sendall(frame)

    def receive(self, timeout: float | None = None, limit: int = wire.MAX_FRAME) -> dict[str, Any]:
        """Return the next message.

        :raises OSError: if the connection breaks, or the message is too late (``TimeoutError``).
        :raises WireError: if it is longer than ``limit``, or not what the other side sent.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        head = _receive_exactly(self.socket, wire.FRAME_HEAD, deadline)
        rest = _receive_exactly(self.socket, wire.read_frame_length(head, limit), deadline)
        message = json.loads(wire.open_frame(self._in, self._received, rest))
        self._received += 1
        if not isinstance(message, dict):
            raise wire.WireError("a message is no object")
        return message

    def request(self, what: str, timeout: float | None, **fields: Any) -> Any:
        """Send a request and return its answer.

        :raises ProbeError: as the other side answers, or ``vanished``; then the channel is closed.
        """
        try:
            self.send({"do": what, **fields})
        except OSError as error:
            self.close()
            raise ProbeError(FailureCause.VANISHED, f"the connection broke: {error}") from None
        return self.receive_answer(timeout)

    def receive_answer(self, timeout: float | None) -> Any:
        """Return the answer to the last request.

        :raises ProbeError: as the other side answers, or ``vanished``; then the channel is closed.
        """
        try:
            message = self.receive(timeout)
        except (OSError, ValueError) as error:
            self.close()  # a late answer must not be taken for that of the next request
            raise ProbeError(FailureCause.VANISHED, f"there is no answer: {error}") from None
        if "error" not in message:
            return message.get("ok")
        try:
            failure = FailureCause(message["error"]["why"])
            text = str(message["error"]["text"])
        except (KeyError, TypeError, ValueError):
            raise ProbeError(FailureCause.FAULT, "the other side failed without a known cause") from None
        raise ProbeError(failure, text)

    def peer_has_closed(self) -> bool:
        """Return whether the other side has ended the connection, without waiting."""
        poll = select.poll()
        poll.register(self.socket, select.POLLRDHUP)
        return any(event & _CLOSED for _, event in poll.poll(0))

    def close(self) -> None:
        """End the connection; a thread that waits for a message is woken."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def refusal(error: ProbeError) -> dict[str, Any]:
    """Return an answer with the cause why there is no result."""
    return {"error": {"why": error.why.value, "text": str(error)}}


def set_connection_options(sock: socket.socket) -> None:
    """Have messages leave at once, and a peer that disappears noticed."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in _KEEPALIVE:
        sock.setsockopt(socket.IPPROTO_TCP, option, value)


def _connect(sock: socket.socket, instance: Instance, timeout: float) -> None:
    try:
        sock.settimeout(timeout)
        sock.connect((instance.address, instance.port))
        set_connection_options(sock)
    except TimeoutError:
        raise
    except OSError as error:
        raise ProbeError(FailureCause.UNREACHABLE, str(error.strerror)) from None


def _prove_to_server(sock: socket.socket, key: bytes, deadline: float) -> wire.ConnectionKeys:
    own = wire.pack_hello(secrets.token_bytes(wire.NONCE))
    try:
        sock.sendall(own)
        other = _receive_exactly(sock, wire.HELLO_BYTES, deadline)
        wire.check_hello(other)
        keys = wire.ConnectionKeys.derive(key, own, other)
        sock.sendall(keys.client_proof)
    except wire.OtherVersionError as error:
        raise ProbeError(FailureCause.VERSION, str(error)) from None
    except wire.WireError as error:
        raise ProbeError(FailureCause.UNREACHABLE, str(error)) from None
    except ConnectionError as error:
        cause = f"it ended the connection at once: its limit is reached, or it is no agent ({error.strerror})"
        raise ProbeError(FailureCause.LIMITED, cause) from None
    try:
        proof = _receive_exactly(sock, wire.PROOF_BYTES, deadline)
    except OSError:
        raise ProbeError(FailureCause.DENIED, "it does not accept our key") from None
    if not hmac.compare_digest(proof, keys.server_proof):
        raise ProbeError(FailureCause.DENIED, "it does not know our key")
    return keys


def _prove_to_client(sock: socket.socket, key: bytes, deadline: float) -> wire.ConnectionKeys:
    other = _receive_exactly(sock, wire.HELLO_BYTES, deadline)
    own = wire.pack_hello(secrets.token_bytes(wire.NONCE))
    try:
        wire.check_hello(other)
    except wire.OtherVersionError:
        sock.sendall(own)  # so that the other side can report it, too
        raise
    sock.sendall(own)
    keys = wire.ConnectionKeys.derive(key, other, own)
    if not hmac.compare_digest(_receive_exactly(sock, wire.PROOF_BYTES, deadline), keys.client_proof):
        raise wire.WireError("the client does not know the key")
    sock.sendall(keys.server_proof)
    return keys


def _receive_exactly(sock: socket.socket, count: int, deadline: float | None) -> bytes:
    buffer = bytearray(count)
    view, filled = memoryview(buffer), 0
    while filled < count:
        # A time-out of 0 would make the socket non-blocking.
        sock.settimeout(None if deadline is None else max(0.001, deadline - time.monotonic()))
        received = sock.recv_into(view[filled:])
        if received == 0:
            raise ConnectionResetError(errno.ECONNRESET, "the other side ended it")
        filled += received
    return bytes(buffer)


def write_key(path: Path) -> None:
    """Make a new key: 64 hexadecimal digits in a file that only its owner may read.

    :raises FileExistsError: rather than replace one.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(f"{secrets.token_hex(KEY_BYTES)}\n")


def read_key(path: Path) -> bytes:
    """Return the key in a file.

    :raises ValueError: if others may read it, or it is no key; the key itself is in no message.
    :raises OSError: if it cannot be read.
    """
    with path.open(encoding="ascii", errors="replace") as file:
        mode = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise ValueError(f"key: {path} is not a file")
        if mode & 0o077:
            raise ValueError(f"key: {path} has mode {stat.S_IMODE(mode):o}, others may not use it: chmod 600")
        text = file.read(4 * KEY_BYTES).strip()
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        raise ValueError(f"key: {path} does not hold {2 * KEY_BYTES} hexadecimal digits")
    return key
