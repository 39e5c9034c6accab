"""Echoes over a TCP connection, and sockets whose packets or bytes the kernel times."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from measurement.probes import wire
from measurement.probes.kernel_timestamps import TimedSocket
from measurement.probes.tcp_probes import TcpEchoChannel, echo_stream

pytestmark = pytest.mark.usefixtures("kernel_times_packets")
KEYS = wire.ConnectionKeys.derive(b"k" * 32, b"client", b"server")
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


def test_each_request_of_a_stream_has_a_send_time() -> None:
    with connected() as (near, far):
        stop = threading.Event()
        answering = threading.Thread(target=echo_stream, args=(far, KEYS, LENGTH, stop))
        answering.start()
        try:
            channel = TcpEchoChannel(near, KEYS, LENGTH)
            for number in range(3):
                before = time.time_ns()
                channel.send(number)
                [answer] = channel.receive(5.0)
                out = channel.send_times()
                assert answer.number == number
                assert [*out] == [*range(number + 1)]
                assert answer.arrived is not None
                assert before <= out[number] <= answer.arrived <= time.time_ns()
        finally:
            stop.set()
            answering.join()


@pytest.mark.parametrize("abruptly", [False, True], ids=["ended", "reset"])
def test_ended_stream_is_an_error(abruptly: bool) -> None:
    with connected() as (near, far):
        channel = TcpEchoChannel(near, KEYS, LENGTH)
        if abruptly:
            far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        far.close()
        with pytest.raises(ConnectionError):
            channel.receive(5.0)


def test_error_of_the_network_is_raised_at_once() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as nobody:
        nobody.bind(("127.0.0.1", 0))
        address = nobody.getsockname()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(address)
        timed = TimedSocket(sock)
        sock.send(b"x")
        with pytest.raises(ConnectionRefusedError):
            timed.wait_readable(5.0)
