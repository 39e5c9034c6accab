"""Slurm: the parts that read, and the whole of it against a cluster of its own."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from measurement.custom.batch.commands import Commands
from measurement.custom.batch.metric import BatchMetric, Request
from measurement.custom.batch.model import BatchSystem, Capacity, Job, JobState, JobStatus
from measurement.custom.batch.sinfo import MIB
from measurement.custom.batch.slurm import Slurm
from measurement.custom.execute import Limits
from tests.measurement.custom.conftest import Install
from tests.measurement.custom.slurm_site import CORES, MEMORY, cluster, make_node, missing
from tests.support.refusals import refused

NOW = 1_795_271_961.0
SOON = Commands(("PATH",), (), Limits(seconds=60, memory=None))


def slurm(partition: str | None = None) -> Slurm:
    return Slurm(partition, commands=SOON, clock=lambda: NOW)


# --- reading -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "status", "wait"),
    [
        (
            "sbatch: Job 2 to start at 1795272561 using 1 processors on nodes localhost in partition debug",
            0,
            600.0,
        ),
        (
            "sbatch: Job 2 to start at 1795271900 using 1 processors on nodes localhost in partition debug",
            0,
            0.0,
        ),
        ("allocation failure: Requested node configuration is not available", 1, None),
        ("allocation failure: More processors requested than permitted", 1, None),
        ("allocation failure: Memory specification can not be satisfied", 1, None),
    ],
)
def test_wait_of_test_only(install: Install, said: str, status: int, wait: float | None) -> None:
    install("sbatch", f"echo '{said}' >&2; exit {status}")
    assert slurm().queue_wait(1, 1, 60) == wait


def test_a_cluster_that_is_away_is_no_estimate(install: Install) -> None:
    install("sbatch", "echo 'allocation failure: slurmctld is away' >&2; exit 1")
    with refused("batch-failed") as caught:
        slurm().queue_wait(1, 1, 60)
    assert "slurmctld" not in str(caught.error)
    assert "slurmctld" in caught.error.detail


def test_what_is_asked(install: Install, tmp_path: Path) -> None:
    install("sbatch", f'echo "$@" > {tmp_path}/argv; echo "sbatch: Job 1 to start at 1795271961 using" >&2')
    Slurm("gpu", "soykb", SOON, lambda: NOW).queue_wait(8, 2, 61)
    asked = (tmp_path / "argv").read_text().split()
    wanted = ["--nodes=2", "--ntasks=8", "--time=2", "--partition=gpu", "--account=soykb"]
    assert asked == ["--test-only", *wanted]
    Slurm(None, None, SOON, lambda: NOW).queue_wait(8, 2, 61, 3 * 2**30 + 1)
    assert "--mem=1537M" in (tmp_path / "argv").read_text().split()  # of each node, rounded up


def test_capacity_counts_what_takes_jobs(install: Install, tmp_path: Path) -> None:
    nodes = [
        make_node("a", "mixed", 4, 4, alloc_memory=250, gres="gpu:2", gres_used="gpu:1"),
        make_node("b", idle=8, state_flags=["POWERED_DOWN"]),
        make_node("c", "down", idle=0),
        make_node("d", "mixed", 2, 0, state_flags=["DRAIN"]),
        make_node("e", "allocated", 8, 0),
    ]
    (tmp_path / "nodes.json").write_text(json.dumps({"nodes": nodes}))
    install("sinfo", f"cat {tmp_path}/nodes.json")
    install("squeue", "printf 'RUNNING\\nPENDING\\nPENDING\\n'")
    memory = (3000 * MIB, 2750 * MIB)
    assert slurm().capacity() == Capacity(24, 12, 3, 1, 2, 2, *memory, 2, 1)


def test_capacity_that_cannot_be_read(install: Install) -> None:
    install("sinfo", "echo nonsense")
    install("squeue", "true")
    with refused("malformed"):
        slurm().capacity()


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (
            "6 FAILED 768 1795271943 1795271961 1795271963 NonZeroExitCode",
            JobStatus("6", JobState.FAILED, 1795271943, 1795271961, 1795271963, 3, "NonZeroExitCode"),
        ),
        (
            "6 FAILED 9 1795271943 1795271961 1795271963 RaisedSignal:9(Killed)",
            JobStatus("6", JobState.FAILED, 1795271943, 1795271961, 1795271963, -9, "RaisedSignal:9(Killed)"),
        ),
        (
            "6 CANCELLED 0 1795271943 1795271950 1795271950 Priority",
            JobStatus("6", JobState.CANCELED, 1795271943, None, 1795271950, None, "Priority"),
        ),
        (
            "6 PENDING 0 1795271943 1795273000 N/A ReqNodeNotAvail, UnavailableNodes:a",
            JobStatus("6", JobState.PENDING, 1795271943, reason="ReqNodeNotAvail, UnavailableNodes:a"),
        ),
        (
            "6 PENDING 0 1795271943 N/A N/A JobHeldUser",
            JobStatus("6", JobState.HELD, 1795271943, reason="JobHeldUser"),
        ),
        (
            "6 RUNNING 0 1795271943 1795271961 1795272961 None",
            JobStatus("6", JobState.RUNNING, 1795271943, 1795271961),
        ),
        ("6 TIMEOUT 0 1 2 3 TimeLimit", JobStatus("6", JobState.FAILED, 1, 2, 3, 0, "TimeLimit")),
    ],
)
def test_status_lines(install: Install, line: str, status: JobStatus) -> None:
    install("squeue", f"echo '66 RUNNING 0 1 2 3 None'; echo '{line}'")
    assert slurm().status("6") == status


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("6|COMPLETED|0:0|100|110|120", JobStatus("6", JobState.SUCCEEDED, 100, 110, 120, 0)),
        ("6|FAILED|3:0|100|110|120", JobStatus("6", JobState.FAILED, 100, 110, 120, 3)),
        ("6|FAILED|0:9|100|110|120", JobStatus("6", JobState.FAILED, 100, 110, 120, -9)),
        ("6|TIMEOUT|0:0|100|110|120", JobStatus("6", JobState.FAILED, 100, 110, 120, 0)),
        ("6|CANCELLED by 1000|0:0|100|120|120", JobStatus("6", JobState.CANCELED, 100, None, 120)),
        ("6|PENDING|0:0|100|Unknown|Unknown", JobStatus("6", JobState.PENDING, 100)),
    ],
)
def test_what_the_queue_forgot_the_accounts_know(install: Install, line: str, status: JobStatus) -> None:
    install("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    install("sacct", f"echo '66|RUNNING|0:0|1|2|3'; echo '{line}'")
    assert slurm().status("6") == status


@pytest.mark.parametrize(
    "accounts", ["echo 'Slurm accounting storage is disabled' >&2; exit 1", "true", "echo '6|x'"]
)
def test_without_accounts_what_the_queue_said_stands(install: Install, accounts: str) -> None:
    install("squeue", "exit 1")
    install("sacct", accounts)
    with refused("batch-failed"):
        slurm().status("6")


def test_the_newest_job_of_a_name_is_found(install: Install, tmp_path: Path) -> None:
    install("squeue", f"echo \"$@\" > {tmp_path}/argv; printf '9  \\n10  \\n'")
    assert slurm().find("adon-j3-e1") == "10"
    assert "--name=adon-j3-e1" in (tmp_path / "argv").read_text().split()
    install("squeue", "true")
    assert slurm().find("adon-j3-e1") is None


def test_waited() -> None:
    assert JobStatus("6", JobState.RUNNING, 1795271943, 1795271961).waited == 18
    assert JobStatus("6", JobState.PENDING, 1795271943).waited is None


@pytest.mark.parametrize("job_id", ["", "--help", "6;7", "6 7", "1_2", "../6"])
def test_ids_are_checked_before_they_are_used(install: Install, tmp_path: Path, job_id: str) -> None:
    for tool in ("squeue", "scancel"):
        install(tool, f"touch {tmp_path}/called")
    with refused("malformed"):
        slurm().status(job_id)
    with refused("malformed"):
        slurm().cancel(job_id)
    assert not (tmp_path / "called").exists()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "a b"}, "name"),
        ({"name": "-x"}, "name"),
        ({"cores": 0}, "cores"),
        ({"cores": 1, "nodes": 2}, "cores"),
        ({"duration": 0.0}, "duration"),
        ({"duration": float("nan")}, "duration"),
        ({"script": "sleep 1"}, "script"),
        ({"output": "/tmp/a\nqueue 100"}, "output"),
    ],
)
def test_jobs_that_are_refused(change: dict[str, object], field: str) -> None:
    good: dict[str, object] = {"name": "j", "script": "#!/bin/sh\n", "cores": 1, "nodes": 1, "duration": 60.0}
    with pytest.raises(ValueError, match=field):
        Job(**{**good, **change})  # type: ignore[arg-type]


# --- a cluster ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def configuration() -> Iterator[Path]:
    if missing():
        pytest.skip(f"no Slurm here, it lacks {', '.join(missing())}")
    with cluster() as path:
        yield path


@pytest.fixture
def site(configuration: Path, monkeypatch: pytest.MonkeyPatch) -> Slurm:
    monkeypatch.setenv("SLURM_CONF", str(configuration))
    return Slurm()


def follow(site: BatchSystem, job_id: str, until: Callable[[JobStatus], bool]) -> JobStatus:
    limit = time.monotonic() + 60
    while not until(status := site.status(job_id)):
        assert time.monotonic() < limit, f"job {job_id} stays {status}"
        time.sleep(0.2)
    return status


@pytest.mark.integration
def test_jobs_of_a_real_cluster(site: Slurm, tmp_path: Path) -> None:
    empty = site.capacity()
    assert (empty.cores, empty.free, empty.nodes, empty.running) == (CORES, CORES, 1, 0)
    assert (empty.nodes_free, empty.memory, empty.memory_free, empty.gpus) == (1, MEMORY, MEMORY, None)
    wait = site.queue_wait(1, 1, 60)
    assert wait is not None
    assert wait < 60
    assert site.queue_wait(CORES + 1, 1, 60) is None
    assert site.queue_wait(1, 1, 60, MEMORY + 1) is None

    # The whole node for ten minutes: whoever comes next waits until then.
    holder = site.submit(Job("holder", "#!/bin/sh\nsleep 600\n", CORES, 1, 600))
    assert (site.find("holder"), site.find("nobody")) == (holder, None)
    held = follow(site, holder, lambda status: status.state is JobState.RUNNING)
    assert held.started is not None
    assert site.capacity().free == 0
    wait = site.queue_wait(1, 1, 60)
    assert wait is not None
    assert abs(time.time() + wait - (held.started + 600)) < 30

    # The batch system as a metric says the same.
    values = BatchMetric("hpc", "h", site, "slurm", Request(1, 1, 60)).sample(time.time())
    by_name = {value.metric: value for value in values}
    assert by_name["batch.jobs_running"].value == 1
    assert 500 < by_name["batch.queue_wait"].value < 630
    assert by_name["batch.queue_wait"].key.destination == "hpc"

    # One waits behind it, and runs when it is canceled.
    printed = tmp_path / "printed"
    tmp_path.chmod(0o755)
    script = "#!/bin/sh\necho it ran; exit 3\n"
    follower = site.submit(Job("follower", script, 1, 1, 60, output=str(printed)))
    waiting = site.status(follower)
    assert waiting.state is JobState.PENDING
    assert waiting.started is None
    site.cancel(holder)
    assert follow(site, holder, lambda status: status.state.over).state is JobState.CANCELED
    ended = follow(site, follower, lambda status: status.state.over)
    assert (ended.state, ended.exit_status) == (JobState.FAILED, 3)
    assert ended.waited is not None
    assert ended.ended is not None
    assert printed.read_text() == "it ran\n"
    site.cancel(follower)  # it is over: nothing happens


@pytest.mark.integration
def test_a_job_that_nobody_knows(site: Slurm) -> None:
    with refused("batch-failed"):
        site.status("987654")
