"""How the flow scheduler serves those who wait (spec section 4; docs/scheduler.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from adon.config.parts import Section, Span
from adon.frozenmap import Frozen, FrozenMap
from adon.nearest_key import absent

if TYPE_CHECKING:
    from adon.config.configuration import Configuration

Weight = Annotated[float, Field(gt=0, le=1e6)]
GroupName = Annotated[str, Field(min_length=1, max_length=200)]


class QueuePolicy(Section):
    """Turns, fair shares and reservations of the queue.

    :param groups: who shares: slices, or requesters.  With ``slice`` and no slices all flows are one group.
    :param weights: a group's share relative to the others; 1 for one that is not named.
    :param overtaken_for: a waiting flow may be overtaken by flows behind it for so long; then the path or
        compute site that it waits for is kept for it.
    :param hurry: a flow whose deadline comes near counts as so many priorities more urgent.
    :param slack: its deadline is near when the time left is its transfer's and this share of it more.
    :param headroom: so much more than the bytes take at the reserved rate is reserved.
    :param reservable: the part of what a path carries that can be reserved in advance.
    """

    groups: Literal["slice", "requester"] = "slice"
    weights: Frozen[GroupName, Weight] = FrozenMap()
    overtaken_for: Span = 600.0
    hurry: int = Field(default=240, ge=0, le=100_000)
    slack: float = Field(default=0.25, ge=0, le=10)
    headroom: float = Field(default=0.1, ge=0, le=10)
    reservable: float = Field(default=0.8, gt=0, le=1)


def wrong_queue(whole: Configuration) -> Iterator[str]:
    """Weights of groups that there are not, as ``field: text``."""
    policy = whole.policy.queue
    if policy.groups == "slice":
        for name in policy.weights:
            if name not in whole.slices:
                yield f"policy.queue.weights.{name}: {absent('slice', name, whole.slices)}"
