"""A profile: bytes between tasks, which hold on any network; rates would not ([CHOREO] 2.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """What was seen of one application.

    :param tasks: in the order of a matrix's rows.
    :param sent: bytes from one task to another; what is absent is 0.
    :param began, ended: of the observation, seconds since 1970.
    :raises ValueError: for a transfer of somebody who is no task, to itself, or below 0; it names the two.
    """

    tasks: tuple[str, ...]
    sent: Mapping[tuple[str, str], int]
    began: float
    ended: float

    def __post_init__(self) -> None:
        known = {*self.tasks}
        if len(known) < len(self.tasks):
            raise ValueError("tasks: a name is there twice")
        for pair, count in self.sent.items():
            if not {*pair} <= known or len({*pair}) < 2 or count < 0:
                raise ValueError(f"sent: {' > '.join(pair)}: {count} is no transfer between two of the tasks")
