"""Compute sites, jobs, reservations and workflows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from adon.api import routes
from adon.api.queue import ReservationView
from adon.api.sites import ComputeSiteView, JobView, SiteResourcesView, WorkflowList
from adon.client.calling import Caller, flag, idempotency_header


class SiteCalls(Caller):
    """Methods for compute sites, jobs, reservations and workflows."""

    def sites(self) -> list[ComputeSiteView]:
        """Return the compute sites."""
        return self._all(routes.LIST_SITES)

    def site(self, name: str) -> ComputeSiteView:
        """Return one compute site."""
        return self.call(routes.GET_SITE, name=name)

    def submit_job(self, request: Mapping[str, Any], key: str | None = None) -> JobView:
        """Submit a job: run a configured program at a compute site.

        :param key: idempotency key: requests with the same key create one job.
        """
        return self.call(routes.SUBMIT_JOB, body=request, headers=idempotency_header(key))

    def jobs(self, site: str | None = None, limit: int = 50) -> list[JobView]:
        """Return the newest jobs, at most ``limit``."""
        return list(self.each_job(site, limit))

    def each_job(self, site: str | None = None, limit: int | None = None) -> Iterator[JobView]:
        """Yield jobs, the newest first; request pages as they are needed."""
        return self.each(routes.LIST_JOBS, {"site": site}, limit)

    def job(self, job: str) -> JobView:
        """Return one job."""
        return self.call(routes.GET_JOB, id=job)

    def cancel_job(self, job: str) -> JobView:
        """Cancel a job; return it."""
        return self.call(routes.CANCEL_JOB, id=job)

    def reserve(self, reservation: Mapping[str, Any], key: str | None = None) -> ReservationView:
        """Reserve resources of a compute site or a path.

        :param key: a name of this wish of your own: asked for twice with the same, it is one reservation.
        """
        return self.call(routes.ADD_RESERVATION, body=reservation, headers=idempotency_header(key))

    def reservations(self, *, all_: bool) -> list[ReservationView]:
        """Return reservations; ``all_`` includes those that have ended."""
        return self._all(routes.LIST_RESERVATIONS, {"all": flag(all_)})

    def reservation(self, reservation: str) -> ReservationView:
        """Return one reservation."""
        return self.call(routes.GET_RESERVATION, id=reservation)

    def release(self, reservation: str) -> ReservationView:
        """Release a reservation."""
        return self.call(routes.RELEASE_RESERVATION, id=reservation)

    def resources(self) -> list[SiteResourcesView]:
        """Return every compute site with its free resources."""
        return self._all(routes.LIST_RESOURCES)

    def workflows(self, **query: Any) -> WorkflowList:
        """Return workflows and batch systems as their hosts reported them; ``query`` as in the API."""
        return self._whole(routes.LIST_WORKFLOWS, query)
