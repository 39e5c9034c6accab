from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from mininet_topos.commands import wait_until
from mininet_topos.traffic.endpoint import Load
from mininet_topos.traffic.traffic_run import TrafficRun
from tests.mininet_topos.traffic.loopback import ADDRESS, free_port, popen

TIMEOUT = 60.0


def load(**fields: Any) -> Load:
    return replace(Load(("one", ADDRESS), ("other", ADDRESS), free_port()), **fields)


@pytest.mark.parametrize("streams", [1, 5])
def test_every_byte_of_a_transfer_is_counted(streams):
    notified = threading.Semaphore(0)
    run = TrafficRun(popen, load(size=3_000_001, streams=streams), notified.release)
    assert notified.acquire(timeout=TIMEOUT)
    assert run.began_at is not None
    assert notified.acquire(timeout=TIMEOUT)
    done = run.delivery
    assert (done.received, sum(done.per_second), done.problem) == (3_000_001, 3_000_001, "")
    assert done.began_at <= done.ended_at
    assert done.packets_sent > 0
    assert done.packets_lost >= 0


def test_rate_bounds_a_transfer():
    run = TrafficRun(popen, load(size=300_000, rate=2_000_000.0))
    run.join(TIMEOUT)
    assert run.delivery.ended_at - run.delivery.began_at > 1.0
    assert run.delivery.received == 300_000


@pytest.mark.testbed  # needs CAP_NET_ADMIN
def test_window_is_set_at_both_ends():
    run = TrafficRun(popen, load(size=100_000, window=8192))
    run.join(TIMEOUT)
    assert (run.delivery.received, run.delivery.problem) == (100_000, "")


@pytest.mark.parametrize("streams", [1, 4])
def test_transfer_without_size_ends_when_it_is_stopped(streams):
    run = TrafficRun(popen, load(streams=streams, rate=8_000_000.0))
    assert wait_until(lambda: run.received > 0, TIMEOUT)
    run.stop()
    run.join(TIMEOUT)
    done = run.delivery
    assert done.received >= run.received > 0
    assert (sum(done.per_second), done.problem) == (done.received, "")
    assert done.ended_at >= run.stopped_at


def test_flow_that_is_stopped_before_it_sends_delivers_nothing():
    run = TrafficRun(popen, load(size=10_000_000))
    run.stop()
    run.join(TIMEOUT)
    assert run.delivery.received >= 0
    assert run.delivery.problem == ""


def test_flow_to_an_address_that_cannot_be_bound_names_the_receiver():
    run = TrafficRun(popen, load(destination=("other", "192.0.2.1"), size=1))
    run.join(TIMEOUT)
    assert run.delivery.problem.startswith("receiver in other: ")


class Watched:
    """Starts programs and remembers them: the receiver first."""

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[Any]] = []

    def __call__(self, host: str, argv: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
        self.started.append(popen(host, argv, **options))
        return self.started[-1]


@pytest.mark.parametrize("end", [0, 1], ids=["receiver", "sender"])
@pytest.mark.parametrize("protocol", ["tcp", "udp"])
def test_flow_whose_program_was_killed_fails_with_what_arrived(end, protocol):
    programs = Watched()
    run = TrafficRun(programs, load(rate=800_000.0, protocol=protocol, patience=15.0))
    assert wait_until(lambda: run.received > 0, TIMEOUT)
    os.kill(programs.started[end].pid, signal.SIGKILL)
    if (end, protocol) == (0, "udp"):
        run.stop()  # a sender of packets sees no receiver
    run.join(TIMEOUT)
    assert run.delivery.received > 0
    assert run.delivery.problem or run.stopped_at
    assert all(program.poll() is not None for program in programs.started)


def test_packets_of_a_stream_are_counted():
    run = TrafficRun(popen, load(protocol="udp", rate=1_000_000.0, size=120_000))
    run.join(TIMEOUT)
    done = run.delivery
    assert done.packets_sent == 100
    assert 0 <= done.packets_lost < 100  # a receiver that the kernel lets wait may lose some
    assert (done.received, done.problem) == (1200 * (100 - done.packets_lost), "")
    assert done.jitter >= 0


def test_stream_that_is_stopped_knows_how_many_packets_were_sent():
    run = TrafficRun(popen, load(protocol="udp", rate=400_000.0))
    assert wait_until(lambda: run.received > 0, TIMEOUT)
    run.stop()
    run.join(TIMEOUT)
    assert (run.delivery.packets_sent - run.delivery.packets_lost) * 1000 == run.delivery.received
    assert run.delivery.problem == ""
