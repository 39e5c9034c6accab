"""Rounds as JSON: for files, the REST API, and whoever computes with them elsewhere.

One object per pair, with all that is known of it; times are seconds (a round's own since 1970), rates bits/s.
``version`` is 1; what a later program wrote is refused rather than half understood.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

import pydantic_core
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    NonNegativeFloat,
    PositiveFloat,
    ValidationError,
)

from measurement.health.markers import Fired, Marker
from measurement.health.model import Found, Indicator, Pair
from measurement.health.record import Failure, ProbeKind, RoundRecord
from measurement.health.scoring import Part, Score
from measurement.instances import Instance
from measurement.model import list_problems

FORMAT = "adon-health-round"
VERSION = 1

Json = dict[str, Any]
Size = Annotated[int, Field(gt=0)]
Time = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Rate = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class InstanceDocument(_Document):
    """An instance; see :class:`measurement.instances.Instance`."""

    name: str
    address: str
    port: int
    zone: str = ""
    cores: PositiveFloat | None = None
    memory: int | None = None


class ScoreDocument(_Document):
    """The health of a pair; ``total`` is H-ALL."""

    total: Share | None
    parts: dict[Part, Share] = {}
    timed_out: bool = False
    missing: tuple[str, ...] = ()


class FiredDocument(_Document):
    """A marker that fired, with its reason."""

    marker: Marker
    why: str


class FailureDocument(_Document):
    """A probe that told nothing."""

    probe: ProbeKind
    why: str


class PairDocument(_Document):
    """All about one directed pair.

    ``reached`` is false where it was planned and nothing is known; ``carried`` says that the throughput is of
    an earlier round, ``from_other_side`` that the destination took the round trips.
    """

    source: str
    destination: str
    planned: bool = True
    reached: bool = True
    icmp: dict[Size, tuple[Time, ...]] = {}
    udp: dict[Size, tuple[Time, ...]] = {}
    sandwich: tuple[FiniteFloat, ...] = ()
    connect: tuple[Time, ...] = ()
    tcp: tuple[Time, ...] = ()
    throughput: tuple[Rate, ...] = ()
    throughput_by: Literal["train", "transfer"] = "train"
    carried: bool = False
    translated: bool = False
    from_other_side: bool = False
    verified: tuple[Rate, ...] | None = None
    silent: frozenset[Indicator] = frozenset()
    failed: tuple[FailureDocument, ...] = ()
    score: ScoreDocument | None = None
    fired: tuple[FiredDocument, ...] = ()


class RoundDocument(_Document):
    """A round."""

    format: Literal["adon-health-round"]
    version: Literal[1]
    began: NonNegativeFloat
    ended: NonNegativeFloat
    profile: str
    interrupted: str = ""
    instances: tuple[InstanceDocument, ...]
    pairs: tuple[PairDocument, ...]


def to_json(record: RoundRecord) -> Json:
    """A round as an object; what is empty is left out."""
    body: Json = _document(record).model_dump(mode="json", exclude_defaults=True)
    return body


def to_text(record: RoundRecord) -> str:
    """A round as JSON text, on one line."""
    return _document(record).model_dump_json(exclude_defaults=True)


def from_json(body: Any) -> RoundRecord:
    """The inverse of :func:`to_json`.

    :raises ValueError: for what is no round; it names the field.
    """
    _check_version(body)
    try:
        return _record(RoundDocument.model_validate(body))
    except ValidationError as error:
        raise ValueError("; ".join(list_problems(error, "document"))) from None


def from_text(text: str | bytes) -> RoundRecord:
    """The inverse of :func:`to_text`.

    :raises ValueError: for what is no round, or no JSON; it names the field.
    """
    try:
        body = pydantic_core.from_json(text)
    except ValueError as error:
        raise ValueError(f"is no JSON: {error}") from None
    return from_json(body)


def _check_version(body: Any) -> None:
    """Before all else: in another version every field may be another."""
    if not isinstance(body, Mapping) or body.get("format") != FORMAT:
        raise ValueError(f"format: is not {FORMAT!r}")
    if body.get("version") != VERSION:
        raise ValueError(
            f"version: {str(body.get('version'))[:20]} is not {VERSION}, which this program reads"
        )


def _document(record: RoundRecord) -> RoundDocument:
    failed: dict[Pair, list[Failure]] = {}
    for one in record.failures:
        failed.setdefault(one.pair, []).append(one)
    known: Iterable[Pair] = dict.fromkeys((*record.planned, *record.found, *record.scores, *failed))
    planned = {*record.planned}
    return RoundDocument(
        format="adon-health-round",
        version=1,
        began=record.began,
        ended=record.ended,
        profile=record.profile,
        interrupted=record.interrupted,
        instances=tuple(_instance_document(one) for one in record.instances),
        pairs=tuple(
            _pair_document(record, pair, failed.get(pair, ()), planned=pair in planned) for pair in known
        ),
    )


def _instance_document(one: Instance) -> InstanceDocument:
    return InstanceDocument(
        name=one.name, address=one.address, port=one.port, zone=one.zone, cores=one.cores, memory=one.memory
    )


def _pair_document(
    record: RoundRecord, pair: Pair, failed: Iterable[Failure], *, planned: bool
) -> PairDocument:
    found = record.found.get(pair, Found())
    score = record.scores.get(pair)
    return PairDocument(
        source=pair.source,
        destination=pair.destination,
        planned=planned,
        reached=pair in record.found,
        icmp=dict(found.icmp),
        udp=dict(found.udp),
        sandwich=found.sandwich,
        connect=found.connect,
        tcp=found.tcp,
        throughput=found.throughput,
        throughput_by="transfer" if pair in record.by_transfer else "train",
        carried=pair in record.carried,
        translated=pair in record.translated,
        from_other_side=pair in record.from_other_side,
        verified=record.verified.get(pair),
        silent=found.silent,
        failed=tuple(FailureDocument(probe=one.kind, why=one.why) for one in failed),
        score=None if score is None else _score_document(score),
        fired=tuple(FiredDocument(marker=one.marker, why=one.why) for one in record.fired.get(pair, ())),
    )


def _score_document(score: Score) -> ScoreDocument:
    return ScoreDocument(
        total=score.total, parts=dict(score.parts), timed_out=score.timed_out, missing=score.missing
    )


def _record(document: RoundDocument) -> RoundRecord:
    named = [(Pair(one.source, one.destination), one) for one in document.pairs]
    by_pair = dict(named)
    if len(by_pair) < len(named):
        raise ValueError("pairs: a pair is there twice")
    return RoundRecord(
        began=document.began,
        ended=document.ended,
        instances=tuple(_instance(number, one) for number, one in enumerate(document.instances)),
        planned=tuple(pair for pair, one in named if one.planned),
        found={pair: _found(one) for pair, one in named if one.reached},
        profile=document.profile,
        by_transfer=frozenset(pair for pair, one in named if one.throughput_by == "transfer"),
        carried=frozenset(pair for pair, one in named if one.carried),
        translated=frozenset(pair for pair, one in named if one.translated),
        verified={pair: one.verified for pair, one in named if one.verified is not None},
        failures=tuple(Failure(pair, each.probe, each.why) for pair, one in named for each in one.failed),
        interrupted=document.interrupted,
        scores={pair: _score(one.score) for pair, one in named if one.score is not None},
        fired={pair: _fired(one) for pair, one in named if one.fired},
        from_other_side=frozenset(pair for pair, one in named if one.from_other_side),
    )


def _instance(number: int, one: InstanceDocument) -> Instance:
    try:
        return Instance(one.name, one.address, one.port, one.zone, one.cores, one.memory)
    except ValueError as error:
        raise ValueError(f"instances.{number}.{error}") from None


def _found(one: PairDocument) -> Found:
    return Found(one.icmp, one.udp, one.sandwich, one.connect, one.tcp, one.throughput, one.silent)


def _score(one: ScoreDocument) -> Score:
    return Score(one.total, one.parts, one.timed_out, one.missing)


def _fired(one: PairDocument) -> tuple[Fired, ...]:
    return tuple(Fired(each.marker, each.why) for each in one.fired)
