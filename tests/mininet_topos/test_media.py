from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mininet_topos import media
from mininet_topos.media import LARGEST, SMALLEST, Witness, packet_size
from mininet_topos.stopping import stop_by_sigterm
from mininet_topos.waiting import wait_until
from tests.ports import free_port

MS = 1_000_000


def witnessed(packets: list[tuple[int, int, int]]) -> Witness:
    witness = Witness()
    for number, sent, at in packets:
        witness.arrived(number, sent, at, 100)
    return witness


def test_jitter_is_the_mean_difference_of_consecutive_delays():
    """Delays of 10, 12, 9 and 9 ms: differences of 2, 3 and 0 ms (RFC 3393)."""
    delays = [10, 12, 9, 9]
    done = witnessed([(n, n * 20 * MS, (n * 20 + delay) * MS) for n, delay in enumerate(delays)]).report(5, 0)
    assert done.jitter == pytest.approx((2 + 3 + 0) / 3 * 1e-3)
    assert done.delay == pytest.approx(10e-3)
    assert done.lost == pytest.approx(0.2)
    assert done.jitter_per_second == (pytest.approx(done.jitter),)


@given(
    delays=st.lists(st.integers(0, 10**8), min_size=1, max_size=60),
    doubled=st.lists(st.integers(0, 59), max_size=10),
)
def test_what_arrives_twice_counts_once_and_seconds_add_up(delays, doubled):
    packets = [(n, n * 50 * MS, n * 50 * MS + delay) for n, delay in enumerate(delays)]
    again = [packets[n] for n in doubled if n < len(packets)]
    once, twice = (
        witnessed(packets).report(len(packets), 0),
        witnessed([*packets, *again]).report(len(packets), 0),
    )
    assert once == twice
    assert sum(once.per_second) == once.bytes == 100 * len(packets)
    assert once.lost == 0
    steps = [abs(b - a) for a, b in itertools.pairwise(delays)]
    assert once.jitter == pytest.approx(sum(steps) / len(steps) / 1e9 if steps else 0)


def test_with_nothing_there_is_nothing_to_divide_by():
    done = Witness().report(0, 0)
    assert (done.packets, done.jitter, done.delay, done.lost, done.per_second) == (0, 0.0, 0.0, None, ())


def test_a_clock_that_is_put_back_makes_no_second_before_the_first():
    done = witnessed([(0, 0, 5_000 * MS), (1, 0, 7_000 * MS), (2, 0, 3_000 * MS)]).report(3, 0)
    assert done.per_second == (200, 0, 100)
    assert done.seconds == 2.0


def test_what_had_arrived_counts_when_the_end_is_lost_with_the_path():
    """And what is no packet of ours is passed over."""
    port = free_port()
    found = []
    receiver = threading.Thread(target=lambda: found.append(media.receive("127.0.0.1", port, 2.0)))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.connect(("127.0.0.1", port))
        receiver.start()
        assert wait_until(lambda: _sent(sock, media.HEADER.pack(0, 0)), 10)
        for packet in (b"short", media.HEADER.pack(1, 0)):
            sock.send(packet)
        receiver.join(10)
    assert [(one.packets, one.sent, one.lost, one.bytes) for one in found] == [(2, None, None, 32)]
    assert found[0].silent > 1  # of the two seconds that it waited for more


@pytest.mark.parametrize("packets", [0, 1])
def test_a_receiver_that_is_told_to_end_reports_what_it_has(packets):
    port = free_port()
    argv = media.arguments("receive", "127.0.0.1", port, timeout=30)
    with (
        subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as receiver,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock,
    ):
        assert json.loads(receiver.stdout.readline())["event"] == "listening"
        for number in range(packets):
            sock.sendto(media.HEADER.pack(number, 0), ("127.0.0.1", port))
        if packets:
            told = json.loads(receiver.stdout.readline())
            assert told == {"event": "progress", "bytes": 16, "second": 0, "of_second": 16}
        receiver.terminate()
        last = json.loads(receiver.communicate(timeout=20)[0].splitlines()[-1])
    if packets:
        assert (last["event"], last["packets"], receiver.returncode) == ("received", 1, 0)
    else:
        assert (last["event"], receiver.returncode) == ("failed", 3)


def _sent(sock, packet):
    """Whether it was sent twice without a word that nobody listens there."""
    try:
        sock.send(packet)
        sock.send(packet)
    except ConnectionRefusedError:
        return False
    return True


@given(st.floats(1e3, 1e9))
def test_packets_have_a_size_that_fits(rate):
    assert SMALLEST <= packet_size(rate) <= LARGEST


def test_a_medium_arrives_whole_over_loopback():
    port = free_port()
    receiver = subprocess.Popen(
        media.arguments("receive", "127.0.0.1", port, timeout=20), stdout=subprocess.PIPE, text=True
    )
    assert receiver.stdout is not None
    assert json.loads(receiver.stdout.readline())["event"] == "listening"
    argv = [*media.arguments("send", "127.0.0.1", port), *media.sending("127.0.0.1", 400_000, 1.5)]
    sender = subprocess.run(argv, capture_output=True, text=True, check=True)
    report = json.loads(receiver.communicate(timeout=20)[0].splitlines()[-1])
    assert report["event"] == "received"
    assert report["packets"] == report["sent"] == json.loads(sender.stdout.splitlines()[-1])["packets"] == 75
    assert report["lost"] == 0
    assert report["bytes"] == 75 * 1000
    assert len(report["per_second"]) == 2
    assert receiver.returncode == 0


def test_a_packet_that_was_under_way_when_the_order_to_end_came_is_counted(monkeypatch):
    """Else one more would have arrived than were sent."""
    port, gone, send_one = free_port(), list[bytes](), media._sent

    def ordered_meanwhile(sock, packet):
        send_one(sock, packet)
        gone.append(packet)
        if len(gone) == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(media, "_sent", ordered_meanwhile)
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert media.send("127.0.0.1", "127.0.0.1", port, 1e6, 20, stop_by_sigterm()) == 3
    finally:
        signal.signal(signal.SIGTERM, before)
    numbers = [media.HEADER.unpack_from(packet)[0] for packet in gone]
    assert numbers == [0, 1, 2, *media.FAREWELLS * [media.END]]


def test_a_receiver_of_nothing_says_so():
    argv = media.arguments("receive", "127.0.0.1", free_port(), timeout=0.2)
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    last = json.loads(done.stdout.splitlines()[-1])
    assert (last["event"], "0.2 s" in last["reason"]) == ("failed", True)


@pytest.mark.parametrize("wrong", ["--rate=1", "--port=0", "--seconds=x", "--seconds=0"])
def test_bad_arguments_are_refused(wrong):
    argv = [sys.executable, "-m", "mininet_topos.media", "send", "--bind=127.0.0.1", "--to=127.0.0.1"]
    done = subprocess.run(
        [*argv, "--port=5", "--rate=5000", "--seconds=1", wrong], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert wrong[2:].split("=")[0] in done.stderr
