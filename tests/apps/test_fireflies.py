"""Fireflies leave as UDP packets, and what cannot be sent disturbs nobody."""

from __future__ import annotations

import socket
from contextlib import closing
from ipaddress import ip_address

import pytest

from adon.config.policy import FireflyCollector
from apps.campus_edge import fireflies


def collector(port: int, host: str = "127.0.0.1") -> FireflyCollector:
    return FireflyCollector(host=ip_address(host), port=port)


def test_a_packet_reaches_the_collector() -> None:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as receiver:
        receiver.bind(("127.0.0.1", 0))
        receiver.settimeout(60)
        with closing(fireflies.Sender(collector(receiver.getsockname()[1]))) as send:
            send(b"<134>1 ...")
        assert receiver.recv(100) == b"<134>1 ..."


def test_what_cannot_be_sent_is_said_once_and_dropped(caplog: pytest.LogCaptureFixture) -> None:
    with closing(fireflies.Sender(collector(9))) as send:
        for _ in range(3):
            send(bytes(70_000))  # more than a UDP packet holds
    assert [record.getMessage()[:21] for record in caplog.records] == ["event=firefly.failed "]


def test_without_a_collector_nothing_may_be_sent() -> None:
    with pytest.raises(RuntimeError):
        fireflies.nowhere(b"x")
