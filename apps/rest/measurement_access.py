"""What of the archive an actor may see: alarms, and the runs of the plan.

An alarm is as readable as its series.  A planned run has no series of its own: it is shown to whoever may
read, or start, one of the metrics that its test yields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import product
from typing import Any, TypeVar

from adon.access.identity import Actor
from adon.access.policy import Action
from adon.measurement_plan import METRICS
from apps.rest.runs import read_task
from apps.rest.services import Services
from measurement.anomaly.alarm import Alarm
from measurement.model import Series, from_json
from measurement.scheduling import Execution

MOST_READ = 100_000
"""Documents that are looked through for those that somebody may see."""

T = TypeVar("T")


def alarms(
    parts: Services,
    actor: Actor | None,
    *,
    since: float | None = None,
    until: float | None = None,
    open_only: bool = False,
    path: str | None = None,
    metric: str | None = None,
    limit: int = 1000,
) -> list[Alarm]:
    """Alarms about what an actor may read, the newest first.

    :param since: raised then or later; ``until``: before then.
    :raises Unavailable: if the archive cannot be read.
    """

    def chosen(documents: Iterable[dict[str, Any]]) -> list[Alarm]:
        found = (from_json(Alarm, document) for document in documents)
        wanted = (
            (alarm.series, alarm)
            for alarm in found
            if path in (None, alarm.series.path) and metric in (None, alarm.series.metric)
        )
        return parts.policy.readable(actor, wanted)

    return _documents(parts, "alarm", chosen, since, until, limit, open_only=open_only)


def executions(
    parts: Services,
    actor: Actor | None,
    *,
    since: float | None = None,
    until: float | None = None,
    limit: int = 1000,
) -> list[Execution]:
    """Runs that an actor may see, the newest first.

    :param since: planned then or later; ``until``: before then.
    :raises Unavailable: if the archive cannot be read.
    """
    visible = tasks_seen_by(parts, actor)

    def chosen(documents: Iterable[dict[str, Any]]) -> list[Execution]:
        found = (from_json(Execution, document) for document in documents)
        return [execution for execution in found if visible(execution.task)]

    return _documents(parts, "execution", chosen, since, until, limit)


def overlaps(parts: Services, actor: Actor | None, since: float) -> list[tuple[Execution, Execution]]:
    """Pairs of conflicting runs that ran at the same time, as far as an actor may see both.

    :param since: noticed then or later.
    :raises Unavailable: if the archive cannot be read.
    """
    visible = tasks_seen_by(parts, actor)

    def chosen(documents: Iterable[dict[str, Any]]) -> list[tuple[Execution, Execution]]:
        found = [
            (from_json(Execution, document["first"]), from_json(Execution, document["second"]))
            for document in documents
        ]
        return [pair for pair in found if all(visible(run.task) for run in pair)]

    return _documents(parts, "overlap", chosen, since, None, MOST_READ)


def tasks_seen_by(parts: Services, actor: Actor | None) -> Callable[[str], bool]:
    """Whether an actor may see a task, by the task's name; each is judged once."""
    actions = (Action.MEASUREMENT_READ, Action.MEASUREMENT_START)

    @cache
    def visible(task: str) -> bool:
        return any(
            parts.policy.decide(actor, action, series).allowed
            for series in series_of(task)
            for action in actions
        )

    return visible


def could_read(
    parts: Services,
    actor: Actor | None,
    *,
    path: str | None,
    source: str | None,
    destination: str | None,
    metric: str | None,
) -> bool:
    """Whether there can be a series of this kind that an actor may read; None stands for any.

    Grants only compare names, so it is enough to try those that they name, and one that none names.
    """
    grants = [grant for grant in parts.policy.grants if grant.may == "read"]
    sources = _tried(source, (grant.from_ for grant in grants))
    destinations = _tried(destination, (grant.to for grant in grants))
    metrics = _tried(metric, (grant.metrics for grant in grants))
    return any(
        parts.policy.decide(
            actor, Action.MEASUREMENT_READ, Series(path or "", *ends, name.replace(".*", ".x"))
        ).allowed
        for ends in product(sources, destinations)
        for name in metrics
    )


def _tried(given: str | None, named: Iterable[tuple[str, ...] | None]) -> set[str]:
    return {given} if given is not None else {"", *(name for names in named for name in names or ())}


def series_of(task: str) -> tuple[Series, ...]:
    """The series that a task's test yields, from the task's name (:func:`adon.measurement_plan.task_id`).

    The name may be of a configuration that is no longer in force.  One that we cannot read stands for a
    series that no grant names.
    """
    read = read_task(task)
    metrics = () if read is None else METRICS.get(read.kind, ())
    if read is None or not metrics:
        return (Series("", "", "", task),)
    return tuple(Series(*read.key, metric.value) for metric in metrics)


def _documents(
    parts: Services,
    kind: str,
    chosen: Callable[[Iterable[dict[str, Any]]], list[T]],
    since: float | None,
    until: float | None,
    limit: int,
    *,
    open_only: bool = False,
) -> list[T]:
    """At most ``limit`` of those that are chosen: what is left out is not counted."""
    batch = limit
    while True:
        documents = parts.measurements.documents(kind, since, until, batch, open_only=open_only)
        found = chosen(documents)
        if len(found) >= limit or len(documents) < batch or batch >= MOST_READ:
            return found[:limit]
        batch = min(batch * 8, MOST_READ)
