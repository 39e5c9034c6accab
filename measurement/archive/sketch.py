"""Quantiles of any number of values in two kilobytes: a KLL sketch.

Karnin, Lang and Liberty, "Optimal quantile approximation in streams", FOCS 2016, as implemented by Apache
DataSketches.  Sketches of parts merge into the sketch of the whole without a growing error.  The reasons
for this sketch, with figures beside REQ, t-digest and DDSketch, are in docs/measurement-archive.md.

The library (and numpy with it) is imported when a sketch is first made or asked, not before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

EXACT = 200
"""The sketch's parameter k; of up to so many values it keeps every one."""

RANK_ERROR = 0.0133
"""How far the rank of a quantile may be off, as a share of all values, with 99 % confidence (k = 200)."""


@dataclass(frozen=True, slots=True)
class Sketch:
    """A distribution, in the library's own serialisation; values are kept as 32-bit floats."""

    data: bytes

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Of these values."""
        found = _library()(EXACT)
        for value in values:
            found.update(value)
        return cls(found.serialize())

    @classmethod
    def merge(cls, sketches: Iterable[Sketch]) -> Self:
        """Of all values of these."""
        whole = _library()(EXACT)
        for sketch in sketches:
            whole.merge(sketch._read())
        return cls(whole.serialize())

    def quantiles(self, shares: Sequence[float]) -> list[float]:
        """The values that such shares (0..1) of the values do not exceed."""
        return [float(found) for found in self._read().get_quantiles(list(shares), inclusive=True)]

    def _read(self) -> Any:
        return _library().deserialize(self.data)


def _library() -> Any:
    from datasketches import kll_floats_sketch

    return kll_floats_sketch
