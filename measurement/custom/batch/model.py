"""What a batch system is asked, and what it answers.

An estimate of None means that it would never start such a job; that it is not known now is an exception.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class JobState(StrEnum):
    """Of a job, in the words that all batch systems share."""

    PENDING = "pending"
    HELD = "held"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELED = "canceled"

    @property
    def over(self) -> bool:
        """True when it will not run any more."""
        return self in (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELED)


@dataclass(frozen=True, slots=True)
class Job:
    """A job to be submitted.

    :param name: letters, digits, dots, dashes and underscores.
    :param script: what it runs, beginning with ``#!``.
    :param cores: in all.
    :param nodes: hosts on which they are, evenly.
    :param duration: seconds after which it may be ended.
    :param output: file for what it prints, on the compute site.
    :param folder: where it runs there.
    :param memory: bytes in all; 0: what the site gives to such a job.
    :raises ValueError: for a name with other characters, or numbers that are not positive.
    """

    name: str
    script: str
    cores: int
    nodes: int
    duration: float
    output: str = "/dev/null"
    folder: str = "/tmp"  # noqa: S108 -- the one folder that every compute node has
    memory: int = 0

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"name: {self.name[:60]!r} has characters that not all batch systems take")
        check_request(self.cores, self.nodes, self.duration, self.memory)
        if not self.script.startswith("#!"):
            raise ValueError("script: does not begin with #!")
        if any(ord(letter) < 32 for letter in self.output + self.folder):
            raise ValueError("output, folder: control characters")


@dataclass(frozen=True, slots=True)
class JobStatus:
    """Where a job is.

    :param submitted, started, ended: seconds since the epoch; None for what has not happened.
    :param exit_status: once it ended by itself; a signal is negative.
    :param reason: why it waits or failed, in the batch system's own word; "" if it says none.
    """

    id: str
    state: JobState
    submitted: float | None = None
    started: float | None = None
    ended: float | None = None
    exit_status: int | None = None
    reason: str = ""

    @property
    def waited(self) -> float | None:
        """Seconds in the queue, to hold estimates against; None when it did not start."""
        if self.submitted is None or self.started is None:
            return None
        return max(0.0, self.started - self.submitted)


@dataclass(frozen=True, slots=True)
class Capacity:
    """What there is.

    :param cores: that work, busy or not; those down or drained are not among them.
    :param free: without a job.
    :param nodes: hosts that work.
    :param running, pending: jobs.
    :param nodes_free: hosts that work and have a core without a job.
    :param memory, memory_free: bytes; ``gpus``, ``gpus_free``: how many.  None for what is not said.
    """

    cores: int
    free: int
    nodes: int
    running: int
    pending: int
    nodes_free: int | None = None
    memory: int | None = None
    memory_free: int | None = None
    gpus: int | None = None
    gpus_free: int | None = None


class BatchSystem(Protocol):
    """A compute site's batch system.

    All methods raise :class:`~measurement.custom.errors.BatchFailed` when it does not answer.
    """

    def queue_wait(self, cores: int, nodes: int, duration: float, memory: int = 0) -> float | None:
        """T_q: seconds from now until such a job would start; None when it never would.

        :param memory: bytes in all; 0: what the site gives to such a job.
        """

    def capacity(self) -> Capacity:
        """What there is now."""

    def submit(self, job: Job) -> str:
        """Put it into the queue; its id."""

    def find(self, name: str) -> str | None:
        """The id of the newest job that was submitted under this name; None when there is none."""

    def status(self, job_id: str) -> JobStatus:
        """Where it is."""

    def cancel(self, job_id: str) -> None:
        """Take it out of the queue, or end it.  One that is over already stays as it is."""


def check_request(cores: int, nodes: int, duration: float, memory: int = 0) -> None:
    """Refuse what no batch system can be asked for.

    :raises ValueError: naming the number.
    """
    if cores < 1 or nodes < 1 or not duration > 0:
        raise ValueError("cores, nodes, duration: must be above 0")
    if cores < nodes:
        raise ValueError(f"cores: {cores} on {nodes} nodes leaves one without")
    if memory < 0:
        raise ValueError(f"memory: {memory} B is below 0")
