"""ICMP messages: against the RFC's arithmetic and real ones on loopback."""

from __future__ import annotations

import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.probes.icmp_echo import icmp_checksum, pack_request, read_reply

COOKIE = b"01234567"


def test_checksum_of_the_example_of_rfc_1071() -> None:
    assert icmp_checksum(bytes.fromhex("0001f203f4f5f6f7")) == 0xFFFF - 0xDDF2


@given(
    st.binary(max_size=200)
    | st.sampled_from([b"", bytes(9), b"\xff\xff", b"\xff\xff" * 3, b"\x7f\xff\x80\0"])
)
def test_checksum_equals_the_sum_with_carry(data: bytes) -> None:
    padded = data + bytes(len(data) % 2)
    total = 0
    for word in struct.unpack(f"!{len(padded) // 2}H", padded):
        total += word
        total = (total & 0xFFFF) + (total >> 16)
    assert icmp_checksum(data) == 0xFFFF - total


@given(st.integers(0, 65_535), st.integers(0, 65_535), st.binary(max_size=99))
def test_request_has_a_valid_checksum(identifier: int, number: int, rest: bytes) -> None:
    assert icmp_checksum(pack_request(socket.AF_INET, identifier, number, COOKIE + rest)) == 0


@pytest.mark.parametrize(("family", "kind"), [(socket.AF_INET, 0), (socket.AF_INET6, 129)])
def test_only_replies_with_the_cookie_are_read(family: int, kind: int) -> None:
    message = bytes([kind, 0, 0, 0, 0, 1, 0, 9]) + COOKIE
    assert read_reply(family, message, COOKIE) == 9
    assert read_reply(family, message, b"another!") is None
    assert read_reply(family, bytes([8]) + message[1:], COOKIE) is None  # our own request, seen on loopback
    assert read_reply(family, message[:15], COOKIE) is None
    assert read_reply(family, b"", COOKIE) is None
