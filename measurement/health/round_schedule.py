"""When which pair is probed, so that no two probes that load the network disturb each other ([HEALTH] 4.2).

Light probes (round trips, a sandwich, connections) are a few packets each, and may overlap.  Those that load
the network, trains and transfers, come in rounds in which each instance has one at most: the paper's round
robin between instances that only lower the risk of collisions leaves some; here there are none.

With *duplex* an instance may send one and receive another.  On an Ethernet link each direction has its own
wires, and clouds limit what an instance sends (the hose model of [CHOREO] 3.3), so a train, which flows one
way, is not disturbed by one that flows the other way; a transfer is, a little, for its acknowledgements
share the way of the other's data.  It is off unless asked for: on virtual machines both directions share a
processor.

What is between zones may be narrower than what each instance has: then only so many at a time lead over the
link between two zones, in either direction (or in each, with duplex).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from measurement.health.edge_colouring import colour_edges
from measurement.health.model import Pair

Rounds = tuple[tuple[Pair, ...], ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """What may go on at the same time.

    :param duplex: an instance may send and receive at the same time.
    :param between_zones: so many over the link between two zones; None for as many as there are.
    :param zones: zone of each instance, by name; an instance without a zone is not limited.
    :raises ValueError: if none may lead from one zone to another.
    """

    duplex: bool = False
    between_zones: int | None = None
    zones: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if self.between_zones is not None and self.between_zones < 1:
            raise ValueError(f"between_zones: {self.between_zones} at a time would never be done")

    def ends(self, pair: Pair) -> tuple[Hashable, Hashable]:
        """What of its two instances a probe has for itself."""
        if self.duplex:
            return ("send", pair.source), ("receive", pair.destination)
        return pair.source, pair.destination

    def link(self, pair: Pair) -> Hashable | None:
        """The link between zones that a probe goes over, if that limits anything."""
        zones = self.zones or {}
        there, back = zones.get(pair.source), zones.get(pair.destination)
        if self.between_zones is None or not there or not back or there == back:
            return None
        return (there, back) if self.duplex else frozenset((there, back))


FREE = Limits()


def rounds(pairs: Sequence[Pair], limits: Limits = FREE) -> Rounds:
    """The pairs in rounds that are free of conflict, in as few as there must be, or hardly more.

    A mesh comes as a tournament does, where nothing is lost; other sets of pairs by edge colouring: with
    duplex as many rounds as the busiest instance has probes one way, else at most two more than it has in
    all.  Limits between zones can add to that.

    :raises ValueError: for a pair of one instance with itself.
    """
    names = sorted({name for pair in pairs for name in pair})
    if len(pairs) == len({*pairs}) == len(names) * (len(names) - 1):
        found = _shifts(names) if limits.duplex else _tournament(names)
    else:
        classes = colour_edges([limits.ends(pair) for pair in pairs])
        found = [[pairs[number] for number in its] for its in classes]
    return tuple(tuple(sorted(its)) for its in _within(found, limits))


def least(pairs: Iterable[Pair], limits: Limits = FREE) -> int:
    """Fewer rounds are not possible."""
    ends: Counter[Hashable] = Counter()
    links: Counter[Hashable] = Counter()
    instances: set[str] = set()
    count = 0
    for pair in pairs:
        count += 1
        ends.update(limits.ends(pair))
        instances |= {*pair}
        if (link := limits.link(pair)) is not None:
            links[link] += 1
    at_once = len(instances) if limits.duplex else len(instances) // 2
    of_links = [-(-its // (limits.between_zones or 1)) for its in links.values()]
    return max([*ends.values(), *of_links, -(-count // max(1, at_once))], default=0)


def _tournament(names: Sequence[str]) -> list[list[Pair]]:
    """Round robin by the circle method: one stays, the others walk around; then all the other way."""
    circle: list[str | None] = [*names, *([None] if len(names) % 2 else [])]
    found: list[list[Pair]] = []
    for _ in range(len(circle) - 1):
        half = len(circle) // 2
        facing = zip(circle[:half], reversed(circle[half:]), strict=True)
        found.append([Pair(one, other) for one, other in facing if one is not None and other is not None])
        circle = [circle[0], circle[-1], *circle[1:-1]]
    return [*found, *([pair.back for pair in its] for its in found)]


def _shifts(names: Sequence[str]) -> list[list[Pair]]:
    """In round k everybody sends to the one k places on."""
    count = len(names)
    return [
        [Pair(name, names[(place + step) % count]) for place, name in enumerate(names)]
        for step in range(1, count)
    ]


def _within(found: Sequence[Sequence[Pair]], limits: Limits) -> list[list[Pair]]:
    """The same rounds, what is too much for a link moved to the first round that has room for it."""
    if limits.between_zones is None:
        return [list(its) for its in found]
    taken: list[_Taken] = []
    surplus: list[Pair] = []
    for its in found:
        this = _Taken()
        taken.append(this)
        for pair in its:
            if this.has_room(pair, limits):
                this.add(pair, limits)
            else:
                surplus.append(pair)
    # The first rounds fill up first, so those of a link begin where the last one of it went.
    begin: dict[Hashable, int] = defaultdict(int)
    for pair in surplus:
        link = limits.link(pair)
        place = begin[link]
        while place < len(taken) and taken[place].links[link] >= limits.between_zones:
            place += 1
        begin[link] = place
        while place < len(taken) and not taken[place].has_room(pair, limits):
            place += 1
        if place == len(taken):
            taken.append(_Taken())
        taken[place].add(pair, limits)
    return [one.pairs for one in taken if one.pairs]


class _Taken:
    """A round while it is filled."""

    def __init__(self) -> None:
        self.pairs: list[Pair] = []
        self.ends: set[Hashable] = set()
        self.links: Counter[Hashable] = Counter()

    def has_room(self, pair: Pair, limits: Limits) -> bool:
        """Whether the pair's ends and its link are free."""
        link = limits.link(pair)
        full = link is not None and self.links[link] >= (limits.between_zones or 0)
        return not full and self.ends.isdisjoint(limits.ends(pair))

    def add(self, pair: Pair, limits: Limits) -> None:
        """Take them."""
        self.pairs.append(pair)
        self.ends.update(limits.ends(pair))
        if (link := limits.link(pair)) is not None:
            self.links[link] += 1


@dataclass(frozen=True, slots=True)
class Plan:
    """What one round of probing does, in this order.

    :param light: pairs whose light probes are done.
    :param trains: in rounds.
    :param transfers: likewise; those of pairs that have trains, too, verify them.
    """

    light: tuple[Pair, ...]
    trains: Rounds
    transfers: Rounds = ()

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All pairs that anything is done for, each once."""
        loading = (pair for its in (*self.trains, *self.transfers) for pair in its)
        return tuple(dict.fromkeys((*self.light, *loading)))


def plan(
    pairs: Sequence[Pair], verified: Sequence[Pair] = (), limits: Limits = FREE, *, exhaustive: bool = False
) -> Plan:
    """The plan for these pairs.

    :param verified: of them, whose throughput is found by a transfer, too.
    :param exhaustive: as the paper does it: a transfer for each pair, and no trains.
    :raises ValueError: for a pair with itself, or one to verify that is none of the pairs.
    """
    unknown = {*verified} - {*pairs}
    if unknown:
        one = min(unknown)
        raise ValueError(f"verified: {one.source} > {one.destination} is none of the pairs")
    light = _spread(pairs)
    # Acknowledgements disturb: transfers are never duplex.
    apart = replace(limits, duplex=False)
    if exhaustive:
        return Plan(light, (), rounds(pairs, apart))
    return Plan(light, rounds(pairs, limits), rounds(verified, apart))


def _spread(pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """The pairs so that neighbours have other ends: as in the rounds, one after another."""
    if not pairs:
        return ()
    return tuple(pair for its in rounds(pairs, Limits(duplex=True)) for pair in its)
