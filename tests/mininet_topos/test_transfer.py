from __future__ import annotations

import json
import math
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from mininet_topos import transfer as transfers
from mininet_topos.transfer import (
    BLOCK,
    PACE,
    Progress,
    Transfer,
    TransferFailed,
    arguments,
    main,
    receive,
    send,
)
from tests.ports import free_port


def free_ports(count: int) -> tuple[int, ...]:
    return tuple(free_port() for _ in range(count))


class Receiver(threading.Thread):
    """The receiving side in a thread; ``listening`` is set when it can be sent to."""

    def __init__(self, transfer: Transfer, seconds: float = math.inf) -> None:
        super().__init__(daemon=True)
        self.transfer, self.listening, self.result = transfer, threading.Event(), None
        self.seconds = seconds
        self.start()
        assert self.listening.wait(10)

    def run(self) -> None:
        try:
            self.result = receive(self.transfer, lambda _message: self.listening.set(), self.seconds)
        except TransferFailed as failed:
            self.result = failed

    def outcome(self):
        self.join(20)
        return self.result


@pytest.mark.parametrize(
    ("size", "streams", "ports"),
    [(1, 1, 1), (1, 4, 1), (BLOCK, 2, 1), (BLOCK + 1, 3, 2), (10_000_001, 16, 2), (300_000, 64, 1)],
)
def test_every_byte_arrives_exactly_once(size, streams, ports):
    transfer = Transfer("127.0.0.1", free_ports(ports), streams, timeout=10)
    receiver = Receiver(transfer)
    sent = send(transfer, "127.0.0.1", size, lambda _message: None)
    received = receiver.outcome()
    assert (sent.bytes, received.bytes, sum(received.per_second)) == (size, size, size)
    assert received.streams == streams


def test_what_is_counted_is_written_where_it_is_asked_for(tmp_path, monkeypatch):
    written = (tmp_path / "kept").open("w+b", buffering=0)
    monkeypatch.setattr(transfers.tempfile, "TemporaryFile", lambda **_where: written)
    transfer = Transfer("127.0.0.1", free_ports(1), 3, timeout=10, into=str(tmp_path))
    receiver = Receiver(transfer)
    send(transfer, "127.0.0.1", 1_000_001, lambda _message: None)
    assert receiver.outcome().bytes == 1_000_001
    assert (tmp_path / "kept").stat().st_size == 1_000_001


def test_a_sender_with_a_rate_keeps_to_it():
    # How long it takes at least is what a rate promises; how long at most is the machine's affair.
    port = free_ports(1)
    receiver = Receiver(Transfer("127.0.0.1", port, 2, timeout=10))
    began = time.monotonic()
    send(Transfer("127.0.0.1", port, 2, 10, rate=8e6), "127.0.0.1", 300_000, lambda _message: None)
    assert time.monotonic() - began >= 0.3 - 2 * PACE
    assert receiver.outcome().bytes == 300_000


def test_a_receiver_whose_sender_never_comes_says_so():
    receiver = Receiver(Transfer("127.0.0.1", free_ports(1), 1, timeout=0.1))
    assert "0.1 s" in str(receiver.outcome())


def test_a_receiver_that_misses_a_stream_says_how_far_it_came():
    transfer = Transfer("127.0.0.1", free_ports(1), 2, timeout=1.5)
    receiver = Receiver(transfer)
    with socket.create_connection(("127.0.0.1", transfer.ports[0])) as only:
        only.sendall(b"x" * 1000)
        failed = receiver.outcome()
    assert (failed.counted.bytes, failed.counted.streams, failed.counted.per_second) == (1000, 1, (1000,))
    assert failed.counted.silent >= 1.5


@contextmanager
def program_that_has_counted(count: int, timeout: float = 30) -> Iterator[subprocess.Popen[str]]:
    """A receiver, to which a sender is connected that says no more."""
    (port,) = free_ports(1)
    argv = arguments("receive", Transfer("127.0.0.1", (port,), 1, timeout))
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdout=pipe, stderr=pipe, text=True) as receiver:
        assert json.loads(receiver.stdout.readline())["event"] == "listening"
        with socket.create_connection(("127.0.0.1", port)) as sender:
            sender.sendall(b"x" * count)
            assert json.loads(receiver.stdout.readline())["bytes"] == count
            yield receiver


def test_a_receiver_that_is_told_to_end_reports_what_it_has():
    with program_that_has_counted(1000) as receiver:
        receiver.terminate()
        last = json.loads(receiver.communicate(timeout=20)[0].splitlines()[-1])
    assert (last["event"], last["bytes"], last["per_second"]) == ("received", 1000, [1000])
    assert receiver.returncode == 0


def test_a_sender_without_a_receiver_says_so():
    transfer = Transfer("127.0.0.1", free_ports(1), 1, timeout=0.1)
    with pytest.raises(TransferFailed):
        send(transfer, "127.0.0.1", 1, lambda _message: None)


def test_a_receiver_that_hangs_up_is_noticed():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        hang_up = threading.Thread(target=lambda: server.accept()[0].close())
        hang_up.start()
        with pytest.raises(TransferFailed):
            send(Transfer("127.0.0.1", (port,), 1, 5), "127.0.0.1", 10**9, lambda _message: None)
        hang_up.join()


def test_seconds_without_data_are_zeros_in_the_series():
    progress = Progress(1, started=100.0)
    assert [progress.add(5, 100.1), progress.add(5, 100.9), progress.add(7, 103.5)] == [True, False, True]
    assert progress.per_second == [10, 0, 0, 7]
    assert progress.report("progress", 104.0)["seconds"] == 4.0


@pytest.mark.parametrize("wrong", ["--bytes=0", "--port=70000", "--streams=129", "--bytes=x", "--rate=1"])
def test_bad_arguments_are_refused(wrong, capsys):
    argv = ["send", "--bind=127.0.0.1", "--to=127.0.0.1", "--port=1", "--bytes=1", wrong]
    with pytest.raises(SystemExit) as refused:
        main(argv)
    assert refused.value.code == 2
    assert wrong[2:].split("=")[0] in capsys.readouterr().err


@pytest.mark.parametrize("streams", [1, 3])
def test_with_a_window_every_byte_arrives(streams):
    window = 65_536
    transfer = Transfer("127.0.0.1", free_ports(1), streams, timeout=10, window=window)
    receiver = Receiver(transfer)
    assert send(transfer, "127.0.0.1", 3_000_000, lambda _message: None).bytes == 3_000_000
    assert receiver.outcome().bytes == 3_000_000


def test_a_transfer_of_seconds_lasts_so_long_and_what_has_arrived_counts():
    ports = free_ports(1)
    transfer = Transfer("127.0.0.1", ports, 2, timeout=10, rate=8e6)
    receiver = Receiver(Transfer("127.0.0.1", ports, 2, timeout=10), 1.2)
    began = time.monotonic()
    sent = send(transfer, "127.0.0.1", None, lambda _message: None, seconds=1.2)
    assert time.monotonic() - began >= 1.2
    received = receiver.outcome()
    assert 0 < received.bytes == sum(received.per_second) <= sent.bytes
    assert sent.statistics.segments > 0


def slow_reader(port: int, until: threading.Event) -> threading.Thread:
    """Takes a connection, and reads nothing until it is told to."""
    listener = socket.create_server(("127.0.0.1", port))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)

    def run() -> None:
        with listener:
            stream, _ = listener.accept()
            with stream:
                until.wait(20)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


def test_the_sender_of_seconds_does_not_wait_until_its_buffers_are_empty():
    (port,) = free_ports(1)
    until = threading.Event()
    reader = slow_reader(port, until)
    transfer = Transfer("127.0.0.1", (port,), 1, timeout=5)
    sent = send(replace(transfer, rate=1e9), "127.0.0.1", None, lambda _message: None, seconds=0.3)
    assert sent.bytes > 0
    until.set()
    reader.join(20)


def test_the_receiver_of_seconds_does_not_wait_for_a_sender_that_goes_on():
    ports = free_ports(1)
    receiver = Receiver(Transfer("127.0.0.1", ports, 1, timeout=10), 0.3)
    with pytest.raises(TransferFailed):
        send(
            Transfer("127.0.0.1", ports, 1, timeout=10), "127.0.0.1", None, lambda _message: None, seconds=20
        )
    assert receiver.outcome().bytes > 0


def test_a_receiver_whose_seconds_were_over_first_is_no_failure():
    ports = free_ports(1)
    receiver = Receiver(Transfer("127.0.0.1", ports, 1, timeout=10), 0.7)
    sent = send(
        Transfer("127.0.0.1", ports, 1, timeout=10), "127.0.0.1", None, lambda _message: None, seconds=1.2
    )
    assert 0 < receiver.outcome().bytes <= sent.bytes


def test_a_receiver_that_is_cut_off_has_what_had_arrived_and_a_reset_is_a_failure_otherwise():
    for seconds, expected in ((10.0, 5), (math.inf, "reset")):
        (port,) = free_ports(1)
        receiver = Receiver(Transfer("127.0.0.1", (port,), 1, timeout=10), seconds)
        with socket.create_connection(("127.0.0.1", port)) as stream:
            stream.sendall(b"hello")
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        outcome = receiver.outcome()
        assert expected in str(outcome) if isinstance(outcome, TransferFailed) else outcome.bytes == expected


def test_a_sender_of_seconds_that_is_stopped_does_not_wait_until_its_buffers_are_empty():
    (port,) = free_ports(1)
    until = threading.Event()
    reader = slow_reader(port, until)
    argv = arguments("send", Transfer("127.0.0.1", (port,), 1, timeout=10), "127.0.0.1", seconds=600)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as sender:
        assert json.loads(sender.stdout.readline())["event"] == "sending"
        json.loads(sender.stdout.readline())  # its first bytes are sent, and soon no more go
        sender.terminate()
        *_, last = sender.stdout
    assert (json.loads(last)["event"], sender.returncode) == ("sent", 0)
    until.set()
    reader.join(20)


def test_the_streams_of_a_transfer_of_seconds_end_together():
    (port,) = free_ports(1)
    receiver = Receiver(Transfer("127.0.0.1", (port,), 2, timeout=20), 600)
    with (
        socket.create_connection(("127.0.0.1", port)) as cut_off,
        socket.create_connection(("127.0.0.1", port)) as silent,
    ):
        cut_off.sendall(b"one")
        silent.sendall(b"other")
        cut_off.close()
        assert receiver.outcome().bytes == 8


def test_the_sender_tells_what_the_kernel_knows_of_its_connections(capsys):
    ports = free_ports(1)
    receiver = Receiver(Transfer("127.0.0.1", ports, 3, timeout=10))
    argv = arguments("send", Transfer("127.0.0.1", ports, 3, 10), "127.0.0.1", 2_000_000)
    assert main(argv[argv.index("send") :]) == 0
    assert receiver.outcome().bytes == 2_000_000
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["event"] == "sent"
    assert last["segments"] >= 3
    assert last["retransmitted"] >= 0
    assert 0 < last["rtt"] < 1
