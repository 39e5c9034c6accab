"""What a cloud's numbers mean for a site."""

from __future__ import annotations

import base64
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.custom.batch.model import Capacity, Job, JobState, JobStatus
from measurement.sites.cloud import (
    MIB,
    UNLIMITED,
    Flavour,
    Hosts,
    Quota,
    Server,
    capacity,
    ended,
    fitting,
    status,
    user_data,
    wait,
)
from measurement.sites.model import Shape

QUOTA = Quota(20, 4, 51200, 1024, 10, 2)
FLAVOURS = [Flavour(1, 512, "1"), Flavour(2, 4096, "3"), Flavour(8, 16384, "5"), Flavour(1, 2048, "2")]
GIB = 2**30


@pytest.mark.parametrize(
    ("quota", "hosts", "cores", "free"),
    [
        (QUOTA, None, 20, 16),
        (QUOTA, Hosts(100, 10, 10**6, 0), 20, 16),
        (QUOTA, Hosts(12, 8, 10**6, 0), 8, 4),  # the hosts are fuller than the quota knows
        (QUOTA, Hosts(12, 30, 10**6, 0), 4, 0),  # overcommitted
        (replace(QUOTA, cores=UNLIMITED), Hosts(12, 8, 10**6, 0), 8, 4),
        (replace(QUOTA, cores=UNLIMITED), None, 4, 0),
        (replace(QUOTA, cores_used=25), None, 20, 0),  # the quota was cut
    ],
)
def test_quota_and_hosts_limit_together(quota: Quota, hosts: Hosts | None, cores: int, free: int) -> None:
    found = capacity(quota, hosts)
    assert (found.cores, found.free) == (cores, free)


def test_the_whole_of_a_capacity() -> None:
    assert capacity(QUOTA, None) == Capacity(20, 16, 10, 2, 0, 8, 51200 * MIB, 50176 * MIB)


@given(
    st.builds(Quota, *[st.integers(-1, 100), st.integers(0, 100)] * 3),
    st.none() | st.builds(Hosts, *[st.integers(0, 100)] * 4),
)
def test_there_is_never_more_free_than_there_is(quota: Quota, hosts: Hosts | None) -> None:
    found = capacity(quota, hosts)
    assert 0 <= found.free <= max(found.cores, 0)
    assert found.memory is not None
    assert found.memory_free is not None
    assert 0 <= found.memory_free <= max(found.memory, 0)


@pytest.mark.parametrize(
    ("cores", "memory", "found"),
    [(1, 0, "1"), (1, GIB, "2"), (2, 0, "3"), (3, 0, "5"), (9, 0, None), (1, 17 * GIB, None)],
)
def test_the_smallest_flavour_that_fits(cores: int, memory: int, found: str | None) -> None:
    flavour = fitting(FLAVOURS, cores, memory)
    assert (None if flavour is None else flavour.id) == found


@pytest.mark.parametrize(
    ("shape", "there", "seconds", "why"),
    [
        (Shape(), capacity(QUOTA, None), 60.0, ""),
        (Shape(1, 8), capacity(QUOTA, None), 60.0, ""),
        (Shape(2, 2), capacity(QUOTA, None), None, "one server there, 2 nodes"),
        (Shape(1, 9), capacity(QUOTA, None), None, "no flavour has 9 cores"),
        (
            Shape(1, 8),
            capacity(replace(QUOTA, cores_used=13), None),
            None,
            "7 of 20 cores are free, 8 are needed",
        ),
        (Shape(), capacity(replace(QUOTA, servers_used=10), None), None, "quota of servers is used up"),
        (Shape(1, 1, 2 * GIB), capacity(replace(QUOTA, memory_used=51000), None), None, "of memory are free"),
    ],
)
def test_there_is_room_at_once_or_nobody_can_say_when(
    shape: Shape, there: Capacity, seconds: float | None, why: str
) -> None:
    found = wait(shape, FLAVOURS, there, 60.0)
    assert found.seconds == seconds
    assert why in found.why


# --- servers as jobs ---------------------------------------------------------------------------------------


def test_the_user_data_runs_the_script_keeps_the_time_and_tells_its_end(tmp_path: Path) -> None:
    output, console = tmp_path / "it's out", tmp_path / "console"
    job = Job(
        "adon-j1-e1", '#!/bin/sh\necho "it\'s" $(echo me); exit 3\n', 1, 1, 60.0, str(output), str(tmp_path)
    )
    text = base64.b64decode(user_data(job)).decode()
    assert text.startswith("#!/bin/sh\n")
    assert text.endswith("\npoweroff\n")
    here = text.replace("/dev/console", str(console)).replace("\npoweroff\n", "\n")
    subprocess.run(["/bin/sh", "-c", here], check=True)
    assert output.read_text() == "it's me\n"
    found = ended(console.read_text(), "adon-j1-e1")
    assert found is not None
    assert found[0] == 3
    assert found[1] > 1e9


@pytest.mark.parametrize(
    ("console", "found"),
    [
        ("", None),
        ("ADON adon-j1-e2 ended 0 100", None),
        ("boot\nADON adon-j1-e1 ended 0 100\npower down", (0, 100.0)),
        ("ADON adon-j1-e1 ended 0 100\nADON adon-j1-e1 ended 124 200", (124, 200.0)),
        ("ADON adon-j1-e1 ended x y", None),
    ],
)
def test_the_last_line_on_the_console_counts(console: str, found: tuple[int, float] | None) -> None:
    assert ended(console, "adon-j1-e1") == found


CREATED, UPDATED = "2013-09-03T04:01:32Z", "2013-09-03T05:00:00Z"
AT, LATER = 1378180892.0, 1378184400.0


@pytest.mark.parametrize(
    ("server", "told", "expected"),
    [
        (Server("a", "BUILD", CREATED), None, JobStatus("a", JobState.PENDING, AT)),
        (
            Server("a", "ACTIVE", CREATED, "2013-09-03T04:02:32.000000", UPDATED),
            None,
            JobStatus("a", JobState.RUNNING, AT, AT + 60),
        ),
        (
            Server("a", "SHUTOFF", CREATED, CREATED, UPDATED),
            (0, 1378181000.0),
            JobStatus("a", JobState.SUCCEEDED, AT, AT, 1378181000.0, 0),
        ),
        (
            Server("a", "ACTIVE", CREATED, CREATED, UPDATED),  # it is about to power off
            (3, 1378181000.0),
            JobStatus("a", JobState.FAILED, AT, AT, 1378181000.0, 3),
        ),
        (
            Server("a", "SHUTOFF", CREATED, CREATED, UPDATED),
            None,
            JobStatus(
                "a",
                JobState.FAILED,
                AT,
                AT,
                LATER,
                None,
                "it powered off and did not say how its script ended",
            ),
        ),
        (
            Server("a", "ERROR", CREATED, None, UPDATED, "No valid host was found."),
            None,
            JobStatus("a", JobState.FAILED, AT, None, LATER, None, "No valid host was found."),
        ),
        (Server("a", "DELETED", CREATED), None, JobStatus("a", JobState.CANCELED, AT)),
        (Server("a", "PAUSED", CREATED, CREATED), None, JobStatus("a", JobState.HELD, AT, AT)),
        (Server("a", "NEW-WORD", "yesterday"), None, JobStatus("a", JobState.PENDING)),
    ],
)
def test_a_server_as_a_job(server: Server, told: tuple[int, float] | None, expected: JobStatus) -> None:
    assert status(server, told) == expected
