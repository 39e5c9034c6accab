"""What is tried on the real testbed and in the simulator: a handful of scenarios, each in one sentence.

Sizes are for 58 Mbit/s of TCP goodput on layer 2 and 6.5 on layer 3 (1:100); all of them, and rates, are
divided by :data:`SLOWER`, so that two busy cores still forward at line rate.  Times are seconds from the
beginning.
"""

from __future__ import annotations

from dataclasses import dataclass

L2, L3 = "al2s", "internet"


@dataclass(frozen=True, slots=True)
class Carry:
    """One transfer.

    :param rate: bits/s that its sender does not exceed.
    :param moves: when it is put onto which other path; one transfer of a scenario may.
    """

    at: float
    size: int
    streams: int = 1
    path: str = L2
    rate: float | None = None
    moves: tuple[tuple[float, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Others:
    """Other people's TCP streams on a path, all the time between two times (iperf3)."""

    path: str
    streams: int
    begins: float
    ends: float


@dataclass(frozen=True, slots=True)
class Scenario:
    """See the module's text.

    :param rates: when a path's rate becomes which part of what it was at first.
    """

    name: str
    story: str
    carries: tuple[Carry, ...]
    others: tuple[Others, ...] = ()
    rates: tuple[tuple[float, str, float], ...] = ()


SLOWER = 4
"""The testbed runs at 1:400: 14.5 and 1.6 Mbit/s."""
NETWORK, SCALE = "mu_osu", 100 * SLOWER

MB = 1_000_000 // SLOWER
SCENARIOS = (
    Scenario("alone", "One stream has layer 2 to itself, another one layer 3.", (
        Carry(0.5, 80 * MB), Carry(0.5, 8 * MB, path=L3),
    )),
    Scenario("two", "A second transfer comes when the first is half done.", (
        Carry(0.5, 70 * MB), Carry(5.0, 50 * MB),
    )),
    Scenario("streams", "1, 4 and 8 streams share layer 2.", (
        Carry(0.5, 10 * MB, 1), Carry(0.5, 40 * MB, 4), Carry(0.5, 80 * MB, 8),
    )),
    Scenario("arrivals", "Five transfers come one after the other, each while the last is under way.", tuple(
        Carry(0.5 + 3 * number, (40 + 8 * (number % 3)) * MB, 1 + number % 2) for number in range(5)
    )),
    Scenario("limited", "Two applications send at rates of their own; who has no limit takes the rest.", (
        Carry(0.5, 15 * MB, rate=10e6 / SLOWER), Carry(0.5, 30 * MB, rate=20e6 / SLOWER), Carry(1.0, 40 * MB,
        2),
    )),
    Scenario("others", "Six of other people's streams come for ten seconds.", (
        Carry(0.5, 90 * MB, 2),
    ), others=(Others(L2, 6, 4.0, 14.0),)),
    Scenario("slower", "Layer 2 falls to a third of its rate for eight seconds.", (
        Carry(0.5, 60 * MB), Carry(2.0, 40 * MB, 2),
    ), rates=((6.0, L2, 1 / 3), (14.0, L2, 1.0))),
    Scenario("move", "A transfer is moved from layer 3 to layer 2, where another one runs.", (
        Carry(0.5, 70 * MB), Carry(0.5, 30 * MB, path=L3, moves=((6.0, L2),)),
    )),
)  # fmt: skip
