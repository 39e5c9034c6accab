"""Connections between a guest and its host, over the serial line that joins them.

The same on both sides: whoever connects to one of our listening sockets is joined to the service of that name
on the other side, and what the other side asks for is connected to an address of ours.  It imports little:
in a guest, starting Python is slow.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from mininet_topos.old_guest.frames import (
    LINE_WINDOW,
    MOST,
    WINDOW,
    Frame,
    Kind,
    Reader,
    data,
    passed,
    was_read,
)

CONNECT_TIMEOUT = 5.0
_MOST_WAITING = 1 << 16
"""Bytes that wait for the line; with more, no stream is read."""
_PAUSE_MS = 100
"""Until connections are taken again after one could not be, for want of descriptors."""


@dataclass(slots=True)
class _Stream:
    """One connection of ours.

    :param window: bytes that the other side still takes.
    :param waiting: bytes for our connection, not yet taken by it.
    :param read_end, write_end: whether a direction is over: what is read here, what comes from the line.
    """

    sock: socket.socket
    window: int = WINDOW
    waiting: bytearray = field(default_factory=bytearray)
    read_end: bool = False
    write_end: bool = False


class Channel:
    """See the module's text.

    :param line: reads and writes both directions, non-blocking; not closed here.
    :param services: what the other side may connect to, by name.
    :param listeners: where connections to the other side's services are taken, by name.
    :param first: of our streams' numbers, which are every second from there: 0 on one side, 1 on the other.
    :param room: bytes that the other side reads before it says so; 0 if it says first that it is ready
        (:meth:`say_ready`): what a terminal gets before it is raw is spoilt.
    """

    def __init__(
        self,
        line: int,
        services: Mapping[str, tuple[str, int]],
        listeners: Mapping[str, socket.socket],
        first: int,
        *,
        room: int = LINE_WINDOW,
    ) -> None:
        self._line = line
        self._services = services
        self._listeners = {sock.fileno(): (name, sock) for name, sock in listeners.items()}
        self._next = first
        self._reader = Reader()
        self._out = deque[bytes]()
        self._urgent = deque[bytes]()
        self._being_written = b""
        self._waiting = 0
        self._room = room
        self._resting = False
        self._unacknowledged = 0
        self._streams = dict[int, _Stream]()
        self._by_socket = dict[int, int]()

    def say_ready(self) -> None:
        """The other side may begin; said as soon as we run."""
        self._urgent.append(was_read(LINE_WINDOW).packed())

    def run(self, until: int | None = None) -> None:
        """Go on until the other side ends, or until something can be read from the descriptor ``until``.

        However it ends, the other side is told.

        :raises ValueError: if what comes is of no such channel.
        """
        try:
            while self._turn(until):
                pass
        finally:
            self._say_that_it_is_over()
            for stream in self._streams.values():
                stream.sock.close()

    def _turn(self, until: int | None) -> bool:
        """Wait for something, and do it; whether to go on."""
        # Anew each time: a descriptor that was closed may be another connection's by now.
        poll = select.poll()
        for descriptor, events in self._wanted(until).items():
            poll.register(descriptor, events)
        ready = poll.poll(_PAUSE_MS if self._resting else None)
        self._resting = False
        for descriptor, events in ready:
            if descriptor == until:
                return False
            if descriptor == self._line:
                if events & select.POLLOUT and not self._write_line():
                    return False
                if events & ~select.POLLOUT and not self._read_line():
                    return False
            elif descriptor in self._listeners:
                self._accept(*self._listeners[descriptor])
            elif descriptor in self._by_socket:
                self._serve(self._by_socket[descriptor], events)
        return True

    def _wanted(self, until: int | None) -> dict[int, int]:
        read, write = select.POLLIN, select.POLLOUT
        wanted = {self._line: read | (write if self._next_to_write() else 0)}
        if until is not None:
            wanted[until] = read
        room = self._waiting < _MOST_WAITING
        if room and not self._resting:
            wanted |= dict.fromkeys(self._listeners, read)
        for stream in self._streams.values():
            events = read if room and stream.window > 0 and not stream.read_end else 0
            events |= write if stream.waiting else 0
            if events:
                wanted[stream.sock.fileno()] = events
        return wanted

    def _say(self, frame: Frame) -> None:
        self._out.append(frame.packed())
        self._waiting += len(self._out[-1])

    def _say_that_it_is_over(self) -> None:
        with contextlib.suppress(OSError):  # the other side was first
            os.set_blocking(self._line, True)
            os.write(self._line, self._being_written + Frame(Kind.OVER, 0).packed())

    def _accept(self, name: str, listener: socket.socket) -> None:
        try:
            sock, _ = listener.accept()
        except (BlockingIOError, ConnectionError):  # it has gone again
            return
        except OSError:  # for want of descriptors: it waits until there is one, and the line goes on
            self._resting = True
            return
        self._next += 2
        self._add(self._next - 2, sock)
        self._say(Frame(Kind.OPEN, self._next - 2, name.encode()))

    def _add(self, number: int, sock: socket.socket) -> None:
        sock.setblocking(False)
        if sock.family is not socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._streams[number] = _Stream(sock)
        self._by_socket[sock.fileno()] = number

    def _read_line(self) -> bool:
        try:
            come = os.read(self._line, 1 << 16)
        except BlockingIOError:
            return True
        except OSError:  # the other end of a terminal is gone
            return False
        frames = self._reader.feed(come)
        self._acknowledge(len(come) - sum(len(one.packed()) for one in frames if one.kind is Kind.READ))
        for frame in frames:
            self._take(frame)
        return bool(come) and not any(frame.kind is Kind.OVER for frame in frames)

    def _acknowledge(self, count: int) -> None:
        self._unacknowledged += count
        if self._unacknowledged >= LINE_WINDOW // 4:
            self._urgent.append(was_read(self._unacknowledged).packed())
            self._unacknowledged = 0

    def _next_to_write(self) -> bytes:
        """What is to go out now, if anything; what lets the other side go on comes first."""
        if not self._being_written:
            if self._urgent:
                self._being_written = self._urgent.popleft()
            elif self._out and len(self._out[0]) <= self._room:
                self._being_written = self._out.popleft()
                self._waiting -= len(self._being_written)
                self._room -= len(self._being_written)
        return self._being_written

    def _write_line(self) -> bool:
        """Write what there is room for; whether the other end is still there."""
        try:
            self._being_written = self._being_written[os.write(self._line, self._next_to_write()) :]
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True

    def _take(self, frame: Frame) -> None:
        if frame.kind is Kind.READ:
            self._room += frame.count
            return
        if frame.kind is Kind.OPEN:
            self._open(frame)
            return
        stream = self._streams.get(frame.stream)
        if stream is None:
            return  # it broke here, and the other side does not know yet
        match frame.kind:
            case Kind.DATA:
                stream.waiting += frame.data
                self._pass_on(frame.stream, stream)
            case Kind.PASSED:
                stream.window += frame.count
            case Kind.END:
                stream.write_end = True
                self._pass_on(frame.stream, stream)
            case Kind.BROKEN:
                self._forget(frame.stream)

    def _open(self, frame: Frame) -> None:
        address = self._services.get(frame.data.decode(errors="replace"))
        try:
            if address is None:
                raise ConnectionRefusedError
            self._add(frame.stream, socket.create_connection(address, CONNECT_TIMEOUT))
        except OSError:
            self._say(Frame(Kind.BROKEN, frame.stream))

    def _serve(self, number: int, events: int) -> None:
        stream = self._streams[number]
        if events & select.POLLOUT:
            self._pass_on(number, stream)
        if events & ~select.POLLOUT and number in self._streams:
            self._read(number, stream)

    def _read(self, number: int, stream: _Stream) -> None:
        try:
            come = stream.sock.recv(min(MOST, stream.window))
        except BlockingIOError:
            return
        except OSError:
            self._break(number)
            return
        if come:
            stream.window -= len(come)
            for frame in data(number, come):
                self._say(frame)
            return
        stream.read_end = True
        self._say(Frame(Kind.END, number))
        self._end_if_over(number, stream)

    def _pass_on(self, number: int, stream: _Stream) -> None:
        try:
            if stream.waiting:
                count = stream.sock.send(stream.waiting)
                del stream.waiting[:count]
                self._say(passed(number, count))
            if stream.write_end and not stream.waiting:
                stream.sock.shutdown(socket.SHUT_WR)
                self._end_if_over(number, stream)
        except BlockingIOError:
            return
        except OSError:
            self._break(number)

    def _end_if_over(self, number: int, stream: _Stream) -> None:
        if stream.read_end and stream.write_end and not stream.waiting:
            self._forget(number)

    def _break(self, number: int) -> None:
        self._say(Frame(Kind.BROKEN, number))
        self._forget(number)

    def _forget(self, number: int) -> None:
        stream = self._streams.pop(number)
        del self._by_socket[stream.sock.fileno()]
        stream.sock.close()
