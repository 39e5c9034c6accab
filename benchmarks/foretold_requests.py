"""The flows of :mod:`benchmarks.foretold`: who asks for what, and when, by a seed.

Two paths: the thesis's layer 2, and a layer 3 that is made wider than the thesis's, so that it is of use
(:data:`LAYER3`).  Three kinds of flows:

- *bulk*: one stream, at least 0.45 of layer 2: two fit there, and one on layer 3;
- *wide*: four streams, at least 0.75 of layer 2 with them;
- *thin*: one stream, at least 0.55 of layer 3, and the path with the shorter round trip: it goes where there
  is no queue.

Arrivals are Poisson; sizes are log-uniform in the seconds that a flow would take alone, so that transfers
take about 5 to 40 s beside others.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mininet_topos.networks import Network, named

SOURCE, DESTINATION = "mu-dtn", "osu-dtn"
SCALE = 400.0
"""14.5 and 8 Mbit/s: two busy cores forward that at line rate (docs/simulation.md)."""
LAYER3 = "3.2 Gbps"
FLOWS = 40
EVERY_S = 11.0
"""Mean time between two requests: what is asked for is three quarters of what both paths carry."""
FIRST_PORT = 21_000


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of request.

    :param often: which share of the requests are of it.
    :param seconds: it takes between so long alone.
    :param path: the path that its bound and its size are meant for.
    :param share: the part of that path's goodput that it asks for at least.
    """

    name: str
    often: float
    seconds: tuple[float, float]
    path: str
    share: float
    streams: int = 1


BULK = Kind("bulk", 0.55, (8.0, 20.0), "al2s", 0.45)
WIDE = Kind("wide", 0.20, (8.0, 20.0), "al2s", 0.75, 4)
THIN = Kind("thin", 0.25, (8.0, 20.0), "internet", 0.55)
KINDS = (BULK, WIDE, THIN)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request.

    :param at: seconds after the first result.
    :param size: bytes.
    """

    number: int
    at: float
    kind: str
    size: int
    streams: int
    port: int

    def body(self) -> dict[str, Any]:
        """For ``POST /flows``."""
        return {
            "template": self.kind,
            "source": SOURCE,
            "destination": DESTINATION,
            "size": f"{self.size} B",
            "ports": [self.port],
            "streams": self.streams,
            "label": str(self.number),
        }


def two_campuses() -> Network:
    """The network that they are made for."""
    return named("mu_osu", SCALE, {"routed": {"goodput": LAYER3}})


def rates(network: Network) -> dict[str, float]:
    """Bits/s of TCP goodput that the paths are made for."""
    return {path.name: path.goodput for path in network.paths}


def requests(network: Network, seed: int, flows: int = FLOWS, every: float = EVERY_S) -> tuple[Asked, ...]:
    """The requests of one round.

    :param every: seconds between two of them, on average.
    """
    chance, at, found = random.Random(seed), 0.0, []
    for number in range(1, flows + 1):
        at += chance.expovariate(1 / every)
        kind = chance.choices(KINDS, [kind.often for kind in KINDS])[0]
        low, high = (math.log(seconds) for seconds in kind.seconds)
        size = round(math.exp(chance.uniform(low, high)) * rates(network)[kind.path] / 8)
        found.append(Asked(number, at, kind.name, size, kind.streams, FIRST_PORT + number))
    return tuple(found)


def templates(network: Network) -> list[dict[str, Any]]:
    """The kinds as templates; none of them is moved for a better Q alone."""
    return [_template(kind, rates(network)[kind.path]) for kind in KINDS]


def _template(kind: Kind, rate: float) -> dict[str, Any]:
    bound = round(kind.share * rate)
    return {
        "name": kind.name,
        "title": f"{kind.name} (benchmark of transfer times)",
        "qspec": {"throughput": {"min": f"{bound} bps", "streams": kind.streams}},
        "selection": {"patience": 100, "switch_margin": 10, "max_age": "120 s"},
        "streams": kind.streams,
        **_judged(kind, bound),
    }


def _judged(kind: Kind, bound: int) -> Mapping[str, Any]:
    if kind is THIN:
        return {"weights": {"rtt": 1}, "tables": {"rtt": {"points": [["2 ms", 10], ["100 ms", 1]]}}}
    points = [[f"{bound} bps", 1], [f"{3 * bound} bps", 10]]
    return {"weights": {"throughput": 1}, "tables": {"throughput": {"points": points}}}
