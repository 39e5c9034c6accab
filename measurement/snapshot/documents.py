"""Snapshots as JSON; see docs/choreo.md for the fields.

Rates are in bits/s and times in seconds; matrices as in :mod:`measurement.matrix`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from measurement import document, matrix
from measurement.document import Document, Part, written
from measurement.health.model import Pair
from measurement.snapshot.model import Bottleneck, Snapshot

KIND = "snapshot"
VERSION = 1

Amount = Annotated[float, Field(ge=0)]
Word = Annotated[str, Field(max_length=500)]
Amounts = list[list[Amount | None]]
Words = list[list[Word | None]]
V = TypeVar("V")


class SharedLink(Part):
    """A bottleneck: pairs as ``[source, destination]``."""

    pairs: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(min_length=2)
    rate: Amount


class SnapshotDocument(Document):
    """The fields; a matrix that is not there knows nothing."""

    kind: Literal["snapshot"]
    version: Literal[1]
    at: Amount
    instances: list[Annotated[str, Field(min_length=1, max_length=63)]] = Field(max_length=2000)
    rates: Amounts
    rtts: Amounts | None = None
    hops: list[list[Annotated[int, Field(ge=0)] | None]] | None = None
    crossing: Amounts | None = None
    hoses: dict[str, Amount] = Field(default_factory=dict)
    bottlenecks: list[SharedLink] = Field(default_factory=list)
    racks: list[list[str]] = Field(default_factory=list)
    how: Words | None = None
    missing: Words | None = None


def to_json(snapshot: Snapshot) -> dict[str, Any]:
    """A snapshot as data; what it does not know is left out."""
    names = snapshot.instances
    matrices: dict[str, Mapping[Pair, Any]] = {
        "rtts": snapshot.rtts,
        "hops": snapshot.hops,
        "crossing": snapshot.crossing,
        "how": snapshot.how,
        "missing": snapshot.missing,
    }
    return {
        "kind": KIND,
        "version": VERSION,
        "at": snapshot.at,
        "instances": list(names),
        "rates": matrix.rows(names, snapshot.rates),
        **{field: matrix.rows(names, values) for field, values in matrices.items() if values},
        "hoses": dict(sorted(snapshot.hoses.items())),
        "bottlenecks": [
            {"pairs": [[*pair] for pair in sorted(each.pairs)], "rate": each.rate}
            for each in snapshot.bottlenecks
        ],
        "racks": [sorted(rack) for rack in snapshot.racks],
    }


def from_json(data: object) -> Snapshot:
    """The inverse of :func:`to_json`.

    :raises ValueError: for what is no such document; it names the field.
    """
    return _snapshot(document.checked(data, SnapshotDocument, KIND, VERSION))


def dumps(snapshot: Snapshot) -> str:
    """A snapshot's document as text, a row of a matrix per line."""
    return written(to_json(snapshot))


def loads(text: str | bytes) -> Snapshot:
    """The inverse of :func:`dumps`.

    :raises ValueError: as :func:`from_json`.
    """
    return _snapshot(document.read(text, SnapshotDocument, KIND, VERSION))


def _snapshot(read: SnapshotDocument) -> Snapshot:
    names = read.instances

    def values(field: str, rows: Sequence[Sequence[V | None]] | None) -> dict[Pair, V]:
        found = {} if rows is None else matrix.pairs(field, names, rows)
        return {Pair(*pair): value for pair, value in found.items()}

    return Snapshot(
        read.at,
        tuple(names),
        values("rates", read.rates),
        rtts=values("rtts", read.rtts),
        hops=values("hops", read.hops),
        crossing=values("crossing", read.crossing),
        hoses=dict(read.hoses),
        bottlenecks=tuple(
            Bottleneck(frozenset(Pair(one, other) for one, other in each.pairs), each.rate)
            for each in read.bottlenecks
        ),
        racks=tuple(frozenset(rack) for rack in read.racks),
        how=values("how", read.how),
        missing=values("missing", read.missing),
    )
