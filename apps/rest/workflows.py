"""Workflows and batch systems from the metrics of hosts.  Pure.

docs/custom-metrics-and-tcp-advice.md lists the metrics.

A host tells numbers about each workflow (``pegasus.*``) and each batch system (``batch.*``), as series whose
source is the host and whose destination is the workflow's or the batch system's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from measurement.model import Observation, Series

PEGASUS, BATCH = "pegasus.", "batch."
STATE = "pegasus.state"
TOTAL = "pegasus.workflows_total"
MISSED = 24
"""So many samples of five seconds without a value, and what runs is stale."""
STALE_S = MISSED * 5.0

Subject = tuple[str, str]
"""A host, and the workflow or batch system on it."""


@dataclass(frozen=True, slots=True)
class Told:
    """The latest values of one subject, by the metric's last part (``percent_done``).

    :param extra: what came with the values: a workflow's state in words, its parts, its failures.
    """

    host: str
    name: str
    at: float
    tool: str
    values: Mapping[str, float]
    extra: Mapping[str, Any]

    @property
    def state(self) -> str:
        """``running``, ``success``, ``failure``, or ``unknown`` while Pegasus has said none."""
        return {0: "running", 1: "success", 2: "failure"}.get(int(self.values.get("state", -1)), "unknown")

    def age(self, now: float) -> float:
        """Seconds since the latest value."""
        return max(0.0, now - self.at)


def subjects(series: Iterable[Series]) -> tuple[list[Subject], list[Subject], list[Subject]]:
    """Of all series: the workflows, the lists of a user's workflows, and the batch systems; each in order."""
    workflows: dict[Subject, None] = {}
    users: dict[Subject, None] = {}
    batches: dict[Subject, None] = {}
    for one in series:
        subject = (one.source, one.destination)
        if one.metric == STATE:
            workflows[subject] = None
        elif one.metric == TOTAL:
            users[subject] = None
        elif one.metric.startswith(BATCH):
            batches[subject] = None
    return sorted(workflows), sorted(users), sorted(batches)


def told(subject: Subject, prefix: str, newest_first: Iterable[Observation]) -> Told | None:
    """What was told last of a subject; None if its values are no longer kept.

    Of a workflow some values are told once, when it ends.  Of a batch system what the last sample lacks is
    not known any more.
    """
    latest: dict[str, Observation] = {}
    for one in newest_first:
        if one.metric.startswith(prefix):
            latest.setdefault(one.metric.removeprefix(prefix), one)
    if not latest:
        return None
    newest = max(latest.values(), key=lambda one: one.observed_at)
    if prefix == BATCH:
        latest = {name: one for name, one in latest.items() if one.observed_at == newest.observed_at}
    extra = {
        name: value
        for one in latest.values()
        for name, value in one.parameters.items()
        if name in ("state", "dags", "failures", "tasks")
    }
    values = {name: one.value for name, one in latest.items()}
    return Told(*subject, newest.observed_at, newest.tool, values, extra)
