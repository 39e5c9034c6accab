"""ICMP messages: against the RFC's arithmetic and real ones on loopback."""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.probes.icmp import checksum, reply, request

COOKIE = b"01234567"


def test_the_example_of_rfc_1071() -> None:
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF - 0xDDF2


@given(st.integers(0, 65_535), st.integers(0, 65_535), st.binary(max_size=99))
def test_a_request_sums_to_nothing(identifier: int, number: int, rest: bytes) -> None:
    assert checksum(request(socket.AF_INET, identifier, number, COOKIE + rest)) == 0


@pytest.mark.parametrize(("family", "kind"), [(socket.AF_INET, 0), (socket.AF_INET6, 129)])
def test_only_the_reply_to_ours_counts(family: int, kind: int) -> None:
    message = bytes([kind, 0, 0, 0, 0, 1, 0, 9]) + COOKIE
    assert reply(family, message, COOKIE) == 9
    assert reply(family, message, b"another!") is None
    assert reply(family, bytes([8]) + message[1:], COOKIE) is None  # our own request, seen on loopback
    assert reply(family, message[:15], COOKIE) is None
    assert reply(family, b"", COOKIE) is None
