"""What an earlier process left behind on a host: found by our reference, and cancelled."""

from __future__ import annotations

from dataclasses import dataclass

from measurement.errors import PointError
from measurement.pscheduler.client import PSchedulerClient


@dataclass(frozen=True, slots=True)
class Swept:
    """How a sweep went; a host that could not be asked at all is one error."""

    cancelled: int
    errors: tuple[PointError, ...]


def sweep(client: PSchedulerClient) -> Swept:
    """Cancel every task with this client's owner; for the start of a process, before it posts any."""
    try:
        found = client.own_tasks()
    except PointError as error:
        return Swept(0, (error,))
    errors = []
    for own in found:
        try:
            client.cancel(own.task)
        except PointError as error:
            errors.append(error)
    return Swept(len(found) - len(errors), tuple(errors))
