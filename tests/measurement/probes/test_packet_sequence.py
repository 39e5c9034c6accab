"""Sequences of packets on loopback: each that was sent arrives, and a clock that is set is detected."""

from __future__ import annotations

import socket
import threading
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.instances import Instance
from measurement.probes import wire
from measurement.probes.packet_sequence import (
    Arrivals,
    PacketGroup,
    PacketPlan,
    SentSequence,
    SequenceReceiver,
    send_sequence,
)
from measurement.probes.udp_path import UdpPath
from measurement.probes.wire import PacketKind
from tests.support.refusals import refused

pytestmark = pytest.mark.usefixtures("kernel_times_packets")
KEYS = wire.ConnectionKeys.derive(b"k" * 32, wire.pack_hello(b"c" * 32), wire.pack_hello(b"s" * 32))
TRAIN = PacketPlan((PacketGroup(1472, 50, 0.001),), 2)
SANDWICHES = PacketPlan((PacketGroup(64, 1, 0.002), PacketGroup(None, 1, 0.0), PacketGroup(64, 1, 0.001)), 3)


def run_on_loopback(plan: PacketPlan, *offsets: int) -> tuple[SentSequence, Arrivals]:
    """Send a plan to another socket.

    :param offsets: readings of the receiver's clocks.
    """
    readings = iter(offsets)
    near, far = socket.socketpair()
    with near, far, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listening.bind(("127.0.0.1", 0))
        local = listening.getsockname()
        with (
            closing(UdpPath(Instance("b", *local), KEYS, 10)) as path,
            closing(UdpPath(Instance("a", *path.socket.getsockname()), KEYS, 0, local)) as other,
        ):
            receiver = SequenceReceiver(
                other.socket, KEYS, plan.packets, 10, PacketKind.SEQUENCE, lambda: next(readings)
            )
            stop = threading.Event()
            receiving = threading.Thread(target=receiver.receive, args=(far, 30.0, stop))
            receiving.start()
            sent = send_sequence(path, plan, path.reserve(plan.packets), PacketKind.SEQUENCE, stop)
            near.send(b"finished")
            receiving.join()
            return sent, receiver.arrivals()


@pytest.mark.parametrize(("step", "stepped"), [(0, False), (3_600 * 10**9, True), (-(10**7), True)])
def test_clock_that_is_set_during_a_train_is_detected(step: int, stepped: bool) -> None:
    sent, arrivals = run_on_loopback(TRAIN, 0, step)
    assert (sent.groups, sent.largest, sent.times_ns) == (2, 1472, ())
    assert arrivals.stepped is stepped
    assert arrivals.overflowed == 0
    assert sorted(arrivals.times_ns) == [*range(100)]


def test_single_packets_have_times_of_both_ends() -> None:
    sent, arrivals = run_on_loopback(SANDWICHES, 0, 0)
    assert sent.groups == len(sent.times_ns) == len(arrivals.times_ns) == 9
    assert [*sent.times_ns] == sorted(sent.times_ns)
    for first in (0, 3, 6):
        assert sent.times_ns[first + 2] - sent.times_ns[first] >= 0.002 * 1e9
    assert sent.largest > 1472  # loopback has a larger MTU than Ethernet


@given(st.dictionaries(st.integers(0, 99), st.integers(1, 2**62)), st.integers(0, 9), st.booleans())
def test_arrivals_survive_the_connection(times: dict[int, int], overflowed: int, stepped: bool) -> None:
    arrivals = Arrivals(times, overflowed, stepped)
    assert Arrivals.from_json(arrivals.to_json(100)) == arrivals


@pytest.mark.parametrize(
    ("group", "repeats", "field"),
    [
        (lambda: PacketGroup(63, 1, 0.0), 1, "length"),
        (lambda: PacketGroup(64, 0, 0.0), 1, "count"),
        (lambda: PacketGroup(64, 1, -1.0), 1, "pause"),
        (lambda: PacketGroup(64, 1, float("nan")), 1, "pause"),
        (lambda: PacketGroup(64, 1000, 0.0), 1000, "packets"),
        (lambda: PacketGroup(64, 1, 1.0), 121, "seconds"),
    ],
)
def test_plan_above_the_limits_is_refused(group, repeats: int, field: str) -> None:
    with refused(ValueError, field):
        PacketPlan((group(),), repeats)
