"""How the flow scheduler serves those who wait (spec section 4; docs/scheduler.md)."""

from __future__ import annotations

from pydantic import Field

from adon.config.parts import Section, Span


class QueuePolicy(Section):
    """Turns and reservations of the queue.

    :param overtaken_for: a waiting flow may be overtaken by flows behind it for so long; then the path or
        compute site that it waits for is kept for it.
    :param hurry: a flow whose deadline comes near counts as so many priorities more urgent.
    :param slack: its deadline is near when the time left is its transfer's and this share of it more.
    :param headroom: so much more than the bytes take at the reserved rate is reserved.
    :param reservable: the part of what a path carries that can be reserved in advance.
    """

    overtaken_for: Span = 600.0
    hurry: int = Field(default=240, ge=0, le=100_000)
    slack: float = Field(default=0.25, ge=0, le=10)
    headroom: float = Field(default=0.1, ge=0, le=10)
    reservable: float = Field(default=0.8, gt=0, le=1)
