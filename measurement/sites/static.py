"""A site that nobody can ask: the configured numbers, through the same protocol."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from measurement.custom.batch.model import Capacity, Job, JobStatus
from measurement.custom.errors import BatchFailed
from measurement.sites.model import Shape, SiteState, Wait


@dataclass(frozen=True, slots=True)
class StaticSite:
    """Tells what it was made with.

    :param wait: T_q of every job that fits; None: nothing there is ours to use.
    """

    nodes: int
    cores: int
    wait: float | None

    def state(self, shapes: Sequence[Shape]) -> SiteState:
        """All of it is free, as far as anybody knows."""
        there = Capacity(self.cores, self.cores, self.nodes, 0, 0, self.nodes)
        return SiteState(there, tuple(self._wait(shape) for shape in shapes))

    def _wait(self, shape: Shape) -> Wait:
        if self.wait is None:
            return Wait(shape, None, "no resource there is ours to use")
        if shape.nodes > self.nodes:
            return Wait(shape, None, f"it has {self.nodes} worker nodes, {shape.nodes} are needed")
        return Wait(shape, self.wait)

    def submit(self, job: Job) -> str:  # noqa: ARG002 - the protocol's
        """There is nobody to hand a job to."""
        raise BatchFailed("its adapter is static: it takes no jobs")

    def find(self, name: str) -> str | None:  # noqa: ARG002
        """No job was ever taken."""
        return None

    def follow(self, job_id: str) -> JobStatus:  # noqa: ARG002
        """No job was ever taken."""
        raise BatchFailed("its adapter is static: it has no jobs")

    def cancel(self, job_id: str) -> None:  # noqa: ARG002
        """No job was ever taken."""
        raise BatchFailed("its adapter is static: it has no jobs")
