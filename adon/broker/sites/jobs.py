"""A job at a compute site, from the request to its outcome; its life as a table.

::

    requested ──► waiting ◄─► running ──► succeeded, failed          cancelled: from each of the first three

Sites are looked at from time to time, so a step may be missed: who is found running was taken in.  Steps that
are not in :data:`STEPS` raise and change nothing.

Only programs that the site's configuration names can be asked for, with words added as far as it allows
(:class:`adon.config.ConfiguredJob`).  Times in seconds since the epoch; those of the site are by its own
clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from adon.broker.flow import MAX_SIZE
from adon.errors import Conflict, NotFound
from adon.units import Size
from adon.values import Name, Value
from measurement.sites.model import JobOrder

if TYPE_CHECKING:  # clients import the request; they need no configuration
    from adon.config.compute import ConfiguredJob


class JobState(StrEnum):
    """Where a job is in its life."""

    REQUESTED = "requested"
    WAITING = "waiting"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether nothing can happen to the job any more."""
        return not STEPS[self]


_ENDS = frozenset({JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED})
STEPS: Mapping[JobState, frozenset[JobState]] = {
    JobState.REQUESTED: frozenset({JobState.WAITING, JobState.RUNNING}) | _ENDS,
    JobState.WAITING: frozenset({JobState.RUNNING}) | _ENDS,
    JobState.RUNNING: frozenset({JobState.WAITING}) | _ENDS,
    JobState.SUCCEEDED: frozenset(),
    JobState.FAILED: frozenset(),
    JobState.CANCELLED: frozenset(),
}


class JobRequest(Value):
    """What somebody asks for.

    :param site: a compute site of the configuration, and ``job`` a program that it names.
    :param size: the data it processes, where that is known: Γ_c is learnt from it.
    :param template: whose data it is; Γ_c is learnt per template.
    """

    site: Name
    job: Name
    arguments: tuple[Annotated[str, Field(max_length=200)], ...] = Field(default=(), max_length=20)
    size: Annotated[Size, Field(ge=0, le=MAX_SIZE)] | None = None
    template: Name | None = None


@dataclass(frozen=True, slots=True)
class SiteJob:
    """One job; replaced as a whole at every step.

    :param number: counts up from 1; ``nonce`` makes its name at the site unique in all runs of the
        controller.
    :param flow: the flow whose data it processes, if it came of one.
    :param program: the job's name in the site's configuration.
    :param nodes, cores, memory, time_limit: as configured when it was asked for.
    :param reason: why it is in its present state, in words.
    :param site_job: the site's own id.
    :param predicted: T_q that the site named when the job was handed over.
    :param queued_at, started_at, ended_at: by the site's clock.
    :param cancelling: somebody wants it to end; the site has not said yet that it has.
    """

    number: int
    nonce: str
    site: str
    program: str
    requester: str
    asked_at: float
    arguments: tuple[str, ...] = ()
    flow: int | None = None
    template: str | None = None
    size: int | None = None
    nodes: int = 1
    cores: int = 1
    memory: int = 0
    time_limit: float = 3600.0
    state: JobState = JobState.REQUESTED
    state_since: float = 0.0
    reason: str = ""
    site_job: str | None = None
    predicted: float | None = None
    queued_at: float | None = None
    started_at: float | None = None
    ended_at: float | None = None
    exit_status: int | None = None
    cancelling: bool = False

    @property
    def id(self) -> str:
        """``j-3``: how the job is named at the borders."""
        return f"j-{self.number}"

    @property
    def waited(self) -> float | None:
        """Seconds in the site's queue; None if it did not start."""
        if self.queued_at is None or self.started_at is None:
            return None
        return max(0.0, self.started_at - self.queued_at)

    @property
    def ran(self) -> float | None:
        """Seconds from its start to its end; None if it did not start, or has not ended."""
        if self.started_at is None or self.ended_at is None:
            return None
        return max(0.0, self.ended_at - self.started_at)

    @property
    def node_rate(self) -> float | None:
        """Γ_c as this job had it, in bits/s per worker node; None if it failed, or is of unknown size."""
        ran = self.ran
        if self.state is not JobState.SUCCEEDED or self.size is None or ran is None or ran <= 0:
            return None
        return self.size * 8 / (ran * self.nodes)

    def step(self, to: JobState, at: float, reason: str) -> SiteJob:
        """The job after one step of its life.

        :raises Conflict: if the table knows no such step; the job is unchanged.
        """
        if to not in STEPS[self.state]:
            raise Conflict("state", f"job {self.id} is {self.state}; it cannot become {to}")
        return replace(self, state=to, state_since=at, reason=reason)

    def order(self) -> JobOrder:
        """What the collector is to do about it."""
        return JobOrder(
            self.number,
            self.nonce,
            self.site,
            self.program,
            self.arguments,
            "" if self.flow is None else f"f-{self.flow}",
            self.size,
            self.site_job,
            self.cancelling,
        )


class Jobs:
    """The jobs that are not over, and the last number given.

    :param jobs: all of an earlier run that are not over.
    """

    def __init__(self, jobs: Iterable[SiteJob] = (), last_number: int = 0) -> None:
        self._open = {job.number: job for job in jobs if not job.state.final}
        self._last = max([last_number, *self._open])

    def __iter__(self) -> Iterator[SiteJob]:
        return iter(tuple(self._open.values()))

    def __len__(self) -> int:
        return len(self._open)

    def get(self, number: int) -> SiteJob:
        """One job that is not over.

        :raises Conflict: if it is over.
        :raises NotFound: if there never was one of this number.
        """
        job = self._open.get(number)
        if job is None:
            if 1 <= number <= self._last:
                raise Conflict("state", f"job j-{number} has ended")
            raise NotFound("job", f"j-{number}")
        return job

    def put(self, job: SiteJob) -> SiteJob:
        """Keep a job as it is now; one that is over is forgotten."""
        if job.state.final:
            self._open.pop(job.number, None)
        else:
            self._open[job.number] = job
        return job

    def new(
        self,
        request: JobRequest,
        program: ConfiguredJob,
        requester: str,
        nonce: str,
        at: float,
        flow: int | None = None,
    ) -> SiteJob:
        """A job with the next number, as it is asked for."""
        self._last += 1
        return self.put(
            SiteJob(
                self._last,
                nonce,
                request.site,
                request.job,
                requester,
                at,
                request.arguments,
                flow,
                request.template,
                request.size,
                program.nodes,
                program.cores,
                program.memory,
                program.time_limit,
                state_since=at,
                reason="is to be handed over to the site",
            )
        )
