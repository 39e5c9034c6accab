"""Bandwidth of a path that a flow has reserved for a time to come; a value, kept with the flow."""

from __future__ import annotations

from dataclasses import dataclass

from adon.timestamps import format_minutes
from adon.units import format_rate


@dataclass(frozen=True, slots=True)
class Booking:
    """So many bits/s of a path, in the flow's direction, from ``begins`` until ``ends``."""

    path: str
    rate: float
    begins: float
    ends: float

    @property
    def words(self) -> str:
        """``40 Mbps of al2s, 2026-11-21 22:00 UTC to 2026-11-22 06:00 UTC``."""
        times = f"{format_minutes(self.begins)} to {format_minutes(self.ends)}"
        return f"{format_rate(self.rate)} of {self.path}, {times}"
