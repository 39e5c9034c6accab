"""TCP connections over one line, both sides in this process."""

from __future__ import annotations

import errno
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from mininet_topos.guest.channel import Channel
from mininet_topos.guest.frames import LINE_WINDOW, Frame, Kind, Reader, was_read


def listening() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0))


@contextmanager
def serving(answer: Callable[[socket.socket], None]) -> Iterator[tuple[str, int]]:
    """A server that does this with each connection."""

    def accept() -> None:
        while True:
            try:
                sock, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(sock,), daemon=True).start()

    with listening() as server:
        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()
        server.shutdown(socket.SHUT_RDWR)


@contextmanager
def joined(service: tuple[str, int], name: str = "there") -> Iterator[tuple[str, int]]:
    """Where to connect on one side to come to a service on the other."""
    one, other = socket.socketpair()
    stop, stopping = os.pipe()
    with one, other, listening() as here:
        for line in (one, other):
            line.setblocking(False)
        sides = (
            Channel(one.fileno(), {}, {name: here}, 0),
            Channel(other.fileno(), {"there": service}, {}, 1),
        )
        threads = [threading.Thread(target=side.run, args=(stop,), daemon=True) for side in sides]
        for thread in threads:
            thread.start()
        yield here.getsockname()
        os.write(stopping, b"x")
        for thread in threads:
            thread.join(10)
            assert not thread.is_alive()
    os.close(stop)
    os.close(stopping)


def echo(sock: socket.socket) -> None:
    with sock:
        while come := sock.recv(1 << 16):
            sock.sendall(come)


def received(sock: socket.socket) -> bytes:
    """All that comes until the other side has ended."""
    parts = []
    while come := sock.recv(1 << 16):
        parts.append(come)
    return b"".join(parts)


def exchanged(address: tuple[str, int], whole: bytes) -> bytes:
    """Send all, end, and take what comes back."""
    with socket.create_connection(address, 10) as sock:

        def send() -> None:
            sock.sendall(whole)
            sock.shutdown(socket.SHUT_WR)

        sending = threading.Thread(target=send, daemon=True)
        sending.start()
        back = received(sock)
        sending.join(10)
    return back


@pytest.mark.parametrize("length", [0, 1, 5_000, 3_000_000])
def test_all_comes_back_and_the_end_does_too(length: int) -> None:
    whole = os.urandom(length)
    with serving(echo) as service, joined(service) as here:
        assert exchanged(here, whole) == whole


def test_many_at_a_time_are_kept_apart() -> None:
    wholes = [bytes([number]) * 200_000 for number in range(12)]
    backs = dict[int, bytes]()
    with serving(echo) as service, joined(service) as here:

        def one(number: int) -> None:
            backs[number] = exchanged(here, wholes[number])

        threads = [threading.Thread(target=one, args=(number,), daemon=True) for number in range(len(wholes))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert [backs[number] for number in range(len(wholes))] == wholes


def test_a_reader_that_waits_holds_up_its_own_stream_alone() -> None:
    go = threading.Event()

    def lazy_or_echo(sock: socket.socket) -> None:
        first = sock.recv(1)
        if first == b"w":
            go.wait(20)
            sock.sendall(str(len(received(sock))).encode())
            sock.close()
        else:
            sock.sendall(first)
            echo(sock)

    with (
        serving(lazy_or_echo) as service,
        joined(service) as here,
        socket.create_connection(here, 10) as waiting,
    ):
        waiting.sendall(b"w")
        sending = threading.Thread(target=waiting.sendall, args=(bytes(20_000_000),), daemon=True)
        sending.start()
        assert exchanged(here, b"quick") == b"quick"
        go.set()
        sending.join(20)
        waiting.shutdown(socket.SHUT_WR)
        assert received(waiting) == b"20000000"


@pytest.mark.parametrize("name", ["there", "nobody"])
def test_what_nobody_answers_is_ended(name: str) -> None:
    with listening() as closed:
        address = closed.getsockname()
    with joined(address, name) as here, socket.create_connection(here, 10) as sock:
        sock.settimeout(10)
        assert sock.recv(1) == b""


def test_who_stops_tells_the_other() -> None:
    one, other = socket.socketpair()
    stop, stopping = os.pipe()
    with one, other:
        for line in (one, other):
            line.setblocking(False)
        threads = [
            threading.Thread(target=Channel(one.fileno(), {}, {}, 0).run, args=(stop,), daemon=True),
            threading.Thread(target=Channel(other.fileno(), {}, {}, 1).run, daemon=True),
        ]
        for thread in threads:
            thread.start()
        os.write(stopping, b"x")
        for thread in threads:
            thread.join(10)
            assert not thread.is_alive()
    os.close(stop)
    os.close(stopping)


def test_that_something_was_read_is_not_said_of_what_says_so() -> None:
    """Two sides would tell each other for ever."""
    one, other = socket.socketpair()
    with one, other:
        one.setblocking(False)
        other.settimeout(10)
        other.sendall(was_read(0).packed() * (LINE_WINDOW // 8) + Frame(Kind.OPEN, 1, b"nobody").packed())
        thread = threading.Thread(target=Channel(one.fileno(), {}, {}, 0).run, daemon=True)
        thread.start()
        assert Reader().feed(other.recv(1 << 16)) == [Frame(Kind.BROKEN, 1)]
        other.sendall(Frame(Kind.OVER, 0).packed())
        thread.join(10)


def test_a_terminal_is_told_nothing_before_it_is_ready() -> None:
    one, other = socket.socketpair()
    with one, other, listening() as here, socket.create_connection(here.getsockname(), 10):
        for line in (one, other):
            line.setblocking(False)
        channel = Channel(one.fileno(), {}, {"there": here}, 0, room=0)
        channel._turn(None)
        assert channel._streams
        assert channel._next_to_write() == b""
        terminal = Channel(other.fileno(), {}, {}, 1)
        terminal.say_ready()
        terminal._turn(None)
        channel._turn(None)
        channel._turn(None)
        assert Reader().feed(other.recv(1 << 16)) == [Frame(Kind.OPEN, 0, b"there")]
        (stream,) = channel._streams.values()
        stream.sock.close()


def test_a_want_of_descriptors_is_waited_out() -> None:
    class Scarce:
        """A listener that has none at first."""

        def __init__(self, sock: socket.socket) -> None:
            self.fileno, self._refused, self._sock = sock.fileno, 0, sock

        def accept(self) -> tuple[socket.socket, object]:
            self._refused += 1
            if self._refused <= 2:
                raise OSError(errno.EMFILE, "Too many open files")
            return self._sock.accept()

    one, other = socket.socketpair()
    with one, other, listening() as here, socket.create_connection(here.getsockname(), 10):
        one.setblocking(False)
        other.settimeout(10)
        channel = Channel(one.fileno(), {}, {"there": Scarce(here)}, 0)
        channel._turn(None)
        assert here.fileno() not in channel._wanted(None)  # it is not asked again and again
        thread = threading.Thread(target=channel.run, daemon=True)
        thread.start()
        assert Reader().feed(other.recv(1 << 16)) == [Frame(Kind.OPEN, 0, b"there")]
        other.sendall(Frame(Kind.OVER, 0).packed())
        thread.join(10)


def test_who_is_told_what_is_no_frame_says_that_it_is_over() -> None:
    one, other = socket.socketpair()
    with one, other:
        one.setblocking(False)
        other.settimeout(10)
        other.sendall(b"\xff" * 100)
        with pytest.raises(ValueError, match="a frame of"):
            Channel(one.fileno(), {}, {}, 0).run()
        assert Reader().feed(other.recv(1 << 16)) == [Frame(Kind.OVER, 0)]


def test_the_end_of_the_line_is_no_error_while_something_is_to_be_written() -> None:
    one, other = socket.socketpair()
    one.setblocking(False)
    channel = Channel(one.fileno(), {}, {}, 0)
    channel._say(Frame(Kind.BROKEN, 7))
    with one:
        other.close()
        channel.run()


def test_the_end_of_the_line_ends_it() -> None:
    one, other = socket.socketpair()
    one.setblocking(False)
    thread = threading.Thread(target=Channel(one.fileno(), {}, {}, 0).run, daemon=True)
    thread.start()
    other.close()
    thread.join(10)
    assert not thread.is_alive()
    one.close()
