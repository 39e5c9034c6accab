"""Slurm, through ``sbatch``, ``squeue``, ``sinfo`` and ``scancel``.

T_q is Slurm's own: ``sbatch --test-only`` lets the scheduler (with its backfill) say when the job would
start.
Tables of fixed columns are read, not ``--json``: with 22.05 ``squeue --json`` gives all jobs whichever were
asked for.  Times are asked for as seconds since the epoch
(``SLURM_TIME_FORMAT``).

Slurm forgets a job ``MinJobAge`` seconds (300, as configured) after its end: whoever follows one asks more
often.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from measurement.custom.batch.model import Capacity, Commands, Job, JobState, JobStatus, check_request
from measurement.custom.errors import BatchFailed

_STARTS = re.compile(r"Job \d+ to start at (\d+)\b")
_ID = re.compile(r"\d{1,18}")
# Slurm's words for: it has understood the request, and says no.
_NEVER = (
    "Requested node configuration is not available",
    "More processors requested than permitted",
    "Node count specification invalid",
    "Requested time limit is invalid",
)
_PENDING = {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "SPECIAL_EXIT"}
_RUNNING = {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING", "STAGE_OUT"}
_HELD = {"JobHeldUser", "JobHeldAdmin"}
_COLUMNS = "JobID:20,State:20,exit_code:20,SubmitTime:20,StartTime:20,EndTime:20,Reason:60"
_AWAY = ("down", "drain", "fail", "maint", "unk", "future", "*")  # "*": it does not respond


def _commands() -> Commands:
    # SLURM_CONF is where its configuration is, when that is not /etc/slurm.
    return Commands(("SLURM_CONF",), (("SLURM_TIME_FORMAT", "%s"),))


@dataclass(frozen=True, slots=True)
class Slurm:
    """One cluster, or one partition of it.

    :param partition: where jobs go and what is counted; None: the cluster's default, and all.
    :param clock: seconds since the epoch, as the cluster's own clock has them.
    """

    partition: str | None = None
    account: str | None = None
    commands: Commands = field(default_factory=_commands)
    clock: Callable[[], float] = time.time

    def queue_wait(self, cores: int, nodes: int, duration: float) -> float | None:
        """T_q, from the scheduler's own plan."""
        check_request(cores, nodes, duration)
        argv = ["sbatch", "--test-only", *self._request(cores, nodes, duration)]
        found = self.commands.ask(argv, "#!/bin/sh\n:\n")
        starts = _STARTS.search(found.stderr)
        if starts is not None:
            return max(0.0, float(starts[1]) - self.clock())
        if any(refusal in found.stderr for refusal in _NEVER):
            return None
        raise BatchFailed(f"sbatch ended with status {found.status} and no time of start", found.stderr)

    def capacity(self) -> Capacity:
        """What ``sinfo`` says of the nodes and ``squeue`` of the jobs."""
        # A node is there once for each of its partitions.
        listed = self.commands.answer(
            ["sinfo", "--noheader", "--Node", "--format=%N|%C|%T", *self._in_partition()]
        )
        nodes = dict(_node(line) for line in listed.splitlines() if line.strip())
        working = [cpus for cpus in nodes.values() if cpus is not None]
        jobs = self.commands.answer(
            ["squeue", "--noheader", "--states=RUNNING,PENDING", "--format=%T", *self._in_partition()]
        ).split()
        cores, free = (sum(column) for column in zip(*working, strict=True)) if working else (0, 0)
        return Capacity(cores, free, len(working), jobs.count("RUNNING"), jobs.count("PENDING"))

    def submit(self, job: Job) -> str:
        """Put it into the queue; its id."""
        places = [f"--job-name={job.name}", f"--output={job.output}", f"--chdir={job.folder}"]
        argv = ["sbatch", "--parsable", *places, *self._request(job.cores, job.nodes, job.duration)]
        printed = self.commands.answer(argv, job.script).strip()
        return _checked(printed.split(";")[0])

    def status(self, job_id: str) -> JobStatus:
        """Where it is."""
        argv = ["squeue", "--noheader", "--states=all", f"--jobs={_checked(job_id)}", f"--Format={_COLUMNS}"]
        lines = self.commands.answer(argv).splitlines()
        found = next((line.split() for line in lines if line.split()[:1] == [job_id]), None)
        if found is None or len(found) < 7:
            raise BatchFailed(f"squeue says nothing of job {job_id}")
        return _status(found)

    def cancel(self, job_id: str) -> None:
        """Take it out of the queue, or end it."""
        self.commands.answer(["scancel", _checked(job_id)])

    def _request(self, cores: int, nodes: int, duration: float) -> list[str]:
        minutes = math.ceil(duration / 60)  # the grain of Slurm's time limits
        size = [f"--nodes={nodes}", f"--ntasks={cores}", f"--time={minutes}"]
        return size + self._in_partition() + ([] if self.account is None else [f"--account={self.account}"])

    def _in_partition(self) -> list[str]:
        return [] if self.partition is None else [f"--partition={self.partition}"]


def _checked(job_id: str) -> str:
    if not _ID.fullmatch(job_id):
        raise BatchFailed(f"{job_id[:40]!r} is not the id of a job")
    return job_id


def _node(line: str) -> tuple[str, tuple[int, int] | None]:
    # name|allocated/idle/other/total|state; None for one that takes no jobs
    try:
        name, cpus, state = line.strip().split("|")
        allocated, idle, _, _ = (int(number) for number in cpus.split("/"))
    except ValueError:
        raise BatchFailed(f"sinfo: {line!r} cannot be read") from None
    away = any(word in state.lower() for word in _AWAY)
    return name, None if away else (allocated + idle, idle)


def _status(columns: list[str]) -> JobStatus:
    job_id, word, code, submitted, started, ended = columns[:6]
    reason = " ".join(columns[6:])
    state = _state(word, reason)
    # Of a job that waits this is when it may start; of one canceled while waiting, when it was canceled.
    ran = state not in (JobState.PENDING, JobState.HELD) and not (
        state is JobState.CANCELED and started == ended
    )
    return JobStatus(
        job_id,
        state,
        _time(submitted),
        _time(started) if ran else None,
        _time(ended) if state.over else None,
        _exit_status(code) if state in (JobState.SUCCEEDED, JobState.FAILED) else None,
        "" if reason == "None" else reason,
    )


def _state(word: str, reason: str) -> JobState:
    if word in _PENDING:
        return JobState.HELD if reason in _HELD else JobState.PENDING
    if word in _RUNNING:
        return JobState.RUNNING
    if word == "COMPLETED":
        return JobState.SUCCEEDED
    return JobState.CANCELED if word in ("CANCELLED", "REVOKED") else JobState.FAILED


def _time(word: str) -> float | None:
    return float(word) if word.isdecimal() else None


def _exit_status(code: str) -> int | None:
    return os.waitstatus_to_exitcode(int(code)) if code.isdecimal() else None
