"""UDP side of an agent: which packets are answered, and with how many bytes."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from measurement.probes import wire
from measurement.probes.kernel_timestamps import PacketInfo, read_packet_info
from measurement.probes.replay_protection import RateLimit, SourceLimiter
from measurement.probes.responder import Responder, Session
from measurement.probes.wire import ConnectionKeys, PacketKind, ProbePacket

KEYS = ConnectionKeys.derive(b"k" * 32, wire.pack_hello(b"c" * 32), wire.pack_hello(b"s" * 32))
INFO = PacketInfo(software=10**18, ttl=61)
SOURCE = ("192.0.2.1", 4000)


def pack(kind: PacketKind, number: int, length: int = 64, key: bytes = KEYS.packets) -> bytes:
    return wire.pack_packet(ProbePacket(kind, KEYS.session, number), key, length)


class TestSession:
    def test_echo_is_answered_with_the_times_of_the_kernel(self) -> None:
        session = Session(KEYS)
        answer = session.accept(pack(PacketKind.ECHO, 7), SOURCE, INFO)
        assert answer == ProbePacket(PacketKind.ANSWER, KEYS.session, 7, received=10**18, ttl=61)
        assert session.source == SOURCE

    def test_echo_without_an_arrival_time_is_not_answered(self) -> None:
        session = Session(KEYS)
        assert session.accept(pack(PacketKind.ECHO, 7), SOURCE, PacketInfo()) is None
        assert session.source == SOURCE

    @pytest.mark.parametrize("kind", [PacketKind.FILL, PacketKind.SEQUENCE])
    def test_next_answer_reports_the_packet_before(self, kind: PacketKind) -> None:
        session = Session(KEYS)
        assert session.accept(pack(kind, 7), SOURCE, INFO) is None
        answer = session.accept(pack(PacketKind.ECHO, 8), SOURCE, INFO)
        assert answer is not None
        assert answer.after

    def test_replay_is_not_answered_and_does_not_change_the_source(self) -> None:
        session = Session(KEYS)
        session.accept(pack(PacketKind.ECHO, 7), SOURCE, INFO)
        assert session.accept(pack(PacketKind.ECHO, 7), ("203.0.113.9", 1), INFO) is None
        assert (session.repeated, session.source) == (1, SOURCE)

    @pytest.mark.parametrize(
        "data",
        [
            pack(PacketKind.ECHO, 7, key=b"x" * 32),
            # Two agents cannot be made to answer each other endlessly.
            pack(PacketKind.ANSWER, 7),
            pack(PacketKind.SEQUENCE_BACK, 7),
        ],
        ids=["forged", "answer", "sequence-back"],
    )
    def test_packet_that_no_client_sends_is_not_answered(self, data: bytes) -> None:
        session = Session(KEYS)
        assert session.accept(data, SOURCE, INFO) is None
        assert session == Session(KEYS, forged=1)


@pytest.fixture(scope="module")
def responder() -> Iterator[Responder]:
    responder = Responder("127.0.0.1", 0, SourceLimiter(RateLimit(1e9, 1e9), lambda: 0.0))
    responder.open_session(KEYS)
    yield responder
    responder.close()


@pytest.fixture(scope="module")
def client() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.setblocking(False)
        yield sock


def receive_all(client: socket.socket) -> list[bytes]:
    answers = []
    while True:
        try:
            answers.append(client.recv(65_536))
        except BlockingIOError:
            return answers


datagrams = st.one_of(
    st.binary(max_size=200),
    st.builds(
        lambda head, rest: bytes([wire.VERSION]) + head + KEYS.session + rest,
        st.binary(max_size=3),
        st.binary(),
    ),
    st.builds(pack, st.sampled_from(PacketKind), st.integers(0, 2**20), st.integers(wire.PACKET_BYTES, 1400)),
)


@given(datagrams)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_answer_is_longer_than_its_packet(
    responder: Responder, client: socket.socket, datagram: bytes
) -> None:
    responder.handle_packet(datagram, client.getsockname(), PacketInfo(software=1))
    for answer in receive_all(client):
        packet = wire.read_packet(datagram, KEYS.packets)
        assert packet is not None
        assert packet.kind == PacketKind.ECHO
        assert len(answer) <= len(datagram)


def test_flood_is_not_answered(client: socket.socket) -> None:
    responder = Responder("127.0.0.1", 0, SourceLimiter(RateLimit(1, 3), lambda: 0.0))
    try:
        session = responder.open_session(KEYS)
        for number in range(10):
            responder.handle_packet(pack(PacketKind.ECHO, number), client.getsockname(), INFO)
        assert len(receive_all(client)) == 3
        assert session.limited == 7
    finally:
        responder.close()


def test_packets_of_a_closed_session_are_not_answered(client: socket.socket) -> None:
    responder = Responder("127.0.0.1", 0, SourceLimiter(RateLimit(1, 3), lambda: 0.0))
    try:
        responder.close_session(responder.open_session(KEYS))
        responder.handle_packet(pack(PacketKind.ECHO, 1), client.getsockname(), INFO)
        assert receive_all(client) == []
    finally:
        responder.close()


def test_control_messages_are_parsed() -> None:
    specs = (5).to_bytes(8, "little") + (7).to_bytes(8, "little") + bytes(16)
    card = (9).to_bytes(8, "little") + (1).to_bytes(8, "little")
    ancillary = [
        (socket.SOL_SOCKET, 37, specs + card),
        (socket.SOL_SOCKET, 40, (3).to_bytes(4, "little")),
        (socket.IPPROTO_IP, socket.IP_TTL, (60).to_bytes(4, "little")),
        (socket.SOL_SOCKET, 99, b"unknown"),
    ]
    assert read_packet_info(ancillary) == PacketInfo(5 * 10**9 + 7, 9 * 10**9 + 1, 60, 3)
    assert read_packet_info([(socket.SOL_SOCKET, 37, specs + bytes(16))]) == PacketInfo(5 * 10**9 + 7)
    assert read_packet_info([]) == PacketInfo()
