"""Limits of an agent in this process."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from measurement.instances import Instance
from measurement.probes import wire
from measurement.probes.agent import AgentLimits, ProbeAgent
from measurement.probes.findings import FailureCause, ProbeError, ProbeFailure, RoundTrips
from measurement.probes.probe_types import ProbeOrder, Train, UdpEcho
from measurement.probes.prober import LoadSlots, Prober
from measurement.probes.replay_protection import RateLimit
from measurement.probes.secure_channel import SecureChannel

KEY = b"k" * 32


@contextmanager
def run_agent(limits: AgentLimits) -> Iterator[Instance]:
    agent = ProbeAgent("127.0.0.1", 0, KEY, limits)
    thread = threading.Thread(target=agent.run)
    thread.start()
    try:
        yield Instance("b", "127.0.0.1", agent.port)
    finally:
        agent.stop()
        thread.join()


def test_packets_above_the_limit_are_reported_as_limited() -> None:
    with run_agent(AgentLimits(packets=RateLimit(0.01, 3))) as target:
        order = ProbeOrder(target, (UdpEcho(count=3), UdpEcho(count=2, timeout=0.3), Train()))
        report = Prober(KEY, LoadSlots(1)).carry_out(order, threading.Event())
    first, second, train = report.findings
    assert isinstance(first, RoundTrips)
    assert len(first.answered) == 3
    for finding in (second, train):
        assert isinstance(finding, ProbeFailure)
        assert finding.why == FailureCause.LIMITED


def test_connections_above_the_limit_are_refused() -> None:
    with run_agent(AgentLimits(connections=RateLimit(0.01, 2))) as target:
        for _ in range(2):
            SecureChannel.connect(target, KEY).close()
        with pytest.raises(ProbeError) as caught:
            SecureChannel.connect(target, KEY)
        assert caught.value.why in (FailureCause.LIMITED, FailureCause.VANISHED)


def connect_until(target: Instance, accepted: bool) -> bool:
    """Connect until the agent accepts, or refuses, a connection; return whether that happened."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        try:
            SecureChannel.connect(target, KEY).close()
        except ProbeError:
            if not accepted:
                return True
        else:
            if accepted:
                return True
        time.sleep(0.05)
    return False


def test_unauthenticated_connections_have_a_limit() -> None:
    """Clients that stop in their hello take the places until they are gone."""
    with run_agent(AgentLimits(unauthenticated=2, connections=RateLimit(1000, 1000))) as target:
        idle = [socket.create_connection((target.address, target.port)) for _ in range(2)]
        for sock in idle:
            sock.send(wire.pack_hello(b"n" * wire.NONCE)[:8])
        assert connect_until(target, accepted=False)
        for sock in idle:
            sock.close()
        assert connect_until(target, accepted=True)


def test_silent_connections_take_no_place() -> None:
    """The system keeps them until they send a byte."""
    with run_agent(AgentLimits(unauthenticated=2)) as target:
        idle = [socket.create_connection((target.address, target.port)) for _ in range(4)]
        assert connect_until(target, accepted=True)
        for sock in idle:
            sock.close()
