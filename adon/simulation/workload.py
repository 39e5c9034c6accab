"""Who asks for what, and when: transfers over a network whose future is fixed, and the tests that watch it.

A workload is a value; drawing one from a named description is :mod:`adon.simulation.drawing`'s.  Times are
seconds from the beginning, sizes bytes, rates bits/s of goodput.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from adon.simulation.measuring import Plan
from adon.simulation.network import Network
from adon.simulation.steps import steady
from adon.templates_catalog.model import QSpec, Template


@dataclass(frozen=True, slots=True)
class Transfer:
    """One request.

    :param at: when it is asked for: its completion time runs from here.
    :param source, destination: sites.
    :param deadline: when it has to be over, if it has to.
    :param ceiling: bits/s that its application sends at most, with all streams.
    """

    number: int
    at: float
    source: str
    destination: str
    size: int
    template: str
    streams: int
    priority: int
    deadline: float | None = None
    ceiling: float = math.inf

    @property
    def bits(self) -> float:
        """Its size in bits."""
        return self.size * 8.0


@dataclass(frozen=True, slots=True)
class Workload:
    """See the module's text.

    :param story: what it is about, in one sentence.
    :param templates: by name.
    :param transfers: in the order of their times.
    :param end: when the simulation stops, at the latest.
    """

    name: str
    story: str
    network: Network
    templates: Mapping[str, Template]
    transfers: tuple[Transfer, ...]
    plan: Plan
    end: float

    @property
    def directions(self) -> tuple[tuple[str, str], ...]:
        """The pairs of sites that transfers go between."""
        return tuple(dict.fromkeys((one.source, one.destination) for one in self.transfers))

    def qspec(self, transfer: Transfer) -> QSpec:
        """The quality that a transfer needs."""
        return self.templates[transfer.template].qspec


def kept(qspec: QSpec, rate: float, rtt: float, loss: float) -> bool:
    """Whether a transfer has what its QSpec says, as it is and not as anybody measured it.

    :param rate: bits/s of all its streams together: the decision core judges a running flow so, too.
    """
    bound = qspec.throughput
    if bound is not None and rate < bound.min * (1 - 1e-9):
        return False
    delayed = qspec.rtt is not None and rtt > qspec.rtt.max
    lost = qspec.loss is not None and loss > qspec.loss.max
    return not delayed and not lost


def alone(network: Network, transfer: Transfer, at: float) -> float:
    """Seconds that a transfer would take, begun then, with the network to itself and on its best path.

    Other people's streams are there all the same; paths may be changed at no cost at any time.  Infinite if
    the network never lets it end.
    """
    left, now = transfer.bits, at
    for until in (*(change for change in network.changes if change > at), math.inf):
        rate = best_rate(network, transfer, now)
        if rate > 0 and left <= rate * (until - now):
            return now + left / rate - at
        left, now = left - rate * (until - now), until
    return math.inf


def best_rate(network: Network, transfer: Transfer, now: float) -> float:
    """Bits/s that it has at most at a time, on whichever path."""
    return max(
        (
            rate_on(network, transfer, path.name, now)
            for path in network.between(transfer.source, transfer.destination)
        ),
        default=0.0,
    )


def rate_on(network: Network, transfer: Transfer, name: str, now: float) -> float:
    """Bits/s that it has on a path with none of ours beside it: its own limits, its share among others."""
    path = network.path(name)
    if not path.works(now):
        return 0.0
    limit = min(transfer.ceiling, transfer.streams * network.stream_limit(path, transfer.source, now))
    for link in (network.links[name] for name in path.links):
        others = link.background.at(now)
        limit = min(limit, link.capacity.at(now) * transfer.streams / (transfer.streams + others))
    return limit


def idle(network: Network) -> Network:
    """The same network as it is at its beginning, for ever, with nobody else in it."""
    return replace(
        network,
        links={
            name: replace(
                link,
                capacity=steady(link.capacity.values[0]),
                delay=steady(link.delay.values[0]),
                loss=steady(link.loss.values[0]),
                background=steady(0.0),
            )
            for name, link in network.links.items()
        },
        paths=tuple(replace(path, outages=()) for path in network.paths),
    )
