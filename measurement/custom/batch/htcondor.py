"""HTCondor, through ``condor_q``, ``condor_status``, ``condor_history``, ``condor_submit`` and ``condor_rm``.

Attributes are those of the manual's ClassAd appendices ("Job ClassAd Attributes", "Machine ClassAd
Attributes").  HTCondor does not say when a job would start, so T_q is estimated
(:mod:`measurement.custom.batch.queueing`): from the cores of the pool, the jobs that run and wait with the
limits they were given (``AllowedJobDuration``), and for those without one the median run time of the jobs
that completed last.  User priorities, which HTCondor serves by, are not in the estimate.
"""

from __future__ import annotations

import base64
import json
import math
import re
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from measurement.custom.batch.commands import Commands
from measurement.custom.batch.model import Capacity, Job, JobState, JobStatus, check_request
from measurement.custom.batch.queueing import Demand, first_come_first_served
from measurement.custom.errors import BatchFailed

Ad = Mapping[str, Any]

_ID = re.compile(r"(\d{1,18})\.(\d{1,9})")
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_TERSE = re.compile(r"^(\d+\.\d+) - \d+\.\d+$", re.MULTILINE)
_STATES = {
    1: JobState.PENDING,
    2: JobState.RUNNING,
    3: JobState.CANCELED,
    4: JobState.SUCCEEDED,
    5: JobState.HELD,
    6: JobState.RUNNING,  # its output is being transferred
    7: JobState.RUNNING,  # suspended: it holds its cores
}
_QUEUE = (
    "ClusterId,ProcId,JobStatus,RequestCpus,MinHosts,QDate,JobCurrentStartDate,AllowedJobDuration,"
    "AllowedExecuteDuration"
)
_JOB = (
    "ClusterId,ProcId,JobStatus,QDate,JobStartDate,JobCurrentStartDate,CompletionDate,ExitCode,"
    "ExitBySignal,ExitSignal,HoldReasonCode"
)
_SLOT = "Name,Machine,SlotType,State,Activity,Cpus,TotalSlotCpus,Memory,TotalSlotMemory,GPUs,TotalSlotGPUs"
_MIB = 2**20
_LIMITS = ("AllowedJobDuration", "AllowedExecuteDuration")
_RECENT = 100
_TOO_LONG = (46, 47)  # HoldReasonCode: longer than its AllowedJobDuration, its AllowedExecuteDuration


@dataclass(frozen=True, slots=True)
class HTCondor:
    """The pool and the queue of the machine this runs on.

    :param clock: seconds since the epoch.
    """

    commands: Commands = field(default_factory=lambda: Commands(("HOME", "CONDOR_CONFIG")))
    clock: Callable[[], float] = time.time

    def queue_wait(self, cores: int, nodes: int, duration: float, memory: int = 0) -> float | None:
        """T_q, estimated as the module says; None too when the pool has too few cores, or too little memory.

        How much of the memory is free is not in the estimate.
        """
        check_request(cores, nodes, duration, memory)
        slots = self._slots()
        total = pool_cores(slots)[0]
        there = _sum_slots(slots, "Memory", "TotalSlotMemory", _MIB)[0]
        if there is not None and memory > there:
            return None
        jobs = self._ads("condor_q", "-allusers", "-attributes", _QUEUE)
        without = [ad for ad in jobs if ad.get("JobStatus") in (1, 2, 6, 7) and _limit(ad) is None]
        usual = self._usual() if without else 0.0
        now = self.clock()
        running = [
            Demand(_cores(ad), _lasts(ad, usual) - (now - _number(ad, "JobCurrentStartDate", now)))
            for ad in jobs
            if _STATES.get(ad.get("JobStatus", 0)) is JobState.RUNNING
        ]
        waiting = sorted((ad for ad in jobs if ad.get("JobStatus") == 1), key=_in_order)
        demands = [Demand(_cores(ad), _lasts(ad, usual)) for ad in waiting]
        return first_come_first_served(cores, total, running, demands)

    def capacity(self) -> Capacity:
        """What ``condor_status`` says of the slots and ``condor_q`` of the jobs."""
        slots = self._slots()
        cores, free, nodes = pool_cores(slots)
        jobs = [ad.get("JobStatus") for ad in self._ads("condor_q", "-allusers", "-attributes", "JobStatus")]
        running = sum(state in (2, 6, 7) for state in jobs)
        memory = _sum_slots(slots, "Memory", "TotalSlotMemory", _MIB)
        gpus = _sum_slots(slots, "GPUs", "TotalSlotGPUs")
        return Capacity(cores, free, nodes, running, jobs.count(1), hosts_with_room(slots), *memory, *gpus)

    def submit(self, job: Job) -> str:
        """Put it into the queue; its id, ``cluster.process``."""
        printed = self.commands.answer(["condor_submit", "-terse", "-"], submit_description(job))
        found = _TERSE.search(printed)
        if found is None:
            raise BatchFailed("condor_submit did not say which job it made", printed)
        return found[1]

    def find(self, name: str) -> str | None:
        """The newest job of this batch name, in the queue or the history."""
        named = ("-constraint", f'JobBatchName == "{_quotable(name)}"', "-attributes", "ClusterId,ProcId")
        ads = self._ads("condor_q", "-allusers", *named)
        ads = ads or self._ads("condor_history", *named, "-limit", "1")
        ids = [(int(_number(ad, "ClusterId", 0.0)), int(_number(ad, "ProcId", 0.0))) for ad in ads]
        return "{}.{}".format(*max(ids)) if ids else None

    def status(self, job_id: str) -> JobStatus:
        """Where it is: in the queue, or else in the history."""
        name = _check_job_id(job_id)
        ads = self._ads("condor_q", name, "-attributes", _JOB)
        ads = ads or self._ads("condor_history", name, "-limit", "1", "-attributes", _JOB)
        if not ads:
            raise BatchFailed(f"neither queue nor history has job {name}", code="not-found")
        return read_job(name, ads[0])

    def cancel(self, job_id: str) -> None:
        """Take it out of the queue, or end it."""
        name = _check_job_id(job_id)
        found = self.commands.ask(["condor_rm", name])
        # condor_rm fails for a job that has left the queue; then it is over, and all is well.
        if found.status != 0 and not self.status(name).state.over:
            raise BatchFailed(f"condor_rm ended with status {found.status}", found.stderr)

    def _slots(self) -> list[Ad]:
        return self._ads("condor_status", "-attributes", _SLOT)

    def _usual(self) -> float:
        # Seconds that jobs usually run; without any history an estimate would be made up.
        ads = self._ads(
            "condor_history", "-constraint", "JobStatus == 4", "-limit", str(_RECENT),
            "-attributes", "RemoteWallClockTime",
        )  # fmt: skip
        times = [_number(ad, "RemoteWallClockTime", 0.0) for ad in ads]
        if not times:
            raise BatchFailed("jobs without a limit run or wait, and no job has ended: no estimate")
        return statistics.median(times)

    def _ads(self, tool: str, *options: str) -> list[Ad]:
        return read_ads(tool, self.commands.answer([tool, *options, "-json"]))


def read_ads(tool: str, text: str) -> list[Ad]:
    """The ClassAds that a tool printed with ``-json``; when there are none some versions print nothing.

    :raises BatchFailed: when it is no list of objects.
    """
    if not text.strip():
        return []
    try:
        ads = json.loads(text)
    except (ValueError, RecursionError):
        raise BatchFailed(f"{tool} did not print JSON", code="malformed") from None
    if not isinstance(ads, list) or not all(isinstance(ad, dict) for ad in ads):
        raise BatchFailed(f"{tool} did not print a list of ClassAds", code="malformed")
    return ads


def pool_cores(slots: Sequence[Ad]) -> tuple[int, int, int]:
    """Cores, free cores and hosts of a pool."""
    hosts = {str(slot.get("Machine", slot.get("Name"))) for slot in _working(slots)}
    return (*pool_of(slots, "Cpus", "TotalSlotCpus"), len(hosts))


def pool_of(slots: Sequence[Ad], part: str, whole: str) -> tuple[int, int]:
    """What there is of something in a pool, and how much of it no job has.

    A partitionable slot's own value is what is not yet cut off it into dynamic slots, which are listed too
    and are not to be counted again.
    """
    total = free = 0
    for slot in _working(slots):
        left = int(_number(slot, part, 0.0))
        total += int(_number(slot, whole, left)) if slot.get("SlotType") == "Partitionable" else left
        free += left if slot.get("State") == "Unclaimed" else 0
    return total, free


def _sum_slots(slots: Sequence[Ad], part: str, whole: str, unit: int = 1) -> tuple[int | None, int | None]:
    # As pool_of, in this unit; None where no slot says anything of it.
    if not any(whole in slot for slot in slots):
        return None, None
    total, free = pool_of(slots, part, whole)
    return total * unit, free * unit


def hosts_with_room(slots: Sequence[Ad]) -> int:
    """Hosts with a core that no job has."""
    unclaimed = [slot for slot in _working(slots) if slot.get("State") == "Unclaimed"]
    return len(
        {str(slot.get("Machine", slot.get("Name"))) for slot in unclaimed if _number(slot, "Cpus", 0.0) >= 1}
    )


def _working(slots: Sequence[Ad]) -> list[Ad]:
    return [s for s in slots if s.get("SlotType") != "Dynamic" and s.get("State") not in ("Owner", "Drained")]


def read_job(job_id: str, ad: Ad) -> JobStatus:
    """A job's ClassAd, of the queue or of the history.

    HTCondor holds a job that took longer than it was allowed; nothing follows by itself, so it has failed.
    It stays in the queue until it is canceled.

    :raises BatchFailed: for a ``JobStatus`` that the manual does not have.
    """
    state = _STATES.get(ad.get("JobStatus", 0))
    if state is None:
        raise BatchFailed(
            f"job {job_id}: JobStatus {str(ad.get('JobStatus'))[:20]!r} is not known", code="unknown-value"
        )
    code = _exit_status(ad) if state is JobState.SUCCEEDED else None
    if code is not None and code != 0:
        state = JobState.FAILED
    held = ad.get("HoldReasonCode") if state is JobState.HELD else None
    if held in _TOO_LONG:
        state = JobState.FAILED
    return JobStatus(
        job_id,
        state,
        _time(ad, "QDate"),
        _time(ad, "JobStartDate"),
        _time(ad, "CompletionDate") if state.over else None,
        code,
        "" if held is None else f"HoldReasonCode {held}",
    )


def submit_description(job: Job) -> str:
    """What ``condor_submit`` reads.

    The script travels in its arguments, base64: nothing has to be written on the submit host, and nothing
    in it can be read as a submit command.  ``$(`` would be a macro of the description.
    """
    script = base64.b64encode(job.script.encode()).decode()
    universe = ["universe = vanilla"]
    if job.nodes > 1:
        universe = ["universe = parallel", f"machine_count = {job.nodes}"]
    interpreter = (
        f"f=`mktemp` && echo {script} | base64 -d >$f && chmod 700 $f && $f; s=$?; rm -f $f; exit $s"
    )
    lines = [
        *universe,
        f"batch_name = {job.name}",
        "executable = /bin/sh",
        "transfer_executable = false",
        f"arguments = \"-c '{interpreter}'\"",
        f"initialdir = {job.folder}",
        f"output = {job.output}",
        f"error = {job.output}",
        f"request_cpus = {math.ceil(job.cores / job.nodes)}",
        *([f"request_memory = {math.ceil(job.memory / job.nodes / _MIB)}"] if job.memory else []),
        f"allowed_job_duration = {math.ceil(job.duration)}",
        "queue 1",
    ]
    return "\n".join(lines) + "\n"


def _quotable(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise BatchFailed(f"{name[:40]!r} is not the name of a job", code="malformed")
    return name


def _check_job_id(job_id: str) -> str:
    if not _ID.fullmatch(job_id):
        raise BatchFailed(f"{job_id[:40]!r} is not the id of a job", code="malformed")
    return job_id


def _number(ad: Ad, name: str, otherwise: float) -> float:
    # An expression that is not evaluated comes as a text.
    value = ad.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return otherwise
    return max(0.0, float(value))


def _cores(ad: Ad) -> int:
    hosts = int(_number(ad, "MinHosts", 1.0))
    return max(1, int(_number(ad, "RequestCpus", 1.0))) * max(1, hosts)


def _limit(ad: Ad) -> float | None:
    limits = [limit for name in _LIMITS if (limit := _number(ad, name, 0.0)) > 0]
    return min(limits) if limits else None


def _lasts(ad: Ad, usual: float) -> float:
    limit = _limit(ad)
    return usual if limit is None else limit


def _in_order(ad: Ad) -> tuple[float, ...]:
    return tuple(_number(ad, name, 0.0) for name in ("QDate", "ClusterId", "ProcId"))


def _time(ad: Ad, name: str) -> float | None:
    at = _number(ad, name, 0.0)
    return at if at > 0 else None  # 0 stands for what has not happened


def _exit_status(ad: Ad) -> int | None:
    if ad.get("ExitBySignal") is True:
        return -int(_number(ad, "ExitSignal", 9.0))
    code = ad.get("ExitCode")
    return code if isinstance(code, int) and not isinstance(code, bool) else None
