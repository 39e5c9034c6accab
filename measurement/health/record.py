"""What is kept of a round: what was found, of whom, how, and what could not be found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from measurement.health.markers import Fired
from measurement.health.model import Pair, Round
from measurement.health.scoring import Score
from measurement.instances import Instance

LATEST = 253_402_300_799.0
"""The end of the year 9999, the last that a date can be written of; seconds since 1970."""


class ProbeKind(StrEnum):
    """What is asked of an instance about another in one order.

    LIGHT is all that puts no load on the network: ICMP, UDP, sandwich, TCP.  A TRAIN takes a fraction of a
    second, a TRANSFER is [HEALTH]'s throughput over ten intervals of a second.
    """

    LIGHT = "light"
    TRAIN = "train"
    TRANSFER = "transfer"


@dataclass(frozen=True, slots=True)
class Failure:
    """A probe that told nothing, and why."""

    pair: Pair
    kind: ProbeKind
    why: str


@dataclass(frozen=True, slots=True)
class RoundRecord:
    """A round with all that belongs to it.  A pair that was planned and is not in ``found`` was not reached.

    :param began, ended: seconds since 1970.
    :param instances: that the round was among, with their zones.
    :param profile: which pairs matter, in words: ``mesh``, ``star of files``.
    :param planned: the pairs that were to be probed.
    :param found: what was found of each, also where some of its probes failed.
    :param by_transfer: pairs whose throughput *in found* is a transfer's; that of all others is a train's.
    :param carried: pairs whose throughput in ``found`` is an earlier round's, no marker having fired since.
    :param translated: pairs between whose two instances addresses are translated (NAT).
    :param verified: bits/s in each interval of the transfers that verify trains; they count in no score.
    :param failures: what could not be found.
    :param interrupted: why it ended before its plan; empty if it did not.
    :param scores: the health of each pair, its peers being all pairs of the round.
    :param fired: the markers that fired.
    :param from_other_side: pairs whose round trips were taken by their destination, asked about both ways.
    :raises ValueError: for somebody who is not among the instances, and for times that are none; it
        names the field.
    """

    began: float
    ended: float
    instances: tuple[Instance, ...]
    planned: tuple[Pair, ...]
    found: Round
    profile: str = "mesh"
    by_transfer: frozenset[Pair] = frozenset()
    carried: frozenset[Pair] = frozenset()
    translated: frozenset[Pair] = frozenset()
    verified: Mapping[Pair, tuple[float, ...]] = field(default_factory=dict)
    failures: tuple[Failure, ...] = ()
    interrupted: str = ""
    scores: Mapping[Pair, Score] = field(default_factory=dict)
    fired: Mapping[Pair, tuple[Fired, ...]] = field(default_factory=dict)
    from_other_side: frozenset[Pair] = frozenset()

    def __post_init__(self) -> None:
        if not -LATEST <= self.began <= self.ended <= LATEST:
            raise ValueError(f"ended: {self.ended} is not a time from {self.began} on")
        names = {one.name for one in self.instances}
        if len(names) < len(self.instances):
            raise ValueError("instances: a name is there twice")
        for name, pair in self._pairs():
            if pair.source == pair.destination or not {*pair} <= names:
                raise ValueError(f"{name}: {pair.source} > {pair.destination} is no pair of the instances")
        if len({*self.planned}) < len(self.planned):
            raise ValueError("planned: a pair is there twice")

    def _pairs(self) -> Iterator[tuple[str, Pair]]:
        for name, pairs in (
            ("planned", self.planned),
            ("found", self.found),
            ("by_transfer", self.by_transfer),
            ("carried", self.carried),
            ("translated", self.translated),
            ("from_other_side", self.from_other_side),
            ("verified", self.verified),
            ("scores", self.scores),
            ("fired", self.fired),
        ):
            yield from ((name, pair) for pair in pairs)
        yield from (("failures", one.pair) for one in self.failures)

    @property
    def zones(self) -> Mapping[str, str]:
        """The zone of each instance, by name."""
        return {one.name: one.zone for one in self.instances}

    @property
    def not_reached(self) -> tuple[Pair, ...]:
        """Pairs that were planned, and of which nothing at all is known."""
        return tuple(pair for pair in self.planned if pair not in self.found)

    @property
    def complete(self) -> bool:
        """Whether all that was planned was found."""
        return not (self.interrupted or self.failures or self.not_reached)
