"""All of ADON, as ``adon serve`` starts it, in front of a real Slurm: T_q, jobs, and what they teach."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from adon.api.sites import ComputeSiteView, JobView
from adon.client import Client
from adon.config import load
from adon.errors import Conflict, InvalidInput
from tests.apps.edge import DIES_WITH_US, ROOT, eventually, free_port, write_configuration
from tests.measurement.custom.slurm_site import CORES, cluster, missing

RUNS = (
    "import sys; from pathlib import Path; from apps.serve import run;"
    "sys.exit(run(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])))"
)


class Service:
    """``adon serve`` with one Slurm site, and a client of its API."""

    def __init__(self, folder: Path, slurm_conf: Path) -> None:
        self.folder = folder
        config, token = write_configuration(folder, free_port()), folder / "token"
        body = yaml.safe_load(config.read_text())
        body["compute"]["osu-hpc"]["adapter"] = adapter(folder, slurm_conf)
        config.write_text(yaml.safe_dump(body, sort_keys=False))
        with (folder / "serve.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*DIES_WITH_US, sys.executable, "-c", RUNS, str(config), str(folder / "data"), str(token)],
                cwd=ROOT,
                env={**os.environ, "NO_PROXY": "*"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        eventually(token.exists, "there is no token")
        url = f"http://127.0.0.1:{load(config).controller.web_port}"
        self.api = Client.at(url, token.read_text().strip())
        eventually(self.api.ready, "ADON does not answer")

    def site(self, state: str) -> ComputeSiteView:
        """The site, when it has come to this state."""

        def look() -> ComputeSiteView | None:
            found = self.api.site("osu-hpc")
            return found if found.state == state else None

        found: ComputeSiteView = eventually(look, f"the site is not {state}")
        return found

    def job(self, job: str, *states: str) -> JobView:
        """A job, when it has come to one of these states."""

        def look() -> JobView | None:
            found = self.api.job(job)
            return found if found.state in states else None

        found: JobView = eventually(look, f"{job} is not {states}: {self.api.job(job)}")
        return found

    def kill_controller(self) -> None:
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        (controller,) = (p for p in listed if b"campus_edge" in Path(f"/proc/{p}/cmdline").read_bytes())
        os.kill(int(controller), signal.SIGKILL)
        eventually(lambda: not self.api.ready(), "the controller lives")
        eventually(self.api.ready, "the controller does not come back")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def adapter(folder: Path, slurm_conf: Path) -> dict[str, Any]:
    note = folder / "note"
    note.write_text(f'#!/bin/sh\necho "$@" >> {folder}/ran\nsleep 2\n')
    note.chmod(0o755)
    jobs = {
        "hold": {"run": ["/bin/sleep", "600"], "cores": CORES, "time_limit": "10 min"},
        "note": {"run": [str(note), "{job}", "{bytes}"], "arguments": 1, "time_limit": "1 min"},
        "fail": {"run": ["/bin/false"], "time_limit": "1 min"},
    }
    quick = {"period": "1 s", "follow": "0.5 s", "timeout": "5 s"}
    return {"kind": "slurm", "slurm_conf": str(slurm_conf), **quick, "jobs": jobs}


@pytest.fixture
def slurm() -> Iterator[tuple[Path, ExitStack]]:
    """A cluster's configuration file, and what ends the cluster."""
    if missing():
        pytest.skip(f"no Slurm here, it lacks {', '.join(missing())}")
    with ExitStack() as stack:
        yield stack.enter_context(cluster()), stack


@pytest.fixture
def service(tmp_path: Path, slurm: tuple[Path, ExitStack]) -> Iterator[Service]:
    tmp_path.chmod(0o755)
    built = Service(tmp_path, slurm[0])
    yield built
    built.stop()


@pytest.mark.slow
@pytest.mark.integration
def test_a_real_site_from_its_queue_to_what_its_jobs_teach(
    service: Service, slurm: tuple[Path, ExitStack]
) -> None:
    site = service.site("answers")
    assert (site.capacity.cores, site.capacity.cores_free, site.capacity.nodes) == (
        CORES,
        CORES,
        1,
    )
    # Of the built-in templates one asks for eight cores, which this node does not have.
    assert {wait.cores: wait.said_seconds is None for wait in site.waits} == {1: False, 8: True}

    # The whole node for ten minutes: T_q says so, and whoever comes next is told.
    hold = service.api.submit_job({"site": "osu-hpc", "job": "hold"}).id
    service.job(hold, "running")
    eventually(lambda: (service.site("answers").waits[0].said_seconds or 0) > 500, "T_q is still small")
    note = service.api.submit_job(
        {"site": "osu-hpc", "job": "note", "arguments": ["a/b"], "size": "10 MB", "template": "soykb"}
    ).id
    waiting = service.job(note, "waiting")
    assert 500 < waiting.predicted_seconds < 630

    # A controller that dies in the middle knows its jobs again, and has none handed over twice.
    service.kill_controller()
    service.api.cancel_job(hold)
    assert service.job(hold, "cancelled").started_at is not None
    done = service.job(note, "succeeded", "failed")
    assert (done.state, done.exit_status, done.site_job) == ("succeeded", 0, waiting.site_job)
    assert (service.folder / "ran").read_text() == f"{note} 10000000 a/b\n"
    assert done.ran_seconds >= 1
    assert done.node_rate_bps == pytest.approx(10e6 * 8 / done.ran_seconds)

    # It waited shorter than said, so the site's word stands; its rate is learnt.
    taught = service.site("answers")
    assert (taught.honesty.jobs, taught.honesty.factor) == (2, pytest.approx(1.0, abs=0.2))
    assert [rate.template for rate in taught.rates] == ["soykb"]

    failed = service.job(service.api.submit_job({"site": "osu-hpc", "job": "fail"}).id, "failed")
    assert failed.exit_status == 1
    with pytest.raises(Conflict):
        service.api.cancel_job(failed.id)
    with pytest.raises(InvalidInput, match="arguments"):
        service.api.submit_job({"site": "osu-hpc", "job": "note", "arguments": ["$(id)"]})

    # A site that is away costs infinity, and says since when.
    slurm[1].close()
    away = service.site("silent")
    assert away.silent_since is not None
    assert away.why.startswith(("sinfo", "squeue", "sbatch"))
