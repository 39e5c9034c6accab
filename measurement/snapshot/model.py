"""What is known of the paths between instances at one time.

A snapshot is a document: ``measurement.model.to_json`` writes it and ``from_json`` reads it.  Values of pairs
are matrices there (:mod:`measurement.matrix`), pairs are ``[source, destination]``, and what is not known is
left out; docs/choreo.md explains the fields.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field, PlainSerializer
from pydantic_core import CoreSchema

from measurement.health.model import Pair
from measurement.matrix import Rows
from measurement.model import STRICT, headed_schema, sparse_schema

Amount = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0, strict=True)]
Word = Annotated[str, Field(max_length=500)]
Name = Annotated[str, Field(min_length=1, max_length=63)]


Amounts = Annotated[Mapping[Pair, float], Rows(tuple[tuple[Amount | None, ...], ...], "instances", Pair)]
Counts = Annotated[Mapping[Pair, int], Rows(tuple[tuple[Count | None, ...], ...], "instances", Pair)]
Words = Annotated[Mapping[Pair, str], Rows(tuple[tuple[Word | None, ...], ...], "instances", Pair)]
Rack = Annotated[frozenset[str], PlainSerializer(sorted)]


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """A link that several paths share, and that they can fill together ([CHOREO] 3.3.2, matrix S).

    :param pairs: at least two.
    :param rate: what all of them together can have, in bits/s.
    """

    __pydantic_config__ = STRICT

    pairs: Annotated[frozenset[Pair], Field(min_length=2), PlainSerializer(sorted)]
    rate: Amount


@dataclass(frozen=True, slots=True)
class Snapshot:
    """See the module's text.  What is absent is not known.

    :param at: seconds since 1970.
    :param instances: who is in it.
    :param rates: bits/s that one TCP connection has when nobody else sends, by directed pair.
    :param rtts: round-trip times in seconds.
    :param hops: routers and switches as traceroute counts them.
    :param crossing: c: connections that cross a path's narrowest link, of others ([CHOREO] 3.2).
    :param hoses: what all connections out of an instance together can have, in bits/s, where it is limited
        there (the hose model).
    :param bottlenecks: links inside the network that are shared.
    :param racks: groups of instances that are close together; each instance is in at most one.
    :param how: how each rate was found: ``train``, ``transfer`` or ``counters``.
    :param missing: why a rate is not there, where one was looked for.
    :raises ValueError: for a pair with somebody who is not in it or with itself, or a value that is none; it
        names field and pair.
    """

    __pydantic_config__ = STRICT

    kind: Literal["snapshot"] = field(default="snapshot", kw_only=True)
    version: Literal[1] = field(default=1, kw_only=True)
    at: Amount
    instances: Annotated[tuple[Name, ...], Field(max_length=2000)]
    rates: Amounts
    rtts: Amounts = field(default_factory=dict)
    hops: Counts = field(default_factory=dict)
    crossing: Amounts = field(default_factory=dict)
    how: Words = field(default_factory=dict)
    missing: Words = field(default_factory=dict)
    hoses: Annotated[Mapping[str, Amount], PlainSerializer(lambda its: dict(sorted(its.items())))] = field(
        default_factory=dict
    )
    bottlenecks: tuple[Bottleneck, ...] = ()
    racks: tuple[Rack, ...] = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> CoreSchema:
        written = ("kind", "version", "hoses", "bottlenecks", "racks")
        return headed_schema(sparse_schema(source, handler, *written), "kind", "version")

    def __post_init__(self) -> None:
        known = {*self.instances}
        if len(known) < len(self.instances):
            raise ValueError("instances: a name is there twice")
        for name, pair, value in self._values():
            if not {*pair} <= known:
                raise ValueError(f"{name}: {' > '.join(pair)}: somebody is not among the instances")
            if len({*pair}) < len(pair):
                raise ValueError(f"{name}: {' > '.join(pair)}: is no path")
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name}: {' > '.join(pair)}: {value} is not a finite number from 0 on")
        for each in self.bottlenecks:
            if len(each.pairs) < 2:
                raise ValueError("bottlenecks: one path alone shares no link")
        placed = [name for rack in self.racks for name in rack]
        if not {*placed} <= known:
            raise ValueError(f"racks: {', '.join(sorted({*placed} - known))}: not among the instances")
        if len({*placed}) < len(placed):
            raise ValueError("racks: somebody is in two of them")
        for name, words in (("how", self.how), ("missing", self.missing)):
            for pair in words:
                if not {*pair} <= known or pair.source == pair.destination:
                    raise ValueError(f"{name}: {' > '.join(pair)}: is no path between two of the instances")
        both = self.rates.keys() & self.missing.keys()
        if both:
            raise ValueError(f"missing: {' > '.join(min(both))}: its rate is there")

    @property
    def whole(self) -> bool:
        """Whether the rate of every pair is known."""
        count = len(self.instances)
        return len(self.rates) == count * (count - 1)

    def _values(self) -> Iterator[tuple[str, tuple[str, ...], float]]:
        for name, its in (
            ("rates", self.rates),
            ("rtts", self.rtts),
            ("hops", self.hops),
            ("crossing", self.crossing),
        ):
            yield from ((name, (*pair,), value) for pair, value in its.items())
        yield from (("hoses", (one,), rate) for one, rate in self.hoses.items())
        for each in self.bottlenecks:
            yield from (("bottlenecks", (*pair,), each.rate) for pair in each.pairs)
