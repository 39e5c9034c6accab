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

from measurement.custom.batch.model import Capacity, Commands, Job, JobState, JobStatus, check_request
from measurement.custom.batch.queueing import Demand, first_come_first_served
from measurement.custom.errors import BatchFailed

Ad = Mapping[str, Any]

_ID = re.compile(r"(\d{1,18})\.(\d{1,9})")
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
_SLOT = "Name,Machine,SlotType,State,Activity,Cpus,TotalSlotCpus"
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

    def queue_wait(self, cores: int, nodes: int, duration: float) -> float | None:
        """T_q, estimated as the module says; None too when the pool has too few cores."""
        check_request(cores, nodes, duration)
        total = self._cores()[0]
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
        cores, free, nodes = self._cores()
        jobs = [ad.get("JobStatus") for ad in self._ads("condor_q", "-allusers", "-attributes", "JobStatus")]
        running = sum(state in (2, 6, 7) for state in jobs)
        return Capacity(cores, free, nodes, running, jobs.count(1))

    def submit(self, job: Job) -> str:
        """Put it into the queue; its id, ``cluster.process``."""
        printed = self.commands.answer(["condor_submit", "-terse", "-"], submit_description(job))
        found = _TERSE.search(printed)
        if found is None:
            raise BatchFailed("condor_submit did not say which job it made", printed)
        return found[1]

    def status(self, job_id: str) -> JobStatus:
        """Where it is: in the queue, or else in the history."""
        name = _checked(job_id)
        ads = self._ads("condor_q", name, "-attributes", _JOB)
        ads = ads or self._ads("condor_history", name, "-limit", "1", "-attributes", _JOB)
        if not ads:
            raise BatchFailed(f"neither queue nor history has job {name}")
        return read_job(name, ads[0])

    def cancel(self, job_id: str) -> None:
        """Take it out of the queue, or end it."""
        name = _checked(job_id)
        found = self.commands.ask(["condor_rm", name])
        # condor_rm fails for a job that has left the queue; then it is over, and all is well.
        if found.status != 0 and not self.status(name).state.over:
            raise BatchFailed(f"condor_rm ended with status {found.status}", found.stderr)

    def _cores(self) -> tuple[int, int, int]:
        return pool_cores(self._ads("condor_status", "-attributes", _SLOT))

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
        raise BatchFailed(f"{tool} did not print JSON") from None
    if not isinstance(ads, list) or not all(isinstance(ad, dict) for ad in ads):
        raise BatchFailed(f"{tool} did not print a list of ClassAds")
    return ads


def pool_cores(slots: Sequence[Ad]) -> tuple[int, int, int]:
    """Cores, free cores and hosts of a pool.

    A partitionable slot's ``Cpus`` are those not yet cut off it into dynamic slots, which are listed too
    and are not to be counted again.
    """
    cores = free = 0
    hosts = set()
    for slot in slots:
        if slot.get("SlotType") == "Dynamic" or slot.get("State") in ("Owner", "Drained"):
            continue
        left = int(_number(slot, "Cpus", 0.0))
        partitionable = slot.get("SlotType") == "Partitionable"
        cores += int(_number(slot, "TotalSlotCpus", left)) if partitionable else left
        free += left if slot.get("State") == "Unclaimed" else 0
        hosts.add(str(slot.get("Machine", slot.get("Name"))))
    return cores, free, len(hosts)


def read_job(job_id: str, ad: Ad) -> JobStatus:
    """A job's ClassAd, of the queue or of the history.

    HTCondor holds a job that took longer than it was allowed; nothing follows by itself, so it has failed.
    It stays in the queue until it is canceled.

    :raises BatchFailed: for a ``JobStatus`` that the manual does not have.
    """
    state = _STATES.get(ad.get("JobStatus", 0))
    if state is None:
        raise BatchFailed(f"job {job_id}: JobStatus {str(ad.get('JobStatus'))[:20]!r} is not known")
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
        f"allowed_job_duration = {math.ceil(job.duration)}",
        "queue 1",
    ]
    return "\n".join(lines) + "\n"


def _checked(job_id: str) -> str:
    if not _ID.fullmatch(job_id):
        raise BatchFailed(f"{job_id[:40]!r} is not the id of a job")
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
