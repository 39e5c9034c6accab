"""In a guest: run programs in hosts for whoever connects, one per connection.

Its input and output are the connection's (:mod:`mininet_topos.old_guest.messages`); when the connection ends
before the program, the program is ended.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from mininet_topos.old_guest.messages import (
    MOST,
    Kind,
    Start,
    Wire,
    moment,
    moment_of,
    signal_of,
    size_of,
    status,
    taken,
)

GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL for a program whose client is gone."""
PARTING = 10.0
"""Seconds that a client has to take what was said last."""
_READ = 1 << 14
_PAUSE = 0.1
"""Seconds until a connection is tried again that could not be had, for want of descriptors."""

Command = Callable[[list[str], str | None], list[str]]
"""The command that runs this in that host; KeyError if there is none."""


def serve(listener: socket.socket, command: Command) -> None:
    """Take connections until the listener is closed."""
    while True:
        try:
            sock, _ = listener.accept()
        except OSError as error:
            if error.errno in (errno.EBADF, errno.EINVAL):  # closed, or shut down
                return
            time.sleep(_PAUSE)
            continue
        threading.Thread(target=_run, args=(sock, command), daemon=True).start()


def _run(sock: socket.socket, command: Command) -> None:
    """One connection; whatever the client does wrong is the end of it alone."""
    with sock, contextlib.suppress(OSError, ValueError):
        wire = Wire(sock)
        while (come := _heard(wire)) is not None:
            if come and come[0][0] is Kind.START:
                _be_program(wire, command, come)
                return
            for kind, data in come:
                _tell_time(wire, kind, data)


def _heard(wire: Wire) -> list[tuple[Kind, bytes]] | None:
    _await(wire, select.POLLIN)
    return wire.take()


def _await(wire: Wire, event: int, timeout: float | None = None) -> bool:
    """Whether there is something to read, or room, within so many seconds.

    Not by select(2): it takes no descriptor above 1023.
    """
    poll = select.poll()
    poll.register(wire, event)
    return bool(poll.poll(None if timeout is None else timeout * 1e3))


def _tell_time(wire: Wire, kind: Kind, data: bytes) -> None:
    """What :mod:`mininet_topos.old_guest.clock` asks."""
    if kind is Kind.STEP:
        time.clock_settime_ns(time.CLOCK_REALTIME, time.time_ns() + moment_of(data))
    elif kind is Kind.CLOCK:
        wire.say(Kind.CLOCK, moment(time.time_ns()))
    else:
        raise ValueError(f"began with {kind}")


def _be_program(wire: Wire, command: Command, come: list[tuple[Kind, bytes]]) -> None:
    (_, data), *rest = come
    start = Start.unpacked(data)
    try:
        program = _Program.started(start, command(start.argv, start.host))
    except (OSError, KeyError) as error:
        wire.say(Kind.REFUSED, _why(error, start).encode())
        _part(wire)
        return
    with contextlib.closing(program):
        for message in rest:
            program.hear(*message)
        program.run(wire)
    _part(wire)


def _why(error: Exception, start: Start) -> str:
    return f"there is no host {start.host}" if isinstance(error, KeyError) else f"{start.argv[0]}: {error}"


def _flush(wire: Wire) -> None:
    while wire.waiting:
        _await(wire, select.POLLOUT)
        wire.flush()


def _part(wire: Wire) -> None:
    """Go when the client has gone: what it still says must not make it lose what we said last."""
    _flush(wire)
    deadline = time.monotonic() + PARTING
    while (left := deadline - time.monotonic()) > 0:
        if _await(wire, select.POLLIN, left) and wire.take() is None:
            return


class _Program:
    """A program that runs.

    :param stdin: where its input is written.
    :param outputs: where its output is read, and what is said of it.
    :param terminal: which of them is its terminal, if it has one.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        stdin: int,
        outputs: Mapping[int, Kind],
        terminal: int | None,
    ) -> None:
        self._process = process
        self._stdin: int | None = stdin
        self._input = bytearray()
        self._input_over = False
        self._taken = 0
        self._outputs = dict(outputs)
        self._terminal = terminal
        for descriptor in {stdin, *outputs}:
            os.set_blocking(descriptor, False)
        try:
            self._pidfd = os.pidfd_open(process.pid)
        except OSError:
            process.kill()
            process.wait()
            raise

    @classmethod
    def started(cls, start: Start, argv: list[str]) -> _Program:
        """Start it, with a session of its own."""
        folder = start.folder if Path(start.folder).is_dir() else "/"
        where: dict[str, Any] = {"cwd": folder, "env": {**os.environ, **start.environment}}
        if start.size is None:
            return cls._with_pipes(argv, where)
        return cls._with_terminal(argv, start.size, where)

    @classmethod
    def _with_pipes(cls, argv: list[str], where: dict[str, Any]) -> _Program:
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            stdin, write = _pipe(theirs, ours)
            read, stdout = _pipe(ours, theirs)
            read_errors, stderr = _pipe(ours, theirs)
            process = subprocess.Popen(
                argv, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True, **where
            )
            program = cls(process, write, {read: Kind.OUTPUT, read_errors: Kind.ERRORS}, None)
            ours.pop_all()
        return program

    @classmethod
    def _with_terminal(cls, argv: list[str], size: tuple[int, int], where: dict[str, Any]) -> _Program:
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as ours:
            terminal, other = pty.openpty()
            ours.callback(os.close, terminal)
            theirs.callback(os.close, other)
            _resize(terminal, size)
            # setsid(1) makes it the session's terminal, which Popen cannot without forking the whole of us.
            process = subprocess.Popen(
                ["setsid", "--ctty", *argv], stdin=other, stdout=other, stderr=other, **where
            )
            program = cls(process, terminal, {terminal: Kind.OUTPUT}, terminal)
            ours.pop_all()
        return program

    def close(self) -> None:
        """It is ended, if it has not by itself."""
        if self._process.poll() is None:
            self._signal(signal.SIGHUP if self._terminal is not None else signal.SIGTERM)
            try:
                self._process.wait(GRACE)
            except subprocess.TimeoutExpired:
                self._signal(signal.SIGKILL)
                self._process.wait()
        for descriptor in {self._pidfd, *self._outputs, *(() if self._stdin is None else (self._stdin,))}:
            os.close(descriptor)

    def run(self, wire: Wire) -> None:
        """Until it has ended, and all it wrote before has been said.

        :raises OSError: if the client is gone.
        """
        ended = False
        while not ended:
            for descriptor, events in self._waited(wire):
                if descriptor == wire.fileno():
                    if events & select.POLLOUT:
                        wire.flush()
                    if events & ~select.POLLOUT:
                        self._heard(wire)
                elif descriptor == self._pidfd:
                    ended = True
                elif descriptor == self._stdin and events & (select.POLLOUT | select.POLLERR):
                    self._write()  # and if nobody reads it any more, to hear so
                if descriptor in self._outputs and events & ~select.POLLOUT:
                    self._read(wire, descriptor)
        # What it left behind may hold its output open for ever: only what is there now.  Its reader may take
        # as long as it likes.
        for descriptor in list(self._outputs):
            left = self._held(descriptor)
            while left > 0 and descriptor in self._outputs and (count := self._read(wire, descriptor, left)):
                left -= count
                _flush(wire)
        wire.say(Kind.ENDED, status(self._process.wait()))

    def _held(self, descriptor: int) -> int:
        """How many bytes of its output are there at most; a terminal tells too few, just after a write."""
        if descriptor == self._terminal:
            return MOST
        answer = fcntl.ioctl(descriptor, termios.FIONREAD, bytes(4))
        return int.from_bytes(answer, sys.byteorder)

    def _waited(self, wire: Wire) -> list[tuple[int, int]]:
        if self._taken:
            wire.say(Kind.TAKEN, taken(self._taken))
            self._taken = 0
        poll = select.poll()
        # Input waits at the client, which is told what was taken: what else it says is always heard.
        poll.register(wire, select.POLLIN | (select.POLLOUT if wire.waiting else 0))
        poll.register(self._pidfd, select.POLLIN)
        wanted = dict.fromkeys(() if wire.full else self._outputs, select.POLLIN)
        if self._stdin is not None and self._input:
            wanted[self._stdin] = wanted.get(self._stdin, 0) | select.POLLOUT
        for descriptor, events in wanted.items():
            poll.register(descriptor, events)
        return poll.poll()

    def _heard(self, wire: Wire) -> None:
        messages = wire.take()
        if messages is None:
            raise ConnectionResetError("the client is gone")
        for kind, data in messages:
            self.hear(kind, data)

    def hear(self, kind: Kind, data: bytes) -> None:
        """A message of the client's."""
        match kind:
            case Kind.INPUT:
                self._input += data
                self._write()
            case Kind.INPUT_END:
                self._input_over = True
                self._write()
            case Kind.SIGNAL:
                self._signal(signal_of(data))
            case Kind.SIZE if self._terminal is not None:
                _resize(self._terminal, size_of(data))

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)

    def _write(self) -> None:
        if self._stdin is None:
            self._take(len(self._input))
            return
        try:
            while self._input:
                self._take(os.write(self._stdin, self._input))
        except BlockingIOError:
            return
        except OSError:  # it reads no more
            self._take(len(self._input))
            self._input_over = True
        if self._input_over and self._terminal is None:
            os.close(self._stdin)
            self._stdin = None

    def _take(self, count: int) -> None:
        del self._input[:count]
        self._taken += count

    def _read(self, wire: Wire, descriptor: int, most: int = _READ) -> int:
        """Pass on what it wrote; how many bytes there were."""
        try:
            come = os.read(descriptor, min(most, _READ))
        except BlockingIOError:
            return 0
        except OSError:  # a terminal that nobody has open
            come = b""
        if come:
            wire.say(self._outputs[descriptor], come)
            return len(come)
        del self._outputs[descriptor]
        if descriptor != self._stdin:
            os.close(descriptor)
        return 0


def _pipe(reading: contextlib.ExitStack, writing: contextlib.ExitStack) -> tuple[int, int]:
    """A pipe whose ends are closed with these."""
    read, write = os.pipe()
    reading.callback(os.close, read)
    writing.callback(os.close, write)
    return read, write


def _resize(terminal: int, rows_and_columns: tuple[int, int]) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *rows_and_columns, 0, 0))
