"""What a study's document is: checked by the package that writes its kind, and told in a line."""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from adon.errors import InvalidInput, problems_of
from adon.placement.model import placement_from_json
from adon.studies.model import MOST_TITLE, Study, StudyKind
from adon.studies.packing import written
from adon.units import format_count, format_duration, format_rate
from measurement.ceem.run import EvaluationRun
from measurement.health.record import RoundRecord
from measurement.model import from_json
from measurement.snapshot.model import Snapshot

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Told:
    """What a document says of itself.

    :param at: when its network was looked at, seconds since 1970; None where it does not say.
    """

    at: float | None
    title: str
    summary: str


def study_of(kind: StudyKind, document: Json, title: str, who: str, now: float) -> Study:
    """A document as a study.

    :param title: empty for what the document says.
    :param now: when it was handed in, seconds since 1970.
    :raises InvalidInput: for a document that is none of this kind, with the fields of it.
    """
    told = told_of(kind, document)
    try:
        body = written(document)
    except ValueError:  # in a field that its package does not read
        raise InvalidInput.of(
            "document", "holds a number that is no JSON number; expected for example 1.5"
        ) from None
    digest = hashlib.sha256(kind.encode() + b"\n" + body).hexdigest()
    return Study(
        digest[:16],
        kind,
        now if told.at is None else told.at,
        (title.strip() or told.title)[:MOST_TITLE],
        told.summary,
        who,
        now,
        len(body),
    )


def told_of(kind: StudyKind, document: Json) -> Told:
    """What a document of this kind tells.

    :raises InvalidInput: if it is none.
    """
    try:
        return _TELL[kind](document)
    except InvalidInput as error:
        raise InvalidInput(one.under("document") for one in error.problems) from None
    except ValueError as error:
        raise InvalidInput(problems_of(error, "document")) from None


def _round(document: Json) -> Told:
    record = from_json(RoundRecord, document)
    known = [one.total for one in record.scores.values() if one.total is not None]
    parts = [f"{len(record.found)} of {format_count(len(record.planned), 'pair')}"]
    if known:
        parts.append(f"median health {statistics.median(known):.2f}")
    fired = sum(map(len, record.fired.values()))
    if fired:
        parts.append(f"{format_count(fired, 'marker')} fired")
    if record.failures:
        parts.append(f"{format_count(len(record.failures), 'probe')} failed")
    if record.interrupted:
        parts.append(f"interrupted: {record.interrupted}")
    title = f"{format_count(len(record.instances), 'instance')}, {record.profile}"
    return Told(record.began, title, ", ".join(parts))


def _snapshot(document: Json) -> Told:
    snapshot = from_json(Snapshot, document)
    count = len(snapshot.instances)
    parts = [f"{len(snapshot.rates)} of {format_count(count * (count - 1), 'rate')}"]
    if snapshot.rates:
        parts.append(f"median {format_rate(statistics.median(snapshot.rates.values()))}")
    if snapshot.bottlenecks:
        parts.append(format_count(len(snapshot.bottlenecks), "shared bottleneck"))
    if snapshot.racks:
        parts.append(format_count(len(snapshot.racks), "rack"))
    return Told(snapshot.at, format_count(count, "instance"), ", ".join(parts))


def _placement(document: Json) -> Told:
    found = placement_from_json(document)
    tasks, machines = len(found.machines), len({*found.machines.values()})
    proof = "proven best" if found.proven else f"bound {format_duration(found.lower_bound_s)}"
    summary = f"{found.method.value}: {format_duration(found.completion_time_s)} ({proof}), "
    summary += f"{format_count(tasks, 'task')} on {format_count(machines, 'machine')}"
    return Told(found.snapshot_at, found.application, summary)


def _evaluation(document: Json) -> Told:
    run = from_json(EvaluationRun, document)
    failed = sum(run.failures_by_path().values())
    paths, nodes = format_count(len(run.path_statistics()), "path"), format_count(len(run.nodes), "node")
    parts = [f"{paths} among {nodes}", run.metric]
    if run.samples:
        parts.append(f"{len(run.samples)} of {format_count(run.planned, 'test')}")
    if failed:
        parts.append(f"{failed} failed")
    if run.pilot:
        parts.append("pilot")
    return Told(run.began, f"{run.document.name}: {run.name}", ", ".join(parts))


_TELL: Mapping[StudyKind, Callable[[Json], Told]] = {
    StudyKind.HEALTH_ROUND: _round,
    StudyKind.SNAPSHOT: _snapshot,
    StudyKind.PLACEMENT: _placement,
    StudyKind.EVALUATION: _evaluation,
}
