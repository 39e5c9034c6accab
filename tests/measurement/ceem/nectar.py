"""Table V of [CEEM]: mean and standard deviation of the throughput in Mbit/s, over twelve hours."""

from __future__ import annotations

from collections.abc import Mapping

from measurement.ceem.run import EvaluationRun, PathResult, PathStatistics, Reference
from measurement.ceem.template import PlacePath

NODES = ("MEB-np", "MEB-qh2", "Monash01", "qld", "sa")
LOCAL = "Local Machine"
_ROWS = {
    LOCAL: ((20.2, 0.24), (19.9, 1.23), (19, 1.62), (14.8, 1.11), (11.6, 0.92)),
    "MEB-np": ((5212.1, 458.3), (3799.5, 832.6), (2938.5, 302.2), (364.8, 41.97), (98.8, 9.61)),
    "MEB-qh2": ((4496.8, 783.1), (1743.9, 517.4), (18.4, 9.52), (98.5, 7.05)),
    "Monash01": ((2750.7, 138.8), (215.5, 95), (93.7, 6.41)),
    "qld": ((2632.5, 160.4), (229.5, 58.2)),
    "sa": ((5222.4, 417.8),),
}
"""Upper triangle with diagonal: a row ends at the last node."""


def stated_paths(statistics: Mapping[PlacePath, PathStatistics]) -> tuple[PathResult, ...]:
    """Return published statistics as a run holds them."""
    return tuple(PathResult(*path, its.mean, its.deviation, its.count) for path, its in statistics.items())


TABLE_V = EvaluationRun(
    "table-v",
    Reference("nectar", 1),
    "tcp-transfer-bit-speed",
    "Mbit/s",
    NODES,
    (LOCAL,),
    paths=stated_paths(
        {
            PlacePath(one, other): PathStatistics(*cell)
            for one, row in _ROWS.items()
            for other, cell in zip(NODES[-len(row) :], row, strict=True)
        }
    ),
)
