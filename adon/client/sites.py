"""Compute sites, jobs there, and resources kept for oneself."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any

from adon.api.queue import ReservationView
from adon.api.sites import ComputeSiteView, JobView, SiteResourcesView
from adon.client.calling import Caller, flag, part


class SiteCalls(Caller):
    """Where programs run, and reservations of sites and paths."""

    def sites(self) -> list[ComputeSiteView]:
        """The compute sites."""
        return list(self._pages(ComputeSiteView, "/sites", {}, None, "after"))

    def site(self, name: str) -> ComputeSiteView:
        """One compute site."""
        return self._get(ComputeSiteView, f"/sites/{part(name)}")

    def submit_job(self, request: Mapping[str, Any], key: str | None = None) -> JobView:
        """Have a configured program run at a compute site; returns at once with the job it became.

        :param key: a name of this wish of your own: asked for twice with the same, it is one job.
        """
        return self._post(JobView, "/jobs", request, key or uuid.uuid4().hex)

    def jobs(self, site: str | None = None, limit: int = 50) -> list[JobView]:
        """The newest jobs at compute sites, at most ``limit``, from as many pages as it takes."""
        return list(self.each_job(site, limit))

    def each_job(self, site: str | None = None, limit: int | None = None) -> Iterator[JobView]:
        """Jobs, the newest first, asked for page by page as they are wanted; all without a limit."""
        return self._pages(JobView, "/jobs", {"site": site}, limit)

    def job(self, job: str) -> JobView:
        """One job."""
        return self._get(JobView, f"/jobs/{part(job)}")

    def cancel_job(self, job: str) -> JobView:
        """Have a job ended; the job as it is then."""
        return self._delete(JobView, f"/jobs/{part(job)}")

    def reserve(self, reservation: Mapping[str, Any], key: str | None = None) -> ReservationView:
        """Have resources of one place kept for oneself.

        :param key: a name of this wish of your own: asked for twice with the same, it is one reservation.
        """
        return self._post(ReservationView, "/reservations", reservation, key or uuid.uuid4().hex)

    def reservations(self, *, all_: bool) -> list[ReservationView]:
        """Reservations; those that are over only if all are asked for."""
        return list(self._pages(ReservationView, "/reservations", {"all": flag(all_)}, None, "after"))

    def reservation(self, reservation: str) -> ReservationView:
        """One reservation."""
        return self._get(ReservationView, f"/reservations/{part(reservation)}")

    def release(self, reservation: str) -> ReservationView:
        """Release a reservation."""
        return self._delete(ReservationView, f"/reservations/{part(reservation)}")

    def resources(self) -> list[SiteResourcesView]:
        """Every compute site, and what is free of it."""
        return list(self._pages(SiteResourcesView, "/resources", {}, None, "after"))
