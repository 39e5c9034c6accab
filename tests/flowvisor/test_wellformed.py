"""Messages that do not add up are refused before os-ken's parsers see them."""

from __future__ import annotations

import signal
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest
from hypothesis import given
from hypothesis import strategies as st
from os_ken.ofproto import ofproto_v1_3_parser, ofproto_v1_4_parser
from os_ken.ofproto.ofproto_protocol import ProtocolDesc

from adon.flowvisor.openflow import message_validation
from tests.flowvisor.openflow_samples import OURS, SAMPLES, message, report
from tests.support.refusals import refused

PARSERS = {4: ofproto_v1_3_parser, 5: ofproto_v1_4_parser}


@contextmanager
def must_end(seconds: float = 5.0) -> Iterator[None]:
    """Fail instead of hanging: what is looked for here never ends by itself."""

    def too_long(_: int, __: FrameType | None) -> None:
        raise AssertionError("the parser does not end")

    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def parse(data: bytes) -> object:
    version, kind, _, xid = struct.unpack_from("!BBHI", data)
    return PARSERS[version].msg_parser(ProtocolDesc(version=version), version, kind, len(data), xid, data)


@pytest.mark.parametrize("name", SAMPLES)
def test_what_switches_send_passes_and_is_parsed(name: str) -> None:
    data = SAMPLES[name]
    message_validation.check(4, data[1], data)
    with must_end():
        assert parse(data) is not None


FLOW = SAMPLES["flows"]


def with_bytes(data: bytes, at: int, value: bytes) -> bytes:
    return data[:at] + value + data[at + len(value) :]


BROKEN = {
    "a reported rule of length 0": with_bytes(FLOW, 16, b"\0\0"),
    "a reported rule longer than the report": with_bytes(FLOW, 16, b"\x7f\xff"),
    "a match of length 0": with_bytes(FLOW, 16 + 50, b"\0\0"),
    "a match longer than its rule": with_bytes(FLOW, 16 + 50, b"\x0f\xff"),
    "a field longer than its match": with_bytes(FLOW, 16 + 55, b"\xff"),
    "an instruction of length 0": with_bytes(FLOW, FLOW.index(b"\0\x04\0\x30", 16) + 2, b"\0\0"),
    "an action of length 0": with_bytes(FLOW, FLOW.index(b"\0\x11\0\x08", 16) + 2, b"\0\0"),
    "a group of length 0": with_bytes(SAMPLES["group desc"], 16, b"\0\0"),
    "a bucket of length 0": with_bytes(SAMPLES["group desc"], 24, b"\0\0"),
    "a bucket's action of length 0": with_bytes(SAMPLES["group desc"], 42, b"\0\0"),
    "a meter band of length 0": with_bytes(SAMPLES["meter config"], 26, b"\0\0"),
    "a table property of length 0": with_bytes(SAMPLES["table features"], 16 + 66, b"\0\0"),
    "an instruction id of length 0": with_bytes(SAMPLES["table features"], 16 + 70, b"\0\0"),
    "a queue of length 0": with_bytes(SAMPLES["queues"], 24, b"\0\0"),
    "a queue's limit of length 0": with_bytes(SAMPLES["queues"], 34, b"\0\0"),
    "half a port": report(13, bytes(63)),
    "a report that nobody asked for": report(0xFFFF, bytes(64)),
    "a flow monitor's report": report(16, bytes(64)),
    "a queue's configuration": message(23, bytes(8) + bytes(64)),
    "a second HELLO": message(0, struct.pack("!HH", 1, 0)),
    "a flow-mod": message(14, bytes(48)),
    "a packet-in of 24 bytes": message(10, bytes(16)),
    "Nicira's packet-in": message(4, struct.pack("!II", 0x2320, 30) + bytes(8)),
    "a reply about a bundle": message(4, struct.pack("!IIIHH", 0x4F4E4600, 2300, 1, 1, 0) + bytes(8)),
    "a role status, which 1.3 does not have": message(30, bytes(16)),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_a_parser_must_not_see(what: str) -> None:
    data = BROKEN[what]
    with refused(ValueError):
        message_validation.check(4, data[1], data)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A sample with some bytes or 16-bit lengths replaced, cut off, or continued; its header agrees."""
    data = bytearray(SAMPLES[draw(st.sampled_from(sorted(SAMPLES)))])
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(8, max(8, len(data) - 1)))
        if draw(st.booleans()):
            data[at : at + 1] = bytes([draw(st.integers(0, 255))])
        else:
            data[at : at + 2] = struct.pack(
                "!H", draw(st.sampled_from([0, 1, 3, 4, 7, 8, 16, 0x7FFF, 0xFFFF]))
            )
    if draw(st.booleans()):
        del data[draw(st.integers(8, len(data))) :]
    data += draw(st.binary(max_size=24))
    data[0] = draw(st.sampled_from([4, 4, 4, 5]))
    data[2:4] = struct.pack("!H", len(data))
    return bytes(data)


@given(st.lists(mutated(), min_size=1, max_size=20))
def test_whatever_passes_a_parser_ends_with(several: list[bytes]) -> None:
    for data in several:
        try:
            message_validation.check(data[0], data[1], data)
        except ValueError:
            continue
        with must_end():
            try:
                parse(data)
            except Exception:  # noqa: S112, BLE001 - what it refuses is refused; that it ends is the point
                continue


@given(st.sampled_from([4, 5]), st.integers(0, 40), st.binary(max_size=200))
def test_any_bytes_are_let_through_or_refused(version: int, kind: int, body: bytes) -> None:
    data = message(kind, body, version=version)
    try:
        message_validation.check(version, kind, data)
    except ValueError:
        return


def test_the_cookie_and_port_of_a_packet_in_are_read_without_parsing_it() -> None:
    assert message_validation.packet_in(SAMPLES["packet in"]) == (OURS, 1)
    without = bytearray(SAMPLES["packet in"])
    without[28:32] = b"\x80\x00\x0a\x02"
    assert message_validation.packet_in(bytes(without)) == (OURS, None)


def shown(frame: bytes, port: int = 3, cookie: int = 0xAD05 << 48, match: bytes | None = None) -> bytes:
    """A packet-in of a reactive rule."""
    only_port = struct.pack("!HHIII", 1, 12, 0x8000_0004, port, 0)
    body = struct.pack("!IHBBQ", 0xFFFFFFFF, len(frame), 1, 0, cookie) + (
        only_port if match is None else match
    )
    return struct.pack("!BBHI", 4, 10, 8 + len(body) + 2 + len(frame), 7) + body + bytes(2) + frame


@given(
    frames=st.lists(st.binary(max_size=70), max_size=5),
    rest=st.binary(max_size=60) | st.just(shown(b"late")[:-1]) | st.just(shown(b"x", cookie=0xAD12 << 48)),
    begin=st.integers(0, 3),
)
def test_what_reactive_rules_show_is_skimmed_from_the_front(
    frames: list[bytes], rest: bytes, begin: int
) -> None:
    front = bytes(begin) + b"".join(map(shown, frames))
    found, end = message_validation.skimmed(bytearray(front + rest), begin, 4)
    assert (found, end) == ([(3, frame) for frame in frames], len(front))
    for frame in frames:
        assert message_validation.packet_and_port(4, shown(frame)) == (3, frame)
    assert message_validation.skimmed(bytearray(front), begin, 5) == ([], begin)


def test_a_longer_match_is_read_and_one_without_a_port_is_refused() -> None:
    two = struct.pack("!HHIIIQ", 1, 24, 0x8000_0004, 3, 0x8000_0408, 9)
    assert message_validation.packet_and_port(4, shown(b"frame", match=two)) == (3, b"frame")
    assert message_validation.skimmed(bytearray(shown(b"frame", match=two)), 0, 4) == ([], 0)
    other = struct.pack("!HHIQ", 1, 16, 0x8000_0408, 9)
    with refused(ValueError):
        message_validation.packet_and_port(4, shown(b"frame", match=other))
