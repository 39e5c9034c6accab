"""Compute sites, jobs there, and resources kept for oneself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from adon.api import routes
from adon.api.queue import ReservationView
from adon.api.sites import ComputeSiteView, JobView, SiteResourcesView, WorkflowList
from adon.client.calling import Caller, flag, idempotency_header


class SiteCalls(Caller):
    """Where programs run, and reservations of sites and paths."""

    def sites(self) -> list[ComputeSiteView]:
        """The compute sites."""
        return self._all(routes.LIST_SITES)

    def site(self, name: str) -> ComputeSiteView:
        """One compute site."""
        return self.call(routes.GET_SITE, name=name)

    def submit_job(self, request: Mapping[str, Any], key: str | None = None) -> JobView:
        """Have a configured program run at a compute site; returns at once with the job it became.

        :param key: a name of this wish of your own: asked for twice with the same, it is one job.
        """
        return self.call(routes.SUBMIT_JOB, body=request, headers=idempotency_header(key))

    def jobs(self, site: str | None = None, limit: int = 50) -> list[JobView]:
        """The newest jobs at compute sites, at most ``limit``, from as many pages as it takes."""
        return list(self.each_job(site, limit))

    def each_job(self, site: str | None = None, limit: int | None = None) -> Iterator[JobView]:
        """Jobs, the newest first, asked for page by page as they are wanted; all without a limit."""
        return self.each(routes.LIST_JOBS, {"site": site}, limit)

    def job(self, job: str) -> JobView:
        """One job."""
        return self.call(routes.GET_JOB, id=job)

    def cancel_job(self, job: str) -> JobView:
        """Have a job ended; the job as it is then."""
        return self.call(routes.CANCEL_JOB, id=job)

    def reserve(self, reservation: Mapping[str, Any], key: str | None = None) -> ReservationView:
        """Have resources of one place kept for oneself.

        :param key: a name of this wish of your own: asked for twice with the same, it is one reservation.
        """
        return self.call(routes.ADD_RESERVATION, body=reservation, headers=idempotency_header(key))

    def reservations(self, *, all_: bool) -> list[ReservationView]:
        """Reservations; those that are over only if all are asked for."""
        return self._all(routes.LIST_RESERVATIONS, {"all": flag(all_)})

    def reservation(self, reservation: str) -> ReservationView:
        """One reservation."""
        return self.call(routes.GET_RESERVATION, id=reservation)

    def release(self, reservation: str) -> ReservationView:
        """Release a reservation."""
        return self.call(routes.RELEASE_RESERVATION, id=reservation)

    def resources(self) -> list[SiteResourcesView]:
        """Every compute site, and what is free of it."""
        return self._all(routes.LIST_RESOURCES)

    def workflows(self, **query: Any) -> WorkflowList:
        """Workflows and the batch systems they run on, as their hosts told them last; at most ``limit``."""
        return self._whole(routes.LIST_WORKFLOWS, query)
