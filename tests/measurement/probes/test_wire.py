"""Wire format: changed, repeated and forged messages and packets are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.probes import wire
from measurement.probes.wire import ConnectionKeys, PacketKind, ProbePacket

HELLOS = (wire.pack_hello(b"c" * wire.NONCE), wire.pack_hello(b"s" * wire.NONCE))
KEYS = ConnectionKeys.derive(b"k" * 32, *HELLOS)

packets = st.builds(
    ProbePacket,
    st.sampled_from(PacketKind),
    st.just(KEYS.session),
    st.integers(0, 2**32 - 1),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(0, 255),
    st.booleans(),
)


def test_server_sends_no_more_than_it_receives_before_authentication() -> None:
    assert len(wire.pack_hello(b"n" * wire.NONCE)) == wire.HELLO_BYTES
    assert wire.PROOF_BYTES == len(KEYS.client_proof) == len(KEYS.server_proof)


def test_hello_of_the_same_version_is_accepted() -> None:
    wire.check_hello(HELLOS[0])


def test_hello_of_another_version_is_refused() -> None:
    with pytest.raises(wire.OtherVersionError):
        wire.check_hello(wire.pack_hello(bytes(32), 7))


def test_hello_of_another_protocol_is_refused() -> None:
    with pytest.raises(wire.WireError):
        wire.check_hello(b"HTTP/1.1 400 Bad Request".ljust(wire.HELLO_BYTES))


def test_derived_keys_differ() -> None:
    """By purpose, by the key, and by the nonces of either side."""
    others = [
        KEYS,
        ConnectionKeys.derive(b"j" * 32, *HELLOS),
        ConnectionKeys.derive(b"k" * 32, HELLOS[0], wire.pack_hello(b"t" * wire.NONCE)),
        ConnectionKeys.derive(b"k" * 32, wire.pack_hello(b"d" * wire.NONCE), HELLOS[1]),
    ]
    values = [
        value
        for keys in others
        for value in (
            keys.client_proof,
            keys.server_proof,
            keys.to_server,
            keys.to_client,
            keys.session,
            keys.packets,
        )
    ]
    assert len({*values}) == len(values)


@given(st.binary(max_size=200), st.integers(0, 2**32))
def test_frame_is_opened_only_in_its_turn(message: bytes, number: int) -> None:
    sealed = wire.pack_frame(KEYS.to_server, number, message)
    rest = sealed[wire.FRAME_HEAD :]
    assert wire.read_frame_length(sealed[: wire.FRAME_HEAD], 200) == len(rest)
    assert wire.open_frame(KEYS.to_server, number, rest) == message
    for key, other in ((KEYS.to_server, number + 1), (KEYS.to_client, number)):
        with pytest.raises(wire.WireError):
            wire.open_frame(key, other, rest)


@given(st.binary(min_size=1, max_size=100), st.data())
def test_changed_frame_is_refused(message: bytes, data: st.DataObject) -> None:
    rest = bytearray(wire.pack_frame(KEYS.to_server, 0, message)[wire.FRAME_HEAD :])
    rest[data.draw(st.integers(0, len(rest) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(wire.WireError):
        wire.open_frame(KEYS.to_server, 0, bytes(rest))


def test_long_frame_is_refused_before_it_is_read() -> None:
    with pytest.raises(wire.WireError):
        wire.read_frame_length(wire.pack_frame(b"k", 0, b"x" * 11)[: wire.FRAME_HEAD], 10)


@given(packets, st.integers(wire.PACKET_BYTES, 1472))
def test_packet_survives_packing(packet: ProbePacket, length: int) -> None:
    data = wire.pack_packet(packet, KEYS.packets, length)
    assert len(data) == length
    assert wire.read_session(data) == KEYS.session
    assert wire.read_packet(data, KEYS.packets) == packet
    assert wire.read_packet(data, KEYS.to_server) is None
    assert int.from_bytes(data[wire.NUMBER_AT : wire.NUMBER_AT + 4], "big") == packet.number


@given(packets, st.data())
def test_changed_packet_is_refused(packet: ProbePacket, data: st.DataObject) -> None:
    changed = bytearray(wire.pack_packet(packet, KEYS.packets, 64))
    changed[data.draw(st.integers(0, wire.PACKET_BYTES - 1))] ^= 1 << data.draw(st.integers(0, 7))
    assert wire.read_packet(bytes(changed), KEYS.packets) is None


@given(packets, st.integers(64, 1472), st.integers(0, 2**40))
def test_answer_that_is_sealed_later_has_its_stay(packet: ProbePacket, length: int, stay: int) -> None:
    sealed = wire.seal_answer(packet, KEYS.packets, length)(stay)
    assert len(sealed) == length
    assert wire.read_packet(sealed, KEYS.packets) == replace(packet, resided=min(stay, 2**32 - 1))


@given(st.binary(max_size=100))
def test_noise_is_no_packet(data: bytes) -> None:
    assert wire.read_packet(data, KEYS.packets) is None


@given(st.sampled_from(PacketKind), st.integers(0, 2**31), st.integers(0, 5))
def test_packed_heads_equal_single_packets(kind: PacketKind, first: int, count: int) -> None:
    heads = wire.pack_heads(kind, KEYS.session, first, count, KEYS.packets)
    numbers = range(first, first + count)
    packets = [ProbePacket(kind, KEYS.session, number) for number in numbers]
    assert heads == [wire.pack_packet(packet, KEYS.packets, 0) for packet in packets]
    assert [wire.read_number(head, kind, KEYS.packets) for head in heads] == [*numbers]


@given(packets, st.data())
def test_number_is_read_of_genuine_packets_of_one_kind(packet: ProbePacket, data: st.DataObject) -> None:
    sealed = wire.pack_packet(packet, KEYS.packets, wire.PACKET_BYTES)
    expected = packet.number if packet.kind == PacketKind.SEQUENCE else None
    assert wire.read_number(sealed, PacketKind.SEQUENCE, KEYS.packets) == expected
    changed = bytearray(sealed)
    changed[data.draw(st.integers(0, wire.PACKET_BYTES - 1))] ^= 1 << data.draw(st.integers(0, 7))
    assert wire.read_number(bytes(changed), PacketKind.SEQUENCE, KEYS.packets) is None
    assert wire.read_number(sealed[:-1], PacketKind.SEQUENCE, KEYS.packets) is None
