"""How fast flows go now, from what was known of them at two moments.  Pure.

The API tells how much of a flow has arrived; the browser keeps what it was told before, and the difference
is the rate.  A flow of which nothing new was told for a while stands still.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from adon.api.flows import FlowView

STILL_S = 30.0
"""Switches are asked for their counters every few seconds: after so long without a byte there is none."""

Reading = list[Any]
"""When it was told (seconds since the epoch), bytes then, bits/s or None; a list, as JSON has it."""


def step(before: Mapping[str, Reading], flows: Iterable[FlowView], now: float) -> dict[str, Reading]:
    """What is known of the flows now.

    :param before: what this answered the last time; flows that are not there any more are forgotten.
    """
    return {flow.id: _step(before.get(flow.id), flow.bytes_moved, now) for flow in flows}


def _step(before: Reading | None, moved: int, now: float) -> Reading:
    if before is None:
        return [now, moved, None]
    at, had, rate = before
    if moved > had and now > at:
        return [now, moved, 8.0 * (moved - had) / (now - at)]
    return [at, had, 0.0 if now - at > STILL_S else rate]


def of(readings: Mapping[str, Reading], flows: Iterable[str]) -> float | None:
    """Bits/s of some flows together; None if of none it is known."""
    known = [rate for flow in flows if flow in readings and (rate := readings[flow][2]) is not None]
    return sum(known) if known else None
