"""How many parallel streams, and why not more.

Needed are as many as carry what is wanted: ``n >= target / min(window · 8 / RTT, Mathis)``.  Not more than

- memory holds: every stream has its buffers, a quarter of a host's memory is for them;
- fill the path: where one stream does, a second only competes with it ([ADON] 5.3: "too many open TCP
  connections can even degrade the performance").

A test that got clearly less than the formula gives shows a limit that the formula does not know (a processor,
other traffic, a disk): then the test's own rate per stream is used, and the item says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from adon.broker.tuning.item import Confidence, Item
from adon.units import format_rate

MEMORY_PART = 4
"""One part in so many of a host's memory may be transfer buffers."""

UNEXPLAINED = 0.8
"""A test below this part of what the formula gives for the present settings shows another limit."""


@dataclass(frozen=True, slots=True)
class Bound:
    """At most so many streams, because."""

    most: int
    why: str


@dataclass(frozen=True, slots=True)
class Streams:
    """How many, what bounded it, and the item that says it."""

    number: int
    bounds: tuple[Bound, ...]
    item: Item


def memory_bound(host: str, memory: int | None, per_stream: float) -> Bound | None:
    """How many streams' buffers a host holds; None where its memory is not known.

    :param per_stream: bytes that one stream's buffer grows to.
    """
    if memory is None or per_stream <= 0:
        return None
    most = max(1, int(min(memory / MEMORY_PART / per_stream, 1e6)))
    return Bound(most, f"1/{MEMORY_PART} of the memory of {host} holds the buffers of {most}")


def parallel_streams(
    target: float, per_stream: float, bounds: tuple[Bound, ...], formula: str, confidence: Confidence
) -> Streams:
    """The number of streams for a target rate.

    :param per_stream: what one stream reaches, bits/s; infinite where nothing holds it back.
    :param bounds: of memory.
    """
    needed = _needed(target, per_stream)
    number = max(1, min([needed, *(bound.most for bound in bounds)]))
    if needed == 1:
        reason = f"one stream fills {format_rate(target)}; a second would only compete with it"
    elif number == needed:
        reason = f"one stream reaches {format_rate(per_stream)} of {format_rate(target)}; {needed} are needed"
    else:
        held = next(bound.why for bound in bounds if bound.most == number)
        asked = f"{needed}" if needed < MANY else f"at least {MANY}"
        reason = (
            f"{asked} would be needed, but {held}: these reach at most {format_rate(number * per_stream)}"
        )
    return Streams(number, bounds, Item("streams", str(number), reason, formula, confidence))


MANY = 10_000


def _needed(target: float, per_stream: float) -> int:
    if math.isinf(per_stream):
        return 1
    if per_stream <= 0:
        return MANY
    # A rate that equals what is wanted but for the last bit of a double needs no second stream.
    return max(1, math.ceil(min(target / per_stream, MANY) * (1 - 1e-9)))
