"""What no schedule can beat: lower bounds by linear programs over intervals of time.

Time is cut into intervals at the requests, the changes of the network and between; x(j, p, t) are the bits of
transfer j that go over path p in interval t.  What is asked of them holds for every schedule that the
simulator could run, whoever decides, with pauses and moves at no cost:

- no link carries more in an interval than its capacity allows (where b of other people's streams share it,
  our streams, S at most if all were there, leave them at least b/(b + S) of it);
- a transfer has in an interval at most what its streams and its host can, on one path at a time;
- all its bits are sent, none before it was asked for.

A transfer's completion is at least its mean busy time plus half its size over its best rate (the last bit
cannot follow the mean bit sooner), where every bit counts from the beginning of its interval; and at least
its request plus the time that it takes alone (Goemans, SODA 1997, on mean busy times).  Minimising the mean
of these gives a number below every schedule's mean.  For deadlines: the largest sum of parts sent by then.

scipy's HiGHS solves them; it is imported when it is needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from adon.simulation.network import Network, Path, Resource
from adon.simulation.workload import Transfer, Workload, alone, best_rate

INTERVALS = 120
"""About so many between the first request and the last end of a good schedule."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A stretch of time in which the network does not change."""

    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Piece:
    """One variable: bits of a transfer over a path in an interval."""

    transfer: int
    path: Path
    interval: int


class Program:
    """The constraints that both bounds share.

    :param until: when a good schedule is over; after that time is cut more coarsely, to the end of all
        changes and as much longer as anybody may need.
    """

    def __init__(self, workload: Workload, until: float, intervals: int = INTERVALS) -> None:
        self.workload = workload
        self.intervals = grid(workload, until, intervals)
        self.pieces = list(_pieces(workload, self.intervals))

    def matrices(self) -> tuple[Any, Any, Any, Any]:
        """``A_ub, b_ub, A_eq, b_eq`` over the pieces; sparse, in gigabits so that numbers stay near one."""
        from scipy.sparse import coo_matrix  # type: ignore[import-untyped]

        rows: dict[object, int] = {}
        limits: list[float] = []
        entries: list[tuple[int, int, float]] = []
        streams = sum(one.streams for one in self.workload.transfers)
        for column, piece in enumerate(self.pieces):
            for name, limit, weight in self._limits(piece, streams):
                row = rows.setdefault(name, len(rows))
                if row == len(limits):
                    limits.append(limit)
                entries.append((row, column, weight))
        shape = (len(rows), len(self.pieces))
        a_ub = coo_matrix(
            ([w for _, _, w in entries], ([r for r, _, _ in entries], [c for _, c, _ in entries])), shape
        )
        count = len(self.workload.transfers)
        a_eq = coo_matrix(
            ([1.0] * shape[1], ([piece.transfer for piece in self.pieces], list(range(shape[1])))),
            (count, shape[1]),
        )
        return a_ub.tocsr(), limits, a_eq.tocsr(), [one.bits / 1e9 for one in self.workload.transfers]

    def _limits(self, piece: Piece, streams: int) -> Iterator[tuple[object, float, float]]:
        """The rows that a piece is in: which, what the row may come to, and the piece's weight there."""
        interval, transfer = self.intervals[piece.interval], self.workload.transfers[piece.transfer]
        for way in piece.path.way(transfer.source):
            yield (way, piece.interval), _carries(self.workload.network, way, interval, streams) / 1e9, 1.0
        seconds = interval.end - max(interval.start, transfer.at)
        rate = _rate(self.workload.network, transfer, piece.path, interval.start)
        yield (piece.transfer, piece.interval, "own"), seconds, 1e9 / rate

    def busy(self, piece: Piece) -> float:
        """When a bit of this piece is sent at the earliest."""
        return max(self.intervals[piece.interval].start, self.workload.transfers[piece.transfer].at)


def grid(workload: Workload, until: float, intervals: int) -> list[Interval]:
    """The intervals; the last one is long enough for anything."""
    first = workload.transfers[0].at
    step = max(until - first, 1.0) / intervals
    last = max([until, *workload.network.changes, *(one.at for one in workload.transfers)])
    even = {first + step * place for place in range(intervals)}
    borders = sorted({*even, until, *(at for at in workload.network.changes if at > first), first, last})
    return [*(Interval(*pair) for pair in pairwise(borders)), Interval(last, last + _ample(workload, last))]


def _ample(workload: Workload, last: float) -> float:
    """More seconds than all transfers need one after the other, once nothing changes any more."""
    alone_then = [one.bits / max(1.0, best_rate(workload.network, one, last)) for one in workload.transfers]
    return 10 * math.fsum(alone_then) + 1.0


def _pieces(workload: Workload, intervals: Sequence[Interval]) -> Iterator[Piece]:
    for number, transfer in enumerate(workload.transfers):
        for place, interval in enumerate(intervals):
            if interval.end <= transfer.at:
                continue
            for path in workload.network.between(transfer.source, transfer.destination):
                if _rate(workload.network, transfer, path, interval.start) > 0:
                    yield Piece(number, path, place)


def _rate(network: Network, transfer: Transfer, path: Path, now: float) -> float:
    """Bits/s that a transfer can have on a path at the very most."""
    if not path.works(now):
        return 0.0
    limit = min(transfer.ceiling, transfer.streams * network.stream_limit(path, transfer.source, now))
    return min(limit, network.capacity(path, now))


def _carries(network: Network, way: Resource, interval: Interval, streams: int) -> float:
    link = network.links[way[0]]
    others = link.background.at(interval.start)
    return link.capacity.integral(interval.start, interval.end) * streams / (streams + others)


def least_mean(workload: Workload, until: float, intervals: int = INTERVALS) -> float:
    """A mean completion time that no schedule is below; seconds from the request.

    :param until: when a good schedule is over.
    :raises RuntimeError: if the solver fails.
    """
    import numpy as np
    from scipy.sparse import csr_matrix, hstack, vstack

    program = Program(workload, until, intervals)
    a_ub, b_ub, a_eq, b_eq = program.matrices()
    transfers, count = workload.transfers, len(workload.transfers)
    # One more variable per transfer: its completion, at least mean busy time + size / (2 * best rate).
    shares = [program.busy(p) / (transfers[p.transfer].bits / 1e9) for p in program.pieces]
    rows = [piece.transfer for piece in program.pieces]
    mean_busy = csr_matrix((shares, (rows, range(len(shares)))), (count, len(shares)))
    after = [one.bits / (2 * _fastest(workload, one)) for one in transfers]
    whole = vstack(
        [hstack([a_ub, csr_matrix((a_ub.shape[0], count))]), hstack([mean_busy, -_identity(count)])]
    ).tocsr()
    least = [one.at + alone(workload.network, one, one.at) for one in transfers]
    solved = _solved(
        np.concatenate([np.zeros(len(shares)), np.full(count, 1 / count)]),
        whole,
        [*b_ub, *(-one for one in after)],
        hstack([a_eq, csr_matrix((count, count))]).tocsr(),
        b_eq,
        [*((0, None) for _ in shares), *((begin, None) for begin in least)],
    )
    return solved - math.fsum(one.at for one in transfers) / count


def most_in_time(workload: Workload, until: float, intervals: int = INTERVALS) -> float | None:
    """A share of deadlines met that no schedule is above; None where no transfer has one.

    :raises RuntimeError: if the solver fails.
    """
    import numpy as np
    from scipy.sparse import csr_matrix, hstack, vstack

    bound = [place for place, one in enumerate(workload.transfers) if one.deadline is not None]
    if not bound:
        return None
    program = Program(workload, until, intervals)
    a_ub, b_ub, a_eq, b_eq = program.matrices()
    columns = {place: number for number, place in enumerate(bound)}
    sent = [
        (columns[piece.transfer], column)
        for column, piece in enumerate(program.pieces)
        if piece.transfer in columns
        and program.busy(piece) < float(workload.transfers[piece.transfer].deadline or 0)
    ]
    width = len(program.pieces)
    in_time = csr_matrix(
        ([-1.0] * len(sent), ([row for row, _ in sent], [column for _, column in sent])), (len(bound), width)
    )
    sizes = csr_matrix(
        ([workload.transfers[place].bits / 1e9 for place in bound], (range(len(bound)), range(len(bound)))),
        (len(bound), len(bound)),
    )
    solved = _solved(
        np.concatenate([np.zeros(width), np.full(len(bound), -1 / len(bound))]),
        vstack([hstack([a_ub, csr_matrix((a_ub.shape[0], len(bound)))]), hstack([in_time, sizes])]).tocsr(),
        [*b_ub, *(0.0 for _ in bound)],
        hstack([a_eq, csr_matrix((a_eq.shape[0], len(bound)))]).tocsr(),
        b_eq,
        [*((0, None) for _ in range(width)), *((0, 1) for _ in bound)],
    )
    return -solved


def _fastest(workload: Workload, transfer: Transfer) -> float:
    """Bits/s that it has at the very most at any time on any path."""
    times = (transfer.at, *(at for at in workload.network.changes if at > transfer.at))
    paths = workload.network.between(transfer.source, transfer.destination)
    return max(_rate(workload.network, transfer, path, at) for path in paths for at in times)


def _identity(count: int) -> Any:
    from scipy.sparse import identity

    return identity(count, format="csr")


def _solved(objective: Any, a_ub: Any, b_ub: Any, a_eq: Any, b_eq: Any, bounds: Any) -> float:
    from scipy.optimize import linprog  # type: ignore[import-untyped]

    done = linprog(objective, A_ub=a_ub, b_ub=b_ub, A_eq=a_eq, b_eq=b_eq, bounds=bounds, method="highs")
    if done.status != 0:
        raise RuntimeError(f"the linear program was not solved: {done.message}")
    return float(done.fun)
