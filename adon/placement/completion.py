"""When an application's last transfer is over ([CHOREO], appendix).

Flows that share a link of rate R and carry b_1 ... b_k bytes need, all of them together, sum(b) * 8 / R; the
application is done with the slowest of all links::

    T = max over links l of  (sum of the bytes over l) * 8 / R_l

What a link is depends on the model of the network: each pair's own path (the pipe model: the paper's matrix
S is the identity, as a path shares its bottleneck with itself), everything out of a machine (the hose model),
or a link that the snapshot found to be shared.  Links that carry nothing of the application do not count, and
neither does what stays on one machine (R_mm is infinite).

Where c connections of others cross a path, one of ours has 1/(c+1) of it (section 3.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations

from adon.placement.methods import Method
from adon.placement.model import Assignment, Impossible, Kind, Limit, Placement, Problem
from measurement.health.model import Pair
from measurement.snapshot.model import Snapshot


@dataclass(frozen=True, slots=True)
class Link:
    """What the bytes between some pairs share.

    :param rate: bits/s for all of them; 0 where nothing gets through, or nobody knows the rate.
    """

    kind: Kind
    pairs: frozenset[Pair]
    rate: float


def rate(snapshot: Snapshot, pair: Pair) -> float:
    """What one connection has of a path beside the others that cross it, in bits/s; 0 if it is not known."""
    return snapshot.rates.get(pair, 0.0) / (snapshot.crossing.get(pair, 0.0) + 1)


def links(snapshot: Snapshot) -> Iterator[Link]:
    """All links that a snapshot knows of; those that hold more paths come first."""
    for bottleneck in snapshot.bottlenecks:
        yield Link(Kind.SHARED, bottleneck.pairs, bottleneck.rate)
    for name, hose in snapshot.hoses.items():
        others = frozenset(Pair(name, other) for other in snapshot.instances if other != name)
        yield Link(Kind.HOSE, others, hose)
    for one, other in permutations(snapshot.instances, 2):
        yield Link(Kind.PATH, frozenset({Pair(one, other)}), rate(snapshot, Pair(one, other)))


def ways(among: Iterable[Link]) -> dict[Pair, tuple[int, ...]]:
    """The links that each path is over, by their numbers in this order."""
    found: dict[Pair, list[int]] = {}
    for number, link in enumerate(among):
        for pair in link.pairs:
            found.setdefault(pair, []).append(number)
    return {pair: tuple(numbers) for pair, numbers in found.items()}


def silent(among: Iterable[Link]) -> frozenset[Pair]:
    """Paths that nothing gets through, or of which nobody knows."""
    return frozenset(pair for link in among if link.rate <= 0 for pair in link.pairs)


def hosed(snapshot: Snapshot) -> Snapshot:
    """The network as the hose model sees it where nobody measured the hoses ([CHOREO] 4.3).

    The paper divides all bytes out of a machine by each path's own rate.  In a network that limits machines
    those rates are one and the same; where they differ, the largest that a machine was seen to reach is its
    hose, and slower paths remain limits of their own.
    """
    hoses = dict(snapshot.hoses)
    for one in snapshot.instances:
        rates = [rate(snapshot, Pair(one, other)) for other in snapshot.instances if other != one]
        if one not in hoses and max(rates, default=0.0) > 0:
            hoses[one] = max(rates)
    return replace(snapshot, hoses=hoses)


def carried(sent: Mapping[tuple[str, str], float], machines: Assignment) -> dict[Pair, float]:
    """Bytes between machines (D = X^T B X); what stays on one machine is left out."""
    found: dict[Pair, float] = {}
    for (one, other), count in sent.items():
        pair = Pair(machines[one], machines[other])
        if count and pair.source != pair.destination:
            found[pair] = found.get(pair, 0.0) + count
    return found


def slowest(among: Iterable[Link], own: Mapping[Pair, float], load: Mapping[Pair, float]) -> Limit | None:
    """What the application waits for; None if it sends nothing over any of these links.

    :param own: bytes of the application between machines.
    :param load: bytes of others.
    """
    worst: Limit | None = None
    for link in among:
        used = tuple(sorted(pair for pair in link.pairs if own.get(pair)))
        if not used:
            continue
        waiting = math.fsum(load.get(pair, 0.0) for pair in link.pairs)
        limit = Limit(link.kind, used, math.fsum(own[pair] for pair in used), waiting, link.rate)
        if worst is None or limit.seconds > worst.seconds:
            worst = limit
    return worst


def timed(problem: Problem, machines: Assignment, method: Method) -> Placement:
    """An assignment with its completion time; nothing is known of others.

    :raises Impossible: for one over a path that nobody knows, or on which nothing gets through.
    """
    limit = slowest(links(problem.snapshot), carried(problem.application.sent, machines), problem.load)
    if limit is not None and math.isinf(limit.seconds):
        one, other = limit.pairs[0]
        raise Impossible("sent", f"nothing gets from {one} to {other}, or nobody knows how fast")
    ordered = {task.name: machines[task.name] for task in problem.application.tasks}
    return Placement(ordered, 0.0 if limit is None else limit.seconds, limit, method)
