"""ICMP messages: against the RFC's arithmetic and real ones on loopback."""

from __future__ import annotations

import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.probes.icmp import checksum, reply, request

COOKIE = b"01234567"


def test_the_example_of_rfc_1071() -> None:
    assert checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF - 0xDDF2


@given(
    st.binary(max_size=200)
    | st.sampled_from([b"", bytes(9), b"\xff\xff", b"\xff\xff" * 3, b"\x7f\xff\x80\0"])
)
def test_the_remainder_is_the_sum_of_words_with_the_carry_added_again(data: bytes) -> None:
    padded = data + bytes(len(data) % 2)
    total = 0
    for word in struct.unpack(f"!{len(padded) // 2}H", padded):
        total += word
        total = (total & 0xFFFF) + (total >> 16)
    assert checksum(data) == 0xFFFF - total


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
