"""What a cloud's own numbers mean for a site: quota and hypervisors, flavours, the life of a server; pure.

OpenStack has no queue: a server starts at once where the project's quota and the hosts have room, and not at
all where they have not.  So T_q is the time a server takes to its first line where there is room; otherwise
nobody can say when another one ends, and there is no T_q.

A job is a server that runs one script from its user data (cloud-init), says on its console how that ended,
and powers itself off.  Names and states: OpenStack Compute API, "Limits", "Hypervisors", "Flavors",
"Servers".
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from measurement.custom.batch.model import Capacity, Job, JobState, JobStatus
from measurement.sites.model import Shape, Wait

MIB = 2**20
UNLIMITED = -1
"""A quota without a limit, in the API's words."""
_STATES = {
    "BUILD": JobState.PENDING,
    "ACTIVE": JobState.RUNNING,
    "REBOOT": JobState.RUNNING,
    "HARD_REBOOT": JobState.RUNNING,
    "SHUTOFF": JobState.SUCCEEDED,  # as far as its console does not say otherwise
    "PAUSED": JobState.HELD,
    "SUSPENDED": JobState.HELD,
    "SHELVED": JobState.HELD,
    "SHELVED_OFFLOADED": JobState.HELD,
    "DELETED": JobState.CANCELED,
    "SOFT_DELETED": JobState.CANCELED,
    "ERROR": JobState.FAILED,
}


@dataclass(frozen=True, slots=True)
class Quota:
    """What the project may use, and uses; ``-1`` is no limit.  Memory in MiB."""

    cores: int
    cores_used: int
    memory: int
    memory_used: int
    servers: int
    servers_used: int


@dataclass(frozen=True, slots=True)
class Hosts:
    """What all hypervisors have, and have given away.  Memory in MiB."""

    cores: int
    cores_used: int
    memory: int
    memory_used: int


@dataclass(frozen=True, slots=True, order=True)
class Flavour:
    """A size of server: cores, MiB of memory, its id."""

    cores: int
    memory: int
    id: str


@dataclass(frozen=True, slots=True)
class Server:
    """A server as the API tells it; times as it writes them, None for what it does not tell."""

    id: str
    status: str
    created: str | None = None
    launched: str | None = None
    updated: str | None = None
    fault: str = ""


def capacity(quota: Quota, hosts: Hosts | None) -> Capacity:
    """What the project could have, and has left: by its quota, and by the hosts where we may see them.

    Where neither limits something, what is used counts as all there is.
    """
    of_cores = None if hosts is None else (hosts.cores, hosts.cores_used)
    of_memory = None if hosts is None else (hosts.memory, hosts.memory_used)
    cores, cores_free = _least(quota.cores, quota.cores_used, of_cores)
    memory, memory_free = _least(quota.memory, quota.memory_used, of_memory)
    servers, servers_free = _least(quota.servers, quota.servers_used, None)
    return Capacity(
        cores,
        cores_free,
        servers,
        quota.servers_used,
        0,
        servers_free,
        memory * MIB,
        memory_free * MIB,
    )


def _least(limit: int, used: int, hosts: tuple[int, int] | None) -> tuple[int, int]:
    # (all, left) by the tighter of the two; what others use of the hosts is neither ours nor left.
    if hosts is None:
        return (used, 0) if limit == UNLIMITED else (limit, max(0, limit - used))
    there, given = hosts
    left = max(0, there - given)
    if limit == UNLIMITED:
        return used + left, left
    return min(limit, used + left), max(0, min(limit - used, left))


def fitting(flavours: Sequence[Flavour], cores: int, memory: int) -> Flavour | None:
    """The smallest flavour with so many cores and bytes of memory."""
    enough = [one for one in flavours if one.cores >= cores and one.memory * MIB >= memory]
    return min(enough, default=None)


def wait(shape: Shape, flavours: Sequence[Flavour], there: Capacity, start: float) -> Wait:
    """T_q of a shape.

    :param start: seconds from asking for a server to its script's first line.
    """
    if shape.nodes > 1:
        return Wait(shape, None, f"a job is one server there, {shape.nodes} nodes are needed")
    flavour = fitting(flavours, shape.cores, shape.memory)
    if flavour is None:
        return Wait(shape, None, f"no flavour has {shape.cores} cores and {shape.memory} B of memory")
    if there.nodes_free == 0:
        return Wait(shape, None, "the quota of servers is used up; nobody can say when one of them ends")
    if flavour.cores > there.free:
        return Wait(shape, None, f"{there.free} of {there.cores} cores are free, {flavour.cores} are needed")
    if there.memory_free is not None and flavour.memory * MIB > there.memory_free:
        return Wait(
            shape, None, f"{there.memory_free} B of memory are free, {flavour.memory * MIB} are needed"
        )
    return Wait(shape, start)


def user_data(job: Job) -> str:
    """What cloud-init runs at the first boot, base64 as the API wants it.

    The script travels as base64, so nothing in it can be read as anything else; the time limit is kept by
    ``timeout``; the last line on the console is what :func:`ended` reads.
    """
    script = base64.b64encode(job.script.encode()).decode()
    lines = [
        "#!/bin/sh",
        "f=`mktemp`",
        f"echo {script} | base64 -d >$f",
        "chmod 700 $f",
        f"cd {_quoted(job.folder)}",
        f"timeout {math.ceil(job.duration)} $f >>{_quoted(job.output)} 2>&1",
        f'echo "{_mark(job.name)} $? `date +%s`" >/dev/console',
        "poweroff",
    ]
    return base64.b64encode(("\n".join(lines) + "\n").encode()).decode()


def _quoted(path: str) -> str:
    return "'" + path.replace("'", "'\\''") + "'"


def _mark(name: str) -> str:
    return f"ADON {name} ended"


def ended(console: str, name: str) -> tuple[int, float] | None:
    """Exit status and time of the script's end, from the console; None if the line is not there."""
    found = re.findall(rf"{re.escape(_mark(name))} (\d{{1,3}}) (\d{{1,12}})\b", console)
    return (int(found[-1][0]), float(found[-1][1])) if found else None


def status(server: Server, told: tuple[int, float] | None) -> JobStatus:
    """A server as a job.

    :param told: what its console says of the script's end.
    """
    state = _STATES.get(server.status.upper(), JobState.PENDING)
    at_end = _time(server.updated)
    code = None
    if state is JobState.SUCCEEDED and told is None:
        state = JobState.FAILED
        reason = "it powered off and did not say how its script ended"
    elif told is not None and state in (JobState.SUCCEEDED, JobState.RUNNING):
        code, at_end = told
        state = JobState.SUCCEEDED if code == 0 else JobState.FAILED
        reason = ""
    else:
        reason = server.fault
    return JobStatus(
        server.id,
        state,
        _time(server.created),
        _time(server.launched) if state is not JobState.PENDING else None,
        at_end if state.over else None,
        code,
        reason,
    )


def _time(text: str | None) -> float | None:
    # "2013-09-03T04:01:32Z", or without the Z and with fractions (OS-SRV-USG:launched_at): always UTC.
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
