"""Workflows: how far they are, on which batch systems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Literal

from flask import Response, g
from pydantic import Field

from adon.access.policy import Action
from adon.api.sites import WorkflowList
from apps.rest.api.common import answers, blueprint
from apps.rest.guard import action
from apps.rest.paging import InOrder, listed, sliced
from apps.rest.services import services
from apps.rest.workflow_views import to_batch_view, to_workflow_user_view, to_workflow_view
from apps.rest.workflows import BATCH, PEGASUS, Subject, Told, subjects, told
from measurement.archive import Archive
from measurement.model import Observation, PathKey

api = blueprint("workflows", "Workflows, and the batch systems that they run on")

VALUES = 60
"""The latest values of one subject that are looked through: two samples of all its metrics."""


class WorkflowQuery(InOrder):
    """Which workflows; what is left out is not narrowed."""

    host: str | None = Field(default=None, max_length=100)
    state: Literal["running", "success", "failure", "unknown"] | None = None


@api.get("/workflows", responses=answers(200, WorkflowList))
@action(Action.MEASUREMENT_READ)
def list_workflows(query: WorkflowQuery) -> Response:
    """Workflows (Pegasus) by host and name, and the batch systems (Slurm, HTCondor), as last told."""
    parts = services()
    now = parts.clock()
    known = parts.policy.readable(g.actor, ((one, one) for one in parts.measurements.ask(Archive.series)))
    workflows, users, batches = subjects(
        one for one in known if not one.path and query.host in (None, one.source)
    )
    found = [one for one in _told(workflows, PEGASUS) if query.state in (None, one.state)]
    shown, following = sliced(found, query, lambda one: f"{one.host} {one.name}")
    view = WorkflowList(
        items=[to_workflow_view(one, now) for one in shown],
        users=[to_workflow_user_view(one, now) for one in _told(users, PEGASUS)],
        batch_systems=[to_batch_view(one, now) for one in _told(batches, BATCH)],
        next=following,
    )
    return listed(view)


def _latest(key: PathKey, archive: Archive) -> list[Observation]:
    return archive.observations(key, limit=VALUES)


def _told(found: Iterable[Subject], prefix: str) -> Iterator[Told]:
    for subject in found:
        key = PathKey("", *subject)
        one = told(subject, prefix, services().measurements.ask(partial(_latest, key)))
        if one is not None:
            yield one
