"""On which paths to look for others' traffic ([CHOREO] 3.2), where looking at all would take too long.

It takes two transfers per path, one after the other.  What a placement goes by first are an instance's
fastest ways out: there a wrong value does most harm.  Values and functions only.
"""

from __future__ import annotations

from collections.abc import Mapping

from measurement.health.model import Pair


def sample(rates: Mapping[Pair, float], count: int) -> tuple[Pair, ...]:
    """So many paths, or all if there are fewer: each instance's fastest way out, then each one's second, ...

    :param rates: bits/s of what is known; a path of rate 0 is no candidate.
    :raises ValueError: for a count below 0.
    """
    if count < 0:
        raise ValueError(f"crossing: {count} paths are fewer than none")
    ranked = list[tuple[int, float, Pair]]()
    before = dict[str, int]()
    for pair in sorted((pair for pair in rates if rates[pair] > 0), key=lambda pair: (-rates[pair], pair)):
        rank = before.get(pair.source, 0)
        before[pair.source] = rank + 1
        ranked.append((rank, -rates[pair], pair))
    return tuple(pair for _, _, pair in sorted(ranked)[:count])
