from __future__ import annotations

import json
import socket
import threading
import time

import pytest

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

    def __init__(self, transfer: Transfer) -> None:
        super().__init__(daemon=True)
        self.transfer, self.listening, self.result = transfer, threading.Event(), None
        self.start()
        assert self.listening.wait(10)

    def run(self) -> None:
        try:
            self.result = receive(self.transfer, lambda _message: self.listening.set())
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


def test_a_sender_with_a_rate_keeps_to_it():
    # How long it takes at least is what a rate promises; how long at most is the machine's affair.
    port = free_ports(1)
    receiver = Receiver(Transfer("127.0.0.1", port, 2, timeout=10))
    began = time.monotonic()
    send(Transfer("127.0.0.1", port, 2, 10, rate=8e6), "127.0.0.1", 300_000, lambda _message: None)
    assert time.monotonic() - began >= 0.3 - 2 * PACE
    assert receiver.outcome().bytes == 300_000


def test_the_command_line_tells_the_sender_its_rate():
    sending = Transfer("127.0.0.1", (5,), 1, 60, rate=1e6)
    assert arguments("send", sending, "127.0.0.2", 9)[-2:] == ["--rate", "1000000.0"]
    assert "--rate" not in arguments("receive", sending)


def test_a_receiver_whose_sender_never_comes_says_so():
    receiver = Receiver(Transfer("127.0.0.1", free_ports(1), 1, timeout=0.1))
    assert "nothing moved for 0.1 s, after 0 bytes" in str(receiver.outcome())


def test_a_receiver_that_misses_a_stream_says_how_far_it_came():
    transfer = Transfer("127.0.0.1", free_ports(1), 2, timeout=0.2)
    receiver = Receiver(transfer)
    with socket.create_connection(("127.0.0.1", transfer.ports[0])) as only:
        only.sendall(b"x" * 1000)
        assert "after 1000 bytes" in str(receiver.outcome())


def test_a_sender_without_a_receiver_says_so():
    transfer = Transfer("127.0.0.1", free_ports(1), 1, timeout=0.1)
    with pytest.raises(TransferFailed, match="Connection refused"):
        send(transfer, "127.0.0.1", 1, lambda _message: None)


def test_a_receiver_that_hangs_up_is_noticed():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        hang_up = threading.Thread(target=lambda: server.accept()[0].close())
        hang_up.start()
        with pytest.raises(TransferFailed, match="a stream broke after"):
            send(Transfer("127.0.0.1", (port,), 1, 5), "127.0.0.1", 10**9, lambda _message: None)
        hang_up.join()


def test_seconds_without_data_are_zeros_in_the_series():
    progress = Progress(1, started=100.0)
    assert [progress.add(5, 100.1), progress.add(5, 100.9), progress.add(7, 103.5)] == [True, False, True]
    assert progress.per_second == [10, 0, 0, 7]
    assert progress.report("progress", 104.0)["seconds"] == 4.0


@pytest.mark.parametrize("wrong", ["--bytes=0", "--port=70000", "--streams=65", "--bytes=x", "--rate=1"])
def test_bad_arguments_are_refused(wrong, capsys):
    argv = ["send", "--bind=127.0.0.1", "--to=127.0.0.1", "--port=1", "--bytes=1", wrong]
    with pytest.raises(SystemExit) as refused:
        main(argv)
    assert refused.value.code == 2
    assert wrong[2:].split("=")[0] in capsys.readouterr().err


def test_the_program_reports_a_failure_as_its_last_line(capsys):
    port = str(free_ports(1)[0])
    assert main(["receive", "--bind", "127.0.0.1", "--port", port, "--timeout", "0.1"]) == 3
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last == {"event": "failed", "reason": "nothing moved for 0.1 s, after 0 bytes"}
