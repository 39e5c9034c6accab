"""What a round says of network paths: of each the median over the pairs that go by it.

H-ALL compares a pair with the other pairs of its round.  So health is good to choose among paths that were
probed together, and is no absolute value: what is healthiest of a poor lot has 1.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from measurement.health.model import Pair
from measurement.health.record import RoundRecord
from measurement.model import Measurement, Metric, Observation, PathKey

FIRED = "health.markers"
"""A series of each path: how many markers fired for the pairs that go by it."""
TRAIN, TRANSFER, ROUND = "packet train", "bulk transfer", "health round"
"""The tools of what is told."""


def of_paths(
    record: RoundRecord,
    paths: Mapping[Pair, PathKey],
    source: str,
    throughput: Collection[PathKey] = (),
) -> Sequence[Measurement | Observation]:
    """Health and fired markers of each path, and its throughput where that is wanted.

    What no pair of a path knows is not told: the value before grows old.

    :param source: where the round can be found again.
    :param throughput: the paths whose throughput is told, in bits/s of one connection.  What was carried over
        from an earlier round is not.
    """
    by_path: dict[PathKey, list[Pair]] = defaultdict(list)
    for pair, key in paths.items():
        by_path[key].append(pair)
    found: list[Measurement | Observation] = []
    for key, pairs in sorted(by_path.items()):
        found += _health(record, key, pairs, source)
        if key in throughput:
            found += _throughput(record, key, pairs, source)
    return found


def _health(
    record: RoundRecord, key: PathKey, pairs: Sequence[Pair], source: str
) -> Sequence[Measurement | Observation]:
    totals = [record.scores[pair].total for pair in pairs if pair in record.scores]
    known = [total for total in totals if total is not None]
    if not known:
        return ()
    fired = sum(len(record.fired.get(pair, ())) for pair in pairs)
    said = {"pairs": len(known)}
    # Of a sum of rounded shares; a ratio is never above 1.
    health = min(1.0, statistics.median(known))
    return (
        Measurement(key, Metric.HEALTH, health, record.began, record.ended, source, ROUND, said),
        Observation(key, FIRED, float(fired), record.ended, source, ROUND, {"pairs": len(known)}),
    )


def _throughput(
    record: RoundRecord, key: PathKey, pairs: Sequence[Pair], source: str
) -> Sequence[Measurement]:
    fresh = [
        pair
        for pair in pairs
        if pair in record.found and record.found[pair].throughput and pair not in record.carried
    ]
    if not fresh:
        return ()
    rate = statistics.median(statistics.fmean(record.found[pair].throughput) for pair in fresh)
    tool = TRANSFER if all(pair in record.by_transfer for pair in fresh) else TRAIN
    said = {"streams": 1, "pairs": len(fresh)}
    return (Measurement(key, Metric.THROUGHPUT, rate, record.began, record.ended, source, tool, said),)
