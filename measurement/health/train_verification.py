"""How far packet trains are off the transfers that verify them, pair by pair."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from measurement.health.model import Pair
from measurement.health.record import RoundRecord


@dataclass(frozen=True, slots=True)
class Verified:
    """A pair with both.

    :param train, transfer: bits/s, means; the latter above 0.
    """

    pair: Pair
    train: float
    transfer: float

    @property
    def off(self) -> float:
        """By what share of the transfer's rate the train's is above it; below it under 0."""
        return self.train / self.transfer - 1


def verified_pairs(record: RoundRecord) -> tuple[Verified, ...]:
    """The pairs of a round of which both carried something, in order."""
    return tuple(
        Verified(pair, statistics.fmean(record.found[pair].throughput), statistics.fmean(rates))
        for pair, rates in sorted(record.verified.items())
        if pair in record.found and record.found[pair].throughput and any(rates)
    )


def mean_error(record: RoundRecord) -> float | None:
    """The mean of ``|train - transfer| / transfer`` over the pairs; None if no pair has both."""
    errors = [abs(one.off) for one in verified_pairs(record)]
    return statistics.fmean(errors) if errors else None
