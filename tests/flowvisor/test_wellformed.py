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

from adon.flowvisor.openflow import capabilities, decode, message_validation, packets
from tests.flowvisor.openflow_samples import DPID, SAMPLES, message, report
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


def read(data: bytes) -> object:
    """Read a message as the controller does: what os-ken must not see by this package, the rest by os-ken.

    :raises ValueError: for a message that is refused.
    """
    version, kind, _, xid = struct.unpack_from("!BBHI", data)
    message_validation.validate_message(version, kind, data)
    if kind == 10:
        return packets.read_packet_in(data)
    if kind == 11:
        return decode.parse_flow_removed(DPID, data) or ""
    if kind == 19 and data[9] in (1, 7, 10):
        return decode.read_part(DPID, data)
    if kind == 23 or (kind == 19 and data[9] != 13):
        return capabilities.read_features(version, 254, [data])
    return PARSERS[version].msg_parser(ProtocolDesc(version=version), version, kind, len(data), xid, data)


@pytest.mark.parametrize("name", SAMPLES)
def test_what_switches_send_passes_and_is_parsed(name: str) -> None:
    with must_end():
        assert read(SAMPLES[name]) is not None


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
    "a queue of length 0": with_bytes(SAMPLES["queues"], 24, b"\0\0"),
    "a queue's limit of length 0": with_bytes(SAMPLES["queues"], 34, b"\0\0"),
    "half a port": report(13, bytes(63)),
    "a description of the switch": report(0, bytes(1056)),
    "counters of ports": report(4, bytes(112)),
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
    with must_end(), refused(ValueError):
        read(BROKEN[what])


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
        with must_end():
            try:
                read(data)
            except Exception:  # noqa: S112, BLE001 - what it refuses is refused; that it ends is the point
                continue


@given(st.sampled_from([4, 5]), st.integers(0, 40), st.binary(max_size=200))
def test_any_bytes_are_let_through_or_refused(version: int, kind: int, body: bytes) -> None:
    data = message(kind, body, version=version)
    try:
        message_validation.validate_message(version, kind, data)
    except ValueError:
        return
