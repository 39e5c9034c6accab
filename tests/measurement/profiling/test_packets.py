"""What is read off a frame: whose it is, and the bytes of payload."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.profiling.packets import NO_PORT, End, Link, Packet, dissect
from tests.measurement.profiling.frames import ICMP, TCP, UDP, ethernet, ip

A, B = End("192.0.2.10", 40000), End("198.51.100.3", 5201)
A6, B6 = End("2001:db8::a", 40000), End("2001:db8:1::3", 5201)


@pytest.mark.parametrize("kind", [TCP, UDP])
@pytest.mark.parametrize(("one", "other"), [(A, B), (A6, B6)])
@pytest.mark.parametrize("payload", [0, 1, 5, 1400])
@pytest.mark.parametrize("vlan", [None, 1701])
def test_payload_is_counted_without_headers_and_padding(
    kind: int, one: End, other: End, payload: int, vlan: int | None
) -> None:
    frame = ethernet(ip(one, other, payload, kind), vlan=vlan)
    assert dissect(frame, len(frame)) == Packet(one, other, payload)


def test_options_of_tcp_are_no_payload() -> None:
    assert dissect(ethernet(ip(A, B, 100, options=3)), 0) == Packet(A, B, 100)


@pytest.mark.parametrize("kept", [60, 64, 128, 256])
def test_a_frame_that_was_cut_off_counts_whole(kept: int) -> None:
    frame = ethernet(ip(A, B, 1400, options=0))
    assert dissect(frame[:kept], len(frame)) == Packet(A, B, 1400)


@pytest.mark.parametrize(("one", "other"), [(A, B), (A6, B6)])
def test_what_the_card_will_cut_has_the_frames_length(one: End, other: End) -> None:
    """Segments above 64 KiB: the length in the header is 0 ("BIG TCP")."""
    packet = bytearray(ip(one, other, 200))
    at = 2 if one is A else 4
    packet[at : at + 2] = bytes(2)
    cut = ethernet(bytes(packet))[:100]
    assert dissect(cut, len(ethernet(bytes(packet))) + 99_800) == Packet(one, other, 100_000)


def test_a_later_fragment_has_payload_and_no_ports() -> None:
    found = dissect(ethernet(ip(A, B, 1000, UDP, offset=100)), 0)
    assert found == Packet(End(A.address, NO_PORT), End(B.address, NO_PORT), 1000)


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        bytes(13),
        bytes(60),
        ethernet(ip(A, B, 100, ICMP)),
        bytes(12) + struct.pack("!H", 0x0806) + bytes(46),
    ],
)
def test_what_is_neither_tcp_nor_udp_is_none(frame: bytes) -> None:
    assert dissect(frame, len(frame)) is None


@pytest.mark.parametrize(
    ("link", "before"),
    [
        (Link.RAW, b""),
        (Link.RAW_BSD, b""),
        (Link.NULL, struct.pack("=I", 2)),
        (Link.LINUX, struct.pack("!HHH8sH", 0, 1, 6, bytes(8), 0x0800)),
        (Link.LINUX_2, struct.pack("!HHIHBB8s", 0x0800, 0, 1, 1, 0, 6, bytes(8))),
    ],
)
def test_other_links(link: Link, before: bytes) -> None:
    assert dissect(before + ip(A, B, 77), 0, link) == Packet(A, B, 77)


@given(st.binary(max_size=120), st.sampled_from(Link), st.integers(0, 70_000))
def test_any_bytes_are_a_packet_or_none(frame: bytes, link: Link, length: int) -> None:
    found = dissect(frame, length, link)
    assert found is None or found.payload >= 0


@given(st.data(), st.sampled_from([TCP, UDP, ICMP]), st.sampled_from([(A, B), (A6, B6)]))
def test_a_frame_with_bytes_changed_is_a_packet_or_none(
    data: st.DataObject, kind: int, ends: tuple[End, End]
) -> None:
    frame = bytearray(ethernet(ip(*ends, 64, kind)))
    for at in data.draw(st.lists(st.integers(12, 80), max_size=4)):
        frame[at] = data.draw(st.integers(0, 255))
    cut = bytes(frame[: data.draw(st.integers(0, len(frame)))])
    found = dissect(cut, len(frame))
    assert found is None or found.payload >= 0
