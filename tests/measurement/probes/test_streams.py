"""Echoes over an agreed connection, and the sockets whose packets or bytes the kernel times."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from measurement.probes import wire
from measurement.probes.streams import TcpChannel, echo
from measurement.probes.timed_socket import TimedSocket

KEYS = wire.Keys.of(b"k" * 32, b"client", b"server")
LENGTH = 200


@contextmanager
def connected() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a TCP connection on loopback."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as one,
        closing(listener.accept()[0]) as other,
    ):
        yield one, other


def test_each_request_of_a_stream_has_its_own_time_of_going_out() -> None:
    with connected() as (near, far):
        ended = threading.Event()
        answering = threading.Thread(target=echo, args=(far, KEYS, LENGTH, ended))
        answering.start()
        try:
            channel = TcpChannel(near, KEYS, LENGTH)
            for number in range(3):
                before = time.time_ns()
                channel.send(number)
                [answer] = channel.receive(5.0)
                out = channel.went_out()
                assert answer.number == number
                assert [*out] == [*range(number + 1)]
                assert answer.back is not None
                assert before <= out[number] <= answer.back <= time.time_ns()
        finally:
            ended.set()
            answering.join()


@pytest.mark.parametrize("abruptly", [False, True], ids=["ended", "reset"])
def test_a_stream_that_is_over_is_no_silence(abruptly: bool) -> None:
    with connected() as (near, far):
        channel = TcpChannel(near, KEYS, LENGTH)
        if abruptly:
            far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        far.close()
        with pytest.raises(ConnectionError):
            channel.receive(5.0)


def test_what_the_network_says_of_a_packet_is_raised_and_not_waited_for() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = nobody.getsockname()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(address)
        timed = TimedSocket(sock)
        sock.send(b"x")
        with pytest.raises(ConnectionRefusedError):
            timed.readable(5.0)
