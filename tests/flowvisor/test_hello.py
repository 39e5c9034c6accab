"""Which version is spoken."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from os_ken.ofproto import ofproto_parser
from os_ken.ofproto.ofproto_protocol import ProtocolDesc

from adon.flowvisor.openflow import wire
from tests.support.refusals import refused

ALL = frozenset({4, 5, 6})


def bitmap(*versions: int) -> bytes:
    return struct.pack("!HHI", 1, 8, sum(1 << version for version in versions))


@pytest.mark.parametrize(
    ("version", "body", "ours", "chosen"),
    [
        (4, bitmap(4), ALL, 4),
        (6, bitmap(4, 5, 6), ALL, 4),
        (6, bitmap(5, 6), ALL, 6),
        (5, bitmap(1, 5), ALL, 5),
        (5, bitmap(1, 5), frozenset({4}), None),
        (1, b"", ALL, None),
        (4, b"", ALL, 4),
        (6, b"", ALL, 4),
        (6, b"", frozenset({4}), 4),
        (6, bitmap(), ALL, None),
        (4, bitmap(1, 2, 3), ALL, None),
        (4, struct.pack("!HHI", 99, 8, 0) + bitmap(5), ALL, 5),
        (4, struct.pack("!HHII", 1, 12, 1 << 4, 0xFFFF_FFFF) + bytes(4), ALL, 4),
    ],
)
def test_1_3_where_both_can_else_the_highest_of_both(
    version: int, body: bytes, ours: frozenset[int], chosen: int | None
) -> None:
    assert wire.choose_version(wire.read_versions(version, body), ours) == chosen


@given(theirs=st.frozensets(st.integers(0, 31)), ours=st.frozensets(st.sampled_from([4, 5, 6])))
def test_what_is_chosen_was_offered_by_both(theirs: frozenset[int], ours: frozenset[int]) -> None:
    chosen = wire.choose_version(theirs, ours)
    assert (chosen is None) == (not theirs & ours)
    assert chosen is None or chosen in theirs & ours


@given(versions=st.frozensets(st.sampled_from([4, 5, 6]), min_size=1))
def test_our_hello_says_what_we_speak_and_os_ken_reads_it(versions: frozenset[int]) -> None:
    data = wire.hello(versions, 9)
    version, kind, length, xid = struct.unpack_from("!BBHI", data)
    assert (version, kind, length, xid) == (max(versions), 0, len(data), 9)
    assert wire.read_versions(version, data[8:]) == versions
    message = ofproto_parser.msg(ProtocolDesc(version=version), version, kind, length, xid, data)
    assert set(message.elements[0].versions) == versions


def test_the_refusal_is_the_error_of_the_specification() -> None:
    data = wire.hello_failed(4, "no common version", 3)
    message = ofproto_parser.msg(ProtocolDesc(version=4), 4, 1, len(data), 3, data)
    assert (message.type, message.code, message.data) == (0, 0, b"no common version")


@pytest.mark.parametrize(
    "body",
    [
        struct.pack("!HH", 1, 0) + bytes(4),
        struct.pack("!HH", 1, 3) + bytes(4),
        struct.pack("!HH", 7, 64) + bytes(4),
        b"\x00\x01\x00",
    ],
    ids=["length 0", "shorter than its header", "longer than the message", "half a header"],
)
def test_a_hello_that_does_not_add_up_is_refused(body: bytes) -> None:
    with refused(ValueError):
        wire.read_versions(4, body)


@given(version=st.integers(0, 255), body=st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(version: int, body: bytes) -> None:
    try:
        wire.read_versions(version, body)
    except ValueError:
        return


@pytest.mark.parametrize(("number", "text"), [(1, "1.0"), (4, "1.3"), (6, "1.5"), (0x77, "0x77")])
def test_versions_are_named(number: int, text: str) -> None:
    assert wire.version_text(number) == text
