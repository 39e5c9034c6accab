"""Circuits that are reserved elsewhere: nothing is left behind, and nothing waits for ever."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adon.errors import Conflict
from adon.flowvisor.circuits import (
    STEPS,
    TIME_OUTS_S,
    Ask,
    CircuitProvider,
    Happening,
    Order,
    Provided,
    ReservingProvider,
    Stage,
    StaticProvider,
    due,
)

ORDER = Order("core.1", "urn:ogf:network:a:2025:p1", "urn:ogf:network:b:2025:p2", 100, 1e9)


class Network:
    """A working stand-in for a provider: it keeps reservations, and answers when it is asked to.

    :param refuses: what it says no to.
    :param silent: what it does, but never answers.
    """

    def __init__(self, refuses: Ask | None = None, silent: frozenset[Ask] = frozenset()) -> None:
        self.refuses, self.silent = refuses, silent
        self.state = "none"

    def asked(self, ask: Ask) -> Happening | None:
        if ask is self.refuses:
            return None if ask in self.silent else Happening.REFUSED
        self.state, answer = {
            Ask.RESERVE: ("held", Happening.RESERVED),
            Ask.COMMIT: ("committed", Happening.COMMITTED),
            Ask.PROVISION: ("up", Happening.PROVISIONED),
            Ask.TERMINATE: ("none", Happening.TERMINATED),
        }[ask]
        return None if ask in self.silent else answer


def run(network: Network, provider: CircuitProvider, until: Stage | None = None) -> tuple[Provided, float]:
    """Ask and answer until nothing is open; whoever is silent is waited for until the time-out."""
    now = 0.0
    circuit, ask = provider.ordered(ORDER, now)
    for _ in range(20):
        answer = network.asked(ask) if ask is not None else None
        if answer is None:
            deadline = due(circuit)
            if deadline is None or circuit.stage is until:
                break
            now, answer = deadline, Happening.TIMED_OUT
            network.silent = frozenset()  # it recovers
        circuit, ask = provider.advanced(circuit, answer, now)
    return circuit, now


def test_a_circuit_is_reserved_committed_provisioned_and_given_back() -> None:
    network, provider = Network(), ReservingProvider()
    circuit, _ = run(network, provider)
    assert (circuit.stage, circuit.usable, network.state) == (Stage.PROVISIONED, True, "up")
    circuit, ask = provider.advanced(circuit, Happening.RELEASE, 5.0)
    assert (circuit.stage, circuit.usable, ask) == (Stage.TERMINATING, False, Ask.TERMINATE)
    assert network.asked(Ask.TERMINATE) is Happening.TERMINATED
    circuit, ask = provider.advanced(circuit, Happening.TERMINATED, 6.0)
    assert (circuit.stage, ask, network.state) == (Stage.TERMINATED, None, "none")


@pytest.mark.parametrize(
    ("refuses", "stage"),
    [(Ask.RESERVE, Stage.FAILED), (Ask.COMMIT, Stage.TERMINATED), (Ask.PROVISION, Stage.TERMINATED)],
)
def test_a_refusal_leaves_nothing_reserved(refuses: Ask, stage: Stage) -> None:
    network = Network(refuses)
    circuit, _ = run(network, ReservingProvider())
    assert (circuit.stage, network.state) == (stage, "none")


@pytest.mark.parametrize("silent", [Ask.RESERVE, Ask.COMMIT, Ask.PROVISION])
def test_silence_is_waited_for_so_long_and_leaves_nothing_reserved(silent: Ask) -> None:
    network = Network(silent=frozenset({silent}))
    circuit, now = run(network, ReservingProvider())
    assert (circuit.stage, network.state) == (Stage.TERMINATED, "none")
    waited = {Ask.RESERVE: Stage.RESERVING, Ask.COMMIT: Stage.HELD, Ask.PROVISION: Stage.COMMITTED}
    assert now == TIME_OUTS_S[waited[silent]]


def test_a_termination_that_is_not_answered_is_asked_for_again() -> None:
    provider = ReservingProvider()
    circuit, _ = provider.advanced(provider.ordered(ORDER, 0.0)[0], Happening.RELEASE, 1.0)
    again, ask = provider.advanced(circuit, Happening.TIMED_OUT, 121.0)
    assert (again.stage, again.since, ask) == (Stage.TERMINATING, 121.0, Ask.TERMINATE)
    late, ask = provider.advanced(again, Happening.RESERVED, 122.0)
    assert (late, ask) == (again, None)


def test_a_data_plane_that_falls_is_not_usable_until_it_is_up_again() -> None:
    provider = ReservingProvider()
    circuit, _ = run(Network(), provider)
    fallen, ask = provider.advanced(circuit, Happening.DATA_PLANE_DOWN, 9.0, "fibre cut")
    assert (fallen.usable, fallen.reason, ask) == (False, "fibre cut", None)
    assert provider.advanced(fallen, Happening.PROVISIONED, 10.0)[0].usable


@settings(max_examples=100)
@given(st.lists(st.sampled_from(Happening), max_size=12))
def test_whatever_happens_every_stage_that_waits_has_an_end(happenings: list[Happening]) -> None:
    provider = ReservingProvider()
    circuit, _ = provider.ordered(ORDER, 0.0)
    for now, happening in enumerate(happenings):
        before = circuit
        try:
            circuit, ask = provider.advanced(circuit, happening, float(now))
        except Conflict:
            assert (before.stage, happening) not in STEPS
            continue
        assert (before.stage, happening) in STEPS
        assert not before.stage.final
        assert ask is None or not circuit.stage.final
    assert circuit.stage.final or circuit.usable or due(circuit) is not None


@pytest.mark.parametrize("stage", [stage for stage in Stage if not stage.final])
def test_every_stage_can_be_left(stage: Stage) -> None:
    for happening in (Happening.RELEASE, Happening.ENDED):
        assert (stage, happening) in STEPS
    assert (stage in TIME_OUTS_S) is ((stage, Happening.TIMED_OUT) in STEPS)


def test_a_configured_vlan_is_there_at_once() -> None:
    provider = StaticProvider()
    circuit, ask = provider.ordered(ORDER, 3.0)
    assert (circuit.usable, ask, due(circuit)) == (True, None, None)
    gone, ask = provider.advanced(circuit, Happening.RELEASE, 4.0)
    assert (gone.stage, ask) == (Stage.TERMINATED, None)
    for wrong, happening in ((circuit, Happening.RESERVED), (gone, Happening.RELEASE)):
        with pytest.raises(Conflict, match="it is configured, not reserved"):
            provider.advanced(wrong, happening, 5.0)
