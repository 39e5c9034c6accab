"""The UDP side: who is answered, with how much, and what a sandwich says of the answers."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from measurement.probes import wire
from measurement.probes.findings import Failure, ProbeError, Widened
from measurement.probes.guarding import Allowance
from measurement.probes.orders import SandwichBack
from measurement.probes.responder import Responder, judged
from measurement.probes.sandwich import Apart, _Spoilt, widened, widened_back
from measurement.probes.sessions import Allowances, Session
from measurement.probes.stamps import Beside, beside, stepped
from measurement.probes.wire import Keys, Kind, Packet

KEYS = Keys.of(b"k" * 32, wire.hello(b"c" * 32), wire.hello(b"s" * 32))
SAID = Beside(software=10**18, ttl=61)
SOURCE = ("192.0.2.1", 4000)


def sealed(kind: Kind, number: int, length: int = 64) -> bytes:
    return wire.packed(Packet(kind, KEYS.session, number), KEYS.packets, length)


class TestJudged:
    def test_an_echo_is_answered_with_what_the_kernel_said(self) -> None:
        reply = judged(Session(KEYS), sealed(Kind.ECHO, 7), SOURCE, SAID)
        assert reply.packet == Packet(Kind.ANSWER, KEYS.session, 7, received=10**18, ttl=61)
        assert reply.session.source == SOURCE

    def test_without_a_time_of_coming_there_is_no_answer(self) -> None:
        reply = judged(Session(KEYS), sealed(Kind.ECHO, 7), SOURCE, Beside())
        assert reply.packet is None
        assert reply.session.source == SOURCE

    @pytest.mark.parametrize("kind", [Kind.FILL, Kind.TRAIN])
    def test_what_only_takes_its_time_is_noted(self, kind: Kind) -> None:
        first = judged(Session(KEYS), sealed(kind, 7), SOURCE, SAID)
        assert first.packet is None
        second = judged(first.session, sealed(Kind.ECHO, 8), SOURCE, SAID)
        assert second.packet is not None
        assert second.packet.after

    def test_a_replay_is_not_answered_and_does_not_move_the_session(self) -> None:
        known = judged(Session(KEYS), sealed(Kind.ECHO, 7), SOURCE, SAID).session
        again = judged(known, sealed(Kind.ECHO, 7), ("203.0.113.9", 1), SAID)
        assert again.packet is None
        assert again.session == replace(known, repeated=1)

    def test_a_forgery_is_not_answered(self) -> None:
        forged = wire.packed(Packet(Kind.ECHO, KEYS.session, 7), b"x" * 32, 64)
        reply = judged(Session(KEYS), forged, SOURCE, SAID)
        assert (reply.packet, reply.session) == (None, Session(KEYS, forged=1))

    @pytest.mark.parametrize("kind", [Kind.ANSWER, Kind.BACK])
    def test_what_a_target_sends_is_not_answered(self, kind: Kind) -> None:
        """Two agents cannot be made to talk to each other for ever, nor to think that they ask each other."""
        reply = judged(Session(KEYS), sealed(kind, 7), SOURCE, SAID)
        assert (reply.packet, reply.session) == (None, Session(KEYS, forged=1))


@pytest.fixture(scope="module")
def responder() -> Iterator[Responder]:
    made = Responder("127.0.0.1", 0, Allowances(Allowance(1e9, 1e9), lambda: 0.0))
    made.open(KEYS)
    yield made
    made.close()


@pytest.fixture(scope="module")
def asker() -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        sock.settimeout(0.0)
        yield sock


datagrams = st.one_of(
    st.binary(max_size=200),
    st.builds(
        lambda head, rest: bytes([wire.VERSION]) + head + KEYS.session + rest,
        st.binary(max_size=3),
        st.binary(),
    ),
    st.builds(sealed, st.sampled_from(Kind), st.integers(0, 2**20), st.integers(wire.PACKET_BYTES, 1400)),
)


@given(datagrams)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_nothing_gets_more_than_it_sent(responder: Responder, asker: socket.socket, datagram: bytes) -> None:
    responder.take(datagram, asker.getsockname(), Beside(software=1))
    genuine = wire.unpacked(datagram, KEYS.packets)
    try:
        answer = asker.recv(65_536)
    except BlockingIOError:
        return
    assert genuine is not None
    assert genuine.kind == Kind.ECHO
    assert len(answer) <= len(datagram)


def test_a_flood_is_not_answered() -> None:
    responder = Responder("127.0.0.1", 0, Allowances(Allowance(1, 3), lambda: 0.0))
    try:
        responder.open(KEYS)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
            asker.bind(("127.0.0.1", 0))
            asker.setblocking(False)
            for number in range(10):
                responder.take(sealed(Kind.ECHO, number), asker.getsockname(), SAID)
            answers = list(iter(lambda: asker.recv(100) if _readable(asker) else b"", b""))
        assert len(answers) == 3
        assert responder.session(KEYS).limited == 7
    finally:
        responder.close()


def _readable(sock: socket.socket) -> bool:
    try:
        sock.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return False
    return True


class TestSandwich:
    first = Packet(Kind.ANSWER, KEYS.session, 1, received=1_000_000)
    second = Packet(Kind.ANSWER, KEYS.session, 3, received=3_120_000, after=True)

    def test_what_the_large_packet_costs(self) -> None:
        """Sent 2 ms apart, they came 2.12 ms apart."""
        assert widened((50, 2_000_050), (self.first, self.second), 10**7) == pytest.approx(120e-6)

    def test_without_the_large_packet_it_says_nothing(self) -> None:
        lone = replace(self.second, after=False)
        assert widened((0, 2_000_000), (self.first, lone), 10**7) is _Spoilt.WITHOUT_LARGE

    def test_a_clock_that_was_set_is_found(self) -> None:
        hour = 3_600 * 10**9
        jumped = replace(self.second, received=self.second.received + hour, offset=hour)
        assert widened((0, 2_000_000), (self.first, jumped), 10**7) is _Spoilt.STEPPED
        assert stepped(0, hour, 10**7)

    @pytest.mark.parametrize(
        ("lost", "set_meanwhile", "by"),
        [
            ((), False, (120e-6, -10e-6)),
            ((0,), False, (None, -10e-6)),
            ((4,), False, (120e-6, None)),
            ((5,), False, (120e-6, None)),
            ((0, 3), False, (None, None)),
            ((0, 5), True, (None, None)),
        ],
    )
    def test_sandwiches_that_come_back(
        self, lost: tuple[int, ...], set_meanwhile: bool, by: tuple[float | None, ...]
    ) -> None:
        """The first comes 2.12 ms apart, sent 2 ms apart; the second 1.99 ms."""
        times = (0, 2_100_000, 2_120_000, 10_000_000, 11_900_000, 11_990_000)
        came = {place: at for place, at in enumerate(times) if place not in lost}
        sent = Apart((0.002, 0.002), 1472)
        found = widened_back(SandwichBack(count=2), sent, came, set_meanwhile=set_meanwhile)
        assert found == Widened(tuple(None if one is None else pytest.approx(one) for one in by), 1472)

    @pytest.mark.parametrize(
        ("places", "set_meanwhile", "why"),
        [((0, 2), False, Failure.TOO_LARGE), ((0, 1, 2), True, Failure.CLOCK_STEPPED)],
    )
    def test_why_sandwiches_that_come_back_say_nothing(
        self, places: tuple[int, ...], set_meanwhile: bool, why: Failure
    ) -> None:
        came = dict.fromkeys(places, 10**6)
        with pytest.raises(ProbeError) as caught:
            widened_back(SandwichBack(count=1), Apart((0.002,), 1472), came, set_meanwhile=set_meanwhile)
        assert caught.value.why == why

    def test_a_finding_keeps_places(self) -> None:
        assert Widened((None, 1e-6), 1472).by[0] is None


def test_what_the_kernel_says_beside_a_packet() -> None:
    specs = (5).to_bytes(8, "little") + (7).to_bytes(8, "little") + bytes(16)
    card = (9).to_bytes(8, "little") + (1).to_bytes(8, "little")
    told = [
        (socket.SOL_SOCKET, 37, specs + card),
        (socket.SOL_SOCKET, 40, (3).to_bytes(4, "little")),
        (socket.IPPROTO_IP, socket.IP_TTL, (60).to_bytes(4, "little")),
        (socket.SOL_SOCKET, 99, b"unknown"),
    ]
    assert beside(told) == Beside(5 * 10**9 + 7, 9 * 10**9 + 1, 60, 3)
    assert beside([(socket.SOL_SOCKET, 37, specs + bytes(16))]) == Beside(5 * 10**9 + 7)
    assert beside([]) == Beside()
