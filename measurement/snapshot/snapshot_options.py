"""How a snapshot is to be taken, and what came of taking it: values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from measurement.health.model import Pair
from measurement.probes.probe_types import TrainShape
from measurement.snapshot.concurrent import PAIR
from measurement.snapshot.model import Snapshot
from measurement.snapshot.racks import Fault


@dataclass(frozen=True, slots=True)
class SnapshotOptions:
    """How a snapshot is taken.

    :param shape: of trains; :func:`~measurement.probes` calibrates it for a network.
    :param intervals, interval: of a transfer; the length in seconds.  Its rate is the median of all but the
        first, in which TCP is still growing, and a token bucket may not be empty.
    :param width: paths of a trial; 0 to try nothing, and to know nothing of what paths share.
    :param crossing: on so many paths others' traffic is looked for, by transfers twice as long as the others,
        but of a minute each at most; :func:`measurement.snapshot.cross_traffic_paths.sample` says on which.
    :param trains_at_once, transfers_at_once: of all instances together; None for as many as are free.
    """

    shape: TrainShape = TrainShape()  # noqa: RUF009 - frozen
    intervals: int = 4
    interval: float = 0.5
    width: int = PAIR
    crossing: int = 0
    trains_at_once: int | None = None
    transfers_at_once: int | None = None

    def __post_init__(self) -> None:
        if self.width < 0 or self.width == 1:
            raise ValueError(f"width: {self.width} path alone shares nothing; 0 tries nothing")
        if self.crossing < 0:
            raise ValueError(f"crossing: {self.crossing} paths are fewer than none")
        if self.intervals < 2:
            raise ValueError(f"intervals: {self.intervals} is too few: the first one does not count")


USUAL = SnapshotOptions()


@dataclass(frozen=True, slots=True)
class SnapshotResult:
    """A snapshot, and what else was seen on the way.

    :param faults: what hop counts say that cannot be in a multi-rooted tree.
    :param constant: sources of which the hose model holds ([CHOREO] 4.3).
    :param trials: how many were made; :param failed: that had too little to compare.
    :param uncrossed: why nothing is known of others' traffic on a path where it was looked for.
    :param stopped: whether it was stopped before the end.
    """

    snapshot: Snapshot
    faults: tuple[Fault, ...]
    constant: frozenset[str]
    trials: int
    failed: int
    uncrossed: Mapping[Pair, str]
    stopped: bool
