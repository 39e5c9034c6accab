"""Our LLDP frames: what goes in comes out, what others forge does not, and nothing raises."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from os_ken.lib.packet import ethernet, packet
from os_ken.lib.packet import lldp as osken_lldp

from adon.flowvisor.discovery.lldp import (
    Identity,
    InvalidFrame,
    Neighbour,
    Probe,
    is_lldp,
    parse_frame,
    probe_frame,
    to_printable,
)
from tests.flowvisor.frames import CHASSIS, END, PORT, TTL, lldp_frame, tlv
from tests.support.refusals import refused

OURS = Identity("mu-osu", b"run-0001", bytes(range(32)))
HELLO = Probe(0xA01, 2, 17, 1_000_000.25, OURS.controller)


def frame(hello: Probe = HELLO, identity: Identity = OURS, name: str = "mu-edge-al2s") -> bytes:
    return probe_frame(identity, hello, name, "02:00:00:00:00:02", 4)


@given(
    st.builds(
        Probe,
        st.integers(0, 2**64 - 1),
        st.integers(1, 2**32 - 1),
        st.integers(0, 2**64 - 1),
        st.integers(0, 2**52).map(lambda us: us / 1e6),
        st.just(OURS.controller),
    ),
    st.text(max_size=100),
)
def test_what_was_sent_is_what_is_heard(hello: Probe, name: str) -> None:
    heard = parse_frame(frame(hello, name=name), OURS)
    assert isinstance(heard, Probe)
    assert replace(heard, sent_at=hello.sent_at) == hello
    assert abs(heard.sent_at - hello.sent_at) < 1e-6


def test_others_can_read_it() -> None:
    found = packet.Packet(frame())
    assert found.get_protocol(ethernet.ethernet).dst == "01:80:c2:00:00:0e"
    chassis, port, ttl, description, *_ = found.get_protocol(osken_lldp.lldp).tlvs
    assert chassis.chassis_id == b"dpid:0000000000000a01"
    assert (port.port_id, ttl.ttl, description.port_description) == (b"2", 4, b"mu-edge-al2s")


@given(st.data())
def test_a_frame_with_any_bit_changed_is_not_ours(data: st.DataObject) -> None:
    """The Ethernet addresses are not covered, and nothing after the end is looked at: neither is believed."""
    whole = frame()
    index = data.draw(st.integers(12, len(whole) - 1))
    forged = bytearray(whole)
    forged[index] ^= 1 << data.draw(st.integers(0, 7))
    assert not isinstance(parse_frame(bytes(forged), OURS), Probe)


@given(st.integers(0, 200))
def test_half_a_frame_is_not_ours(length: int) -> None:
    whole = frame()
    assert not isinstance(parse_frame(whole[: min(length, len(whole) - 1)], OURS), Probe)


def test_padding_behind_the_end_is_allowed() -> None:
    assert parse_frame(frame() + bytes(20), OURS) == HELLO


@pytest.mark.parametrize("controller", [OURS.controller, b"run-0002"])
def test_without_the_key_no_hello(controller: bytes) -> None:
    identity = replace(OURS, key=bytes(32), controller=controller)
    found = parse_frame(frame(identity=identity), OURS)
    assert isinstance(found, InvalidFrame)
    assert found.forged


def test_what_follows_our_signature_is_not_signed_and_spoils_the_frame() -> None:
    spoilt = frame()[:-2] + tlv(5, b"surprise") + END
    found = parse_frame(spoilt, OURS)
    assert isinstance(found, InvalidFrame)
    assert found.forged


def test_another_network_of_this_kind_is_a_neighbour() -> None:
    theirs = replace(OURS, network="elsewhere", key=bytes(32))
    assert parse_frame(frame(identity=theirs), OURS) == Neighbour(
        "dpid:0000000000000a01", "2", "ADON network elsewhere", 4
    )


def test_a_stand_by_controller_of_ours_is_told_apart() -> None:
    other = replace(HELLO, controller=b"run-0002")
    assert parse_frame(frame(other, replace(OURS, controller=b"run-0002")), OURS) == other


@pytest.mark.parametrize(
    ("chassis", "port", "expected"),
    [
        (
            b"\x04\x00\x11\x22\x33\x44\x55",
            b"\x03\x00\x11\x22\x33\x44\x66",
            ("00:11:22:33:44:55", "00:11:22:33:44:66"),
        ),
        (b"\x05\x01\x0a\x01\x00\x01", b"\x04\x02" + bytes(15) + b"\x01", ("10.1.0.1", "::1")),
        (
            b"\x05\x01\x0a",
            b"\x05Gi0/1",
            ("\ufffd\ufffd", "Gi0/1"),
        ),
        (b"\x07\x1b[2Jevil\r\n", b"\x07\xff\xfe", ("\ufffd[2Jevil\ufffd\ufffd", "\ufffd\ufffd")),
        ("\x07a\u202eb".encode(), b"\x07" + b"x" * 200, ("a\ufffdb", "x" * 80)),
    ],
    ids=["MAC addresses", "IP addresses", "half an address", "escape sequences", "right to left, long"],
)
def test_a_neighbours_names_are_safe_to_print(chassis: bytes, port: bytes, expected: tuple[str, str]) -> None:
    found = parse_frame(lldp_frame(tlv(1, chassis), tlv(2, port), TTL, tlv(5, b"core\nswitch"), END), OURS)
    assert found == Neighbour(*expected, "core\ufffdswitch", 120)


@pytest.mark.parametrize(
    "tlvs",
    [
        (),
        (END,),
        (CHASSIS, PORT, TTL),
        (PORT, CHASSIS, TTL, END),
        (CHASSIS, PORT, END),
        (CHASSIS, PORT, TTL, CHASSIS, END),
        (CHASSIS, PORT, TTL, TTL, END),
        (tlv(1, b"\x07"), PORT, TTL, END),
        (tlv(1, b"\x07" + bytes(256)), PORT, TTL, END),
        (CHASSIS, PORT, tlv(3, b"\x00"), END),
        (CHASSIS, PORT, TTL, tlv(127, b"abc"), END),
        (CHASSIS, PORT, TTL, tlv(0, b"x")),
        (CHASSIS, PORT, TTL, b"\x0a\x40ab"),
    ],
)
def test_a_unit_that_the_standard_discards_is_refused(tlvs: tuple[bytes, ...]) -> None:
    found = parse_frame(lldp_frame(*tlvs), OURS)
    assert isinstance(found, InvalidFrame)
    assert not found.forged


@pytest.mark.parametrize("other", [b"", bytes(14), frame()[:12] + b"\x81\x00\x00\x05" + frame()[12:]])
def test_only_untagged_lldp_counts(other: bytes) -> None:
    assert not is_lldp(other)
    assert isinstance(parse_frame(other, OURS), InvalidFrame)


OUR_TLV = bytes.fromhex("02ad0e01")
PIECES = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([CHASSIS, PORT, TTL, END]),
    st.builds(tlv, st.integers(0, 127), st.binary(max_size=60)),
    st.builds(lambda rest: tlv(127, OUR_TLV + rest), st.binary(max_size=90)),
)


@given(st.lists(PIECES, max_size=8).map(lambda pieces: lldp_frame(*pieces)))
@example(lldp_frame(CHASSIS, PORT, TTL, tlv(127, OUR_TLV), END))
@example(lldp_frame(CHASSIS, PORT, TTL, tlv(127, OUR_TLV + b"\x01" + bytes(60)), END))
def test_nothing_raises_and_nothing_is_believed(data: bytes) -> None:
    assert isinstance(parse_frame(data, OURS), InvalidFrame | Neighbour)


@given(st.binary(max_size=300))
def test_any_bytes_are_shown_printable(raw: bytes) -> None:
    assert to_printable(raw).isprintable()


@pytest.mark.parametrize(
    "wrong",
    [{"key": b"short"}, {"controller": b"short"}, {"network": "x" * 256}],
    ids=lambda w: next(iter(w)),
)
def test_an_identity_of_the_wrong_size_is_refused(wrong: dict[str, str]) -> None:
    with refused(ValueError):
        replace(OURS, **wrong)  # type: ignore[arg-type]


def test_the_key_is_not_shown() -> None:
    assert "key" not in repr(OURS)
