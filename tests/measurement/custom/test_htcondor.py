"""HTCondor, with answers written in the format of its tools (tests/data/htcondor/README.md)."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.custom.batch.commands import Commands
from measurement.custom.batch.htcondor import HTCondor, read_ads, read_job, submit_description
from measurement.custom.batch.model import Capacity, Job, JobState, JobStatus
from measurement.custom.batch.queueing import Demand, first_come_first_served
from measurement.custom.execute import Limits
from tests.measurement.custom.conftest import DATA, Install
from tests.support.refusals import refused

NOW = 1_760_000_000.0
HTC = DATA / "htcondor"
JOB = Job("align", '#!/bin/sh\necho "it\'s" $(id -u); exit 3\n', 4, 1, 90.5, output="/tmp/align.out")


@pytest.fixture
def pool(install: Install, tmp_path: Path) -> HTCondor:
    """Tools that note what they were asked and print what was recorded."""
    for tool in ("condor_q", "condor_status", "condor_history"):
        install(tool, f'echo "$@" >> {tmp_path}/{tool}.argv; cat {HTC}/{tool}.json')
    install(
        "condor_submit",
        f'echo "$@" > {tmp_path}/submit.argv; cat > {tmp_path}/submitted; cat {HTC}/condor_submit.txt',
    )
    return HTCondor(Commands(("PATH",), (), Limits(seconds=60, memory=None)), lambda: NOW)


def test_capacity(pool: HTCondor) -> None:
    # node3 is its owner's, node4 is drained; dynamic slots are part of their partitionable ones.
    assert pool.capacity() == Capacity(cores=16, free=2, nodes=2, running=3, pending=3, nodes_free=1)


def test_memory_and_gpus_where_the_slots_say_them(pool: HTCondor, install: Install) -> None:
    whole = {"SlotType": "Partitionable", "State": "Unclaimed", "Machine": "a", "Cpus": 1, "TotalSlotCpus": 8}
    memory = {"Memory": 1000, "TotalSlotMemory": 9000}
    cut = {"SlotType": "Dynamic", "State": "Claimed", "Machine": "a", "Memory": 8000, "TotalSlotMemory": 8000}
    gpus = {"State": "Claimed", "Machine": "b", "Cpus": 1, "GPUs": 2, "TotalSlotGPUs": 2}
    install("condor_status", f"echo '{json.dumps([{**whole, **memory}, cut, gpus])}'")
    found = pool.capacity()
    assert (found.memory, found.memory_free) == (9000 * 2**20, 1000 * 2**20)
    assert (found.gpus, found.gpus_free) == (2, 0)
    assert pool.queue_wait(1, 1, 60.0, 9000 * 2**20 + 1) is None
    assert pool.queue_wait(1, 1, 60.0, 9000 * 2**20) is not None


def test_the_newest_job_of_a_name_is_found(pool: HTCondor, install: Install, tmp_path: Path) -> None:
    both = json.dumps([{"ClusterId": 9, "ProcId": 0}, {"ClusterId": 10, "ProcId": 0}])
    install("condor_q", f"printf '%s\\n' \"$@\" > {tmp_path}/argv; echo '{both}'")
    assert pool.find("adon-j3-e1") == "10.0"
    assert 'JobBatchName == "adon-j3-e1"' in (tmp_path / "argv").read_text().splitlines()
    install("condor_q", "true")
    install("condor_history", f"echo '{both}'")
    assert pool.find("adon-j3-e1") == "10.0"
    install("condor_history", "true")
    assert pool.find("adon-j3-e1") is None
    with refused("malformed"):
        pool.find('a" || true || "')


@pytest.mark.parametrize(
    ("cores", "wait"),
    [
        # 812: 8 cores for 600 s more; 815: 4 cores, no limit, usually 700 s, past it; 816: 2 cores for 900 s.
        # 821 wants 8: it starts when 812 ends, for 1800 s.  823 wants 2 on each of 2 hosts: then too.
        (1, 600.0),
        (2, 600.0),
        (3, 900.0),
        (16, 2400.0),
        (17, None),
    ],
)
def test_queue_wait(pool: HTCondor, cores: int, wait: float | None) -> None:
    assert pool.queue_wait(cores, 1, 60.0) == wait


def test_without_history_there_is_no_estimate(pool: HTCondor, install: Install) -> None:
    install("condor_history", "true")
    with refused("batch-failed"):
        pool.queue_wait(1, 1, 60.0)


def test_with_limits_on_all_jobs_no_history_is_needed(pool: HTCondor, install: Install) -> None:
    install("condor_history", "exit 1")
    install("condor_q", "true")
    assert pool.queue_wait(16, 1, 60.0) == 0.0


def test_submit(pool: HTCondor, tmp_path: Path) -> None:
    assert pool.submit(JOB) == "831.0"
    lines = (tmp_path / "submitted").read_text().splitlines()
    assert {"universe = vanilla", "request_cpus = 4", "allowed_job_duration = 91", "queue 1"} <= set(lines)
    assert (tmp_path / "submit.argv").read_text() == "-terse -\n"


def test_the_script_travels_whole() -> None:
    text = submit_description(JOB)
    (arguments,) = re.findall(r"^arguments = \"-c '([^'\"]*)'\"$", text, re.MULTILINE)
    assert "$(" not in text
    ran = subprocess.run(["/bin/sh", "-c", arguments], capture_output=True, text=True, check=False)
    assert ran.returncode == 3
    assert ran.stdout.startswith("it's ")


def test_a_script_is_no_submit_command() -> None:
    script = "#!/bin/sh\nqueue 1000\nexecutable = /bin/evil\n"
    text = submit_description(Job("j", script, 8, 2, 60.0))
    assert text.count("queue") == 1
    assert base64.b64encode(script.encode()).decode() in text
    assert {"universe = parallel", "machine_count = 2", "request_cpus = 4"} <= set(text.splitlines())


def test_submit_that_says_nothing(pool: HTCondor, install: Install) -> None:
    install("condor_submit", "cat > /dev/null; echo 'ERROR: no schedd' >&2")
    with refused("batch-failed"):
        pool.submit(JOB)


def test_status_in_the_queue(pool: HTCondor, install: Install, tmp_path: Path) -> None:
    held = next(ad for ad in json.loads((HTC / "condor_q.json").read_text()) if ad["ClusterId"] == 824)
    install("condor_q", f"echo \"$@\" > {tmp_path}/argv; echo '{json.dumps([held])}'")
    found = pool.status("824.0")
    assert found == JobStatus("824.0", JobState.HELD, NOW - 500, reason="HoldReasonCode 13")
    assert (tmp_path / "argv").read_text().split()[0] == "824.0"


@pytest.mark.parametrize(("code", "state"), [(46, "failed"), (47, "failed"), (13, "held"), (1, "held")])
def test_a_job_held_for_its_time_has_failed(code: int, state: str) -> None:
    found = read_job("1.0", {"JobStatus": 5, "HoldReasonCode": code})
    assert (found.state, found.reason) == (state, f"HoldReasonCode {code}")


@pytest.mark.parametrize(
    ("recorded", "status"),
    [
        (
            "condor_history-job.json",
            JobStatus("801.0", JobState.FAILED, NOW - 9000, NOW - 8400, NOW - 8000, 3),
        ),
        (
            "condor_history-killed.json",
            JobStatus("801.0", JobState.FAILED, NOW - 9000, NOW - 8400, NOW - 8000, -11),
        ),
    ],
)
def test_status_in_the_history(pool: HTCondor, install: Install, recorded: str, status: JobStatus) -> None:
    install("condor_q", "true")
    install("condor_history", f"cat {HTC}/{recorded}")
    assert pool.status("801.0") == status


@pytest.mark.parametrize(
    ("number", "state"),
    [
        (1, "pending"),
        (2, "running"),
        (3, "canceled"),
        (4, "succeeded"),
        (5, "held"),
        (6, "running"),
        (7, "running"),
    ],
)
def test_states(number: int, state: str) -> None:
    assert read_job("1.0", {"JobStatus": number, "ExitCode": 0}).state == state


def test_a_job_that_nobody_knows(pool: HTCondor, install: Install) -> None:
    install("condor_q", "echo '[]'")
    install("condor_history", "true")
    with refused("not-found"):
        pool.status("9.0")
    with refused("unknown-value"):
        read_job("9.0", {"JobStatus": 8})


@pytest.mark.parametrize("job_id", ["", "7", "-all", "7.0;id", "7.0 8.0", "soykb"])
def test_ids_are_checked_before_they_are_used(
    pool: HTCondor, install: Install, tmp_path: Path, job_id: str
) -> None:
    install("condor_rm", f"touch {tmp_path}/called")
    for method in (pool.status, pool.cancel):
        with refused("malformed"):
            method(job_id)
    assert not (tmp_path / "called").exists()


def test_cancel(pool: HTCondor, install: Install, tmp_path: Path) -> None:
    install("condor_rm", f'echo "$@" > {tmp_path}/argv')
    pool.cancel("821.0")
    assert (tmp_path / "argv").read_text() == "821.0\n"
    # One that has left the queue stays as it is; one that could not be removed is told.
    install("condor_rm", "echo 'not found' >&2; exit 1")
    install("condor_q", "true")
    install("condor_history", f"cat {HTC}/condor_history-job.json")
    pool.cancel("801.0")
    install("condor_q", f"cat {HTC}/condor_q.json")
    with refused("batch-failed"):
        pool.cancel("812.0")


@pytest.mark.parametrize("text", ["<html>", '{"a": 1}', "[1, 2]", "[" * 100_000, '[{"ClusterId": 1}'])
def test_answers_that_cannot_be_read(text: str) -> None:
    with refused("malformed"):
        read_ads("condor_q", text)


def test_attributes_that_are_expressions_are_not_numbers(pool: HTCondor, install: Install) -> None:
    ads = [
        {
            "ClusterId": 1,
            "ProcId": 0,
            "JobStatus": 1,
            "RequestCpus": "ifThenElse(a,1,2)",
            "AllowedJobDuration": 60,
        }
    ]
    install("condor_q", f"echo '{json.dumps(ads)}'")
    assert pool.queue_wait(16, 1, 60.0) == 60.0  # one core is taken for its 60 s


# --- the queue ---------------------------------------------------------------------------------------------

TOTAL = 8
DEMANDS = st.lists(st.builds(Demand, st.integers(1, 10), st.integers(0, 50).map(float)), max_size=8)


def started(cores: int, running: list[Demand], waiting: list[Demand]) -> float:
    """When it starts, second by second."""
    held = [(job.cores, job.seconds) for job in running]
    line = [*(job for job in waiting if job.cores <= TOTAL), Demand(cores, 0.0)]
    now = 0.0
    while True:
        held = [(taken, end) for taken, end in held if end > now]
        while line and sum(taken for taken, _ in held) + line[0].cores <= TOTAL:
            job = line.pop(0)
            if not line:
                return now
            if job.seconds > 0:
                held.append((job.cores, now + job.seconds))
        now += 1.0


def fitting(demands: list[Demand]) -> list[Demand]:
    """Those that can run together."""
    fit: list[Demand] = []
    for demand in demands:
        if sum(job.cores for job in fit) + demand.cores <= TOTAL:
            fit.append(demand)
    return fit


@given(st.integers(1, TOTAL), DEMANDS, DEMANDS)
def test_the_queue_is_served_in_order(cores: int, running: list[Demand], waiting: list[Demand]) -> None:
    running = fitting(running)
    wait = first_come_first_served(cores, TOTAL, running, waiting)
    assert wait == started(cores, running, waiting)


@given(st.integers(1, 12), DEMANDS, DEMANDS)
def test_nobody_gains_by_a_longer_queue(cores: int, running: list[Demand], waiting: list[Demand]) -> None:
    running = fitting(running)
    alone = first_come_first_served(cores, TOTAL, running, [])
    wait = first_come_first_served(cores, TOTAL, running, waiting)
    assert (wait is None) == (alone is None) == (cores > TOTAL)
    if wait is not None and alone is not None:
        assert wait >= alone >= 0
