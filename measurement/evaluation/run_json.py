"""A run as JSON: the file that is kept and sent.

``paths`` repeats what the samples amount to, for readers that want no more; of paths without samples it is
all there is.  Times are RFC 3339 in UTC, to the microsecond.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from measurement.evaluation.results import Measured, Path
from measurement.evaluation.run import Note, Reference, Run, Sample
from measurement.model import list_problems

FORMAT: Literal["ceem-run/1"] = "ceem-run/1"
T = TypeVar("T", bound=BaseModel)
Count = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DocumentBody(_Body):
    """Which document was run; the digest is empty where nobody knows it."""

    name: str
    version: Count
    digest: str = ""


class PathBody(_Body):
    """All of one path; mean and deviation are null where every test failed, and a count of 0 is unknown."""

    one: str
    other: str
    mean: Amount | None
    deviation: Amount | None
    count: Count = 0
    failed: Count = 0


class SampleBody(_Body):
    """What came of one test, from ``one`` to ``other``; also a line of the live log."""

    number: Count
    one: str
    other: str
    at: AwareDatetime
    value: Amount | None
    failure: str | None = None
    iteration: Count = 0


class NoteBody(_Body):
    """What was written into the log beside results."""

    at: AwareDatetime
    text: str


class RunBody(_Body):
    """The document; fields as in :class:`~measurement.evaluation.run.Run`."""

    format: Literal["ceem-run/1"]
    name: str
    document: DocumentBody
    metric: str
    unit: str
    nodes: tuple[str, ...]
    clients: tuple[str, ...] = ()
    began: AwareDatetime | None = None
    ended: AwareDatetime | None = None
    seed: int | None = None
    planned: Count = 0
    pilot: bool = False
    conditions: dict[str, str] = {}
    environment: dict[str, str] = {}
    versions: dict[str, str] = {}
    paths: tuple[PathBody, ...] = ()
    samples: tuple[SampleBody, ...] = ()
    notes: tuple[NoteBody, ...] = ()


def to_json(run: Run) -> dict[str, Any]:
    """A run as plain JSON values."""
    found, failed = run.results(), run.failures()
    reference = run.document
    body = RunBody(
        format=FORMAT,
        name=run.name,
        document=DocumentBody(name=reference.name, version=reference.version, digest=reference.digest),
        metric=run.metric,
        unit=run.unit,
        nodes=run.nodes,
        clients=run.clients,
        began=_moment(run.began),
        ended=_moment(run.ended),
        seed=run.seed,
        planned=run.planned,
        pilot=run.pilot,
        conditions=dict(run.conditions),
        environment=dict(run.environment),
        versions=dict(run.versions),
        paths=tuple(_path(path, found.paths.get(path), failed.get(path, 0)) for path in run.paths),
        samples=tuple(_sample(sample) for sample in run.samples),
        notes=tuple(NoteBody(at=_time(note.at), text=note.text) for note in run.notes),
    )
    return body.model_dump(mode="json")


def from_json(data: object) -> Run:
    """The inverse of :func:`to_json`.

    :raises ValueError: for another format, what is missing, of another kind or contradictory; it names the
        field.
    """
    body = _checked(RunBody, data)
    samples = tuple(_to_sample(one) for one in body.samples)
    tested = {sample.path for sample in samples}
    stated: dict[Path, Measured] = {}
    for one in body.paths:
        path = Path(one.one, one.other)
        if path not in tested and one.mean is not None and one.deviation is not None:
            stated[path] = Measured(one.mean, one.deviation, one.count)
    return Run(
        body.name,
        Reference(body.document.name, body.document.version, body.document.digest),
        body.metric,
        body.unit,
        body.nodes,
        body.clients,
        None if body.began is None else body.began.timestamp(),
        None if body.ended is None else body.ended.timestamp(),
        body.seed,
        body.planned,
        samples,
        body.conditions,
        body.environment,
        body.versions,
        body.pilot,
        stated,
        tuple(Note(one.at.timestamp(), one.text) for one in body.notes),
    )


def note_to_json(note: Note) -> dict[str, Any]:
    """A note as plain JSON values."""
    return NoteBody(at=_time(note.at), text=note.text).model_dump(mode="json")


def note_from_json(data: object) -> Note:
    """The inverse of :func:`note_to_json`.

    :raises ValueError: naming the field.
    """
    body = _checked(NoteBody, data)
    return Note(body.at.timestamp(), body.text)


def sample_to_json(sample: Sample) -> dict[str, Any]:
    """One result as plain JSON values."""
    return _sample(sample).model_dump(mode="json")


def sample_from_json(data: object) -> Sample:
    """The inverse of :func:`sample_to_json`.

    :raises ValueError: naming the field.
    """
    return _to_sample(_checked(SampleBody, data))


def _checked(kind: type[T], data: object) -> T:
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        raise ValueError("; ".join(list_problems(error, "run"))) from None


def _path(path: Path, measured: Measured | None, failed: int) -> PathBody:
    if measured is None:
        return PathBody(one=path.one, other=path.other, mean=None, deviation=None, failed=failed)
    return PathBody(
        one=path.one,
        other=path.other,
        mean=measured.mean,
        deviation=measured.deviation,
        count=measured.count,
        failed=failed,
    )


def _sample(sample: Sample) -> SampleBody:
    return SampleBody(
        number=sample.number,
        one=sample.path.one,
        other=sample.path.other,
        at=_time(sample.at),
        value=sample.value,
        failure=sample.failure or None,
        iteration=sample.iteration,
    )


def _to_sample(body: SampleBody) -> Sample:
    path = Path(body.one, body.other)
    return Sample(body.number, path, body.at.timestamp(), body.value, body.failure or "", body.iteration)


def _time(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def _moment(at: float | None) -> datetime | None:
    return None if at is None else _time(at)
