"""What an axis is counted in, so that its numbers are short."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from adon.experiments.figures import Unit

_STEPS: dict[Unit, tuple[tuple[float, str], ...]] = {
    Unit.BITS_PER_SECOND: ((1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (0.0, "bps")),
    Unit.BYTES: ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (0.0, "B")),
    Unit.SECONDS: ((1.0, "s"), (1e-3, "ms"), (0.0, "us")),
    Unit.RATIO: ((0.0, "%"),),
    Unit.COUNT: ((0.0, ""),),
}
_FACTORS = {"bps": 1.0, "B": 1.0, "us": 1e-6, "%": 0.01, "": 1.0}


@dataclass(frozen=True, slots=True)
class Axis:
    """A unit with a prefix: values are divided by ``factor``, and called ``unit``."""

    factor: float
    unit: str

    @classmethod
    def of(cls, values: Iterable[float], unit: Unit) -> Axis:
        """The one in which the largest of these values is a short number."""
        largest = max((abs(value) for value in values), default=0.0)
        least, name = next(step for step in _STEPS[unit] if largest >= step[0])
        return cls(_FACTORS.get(name, least), name)

    def title(self, what: str) -> str:
        """``throughput, Gbps``."""
        return f"{what}, {self.unit}" if self.unit else what
