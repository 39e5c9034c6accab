"""Completion time of an application ([CHOREO], appendix).

Transfers that share a link of rate R and carry b_1 ... b_k bytes take sum(b) * 8 / R together.  The slowest
link decides::

    T = max over links l of  (sum of the bytes over l) * 8 / R_l

The links depend on the model of the network: the path of each pair (the pipe model: the paper's matrix S is
the identity, because a path shares its bottleneck with itself), all that a machine sends (the hose model), or
a link that the snapshot found to be shared.  Links without bytes of the application do not count, and neither
do bytes within a machine (R_mm is infinite).

If c connections of others cross a path, a new connection gets 1/(c+1) of it (section 3.2).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import permutations

from adon.placement.model import (
    Assignment,
    DecidingLink,
    LinkKind,
    Method,
    NoPlacement,
    Placement,
    PlacementProblem,
)
from measurement.health.model import Pair
from measurement.snapshot.model import Snapshot


@dataclass(frozen=True, slots=True)
class SharedRate:
    """A rate that the transfers between some pairs share.

    :param rate: bits/s; 0 if nothing passes, or if the rate is unknown.
    """

    kind: LinkKind
    pairs: frozenset[Pair]
    rate: float


def connection_rate(snapshot: Snapshot, pair: Pair) -> float:
    """Return the bits/s that one connection gets on a path; 0 if the rate is unknown."""
    return snapshot.rates.get(pair, 0.0) / (snapshot.crossing.get(pair, 0.0) + 1)


def list_links(snapshot: Snapshot) -> Iterator[SharedRate]:
    """Yield all links of a snapshot, those of several paths first."""
    for bottleneck in snapshot.bottlenecks:
        yield SharedRate(LinkKind.SHARED, bottleneck.pairs, bottleneck.rate)
    for name, hose in snapshot.hoses.items():
        others = frozenset(Pair(name, other) for other in snapshot.instances if other != name)
        yield SharedRate(LinkKind.HOSE, others, hose)
    for pair in map(Pair._make, permutations(snapshot.instances, 2)):
        yield SharedRate(LinkKind.PATH, frozenset({pair}), connection_rate(snapshot, pair))


def index_by_path(links: Iterable[SharedRate]) -> dict[Pair, tuple[int, ...]]:
    """Return the indexes of the links that each path crosses."""
    found: dict[Pair, tuple[int, ...]] = {}
    for index, link in enumerate(links):
        for pair in link.pairs:
            found[pair] = (*found.get(pair, ()), index)
    return found


def assume_hoses(snapshot: Snapshot) -> Snapshot:
    """Return a snapshot with a hose for each machine, as the hose model has it ([CHOREO] 4.3).

    The paper divides all bytes that a machine sends by the rate of each of its paths.  In a network that
    limits machines, these rates are equal.  If they differ, the largest is the hose, and slower paths stay
    limits of their own.  Measured hoses stay.
    """
    hoses = dict(snapshot.hoses)
    for one in snapshot.instances:
        rates = [connection_rate(snapshot, Pair(one, other)) for other in snapshot.instances if other != one]
        if one not in hoses and max(rates, default=0.0) > 0:
            hoses[one] = max(rates)
    return replace(snapshot, hoses=hoses)


def bytes_between(sent: Mapping[tuple[str, str], float], machines: Assignment) -> dict[Pair, float]:
    """Return the bytes from machine to machine (D = X^T B X), without those within a machine."""
    found: dict[Pair, float] = {}
    for (sender, receiver), count in sent.items():
        pair = Pair(machines[sender], machines[receiver])
        if count and pair.source != pair.destination:
            found[pair] = found.get(pair, 0.0) + count
    return found


def find_deciding_link(
    snapshot: Snapshot, own: Mapping[Pair, float], load: Mapping[Pair, float]
) -> DecidingLink | None:
    """Return the slowest link; None if there are no own bytes.

    :param own: bytes of the application between machines.
    :param load: bytes of others.
    """
    slowest: DecidingLink | None = None
    for link in list_links(snapshot):
        used = tuple(sorted(pair for pair in link.pairs if own.get(pair)))
        if not used:
            continue
        waiting = math.fsum(load.get(pair, 0.0) for pair in link.pairs)
        found = DecidingLink(link.kind, used, math.fsum(own[pair] for pair in used), waiting, link.rate)
        if slowest is None or found.seconds > slowest.seconds:
            slowest = found
    return slowest


def place_at(problem: PlacementProblem, machines: Assignment, method: Method) -> Placement:
    """Return an assignment as a placement with its completion time.

    :raises NoPlacement: for a transfer over a path without a rate.
    """
    own = bytes_between(problem.application.sent, machines)
    limit = find_deciding_link(problem.snapshot, own, problem.load)
    if limit is not None and math.isinf(limit.seconds):
        path = " to ".join(limit.pairs[0])
        raise NoPlacement.of("sent", f"the rate from {path} is 0 or unknown; expected a measured path")
    application = problem.application
    ordered = {task.name: machines[task.name] for task in application.tasks}
    seconds = 0.0 if limit is None else limit.seconds
    return Placement(application.name, problem.snapshot.at, method, ordered, seconds, limit)
