"""Slurm, through ``sbatch``, ``squeue``, ``sinfo``, ``scancel`` and ``sacct``.

T_q is Slurm's own: ``sbatch --test-only`` lets the scheduler (with its backfill) say when the job would
start.
Nodes are read as JSON (:mod:`measurement.custom.batch.sinfo`), jobs from tables of fixed columns: with 22.05
``squeue --json`` gives all jobs whichever were asked for.  Times are asked for as seconds since the epoch
(``SLURM_TIME_FORMAT``).

Slurm forgets a job ``MinJobAge`` seconds (300, as configured) after its end; then ``sacct`` is asked, which
knows it where the cluster keeps accounts.  Where it does not, whoever follows a job asks more often.
"""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from measurement.custom.batch.commands import Commands
from measurement.custom.batch.model import Capacity, Job, JobState, JobStatus, check_request
from measurement.custom.batch.sinfo import MIB, Node, read_nodes
from measurement.custom.errors import BatchFailed

_STARTS = re.compile(r"Job \d+ to start at (\d+)\b")
_ID = re.compile(r"\d{1,18}")
# Slurm's words for: it has understood the request, and says no.
_NEVER = (
    "Requested node configuration is not available",
    "More processors requested than permitted",
    "Node count specification invalid",
    "Requested time limit is invalid",
    "Memory specification can not be satisfied",
)
_PENDING = {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "SPECIAL_EXIT"}
_RUNNING = {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "RESIZING", "STAGE_OUT"}
_HELD = {"JobHeldUser", "JobHeldAdmin"}
_COLUMNS = "JobID:20,State:20,exit_code:20,SubmitTime:20,StartTime:20,EndTime:20,Reason:60"
_ACCOUNTED = "JobIDRaw,State,ExitCode,Submit,Start,End"


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

    def queue_wait(self, cores: int, nodes: int, duration: float, memory: int = 0) -> float | None:
        """T_q, from the scheduler's own plan."""
        check_request(cores, nodes, duration, memory)
        argv = ["sbatch", "--test-only", *self._request(cores, nodes, duration, memory)]
        found = self.commands.ask(argv, "#!/bin/sh\n:\n")
        starts = _STARTS.search(found.stderr)
        if starts is not None:
            return max(0.0, float(starts[1]) - self.clock())
        if any(refusal in found.stderr for refusal in _NEVER):
            return None
        raise BatchFailed(f"sbatch ended with status {found.status} and no time of start", found.stderr)

    def capacity(self) -> Capacity:
        """What ``sinfo`` says of the nodes and ``squeue`` of the jobs."""
        listed = self.commands.answer(["sinfo", "--json", "--Node", *self._in_partition()])
        working = [node for node in read_nodes(listed, self.partition) if node.works]
        jobs = self.commands.answer(
            ["squeue", "--noheader", "--states=RUNNING,PENDING", "--format=%T", *self._in_partition()]
        ).split()
        return _capacity(working, jobs.count("RUNNING"), jobs.count("PENDING"))

    def submit(self, job: Job) -> str:
        """Put it into the queue; its id."""
        places = [f"--job-name={job.name}", f"--output={job.output}", f"--chdir={job.folder}"]
        argv = [
            "sbatch",
            "--parsable",
            *places,
            *self._request(job.cores, job.nodes, job.duration, job.memory),
        ]
        printed = self.commands.answer(argv, job.script).strip()
        return _check_job_id(printed.split(";")[0])

    def find(self, name: str) -> str | None:
        """The newest job of this name that Slurm has not forgotten."""
        argv = ["squeue", "--noheader", "--states=all", f"--name={name}", "--Format=JobID:20"]
        found = self.commands.answer(argv).split()
        return max((_check_job_id(word) for word in found), key=int, default=None)

    def status(self, job_id: str) -> JobStatus:
        """Where it is; from the accounts, if the queue has forgotten it."""
        name = _check_job_id(job_id)
        argv = ["squeue", "--noheader", "--states=all", f"--jobs={name}", f"--Format={_COLUMNS}"]
        try:
            return _parse_queue(name, self.commands.answer(argv))
        except BatchFailed as forgotten:
            accounted = self._query_accounting(name)
            if accounted is None:
                raise forgotten from None
            return accounted

    def _query_accounting(self, job_id: str) -> JobStatus | None:
        argv = [
            "sacct",
            "--noheader",
            "--parsable2",
            "--allocations",
            f"--jobs={job_id}",
            f"--format={_ACCOUNTED}",
        ]
        try:
            lines = self.commands.answer(argv).splitlines()
        except BatchFailed:
            return None  # no accounts are kept there: what squeue said stands
        found = next((line.split("|") for line in lines if line.split("|")[0] == job_id), None)
        return None if found is None or len(found) != 6 else _account(found)

    def cancel(self, job_id: str) -> None:
        """Take it out of the queue, or end it."""
        self.commands.answer(["scancel", _check_job_id(job_id)])

    def _request(self, cores: int, nodes: int, duration: float, memory: int) -> list[str]:
        minutes = math.ceil(duration / 60)  # the grain of Slurm's time limits
        size = [f"--nodes={nodes}", f"--ntasks={cores}", f"--time={minutes}"]
        if memory:
            size.append(f"--mem={math.ceil(memory / nodes / MIB)}M")  # of each node
        return size + self._in_partition() + ([] if self.account is None else [f"--account={self.account}"])

    def _in_partition(self) -> list[str]:
        return [] if self.partition is None else [f"--partition={self.partition}"]


def _check_job_id(job_id: str) -> str:
    if not _ID.fullmatch(job_id):
        raise BatchFailed(f"{job_id[:40]!r} is not the id of a job", code="malformed")
    return job_id


def _capacity(working: Sequence[Node], running: int, pending: int) -> Capacity:
    counted = [node for node in working if node.gpus is not None]
    return Capacity(
        sum(node.cores for node in working),
        sum(node.idle for node in working),
        sum(len(node.names) for node in working),
        running,
        pending,
        sum(len(node.names) for node in working if node.idle),
        sum(node.memory for node in working),
        sum(node.memory_free for node in working),
        sum(node.gpus or 0 for node in counted) if counted else None,
        sum(node.gpus_free or 0 for node in counted) if counted else None,
    )


def _account(columns: list[str]) -> JobStatus:
    # As sacct has it: "CANCELLED by 1000", "3:0" for status and signal, "Unknown" for a time that did not
    # come.
    job_id, words, code, submitted, started, ended = columns
    state = _state(words.split()[0], "") if words.split() else JobState.FAILED
    status, _, number = code.partition(":")
    told = state in (JobState.SUCCEEDED, JobState.FAILED) and status.isdecimal() and number.isdecimal()
    return JobStatus(
        job_id,
        state,
        _time(submitted),
        _time(started) if _ran(state, started, ended) else None,
        _time(ended) if state.over else None,
        (-int(number) if int(number) else int(status)) if told else None,
    )


def _parse_queue(job_id: str, listed: str) -> JobStatus:
    lines = [line.split() for line in listed.splitlines()]
    found = next((columns for columns in lines if columns[:1] == [job_id]), None)
    if found is None or len(found) < 7:
        raise BatchFailed(f"squeue says nothing of job {job_id}")
    return _status(found)


def _status(columns: list[str]) -> JobStatus:
    job_id, word, code, submitted, started, ended = columns[:6]
    reason = " ".join(columns[6:])
    state = _state(word, reason)
    return JobStatus(
        job_id,
        state,
        _time(submitted),
        _time(started) if _ran(state, started, ended) else None,
        _time(ended) if state.over else None,
        _exit_status(code) if state in (JobState.SUCCEEDED, JobState.FAILED) else None,
        "" if reason == "None" else reason,
    )


def _ran(state: JobState, started: str, ended: str) -> bool:
    # Of a job that waits its start is when it may start; of one canceled while waiting, when it was canceled.
    if state in (JobState.PENDING, JobState.HELD):
        return False
    return state is not JobState.CANCELED or started != ended


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
