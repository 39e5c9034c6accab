"""A batch system as a metric: what is free, how many wait, and T_q of a job of a given size."""

from __future__ import annotations

from dataclasses import dataclass

from measurement.custom.batch.model import BatchSystem, check_request
from measurement.custom.model import PERIOD, Endless, Origin
from measurement.model import Observation


@dataclass(frozen=True, slots=True)
class Request:
    """The size of job for which T_q is asked; see :meth:`BatchSystem.queue_wait`.

    :raises ValueError: for numbers that are not positive.
    """

    cores: int = 1
    nodes: int = 1
    duration: float = 3600.0

    def __post_init__(self) -> None:
        check_request(self.cores, self.nodes, self.duration)


@dataclass(frozen=True, slots=True)
class BatchMetric(Endless):
    """The batch system of a site.

    :param name: of the metric, and of the site in its series.
    :param tool: which batch system it is.
    """

    name: str
    host: str
    system: BatchSystem
    tool: str
    request: Request = Request()
    period: float = PERIOD

    def sample(self, now: float) -> list[Observation]:
        """Ask it.  ``batch.queue_wait`` is missing when such a job would never start.

        :raises BatchFailed: when it does not answer.
        """
        origin = Origin(self.host, self.name, now, self.tool)
        found = self.system.capacity()
        counts = {
            "batch.cores_total": found.cores,
            "batch.cores_free": found.free,
            "batch.nodes_total": found.nodes,
            "batch.jobs_running": found.running,
            "batch.jobs_pending": found.pending,
        }
        values = [origin.value(name, count, of=self.name) for name, count in counts.items()]
        asked = self.request
        wait = self.system.queue_wait(asked.cores, asked.nodes, asked.duration)
        if wait is not None:
            size = {"cores": asked.cores, "nodes": asked.nodes, "duration": asked.duration}
            values.append(origin.value("batch.queue_wait", wait, "s", of=self.name, extra=size))
        return values
