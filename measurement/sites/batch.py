"""A batch system as a compute site."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from measurement.custom.batch.model import BatchSystem, Job, JobStatus
from measurement.custom.errors import BatchFailed
from measurement.sites.model import Shape, SiteState, Wait


@dataclass(frozen=True, slots=True)
class BatchSite:
    """Slurm or HTCondor behind the verbs of a site."""

    system: BatchSystem

    def state(self, shapes: Sequence[Shape]) -> SiteState:
        """Capacity, then T_q of each shape; one that cannot be estimated makes the whole answer fail."""
        return SiteState(self.system.capacity(), tuple(self._wait(shape) for shape in shapes))

    def _wait(self, shape: Shape) -> Wait:
        seconds = self.system.queue_wait(shape.cores, shape.nodes, shape.seconds, shape.memory)
        try:
            return Wait(
                shape, seconds, "it says that it would never start such a job" if seconds is None else ""
            )
        except ValueError as error:
            raise BatchFailed(f"T_q makes no sense: {error}") from None

    def submit(self, job: Job) -> str:
        """Put it into the queue."""
        return self.system.submit(job)

    def find(self, name: str) -> str | None:
        """The newest of this name, in the queue or lately over."""
        return self.system.find(name)

    def follow(self, job_id: str) -> JobStatus:
        """Where it is."""
        return self.system.status(job_id)

    def cancel(self, job_id: str) -> None:
        """End it; of one that is over nothing is left in a batch system."""
        self.system.cancel(job_id)
