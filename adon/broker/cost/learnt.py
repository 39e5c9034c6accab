"""Number of a cost, with its spread and its source."""

from __future__ import annotations

from dataclasses import dataclass

from adon.uncertain import Uncertain


@dataclass(frozen=True, slots=True)
class Learnt:
    """A number with its spread, and where both come from, in words."""

    value: Uncertain
    origin: str
