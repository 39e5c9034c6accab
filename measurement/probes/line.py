"""An authenticated connection between two agents, or of who asks an agent: messages on a TCP socket.

The socket is the line's own, without asyncio's streams: it reads no byte more than it was asked for, so what
comes after a message can be taken over by a thread that measures (:meth:`Line.socket`).
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import secrets
import socket
from typing import Any, Self

from measurement.instances import Instance
from measurement.probes import wire
from measurement.probes.findings import Failure, ProbeError

CONNECT_TIMEOUT = 5.0
KEEPALIVE = ((socket.TCP_KEEPIDLE, 10), (socket.TCP_KEEPINTVL, 5), (socket.TCP_KEEPCNT, 3))
"""A host that is gone without a word is noticed after 25 seconds."""


class Line:
    """One side of a connection after both have proved that they know the key."""

    def __init__(self, sock: socket.socket, keys: wire.Keys, *, server: bool) -> None:
        self.socket = sock
        self.keys = keys
        self._out, self._in = (keys.to_client, keys.to_server) if server else (keys.to_server, keys.to_client)
        self._sent = self._received = 0
        self._sending = asyncio.Lock()
        self.seen = ""
        """The address that the server saw the client at."""

    @classmethod
    async def connect(cls, instance: Instance, key: bytes, timeout: float = CONNECT_TIMEOUT) -> Self:
        """Connect to an instance's agent.

        :raises ProbeError: ``unreachable``, ``denied``, ``version`` or ``vanished``.
        """
        family = socket.AF_INET6 if ":" in instance.address else socket.AF_INET
        sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        where = f"{instance.name} ({instance.address} port {instance.port})"
        try:
            async with asyncio.timeout(timeout):
                await _connected(sock, instance)
                line = cls(sock, await _as_client(sock, key), server=False)
                line.seen = str((await line.receive()).get("seen", ""))
                return line
        except TimeoutError:
            sock.close()
            raise ProbeError(Failure.UNREACHABLE, f"{where} does not answer in {timeout:g} s") from None
        except ProbeError as error:
            sock.close()
            raise ProbeError(error.why, f"{where}: {error}") from None
        except BaseException:
            sock.close()
            raise

    @classmethod
    async def accept(cls, sock: socket.socket, key: bytes, timeout: float = CONNECT_TIMEOUT) -> Self:
        """Answer who connected.

        :raises WireError: if they do not know the key, or speak another version or protocol.
        :raises OSError: if the connection breaks, or they are too slow (``TimeoutError``).
        :raises ProbeError: if it breaks at its end.
        """
        async with asyncio.timeout(timeout):
            line = cls(sock, await _as_server(sock, key), server=True)
            line.seen = str(sock.getpeername()[0])
            await line.send({"seen": line.seen})
            return line

    async def send(self, message: dict[str, Any]) -> None:
        """Send one message.

        :raises ProbeError: ``vanished``.
        """
        text = json.dumps(message, separators=(",", ":")).encode()
        try:
            async with self._sending:
                sealed = wire.frame(self._out, self._sent, text)
                self._sent += 1
                await asyncio.get_running_loop().sock_sendall(self.socket, sealed)
        except OSError as error:
            raise ProbeError(Failure.VANISHED, f"the connection broke: {error.strerror}") from None

    async def receive(self, most: int = wire.MOST_FRAME) -> dict[str, Any]:
        """The next message.

        :raises ProbeError: ``vanished`` at the connection's end.
        :raises WireError: if it is longer than ``most``, or not what the other side sent.
        """
        try:
            head = await _exactly(self.socket, wire.FRAME_HEAD)
            rest = await _exactly(self.socket, wire.frame_rest(head, most))
        except OSError as error:
            raise ProbeError(
                Failure.VANISHED, f"the connection broke: {error.strerror or 'it ended'}"
            ) from None
        message = json.loads(wire.frame_message(self._in, self._received, rest))
        self._received += 1
        if not isinstance(message, dict):
            raise wire.WireError("a message is no object")
        return message

    async def ask(self, what: str, timeout: float, **more: Any) -> Any:
        """Send a question and wait for its answer; one at a time.

        :raises ProbeError: what the other side says, or ``vanished``.
        """
        await self.send({"do": what, **more})
        try:
            async with asyncio.timeout(timeout):
                return answered(await self.receive())
        except TimeoutError:
            raise ProbeError(Failure.VANISHED, f"no answer in {timeout:g} s") from None
        except ValueError as error:
            raise ProbeError(Failure.VANISHED, f"no sensible answer: {error}") from None

    def close(self) -> None:
        """End the connection."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits for it
        self.socket.close()


def answered(message: dict[str, Any]) -> Any:
    """What an answer says.

    :raises ProbeError: if it says why there is none.
    """
    if "error" not in message:
        return message.get("ok")
    try:
        failure = Failure(message["error"]["why"])
        text = str(message["error"]["text"])
    except (KeyError, TypeError, ValueError):
        raise ProbeError(Failure.FAULT, "the other side failed, and does not say how") from None
    raise ProbeError(failure, text)


def refusal(error: ProbeError) -> dict[str, Any]:
    """An answer that says why there is none."""
    return {"error": {"why": error.why.value, "text": str(error)}}


async def _connected(sock: socket.socket, instance: Instance) -> None:
    try:
        await asyncio.get_running_loop().sock_connect(sock, (instance.address, instance.port))
        keep(sock)
    except TimeoutError:
        raise
    except OSError as error:
        raise ProbeError(Failure.UNREACHABLE, str(error.strerror)) from None


def keep(sock: socket.socket) -> None:
    """Messages leave at once, and a peer that is gone is noticed."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in KEEPALIVE:
        sock.setsockopt(socket.IPPROTO_TCP, option, value)


async def _as_client(sock: socket.socket, key: bytes) -> wire.Keys:
    loop = asyncio.get_running_loop()
    ours = wire.hello(secrets.token_bytes(wire.NONCE))
    try:
        await loop.sock_sendall(sock, ours)
        theirs = await _exactly(sock, wire.HELLO_BYTES)
        wire.check_hello(theirs)
        keys = wire.Keys.of(key, ours, theirs)
        await loop.sock_sendall(sock, keys.client_proof)
    except wire.OtherVersionError as error:
        raise ProbeError(Failure.VERSION, str(error)) from None
    except wire.WireError as error:
        raise ProbeError(Failure.UNREACHABLE, str(error)) from None
    except OSError as error:
        raise ProbeError(
            Failure.LIMITED if isinstance(error, ConnectionError) else Failure.VANISHED,
            f"it ended the connection at once: it takes no more of them for a while, or is no agent "
            f"({error.strerror})",
        ) from None
    try:
        proof = await _exactly(sock, wire.PROOF_BYTES)
    except OSError:
        raise ProbeError(Failure.DENIED, "it does not accept our key") from None
    if not wire.same(proof, keys.server_proof):
        raise ProbeError(Failure.DENIED, "it does not know our key")
    return keys


async def _as_server(sock: socket.socket, key: bytes) -> wire.Keys:
    loop = asyncio.get_running_loop()
    theirs = await _exactly(sock, wire.HELLO_BYTES)
    ours = wire.hello(secrets.token_bytes(wire.NONCE))
    try:
        wire.check_hello(theirs)
    except wire.OtherVersionError:
        await loop.sock_sendall(sock, ours)  # so that the other side can say so, too
        raise
    await loop.sock_sendall(sock, ours)
    keys = wire.Keys.of(key, theirs, ours)
    if not wire.same(await _exactly(sock, wire.PROOF_BYTES), keys.client_proof):
        raise wire.WireError("the client does not know the key")
    await loop.sock_sendall(sock, keys.server_proof)
    return keys


async def _exactly(sock: socket.socket, count: int) -> bytes:
    loop = asyncio.get_running_loop()
    held = bytearray(count)
    view, have = memoryview(held), 0
    while have < count:
        got = await loop.sock_recv_into(sock, view[have:])
        if got == 0:
            raise ConnectionResetError(errno.ECONNRESET, "the other side ended it")
        have += got
    return bytes(held)
