"""The bytes between agents: nothing that was changed, repeated or made without the key is taken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.probes import wire
from measurement.probes.wire import Keys, Kind, Packet

HELLOS = (wire.hello(b"c" * wire.NONCE), wire.hello(b"s" * wire.NONCE))
KEYS = Keys.of(b"k" * 32, *HELLOS)

packets = st.builds(
    Packet,
    st.sampled_from(Kind),
    st.just(KEYS.session),
    st.integers(0, 2**32 - 1),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 2**32 - 1),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 255),
    st.booleans(),
)


def test_before_a_client_is_known_the_server_sends_no_more_than_it_got() -> None:
    assert len(wire.hello(b"n" * wire.NONCE)) == wire.HELLO_BYTES
    assert wire.PROOF_BYTES == len(KEYS.client_proof) == len(KEYS.server_proof)


def test_hellos_of_the_same_version_agree() -> None:
    wire.check_hello(HELLOS[0])


def test_another_version_is_named() -> None:
    with pytest.raises(wire.OtherVersionError):
        wire.check_hello(wire.hello(bytes(32), 7))


def test_another_protocol_is_no_agent() -> None:
    with pytest.raises(wire.WireError):
        wire.check_hello(b"HTTP/1.1 400 Bad Request".ljust(wire.HELLO_BYTES))


def test_all_that_is_derived_differs() -> None:
    """By purpose, by the key, and by the nonces of either side."""
    others = [
        KEYS,
        Keys.of(b"j" * 32, *HELLOS),
        Keys.of(b"k" * 32, HELLOS[0], wire.hello(b"t" * wire.NONCE)),
        Keys.of(b"k" * 32, wire.hello(b"d" * wire.NONCE), HELLOS[1]),
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
def test_a_frame_comes_back_and_only_in_its_turn(message: bytes, number: int) -> None:
    sealed = wire.frame(KEYS.to_server, number, message)
    rest = sealed[wire.FRAME_HEAD :]
    assert wire.frame_rest(sealed[: wire.FRAME_HEAD], 200) == len(rest)
    assert wire.frame_message(KEYS.to_server, number, rest) == message
    for key, other in ((KEYS.to_server, number + 1), (KEYS.to_client, number)):
        with pytest.raises(wire.WireError):
            wire.frame_message(key, other, rest)


@given(st.binary(min_size=1, max_size=100), st.data())
def test_a_changed_frame_is_found(message: bytes, data: st.DataObject) -> None:
    rest = bytearray(wire.frame(KEYS.to_server, 0, message)[wire.FRAME_HEAD :])
    rest[data.draw(st.integers(0, len(rest) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(wire.WireError):
        wire.frame_message(KEYS.to_server, 0, bytes(rest))


def test_a_long_frame_is_refused_before_it_is_read() -> None:
    with pytest.raises(wire.WireError):
        wire.frame_rest(wire.frame(b"k", 0, b"x" * 11)[: wire.FRAME_HEAD], 10)


@given(packets, st.integers(wire.PACKET_BYTES, 1472))
def test_a_packet_comes_back(packet: Packet, length: int) -> None:
    data = wire.packed(packet, KEYS.packets, length)
    assert len(data) == length
    assert wire.session_of(data) == KEYS.session
    assert wire.unpacked(data, KEYS.packets) == packet
    assert wire.unpacked(data, KEYS.to_server) is None
    assert int.from_bytes(data[wire.NUMBER_AT : wire.NUMBER_AT + 4], "big") == packet.number


@given(packets, st.data())
def test_a_changed_packet_is_found(packet: Packet, data: st.DataObject) -> None:
    changed = bytearray(wire.packed(packet, KEYS.packets, 64))
    changed[data.draw(st.integers(0, wire.PACKET_BYTES - 1))] ^= 1 << data.draw(st.integers(0, 7))
    assert wire.unpacked(bytes(changed), KEYS.packets) is None


@given(packets, st.integers(64, 1472), st.integers(0, 2**40), st.integers(-(2**60), 2**60))
def test_an_answer_that_is_made_ready_is_the_same(
    packet: Packet, length: int, stay: int, offset: int
) -> None:
    sealed = wire.answering(packet, KEYS.packets, length, offset)(stay)
    found = wire.unpacked(sealed, KEYS.packets)
    assert found is not None
    assert (found.number, found.ttl, found.after, found.offset) == (
        packet.number,
        packet.ttl,
        packet.after,
        offset,
    )
    assert found.resided == min(stay, 2**32 - 1)
    assert len(sealed) == length


@given(st.binary(max_size=100))
def test_noise_is_nothing(data: bytes) -> None:
    assert wire.unpacked(data, KEYS.packets) is None


@given(st.sampled_from(Kind), st.integers(0, 2**31), st.integers(0, 5))
def test_packets_in_a_row_are_the_same_as_one_by_one(kind: Kind, first: int, count: int) -> None:
    made = wire.sealed_in_a_row(kind, KEYS.session, first, count, KEYS.packets)
    numbers = range(first, first + count)
    assert made == [wire.packed(Packet(kind, KEYS.session, number), KEYS.packets, 0) for number in numbers]
    assert [wire.number_of(each, kind, KEYS.packets) for each in made] == [*numbers]


@given(packets, st.data())
def test_a_train_takes_no_other_packets(packet: Packet, data: st.DataObject) -> None:
    sealed = wire.packed(packet, KEYS.packets, wire.PACKET_BYTES)
    expected = packet.number if packet.kind == Kind.TRAIN else None
    assert wire.number_of(sealed, Kind.TRAIN, KEYS.packets) == expected
    changed = bytearray(sealed)
    changed[data.draw(st.integers(0, wire.PACKET_BYTES - 1))] ^= 1 << data.draw(st.integers(0, 7))
    assert wire.number_of(bytes(changed), Kind.TRAIN, KEYS.packets) is None
    assert wire.number_of(sealed[:-1], Kind.TRAIN, KEYS.packets) is None
