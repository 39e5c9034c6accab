"""What a compute site is asked, and what it answers: values, and the protocol of the adapters.

Units: seconds, bytes, times since the epoch.  A wait of None means that such a job would not start there;
that it is not known is an exception of the adapter, and an error in the report.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from measurement.custom.batch.model import Capacity, Job, JobStatus, check_request

LONGEST_WAIT = 366 * 86_400.0
"""A longer T_q is a clock that is wrong, or garbage."""
MOST_SHAPES = 16
"""So many sizes of request a site is asked about at each poll."""


@dataclass(frozen=True, slots=True, order=True)
class Shape:
    """A size of request that T_q is asked for.

    :param cores, memory: in all, over all nodes; memory 0: what the site gives to such a job.
    :param seconds: its time limit.
    :raises ValueError: for what no site can be asked for.
    """

    nodes: int = 1
    cores: int = 1
    memory: int = 0
    seconds: float = 3600.0

    def __post_init__(self) -> None:
        check_request(self.cores, self.nodes, self.seconds, self.memory)

    def covers(self, nodes: int, cores: int) -> bool:
        """Whether a job of that many nodes and cores is no larger than this one."""
        return self.nodes >= nodes and self.cores >= cores


@dataclass(frozen=True, slots=True)
class Wait:
    """T_q of one shape.

    :param seconds: from the time of the report on; None: such a job would not start, and ``why``.
    :raises ValueError: for a negative, undefined or absurd wait.
    """

    shape: Shape
    seconds: float | None
    why: str = ""

    def __post_init__(self) -> None:
        if self.seconds is not None and not 0 <= self.seconds <= LONGEST_WAIT:
            raise ValueError(f"seconds: a wait of {self.seconds:g} s cannot be")


@dataclass(frozen=True, slots=True)
class SiteState:
    """What a site said: what there is, and T_q of the shapes it was asked about."""

    capacity: Capacity
    waits: tuple[Wait, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteReport:
    """One poll of a site.

    :param at: when it was asked.
    :param state: None if it did not answer; then ``error`` says why, in one line without anything secret.
    """

    site: str
    at: float
    state: SiteState | None
    error: str = ""

    def __post_init__(self) -> None:
        if not math.isfinite(self.at):
            raise ValueError("at: is not a time")


@dataclass(frozen=True, slots=True)
class JobOrder:
    """A configured program that is to run at a site, or to be ended there.

    :param number: the job's; :attr:`name` is made of it and ``nonce``, unique in all runs of the controller.
    :param program: its name in the site's configuration; its text never travels.
    :param arguments: words added to the program's own.
    :param flow: the id of the flow whose data it processes; "" for none.  ``size``: bytes to process, if
        known.
    :param site_job: the site's own id, once it is known.
    :param cancel: it is to be ended, or not to be begun.
    """

    number: int
    nonce: str
    site: str
    program: str
    arguments: tuple[str, ...] = ()
    flow: str = ""
    size: int | None = None
    site_job: str | None = None
    cancel: bool = False

    @property
    def name(self) -> str:
        """Under which it is submitted, and found again when nobody knows whether it was."""
        return f"adon-j{self.number}-{self.nonce}"


@dataclass(frozen=True, slots=True)
class JobNews:
    """What became of an order.

    :param status: as the site tells it; None if it could not be asked, or would not take the job.
    :param predicted: T_q that the site named just before the job was submitted.
    :param error: why there is no status, in one line.
    :param refused: the site will not take it: that is final.
    """

    number: int
    at: float
    status: JobStatus | None
    predicted: float | None = None
    error: str = ""
    refused: bool = False

    def __post_init__(self) -> None:
        if not math.isfinite(self.at):
            raise ValueError("at: is not a time")


class ComputeSite(Protocol):
    """A compute site.

    All verbs raise :class:`~measurement.custom.errors.BatchFailed` when it does not answer.
    """

    def state(self, shapes: Sequence[Shape]) -> SiteState:
        """What there is now, and T_q of these shapes."""

    def submit(self, job: Job) -> str:
        """Hand a job over; its id there."""

    def find(self, name: str) -> str | None:
        """The id of a job that was handed over under this name; None when it knows none.

        For a job of which nobody knows whether it arrived: it must not run twice.
        """

    def follow(self, job_id: str) -> JobStatus:
        """Where a job is."""

    def cancel(self, job_id: str) -> None:
        """End a job, or take it out of the queue; of one that is over, let go of what it holds there."""
