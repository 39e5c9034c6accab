"""Clouds drawn by seed, of the kinds that [HEALTH] and [CHOREO] measured; the same seed gives the same.

The rates are scaled to what two cores forward: their ratios are the papers'.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations

from measurement.health.model import Pair
from mininet_topos.cloud.description import Cloud, Guest, Limit, Path, Router

ZONES = {"a": 35, "b": 33, "c": 32}
"""Instances in each zone of [HEALTH] 4.2, Testbed II."""
ROUND_TRIPS = {
    frozenset("a"): 0.6e-3,
    frozenset("b"): 0.6e-3,
    frozenset("c"): 0.6e-3,
    frozenset("ab"): 2e-3,
    frozenset("ac"): 2.4e-3,
    frozenset("bc"): 4e-3,
}
"""Seconds; b and c are farthest from each other ([HEALTH] 6.2, figure 9)."""


def zones(seed: int, instances: int = 100) -> Cloud:
    """Three zones, as [HEALTH] 4.2: delays by zone, and heavy-tailed rates and additions by path.

    :param instances: in the paper's proportions 35 : 33 : 32.
    """
    chance = random.Random(seed)  # noqa: S311 - it draws a network
    where = list(_shared_out(ZONES, instances))
    slow = {number for number in range(instances) if chance.random() < 0.1}
    guests = tuple(
        Guest(
            f"i{number:03d}",
            zone,
            zone,
            egress=Limit(_megabits(chance, 200, 0.25) / (1 + 3 * (number in slow))),
        )
        for number, zone in enumerate(where)
    )
    routers = (Router("core"), *(Router(zone, "core") for zone in ZONES))

    def path(one: Guest, other: Guest) -> Path:
        across = one.zone != other.zone
        rate = _megabits(chance, 60 if across else 120, 0.5)
        added = chance.paretovariate(2) * 0.1e-3
        return Path(rate, ROUND_TRIPS[frozenset((one.zone, other.zone))] / 2 + added)

    return Cloud("zones", routers, guests, _paths(guests, path))


def throttled(instances: int = 4) -> Cloud:
    """Token buckets of [HEALTH] figure 4, a tenth of them.

    Even instances have 20 Mbit/s for four seconds, then 8 (t1.micro: 200, 80); odd ones 100 for one second,
    then 20 (m3.medium: 1000, 200).
    """
    micro = Limit(8e6, 20e6, (20e6 - 8e6) * 4 / 8)
    medium = Limit(20e6, 100e6, (100e6 - 20e6) * 1 / 8)
    guests = tuple(
        Guest(f"i{number}", "rack0", egress=(micro, medium)[number % 2]) for number in range(instances)
    )
    return Cloud("throttled", _racks(guests), guests, _paths(guests, lambda _one, _other: Path(delay=0.5e-3)))


def _racks(guests: Sequence[Guest]) -> tuple[Router, ...]:
    names = sorted({guest.router for guest in guests})
    return (Router("core"), *(Router(name, "core") for name in names))


def _paths(guests: Sequence[Guest], path: Callable[[Guest, Guest], Path]) -> dict[Pair, Path]:
    return {Pair(one.name, other.name): path(one, other) for one, other in permutations(guests, 2)}


def _shared_out(parts: dict[str, int], total: int) -> Iterator[str]:
    """Who gets which part, in order and as near to the proportions as whole numbers allow."""
    whole, before = sum(parts.values()), 0
    for name, part in parts.items():
        after = before + part
        yield from [name] * (round(total * after / whole) - round(total * before / whole))
        before = after


def _megabits(chance: random.Random, median: float, spread: float) -> float:
    """A rate in bits/s, log-normal about a median in Mbit/s, between an eighth and eight times of it."""
    return 1e6 * median * min(8.0, max(0.125, chance.lognormvariate(0, spread)))
