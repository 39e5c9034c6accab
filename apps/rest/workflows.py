"""Workflows and batch systems, from the metrics of hosts.

A host reports numbers of each workflow (``pegasus.*``) and each batch system (``batch.*``) as series whose
source is the host and whose destination is the name of the workflow or batch system
(docs/custom-metrics-and-tcp-advice.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from adon.api.sites import BatchView, WorkflowUserView, WorkflowView
from measurement.model import Observation, Series

PEGASUS, BATCH = "pegasus.", "batch."
STATE = "pegasus.state"
TOTAL = "pegasus.workflows_total"
STALE_S = 120.0
"""Seconds without a value, after which a running workflow is stale: 24 samples."""
_STATES = {0: "running", 1: "success", 2: "failure"}
_TIMES = ("wall_time", "job_wall_time", "job_wall_time_submit_side", "badput_wall_time")

Subject = tuple[str, str]
"""Host, and name of the workflow or batch system."""


@dataclass(frozen=True, slots=True)
class HostReport:
    """Latest values of one subject, by the last part of the metric (``percent_done``).

    :param extra: parameters of the values: parts and failures of a workflow.
    """

    host: str
    name: str
    observed_at: float
    tool: str
    values: Mapping[str, float]
    extra: Mapping[str, Any]

    @property
    def state(self) -> str:
        """``running``, ``success``, ``failure``, or ``unknown`` before the first report of Pegasus."""
        return _STATES.get(int(self.values.get("state", -1)), "unknown")

    def counts(self, prefix: str) -> dict[str, int]:
        """Return the values whose name starts with the prefix, without it."""
        return {
            name.removeprefix(prefix): int(value)
            for name, value in self.values.items()
            if name.startswith(prefix)
        }

    def records(self, name: str) -> list[dict[str, Any]]:
        """Return a list of records among the parameters."""
        found = self.extra.get(name)
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list | tuple) else []


def find_subjects(series: Iterable[Series]) -> tuple[list[Subject], list[Subject], list[Subject]]:
    """Return the workflows, the lists of a user's workflows, and the batch systems; each in order."""
    known = [(one.metric, (one.source, one.destination)) for one in series]
    workflows = {subject for metric, subject in known if metric == STATE}
    users = {subject for metric, subject in known if metric == TOTAL}
    batches = {subject for metric, subject in known if metric.startswith(BATCH)}
    return sorted(workflows), sorted(users), sorted(batches)


def read_report(subject: Subject, prefix: str, newest_first: Iterable[Observation]) -> HostReport | None:
    """Return the latest report on a subject; None if its values are no longer stored.

    Some values of a workflow are reported once, at its end.  Values of a batch system that the last sample
    does not contain are unknown.
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
        if name in ("dags", "failures")
    }
    values = {name: one.value for name, one in latest.items()}
    return HostReport(*subject, newest.observed_at, newest.tool, values, extra)


def to_workflow_view(report: HostReport, now: float) -> WorkflowView:
    """Return the document of a workflow."""
    values, retries, age = report.values, report.values.get("job_retries"), _age(report, now)
    return WorkflowView.of(
        report,
        percent_done=values.get("percent_done"),
        jobs=report.counts("jobs_"),
        retries=None if retries is None else int(retries),
        times_seconds={name: values[name] for name in _TIMES if name in values},
        parts=report.records("dags"),
        failures=report.records("failures"),
        age_seconds=age,
        stale=report.state in ("running", "unknown") and age > STALE_S,
    )


def to_workflow_user_view(report: HostReport, now: float) -> WorkflowUserView:
    """Return the document of a user's workflows."""
    return WorkflowUserView.of(report, workflows=report.counts("workflows_"), age_seconds=_age(report, now))


def to_batch_view(report: HostReport, now: float) -> BatchView:
    """Return the document of a batch system."""
    age = _age(report, now)
    return BatchView.of(
        report,
        system=report.tool,
        values={name: value for name, value in report.values.items() if name != "queue_wait"},
        queue_wait_seconds=report.values.get("queue_wait"),
        age_seconds=age,
        stale=age > STALE_S,
    )


def _age(report: HostReport, now: float) -> float:
    return max(0.0, now - report.observed_at)
