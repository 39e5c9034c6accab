"""Record of a round of health probes: the result of each pair of instances.

A record is a document: ``measurement.model.to_json`` writes it and ``from_json`` reads it.  Fields with their
default are left out.  ``version`` is 1; a document of a later program is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, fields
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from measurement.health.markers import Fired
from measurement.health.model import Found, Indicator, Pair, Round
from measurement.health.pair_scores import Score
from measurement.instances import Instance
from measurement.model import STRICT, headed_schema, sparse_schema

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

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
class FailedProbe:
    """A probe of a pair that told nothing, and why."""

    probe: ProbeKind
    why: str


@dataclass(frozen=True, slots=True)
class PairResult:
    """Result of one directed pair; times are seconds, rates bits/s.

    :param planned: whether the pair was to be probed.
    :param reached: whether anything is known of it; the fields of :class:`Found` are empty if not.
    :param throughput_by: how ``throughput`` was found.
    :param carried: whether ``throughput`` is an earlier round's, no marker having fired since.
    :param translated: whether addresses are translated (NAT) between the two instances.
    :param from_other_side: whether the destination took the round trips, asked about both ways.
    :param verified: bits/s in each interval of a transfer that verifies a train; it counts in no score.
    :param failed: what could not be found.
    :param score: the health, the peers being all pairs of the round.
    :param fired: the markers that fired.
    :raises ValueError: for a time or rate that cannot be one; it names the field.
    """

    __pydantic_config__ = STRICT

    source: str
    destination: str
    planned: bool = True
    reached: bool = True
    icmp: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    udp: Mapping[int, tuple[float, ...]] = field(default_factory=dict)
    sandwich: tuple[float, ...] = ()
    connect: tuple[float, ...] = ()
    tcp: tuple[float, ...] = ()
    throughput: tuple[float, ...] = ()
    throughput_by: Literal["train", "transfer"] = "train"
    carried: bool = False
    translated: bool = False
    from_other_side: bool = False
    verified: tuple[float, ...] | None = None
    silent: frozenset[Indicator] = frozenset()
    failed: tuple[FailedProbe, ...] = ()
    score: Score | None = None
    fired: tuple[Fired, ...] = ()

    def __post_init__(self) -> None:
        for name, times in _times_of(self):
            if not all(0 < time < math.inf for time in times):
                raise ValueError(f"{name}: a time is out of range; expected seconds above 0")
        for name, rates in (("throughput", self.throughput), ("verified", self.verified or ())):
            if not all(0 <= rate < math.inf for rate in rates):
                raise ValueError(f"{name}: a rate is out of range; expected at least 0 bits/s")
        if not all(map(math.isfinite, self.sandwich)):
            raise ValueError("sandwich: is not finite; expected seconds")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        return sparse_schema(source, handler)

    @property
    def pair(self) -> Pair:
        """The pair that this is the result of."""
        return Pair(self.source, self.destination)

    @property
    def found(self) -> Found:
        """What the probes found."""
        return Found(**_fields_of_found(self))


def _times_of(one: PairResult) -> Iterator[tuple[str, tuple[float, ...]]]:
    yield from (("connect", one.connect), ("tcp", one.tcp))
    yield from ((f"icmp.{size}", times) for size, times in one.icmp.items())
    yield from ((f"udp.{size}", times) for size, times in one.udp.items())


@dataclass(frozen=True, kw_only=True)
class RoundRecord:
    """A round with all that belongs to it.

    :param began, ended: seconds since 1970.
    :param profile: which pairs matter, in words: ``mesh``, ``star of files``.
    :param interrupted: why it ended before its plan; empty if it did not.
    :param instances: that the round was among, with their zones.
    :param pairs: the result of each pair that was planned or of which something is known.
    :raises ValueError: for a pair that is none of the instances', and for times that are none; it names the
        field.
    """

    __pydantic_config__ = STRICT

    format: Literal["adon-health-round"] = "adon-health-round"
    version: Literal[1] = 1
    began: float
    ended: float
    profile: str
    interrupted: str = ""
    instances: tuple[Instance, ...]
    pairs: tuple[PairResult, ...]

    def __post_init__(self) -> None:
        if not -LATEST <= self.began <= self.ended <= LATEST:
            raise ValueError(f"ended: {self.ended} is not a time from {self.began} on")
        names = {one.name for one in self.instances}
        if len(names) < len(self.instances):
            raise ValueError("instances: a name is there twice")
        for one in self.pairs:
            if one.source == one.destination or not {one.source, one.destination} <= names:
                raise ValueError(f"pairs: {one.source} > {one.destination} is no pair of the instances")
        if len(self.by_pair) < len(self.pairs):
            raise ValueError("pairs: a pair is there twice")

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        return headed_schema(sparse_schema(source, handler, "format", "version"), "format", "version")

    @classmethod
    def of(
        cls,
        began: float,
        ended: float,
        instances: tuple[Instance, ...],
        planned: Iterable[Pair],
        found: Round,
        profile: str = "mesh",
        by_transfer: Set[Pair] = frozenset(),
        *,
        carried: Set[Pair] = frozenset(),
        translated: Set[Pair] = frozenset(),
        from_other_side: Set[Pair] = frozenset(),
        verified: Mapping[Pair, tuple[float, ...]] | None = None,
        failures: Iterable[Failure] = (),
        interrupted: str = "",
        scores: Mapping[Pair, Score] | None = None,
        fired: Mapping[Pair, tuple[Fired, ...]] | None = None,
    ) -> RoundRecord:
        """Return the record of what was found and noted by pair; parameters as the fields and properties."""
        failed: dict[Pair, list[FailedProbe]] = {}
        for one in failures:
            failed.setdefault(one.pair, []).append(FailedProbe(one.kind, one.why))
        to_probe = dict.fromkeys(planned)
        pairs = tuple(
            PairResult(
                *pair,
                planned=pair in to_probe,
                reached=pair in found,
                **_fields_of_found(found.get(pair, Found())),
                throughput_by="transfer" if pair in by_transfer else "train",
                carried=pair in carried,
                translated=pair in translated,
                from_other_side=pair in from_other_side,
                verified=(verified or {}).get(pair),
                failed=tuple(failed.get(pair, ())),
                score=(scores or {}).get(pair),
                fired=(fired or {}).get(pair, ()),
            )
            for pair in dict.fromkeys((*to_probe, *found, *(scores or {}), *failed))
        )
        return cls(
            began=began,
            ended=ended,
            profile=profile,
            interrupted=interrupted,
            instances=instances,
            pairs=pairs,
        )

    @cached_property
    def by_pair(self) -> Mapping[Pair, PairResult]:
        """The result of each pair."""
        return {one.pair: one for one in self.pairs}

    @cached_property
    def planned(self) -> tuple[Pair, ...]:
        """The pairs that were to be probed."""
        return tuple(one.pair for one in self.pairs if one.planned)

    @cached_property
    def found(self) -> Round:
        """What was found of each pair that was reached, also where some of its probes failed."""
        return {one.pair: one.found for one in self.pairs if one.reached}

    @cached_property
    def by_transfer(self) -> frozenset[Pair]:
        """The pairs whose throughput is a transfer's; that of all others is a train's."""
        return frozenset(one.pair for one in self.pairs if one.throughput_by == "transfer")

    @cached_property
    def carried(self) -> frozenset[Pair]:
        """The pairs whose throughput is an earlier round's."""
        return frozenset(one.pair for one in self.pairs if one.carried)

    @cached_property
    def translated(self) -> frozenset[Pair]:
        """The pairs between whose instances addresses are translated."""
        return frozenset(one.pair for one in self.pairs if one.translated)

    @cached_property
    def from_other_side(self) -> frozenset[Pair]:
        """The pairs whose round trips were taken by their destination."""
        return frozenset(one.pair for one in self.pairs if one.from_other_side)

    @cached_property
    def verified(self) -> Mapping[Pair, tuple[float, ...]]:
        """The rates of the transfers that verify trains."""
        return {one.pair: one.verified for one in self.pairs if one.verified is not None}

    @cached_property
    def failures(self) -> tuple[Failure, ...]:
        """What could not be found."""
        return tuple(Failure(one.pair, each.probe, each.why) for one in self.pairs for each in one.failed)

    @cached_property
    def scores(self) -> Mapping[Pair, Score]:
        """The health of each pair that has a score."""
        return {one.pair: one.score for one in self.pairs if one.score is not None}

    @cached_property
    def fired(self) -> Mapping[Pair, tuple[Fired, ...]]:
        """The markers that fired, of each pair with any."""
        return {one.pair: one.fired for one in self.pairs if one.fired}

    @property
    def zones(self) -> Mapping[str, str]:
        """The zone of each instance, by name."""
        return {one.name: one.zone for one in self.instances}

    @property
    def not_reached(self) -> tuple[Pair, ...]:
        """Pairs that were planned, and of which nothing at all is known."""
        return tuple(one.pair for one in self.pairs if one.planned and not one.reached)

    @property
    def complete(self) -> bool:
        """Whether all that was planned was found."""
        return not (self.interrupted or self.failures or self.not_reached)


def _fields_of_found(one: Found | PairResult) -> dict[str, Any]:
    return {each.name: getattr(one, each.name) for each in fields(Found)}
