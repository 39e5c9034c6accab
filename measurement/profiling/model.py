"""A profile: bytes between tasks, which hold on any network; rates would not ([CHOREO] 2.1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Profile:
    """What was seen of one application.

    :param tasks: in the order of a matrix's rows.
    :param sent: bytes of payload (of TCP and UDP, without headers, so an acknowledgement alone is 0) from one
        task to another; what is absent is 0.
    :param began, ended: of the observation, seconds since 1970.
    :param errors: how far ``sent`` may be off, as a share of it, with 95 % confidence, where it was estimated
        from samples; what is absent was counted.
    :raises ValueError: for a transfer of somebody who is no task, to itself, or below 0, or a time before the
        beginning; it names the two.
    """

    tasks: tuple[str, ...]
    sent: Mapping[tuple[str, str], int]
    began: float
    ended: float
    errors: Mapping[tuple[str, str], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = {*self.tasks}
        if len(known) < len(self.tasks):
            raise ValueError("tasks: a name is there twice")
        for pair, count in self.sent.items():
            if not {*pair} <= known or len({*pair}) < 2 or count < 0:
                raise ValueError(f"sent: {' > '.join(pair)}: {count} is no transfer between two of the tasks")
        for pair, share in self.errors.items():
            if pair not in self.sent or not (math.isfinite(share) and share >= 0):
                raise ValueError(f"errors: {' > '.join(pair)}: {share} is no share of what was sent")
        if not (math.isfinite(self.began) and math.isfinite(self.ended) and self.began <= self.ended):
            raise ValueError(f"ended: {self.ended} is not a time after {self.began}")
