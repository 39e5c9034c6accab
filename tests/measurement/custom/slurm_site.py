"""A whole Slurm cluster in a folder: munged, slurmctld, a slurmd per node, on ports of their own.

Nothing outside the folder is read or written: the key, the sockets, the state and the logs are in it, and
every client finds the cluster by ``SLURM_CONF``.
"""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.ports import free_port

NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "sinfo", "scancel")
CGROUPS = Path("/sys/fs/cgroup")
CORES = 2
MEMORY = 1000 * 2**20
"""Bytes that the node is configured to have; less than any machine that runs these tests."""

_CONFIGURATION = """
ClusterName=adontest
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,sched_min_interval=0
ReturnToService=2
KillWait=1
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
PlugStackConfig={folder}/plugstack.conf
MailProg=/bin/true
AccountingStorageType=accounting_storage/none
{listed}PartitionName=debug Nodes={nodes} Default=YES MaxTime=60 State=UP
"""
_NODE = (
    "NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cores} RealMemory={memory}\n"
)


def missing() -> list[str]:
    """What this machine lacks: programs, or the cgroups without which slurmd does not start."""
    programs = [program for program in NEEDED if shutil.which(program) is None]
    return programs if CGROUPS.is_mount() else [*programs, f"a file system at {CGROUPS}"]


@contextmanager
def cluster(nodes: Sequence[str] = ("localhost",)) -> Iterator[Path]:
    """Start it, wait until its nodes take jobs, and end it; its configuration file."""
    folder = Path(tempfile.mkdtemp(prefix="adon-slurm-"))  # short: the path of a socket has 107 characters
    folder.chmod(0o755)
    try:
        configuration = _prepare(folder, nodes)
        with ExitStack() as daemons:
            _start_munged(folder, daemons)
            environment = {**os.environ, "SLURM_CONF": str(configuration)}
            daemons.enter_context(_daemon(folder, ["slurmctld", "-D"], environment))
            for name in nodes:
                daemons.enter_context(_daemon(folder, ["slurmd", "-D", "-N", name], environment))
            # Called before the daemons end, or the steps of running jobs would outlive them.
            daemons.callback(_end_jobs, environment)
            idle = f"{len(nodes)} idle"
            _wait("the nodes take jobs", lambda: _said(["sinfo", "-h", "-o", "%D %T"], environment) == idle)
            yield configuration
    finally:
        shutil.rmtree(folder)


def _prepare(folder: Path, nodes: Sequence[str]) -> Path:
    for name in ("munge", "key", "state", "spool", *(f"spool/{node}" for node in nodes)):
        (folder / name).mkdir()
    (folder / "plugstack.conf").touch()
    configuration = folder / "slurm.conf"
    ctld_port, *ports = (free_port() for _ in range(1 + len(nodes)))
    host = socket.gethostname().split(".")[0]
    memory = MEMORY // 2**20
    listed = (
        _NODE.format(name=name, host=host, port=port, cores=CORES, memory=memory)
        for name, port in zip(nodes, ports, strict=True)
    )
    configuration.write_text(
        _CONFIGURATION.format(
            folder=folder,
            host=host,
            user=getpass.getuser(),
            ctld_port=ctld_port,
            nodes=",".join(nodes),
            listed="".join(listed),
        )
    )
    return configuration


def _start_munged(folder: Path, daemons: ExitStack) -> None:
    key = folder / "key" / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    key.parent.chmod(0o700)
    files = {
        "socket": folder / "munge" / "socket",
        "key-file": key,
        "log-file": folder / "munged.log",
        "pid-file": folder / "munge" / "pid",
        "seed-file": folder / "key" / "seed",
    }
    options = [f"--{name}={path}" for name, path in files.items()]
    daemons.enter_context(
        _daemon(folder, ["munged", "--foreground", "--num-threads=4", *options], dict(os.environ))
    )
    _wait("munged answers", files["socket"].exists)


@contextmanager
def _daemon(folder: Path, argv: list[str], environment: dict[str, str]) -> Iterator[None]:
    with (folder / f"{argv[0]}.out").open("wb") as said:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", "--", *argv], stdout=said, stderr=said, env=environment
        )
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _end_jobs(environment: dict[str, str]) -> None:
    subprocess.run(["scancel", "--state=PENDING"], env=environment, check=False)
    subprocess.run(["scancel", "--state=RUNNING"], env=environment, check=False)
    _wait("no job is left", lambda: _said(["squeue", "-h", "-o", "%T"], environment) == "")


def _said(argv: list[str], environment: dict[str, str]) -> str | None:
    found = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=30)
    return found.stdout.strip() if found.returncode == 0 else None


def _wait(what: str, reached: Callable[[], bool], seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < until, f"not within {seconds} s: {what}"
        time.sleep(0.1)


def make_node(
    name: str = "a", state: str = "idle", allocated: int = 0, idle: int = 8, **more: Any
) -> dict[str, Any]:
    """A node as 22.05 prints it, without what is not read."""
    fields = {"state_flags": [], "partitions": ["debug"], "real_memory": 1000, "alloc_memory": 0}
    cpus = {"alloc_cpus": allocated, "idle_cpus": idle}
    return {"name": name, "state": state, **cpus, **fields, "gres": "", "gres_used": "gpu:0", **more}
