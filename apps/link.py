"""The link between ADON's processes: newline-delimited JSON over one Unix socket.

The controller, the only writer of state, serves a socket that only its own user can open; the
collector and the web process connect to it.  Each line is one message::

    {"kind": "flow.submit", "payload": {"command": "9f…", "request": {…}, "requester": "ann"}}

A payload with ``command`` is a call and is answered by a message of kind ``answer`` that repeats it,
with a ``value`` or an ``error`` (:mod:`adon.problems`).  The first message of a client is ``hello``
with its ``role``.

What must hold (design.md: nothing outside may delay a rule): sending never blocks the controller.
Each peer has a bounded queue and a thread that writes it out; a peer whose queue is full is dropped,
and so is one that sends what is not a message.  A client reconnects by itself.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import socket
import stat
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from pathlib import Path
from typing import Any, NoReturn

from adon import problems
from adon.errors import AdonError, Conflict, InvalidInput, Unavailable

log = logging.getLogger(__name__)

MAX_LINE = 1_000_000
"""Bytes in one message, the newline included."""
SERVER_QUEUE = 1_000
"""Messages that may wait for one peer before it is dropped as too slow."""
SERVER_BYTES = 32_000_000
"""Bytes that may wait for one peer; and that is what its slowness costs in memory."""
CLIENT_QUEUE = 10_000
"""Messages a client keeps while the controller is away; the oldest go first."""
UNHEARD = 100
"""Messages of one kind that a client keeps until somebody listens; of more the newest."""
CONNECT_WAIT = 1.0
"""Seconds a call waits for a connection that is not there (a controller that is just starting)."""
BACKOFF = (0.05, 2.0)
"""First and longest pause between two attempts to connect, in seconds; a call is tried at once."""

CONTROLLER = "controller.sock"
"""In the data folder: the controller's own."""
SUPERVISOR = "serve.sock"
"""In the data folder: where ``adon serve`` is asked to reload, and how its reloads went."""
REACHED = "controller.reached"
"""What the web side tells ``adon serve``: it reaches the controller."""

Payload = dict[str, Any]


class MalformedMessage(ValueError):
    """What came over the link is not a message of it."""


def encode(kind: str, payload: Mapping[str, Any]) -> bytes:
    """One message as a line.

    :raises ValueError: for a payload that is not JSON (NaN included), or a line above :data:`MAX_LINE`.
    """
    try:
        line = json.dumps({"kind": kind, "payload": payload}, allow_nan=False).encode() + b"\n"
    except (TypeError, ValueError) as error:
        raise ValueError(f"{kind}: {error}") from error
    if len(line) > MAX_LINE:
        raise ValueError(f"{kind}: a message of {len(line)} bytes is above {MAX_LINE}")
    return line


def decode(line: bytes) -> tuple[str, Payload]:
    """Kind and payload of one line.

    :raises MalformedMessage: if it is not a message.
    """
    try:
        message = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedMessage(f"not JSON: {error}") from error
    if not isinstance(message, dict):
        raise MalformedMessage("not a JSON object")
    kind, payload = message.get("kind"), message.get("payload")
    if not isinstance(kind, str) or not isinstance(payload, dict):
        raise MalformedMessage("kind or payload is missing")
    return kind, payload


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is not JSON")


def _lines(connection: socket.socket) -> Iterator[bytes]:
    """The complete lines that arrive, until the far side closes.

    :raises MalformedMessage: for a line above :data:`MAX_LINE`.
    """
    with connection.makefile("rb") as stream:
        while line := stream.readline(MAX_LINE + 1):
            if len(line) > MAX_LINE:
                raise MalformedMessage(f"a line above {MAX_LINE} bytes")
            if not line.endswith(b"\n"):
                return  # cut off in the middle: the far side is gone
            yield line


def _shut(connection: socket.socket) -> None:
    """End a connection; threads that read or write it wake up."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        log.debug("event=link.shut reason=already-closed")
    connection.close()


class Peer:
    """The server's view of one connected process."""

    def __init__(self, connection: socket.socket, number: int) -> None:
        self.role = ""
        self.number = number
        self._connection = connection
        self._outbox: queue.Queue[bytes | None] = queue.Queue(SERVER_QUEUE)
        self._waiting = 0
        self._counting = threading.Lock()
        self._gone = threading.Event()
        self._dropping = threading.Lock()

    def __str__(self) -> str:
        return f"peer-{self.number}({self.role or 'unnamed'})"

    @property
    def gone(self) -> bool:
        """Whether the connection has ended."""
        return self._gone.is_set()

    def send(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Queue one message; returns at once.  A peer that is gone gets nothing.

        :raises ValueError: if the payload cannot be sent to anybody (:func:`encode`).
        """
        self._queue(encode(kind, payload))

    def answer(self, command: str, value: Mapping[str, Any] | AdonError) -> None:
        """Answer a call with plain JSON values, or with an error of ours.

        A value that cannot be sent is our own mistake: it is logged, and the caller told so.
        """
        try:
            line = encode("answer", _answer_body(command, value))
        except ValueError:
            log.exception("event=link.answer-unsendable peer=%s command=%s", self, command)
            line = encode("answer", _answer_body(command, AdonError("the answer could not be sent")))
        self._queue(line)

    def drop(self, reason: str) -> None:
        """End the connection, with one log line; the second time nothing happens."""
        with self._dropping:
            if self.gone:
                return
            self._gone.set()
        log.info("event=link.peer-gone peer=%s reason=%r", self, reason)
        _shut(self._connection)
        self._wake_writer()

    def _queue(self, line: bytes) -> None:
        if self.gone:
            return
        with self._counting:
            self._waiting += len(line)
            too_much = self._waiting > SERVER_BYTES
        if too_much:
            self.drop(f"reads too slowly: more than {SERVER_BYTES} bytes wait for it")
            return
        try:
            self._outbox.put_nowait(line)
        except queue.Full:
            self.drop(f"reads too slowly: {SERVER_QUEUE} messages wait for it")

    def _wake_writer(self) -> None:
        try:
            self._outbox.put_nowait(None)
        except queue.Full:
            log.debug("event=link.writer-busy")  # it is not asleep, and will find the connection closed

    def write_out(self) -> None:
        """Write what is queued until the peer is gone: the body of its writer thread."""
        while not self.gone:
            line = self._outbox.get()
            if line is None:
                return
            try:
                self._connection.sendall(line)
                with self._counting:
                    self._waiting -= len(line)
            except OSError as error:
                self.drop(f"cannot be written to: {error.strerror}")


def _answer_body(command: str, value: Mapping[str, Any] | AdonError) -> Payload:
    if isinstance(value, AdonError):
        return {"command": command, "error": problems.to_document(value)}
    return {"command": command, "value": dict(value)}


Handler = Callable[[Peer, str, Payload], None]


class LinkServer:
    """The controller's end: accepts peers and hands their messages to one handler.

    The handler runs in the peer's reader thread, so it must be quick: put the message into the event
    queue.  A call's ``payload["command"]`` is what :meth:`Peer.answer` wants; an :class:`AdonError`
    that the handler raises is answered at once.

    :raises Conflict: if another process serves this socket, or something else stands in its place.
    :raises InvalidInput: for a path too long for a Unix socket.
    """

    def __init__(self, path: Path, handler: Handler) -> None:
        self._path = path
        self._handler = handler
        self._peers: set[Peer] = set()
        self._peers_lock = threading.Lock()
        self._closing = threading.Event()
        self._listener = _listen(path)
        threading.Thread(target=self._accept, name="link-accept", daemon=True).start()

    @property
    def peers(self) -> tuple[Peer, ...]:
        """Who is connected now."""
        with self._peers_lock:
            return tuple(self._peers)

    def broadcast(self, kind: str, payload: Mapping[str, Any], role: str | None = None) -> None:
        """Queue one message for every peer (of one role); returns at once.

        :raises ValueError: as :meth:`Peer.send`.
        """
        line = encode(kind, payload)
        for peer in self.peers:
            if role is None or peer.role == role:
                peer._queue(line)

    def close(self) -> None:
        """Let every peer go and remove the socket file."""
        self._closing.set()
        self._path.unlink(missing_ok=True)
        _shut(self._listener)
        for peer in self.peers:
            peer.drop("the server stops")

    def _accept(self) -> None:
        number = 0
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError as error:
                if not self._closing.is_set():
                    log.warning("event=link.accept error=%r", error.strerror)
                    self._closing.wait(0.1)  # out of descriptors: let some go before the next attempt
                continue
            number += 1
            self._admit(Peer(connection, number), connection)

    def _admit(self, peer: Peer, connection: socket.socket) -> None:
        with self._peers_lock:
            # close() sets the flag before it reads the list: whoever comes later is let go here.
            closing = self._closing.is_set()
            if not closing:
                self._peers.add(peer)
        if closing:
            peer.drop("the server stops")
            return
        for target, args in ((self._read, (peer, connection)), (peer.write_out, ())):
            name = f"link-{target.__name__.strip('_')}-{peer.number}"
            threading.Thread(target=target, args=args, name=name, daemon=True).start()

    def _read(self, peer: Peer, connection: socket.socket) -> None:
        reason = "closed the connection"
        try:
            for line in _lines(connection):
                self._handle(peer, *decode(line))
        except MalformedMessage as error:
            reason = f"sent what is not a message: {error}"
        except (OSError, ValueError) as error:  # ValueError: the socket was closed under the reader
            reason = f"cannot be read from: {error}"
        finally:
            with self._peers_lock:
                self._peers.discard(peer)
            peer.drop(reason)

    def _handle(self, peer: Peer, kind: str, payload: Payload) -> None:
        if kind == "hello":
            peer.role = str(payload.get("role", ""))[:40]
        command = payload.get("command")
        try:
            self._handler(peer, kind, payload)
        except AdonError as error:
            if isinstance(command, str):
                peer.answer(command, error)
            else:
                log.warning("event=link.refused peer=%s kind=%s error=%r", peer, kind, str(error))
        except Exception:
            # The outermost guard of the reader thread: one bad message must not cut the peer off.
            log.exception("event=link.handler-failed peer=%s kind=%s", peer, kind)
            if isinstance(command, str):
                peer.answer(command, AdonError("there was a fault in carrying this out"))


def _listen(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        _remove_stale(path)
        # The mode of the descriptor before bind is the mode of the file from its first moment.
        os.fchmod(listener.fileno(), 0o600)
        listener.bind(str(path))
        listener.listen(16)
    except OSError as error:
        listener.close()
        if error.strerror is None:  # raised by Python itself: "AF_UNIX path too long"
            raise InvalidInput.of("data", f"{path} is too long for a Unix socket") from error
        raise
    except AdonError:
        listener.close()
        raise
    return listener


def _remove_stale(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise Conflict("data", f"{path} is in the way: it is not a socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()  # what a controller that was killed left behind
        else:
            raise Conflict("data", f"another controller serves {path}")


class LinkClient:
    """The end of the collector and of the web process; connects, and reconnects, by itself.

    :param far: who serves the socket, for messages.
    """

    def __init__(self, path: Path, role: str, far: str = "the controller") -> None:
        self._path = path
        self._role = role
        self._far = far
        self._callbacks: dict[str, Callable[[Payload], None]] = {}
        self._unheard: dict[str, deque[Payload]] = {}
        # Held while a callback is called: messages of a kind come in their order, the unheard ones too.
        self._telling = threading.RLock()
        self._pending: dict[str, Future[Payload]] = {}
        self._outbox: deque[tuple[bytes, str | None]] = deque()
        self._lost = 0
        self._connection: socket.socket | None = None
        self._since = time.time()
        self._closed = False
        self._urgent = False
        # One condition guards all of the above; writers wait on it for lines and for a connection.
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="link-client", daemon=True)
        self._thread.start()

    @property
    def connected(self) -> bool:
        """Whether the controller is there now."""
        return self._connection is not None

    @property
    def since(self) -> float:
        """Since when the link has been up, or down; seconds since the epoch."""
        return self._since

    def on(self, kind: str, callback: Callable[[Payload], None]) -> None:
        """Call ``callback(payload)`` for each message of this kind, in the link's thread.

        What came since the connection was made, before anybody listened, is told here and now: the controller
        says once how things stand, as soon as somebody connects.  So is ``hello``, which is called once after
        every (re)connect.  A callback may :meth:`send`, not :meth:`call`.
        """
        with self._telling:
            with self._changed:
                self._callbacks[kind] = callback
                connected = self._connection is not None
            waiting = list(self._unheard.pop(kind, ()))
            if kind == "hello" and connected:
                waiting.append({"role": self._role})
            for payload in waiting:
                self._dispatch(kind, payload)

    def send(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Queue one message and return; it waits for the controller, and is lost if too many wait.

        :raises ValueError: for a payload that cannot be sent (:func:`encode`).
        """
        line = encode(kind, payload)
        with self._changed:
            if len(self._outbox) >= CLIENT_QUEUE:
                self._outbox.popleft()
                self._lost += 1
            self._outbox.append((line, None))
            self._changed.notify_all()

    def call(self, kind: str, payload: Mapping[str, Any], timeout: float = 10.0) -> Payload:
        """Send a command and wait for its answer.

        :raises Unavailable: if the controller is not there, goes away or does not answer in time; what
            became of the command is then unknown.
        :raises AdonError: the error the controller answered with, as it was raised there.
        """
        if threading.current_thread() is self._thread:
            raise RuntimeError("a callback of the link cannot wait for the link")
        command = uuid.uuid4().hex
        line = _encode_call(kind, {**payload, "command": command})
        waiting: Future[Payload] = Future()
        with self._changed:
            if not self.connected:
                self._urgent = True  # the pause between two attempts may be longer than a call waits
                self._changed.notify_all()
            if not self._changed.wait_for(lambda: self.connected or self._closed, min(CONNECT_WAIT, timeout)):
                raise Unavailable(f"{self._far} is not running", code="not-running")
            if self._closed:
                raise Unavailable(f"the link to {self._far} is closed", code="not-running")
            self._pending[command] = waiting
            self._outbox.append((line, command))
            self._changed.notify_all()
        try:
            return waiting.result(timeout)
        except FutureTimeout:
            raise Unavailable(f"{self._far} did not answer within {timeout:g} s", code="timeout") from None
        finally:
            with self._changed:
                self._pending.pop(command, None)

    def close(self) -> None:
        """Let go of the connection; calls under way end with :class:`Unavailable`."""
        with self._changed:
            self._closed = True
            connection = self._connection
            self._changed.notify_all()
        if connection is not None:
            _shut(connection)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5)

    def _run(self) -> None:
        pause = BACKOFF[0]
        while not self._closed:
            connection = self._connect()
            if connection is None:
                pause = self._pause(pause)
                continue
            pause = BACKOFF[0]
            self._serve(connection)

    def _pause(self, seconds: float) -> float:
        """Wait between two attempts to connect, until somebody calls; so long the next pause is."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._urgent, seconds)
            if self._urgent:
                self._urgent = False
                return BACKOFF[0]
        return min(2 * seconds, BACKOFF[1])

    def _connect(self) -> socket.socket | None:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.connect(str(self._path))
            connection.sendall(encode("hello", {"role": self._role}))
        except OSError as error:
            log.debug("event=link.connect path=%s error=%r", self._path, str(error))
            connection.close()
            return None
        return connection

    def _serve(self, connection: socket.socket) -> None:
        """Carry messages both ways over one connection until it ends."""
        with self._changed:
            if self._closed:
                connection.close()
                return
            self._connection = connection
            self._urgent = False
            self._since = time.time()
            greeted = "hello" in self._callbacks  # a callback that comes later is called by on()
            self._changed.notify_all()
        log.info("event=link.connected role=%s", self._role)
        writer = threading.Thread(target=self._write, args=(connection,), name="link-writer", daemon=True)
        writer.start()
        with self._telling:
            self._unheard.clear()  # of a connection before: how things stand is said anew
        try:
            if greeted:
                self._dispatch("hello", {"role": self._role})
            for line in _lines(connection):
                self._receive(*decode(line))
        except (MalformedMessage, OSError, ValueError) as error:
            log.warning("event=link.broken role=%s error=%r", self._role, str(error))
        finally:
            self._disconnect(connection)
            writer.join()

    def _disconnect(self, connection: socket.socket) -> None:
        with self._changed:
            self._connection = None
            self._since = time.time()
            calls, self._pending = self._pending, {}
            # Calls are not repeated by themselves: their callers are told, messages wait.
            self._outbox = deque(entry for entry in self._outbox if entry[1] is None)
            self._changed.notify_all()
        _shut(connection)
        log.info("event=link.disconnected role=%s calls=%d", self._role, len(calls))
        for waiting in calls.values():
            waiting.set_exception(Unavailable(f"{self._far} went away before it answered"))

    def _receive(self, kind: str, payload: Payload) -> None:
        if kind != "answer":
            self._dispatch(kind, payload)
            return
        with self._changed:
            waiting = self._pending.pop(str(payload.get("command")), None)
        if waiting is None:
            return  # nobody waits any more: it came after the caller's patience
        error, value = payload.get("error"), payload.get("value")
        if isinstance(error, dict):
            waiting.set_exception(problems.from_document(error))
        else:
            waiting.set_result(value if isinstance(value, dict) else {})

    def _dispatch(self, kind: str, payload: Payload) -> None:
        with self._telling:
            callback = self._callbacks.get(kind)
            if callback is None:
                if kind != "hello":
                    self._unheard.setdefault(kind, deque(maxlen=UNHEARD)).append(payload)
                return
            try:
                callback(payload)
            except Exception:
                # The outermost guard of the link's thread: a callback's mistake must not end the link.
                log.exception("event=link.callback-failed kind=%s", kind)

    def _write(self, connection: socket.socket) -> None:
        while (entry := self._next(connection)) is not None:
            try:
                connection.sendall(entry[0])
            except OSError as error:
                log.debug("event=link.write error=%r", str(error))
                with self._changed:
                    if entry[1] is None:
                        self._outbox.appendleft(entry)
                _shut(connection)
                return

    def _next(self, connection: socket.socket) -> tuple[bytes, str | None] | None:
        """The next line to write, waiting for one; None once this connection is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._outbox or self._connection is not connection)
            if self._connection is not connection:
                return None
            if self._lost:
                log.warning(
                    "event=link.lost messages=%d reason='the controller was away too long'", self._lost
                )
                self._lost = 0
            return self._outbox.popleft()


def _encode_call(kind: str, payload: Payload) -> bytes:
    try:
        return encode(kind, payload)
    except ValueError as error:
        raise InvalidInput.of("", f"cannot be sent to the controller: {error}") from error
