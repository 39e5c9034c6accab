"""Jobs at compute sites, as rows."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from adon.broker.sites.jobs import JobState, SiteJob
from adon.errors import NotFound
from adon.store.reading import read_value
from adon.store.tables import jobs
from measurement.model import to_json

_FINAL = [state.value for state in JobState if state.final]


def save(connection: Connection, job: SiteJob) -> None:
    """Keep a job as it is now."""
    connection.execute(delete(jobs).where(jobs.c.number == job.number))
    row = {
        "number": job.number,
        "site": job.site,
        "requester": job.requester,
        "state": job.state.value,
        "body": to_json(job),
    }
    connection.execute(insert(jobs).values(**row))


def read(connection: Connection, number: int) -> SiteJob:
    """One job.

    :raises NotFound: if there is none of this number.
    """
    row = connection.execute(select(jobs.c.number, jobs.c.body).where(jobs.c.number == number)).one_or_none()
    if row is None:
        raise NotFound("job", f"j-{number}")
    return _job(row.number, row.body)


def listed(
    connection: Connection, site: str | None, requester: str | None, limit: int, before: int | None
) -> tuple[SiteJob, ...]:
    """Jobs, newest first, filtered; ``before`` is the number to go on from."""
    query = select(jobs.c.number, jobs.c.body).order_by(jobs.c.number.desc()).limit(limit)
    if site is not None:
        query = query.where(jobs.c.site == site)
    if requester is not None:
        query = query.where(jobs.c.requester == requester)
    if before is not None:
        query = query.where(jobs.c.number < before)
    return tuple(_job(row.number, row.body) for row in connection.execute(query))


def states(connection: Connection, newest: int) -> dict[str, int]:
    """How many of the newest jobs are in each state; states without any are left out."""
    chosen = select(jobs.c.state).order_by(jobs.c.number.desc()).limit(newest).subquery()
    counted = select(chosen.c.state, func.count()).group_by(chosen.c.state)
    return {row[0]: row[1] for row in connection.execute(counted)}


def remembered(connection: Connection, ended: int) -> tuple[SiteJob, ...]:
    """The newest jobs that are over, so many of them, then all that are not; the oldest first in each."""
    chosen = select(jobs.c.number, jobs.c.body)
    over = chosen.where(jobs.c.state.in_(_FINAL)).order_by(jobs.c.number.desc()).limit(ended)
    still = chosen.where(jobs.c.state.not_in(_FINAL)).order_by(jobs.c.number)
    rows = [*reversed(connection.execute(over).all()), *connection.execute(still).all()]
    return tuple(_job(row.number, row.body) for row in rows)


def last_number(connection: Connection) -> int:
    """The highest job number ever saved, 0 before the first."""
    return int(connection.execute(select(func.coalesce(func.max(jobs.c.number), 0))).scalar_one())


def _job(number: int, body: Any) -> SiteJob:
    return read_value(SiteJob, body, f"job j-{number}")
