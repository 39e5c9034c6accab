"""Jobs at compute sites, and reservations of resources."""

from __future__ import annotations

from collections.abc import Mapping
from operator import eq, gt, lt

from sqlalchemy import select

from adon.broker.resources.reservation import Reservation
from adon.broker.sites.jobs import JobState, SiteJob
from adon.store.documents import Documents, count_values, where
from adon.store.tables import jobs, reservations
from adon.store.transactions import Transactions


def _job_columns(job: SiteJob) -> dict[str, object]:
    return {"number": job.number, "site": job.site, "requester": job.requester, "state": job.state.value}


def _reservation_columns(reservation: Reservation) -> dict[str, object]:
    return {"number": reservation.number, "owner": reservation.owner, "ends": reservation.ends}


JOBS = Documents(jobs, SiteJob, "job", "j-", _job_columns)
RESERVATIONS = Documents(reservations, Reservation, "reservation", "r-", _reservation_columns)
_FINAL = [state.value for state in JobState if state.final]


class ComputeRows(Transactions):
    """Jobs and reservations, each as last saved."""

    def save_job(self, job: SiteJob) -> None:
        """Save a job at a compute site as it is now."""
        with self._writing() as connection:
            JOBS.save(connection, job)

    def job(self, number: int) -> SiteJob:
        """Return one job.

        :raises NotFound: if there is none of this number.
        """
        with self._reading() as connection:
            return JOBS.read(connection, number)

    def jobs(
        self,
        site: str | None = None,
        requester: str | None = None,
        limit: int = 100,
        before: int | None = None,
    ) -> tuple[SiteJob, ...]:
        """Return jobs, newest first; ``before`` is the number of the last job of the previous page."""
        conditions = where(
            (jobs.c.site, eq, site), (jobs.c.requester, eq, requester), (jobs.c.number, lt, before)
        )
        with self._reading() as connection:
            return JOBS.find(connection, conditions, [jobs.c.number.desc()], limit)

    def job_states(self, newest: int) -> Mapping[str, int]:
        """Return the number of jobs in each state, of so many newest jobs."""
        chosen = select(jobs.c.state).order_by(jobs.c.number.desc()).limit(newest).subquery()
        with self._reading() as connection:
            return count_values(connection, chosen.c.state)

    def remembered_jobs(self, ended: int) -> tuple[SiteJob, ...]:
        """Return so many of the newest ended jobs, then all that have not ended, the oldest first in each."""
        with self._reading() as connection:
            newest = [jobs.c.number.desc()]
            over = JOBS.find(connection, [jobs.c.state.in_(_FINAL)], newest, ended)
            return (*reversed(over), *JOBS.find(connection, [jobs.c.state.not_in(_FINAL)]))

    def last_job_number(self) -> int:
        """Return the highest job number ever saved, 0 before the first."""
        with self._reading() as connection:
            return JOBS.last_number(connection)

    def save_reservation(self, reservation: Reservation) -> None:
        """Save a reservation of resources as it is now."""
        with self._writing() as connection:
            RESERVATIONS.save(connection, reservation)

    def reservation(self, number: int) -> Reservation:
        """Return one reservation, also if it has ended or was released.

        :raises NotFound: if there is none of this number.
        """
        with self._reading() as connection:
            return RESERVATIONS.read(connection, number)

    def reservations(self, since: float | None = None, owner: str | None = None) -> tuple[Reservation, ...]:
        """Return reservations by number, also released ones; with ``since`` those that end later."""
        conditions = where((reservations.c.ends, gt, since), (reservations.c.owner, eq, owner))
        with self._reading() as connection:
            return RESERVATIONS.find(connection, conditions)
