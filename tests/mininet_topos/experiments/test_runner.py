from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from adon.errors import Unavailable
from mininet_topos.experiments.loading import BUILT_IN
from mininet_topos.experiments.plan import plan_trials
from mininet_topos.experiments.report import REPORT_FILE, judge_run
from mininet_topos.experiments.results import FlowState
from mininet_topos.experiments.runner import NOT_IN_SET, RunOptions, load_checked, run_all, run_experiment
from mininet_topos.experiments.verdicts import Conclusion
from tests.mininet_topos.isolated import ROOT, find_processes, processes
from tests.support.refusals import refused

INTERRUPTED, DIFFERS = 130, 3
PINNED = """\
experiment: pinned
title: Transfers without ADON
network: mu_osu
scale: 400
sizes: 4000
templates: [soykb]
policies: [always al2s, always internet]
repetitions: 1
measuring: {throughput: null, rtt: null, latency: null}
workload:
  - {flow: soykb, template: soykb, from: mu, to: osu, size: 4 GB, streams: 1}
"""
KILLED = """\
experiment: killed
title: The controller is killed
network: mu_osu
scale: 400
repetitions: 1
limit: 2 min
measuring: {throughput: null, rtt: 4 s, latency: null}
templates:
  - name: steady
    title: A steady stream
    qspec: {rtt: {max: 1 s}}
    weights: {rtt: 1}
    tables: {rtt: {points: [[500 ms, 10], [1 s, 1]]}}
    priority: 500
workload:
  - {flow: long, template: steady, from: mu, to: osu, lasts: 1 min, rate: 400 Mbps}
figures:
  received: {of: received}
checks:
  - {check: bytes arrive, value: received, between: [1 B, null]}
"""


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("configuration: {policy: {settle: yes}}", "configuration"),
        ("configuration: {compute: {hpc: {site: nowhere}}}", "configuration"),
    ],
)
def test_configuration_that_adon_refuses_is_refused_with_its_line(tmp_path, line, field):
    file = tmp_path / "mine.yaml"
    file.write_text(f"{PINNED}{line}\n")
    with refused("invalid", field, line=len(PINNED.splitlines()) + 1):
        load_checked(str(file))


def test_tests_that_do_not_fit_are_refused_with_their_line(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(PINNED.replace("null, rtt: null, latency: null", "4 s, rtt: 4 s, latency: 4 s"))
    with refused("invalid", "measuring", line=9):
        load_checked(str(file))


def test_topology_of_a_file_is_beside_the_document(tmp_path):
    topology = (ROOT / "mininet_topos/topologies/mu_osu.py").read_text()
    (tmp_path / "mine.py").write_text(topology)
    (tmp_path / "mine.yaml").write_text(PINNED.replace("network: mu_osu", "network: ./mine.py"))
    read, topo = load_checked(str(tmp_path / "mine.yaml"))
    assert list(topo.campuses) == ["mu", "osu"]
    assert [trial.policy for trial in plan_trials(read.experiment, topo)] == list(read.experiment.policies)


def test_only_that_names_no_trial_is_refused(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(PINNED)
    with refused("invalid", "--only"):
        run_experiment(str(file), RunOptions(only=("always nothing",), results=tmp_path / "results"))
    assert not (tmp_path / "results").exists()


def test_set_continues_after_an_experiment_that_cannot_run(tmp_path):
    with pytest.raises(Unavailable) as refused:
        list(run_all(RunOptions(only=("always nothing",), results=tmp_path / "results")))
    failed = [line.partition(":")[0] for line in str(refused.value).splitlines()]
    assert [name for name in BUILT_IN.names() if name not in NOT_IN_SET] == [
        name for name in failed if name in BUILT_IN.names()
    ]


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder with a short name, for sockets below it."""
    with tempfile.TemporaryDirectory(prefix="adon-", dir="/tmp") as short:
        yield Path(short)


def start(place: Path, *words: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(place), "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-m", "apps.cli.main", "experiment", "run", *words]
    return subprocess.Popen(
        [*argv, "--results", str(place / "results")],
        env=environment,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


@pytest.mark.testbed
@pytest.mark.parametrize("platform", ["host", pytest.param("guest", marks=pytest.mark.slow)])
def test_smoke_experiment_holds_and_nothing_is_left(place, platform):
    process = start(place, "smoke", "--platform", platform)
    output, _ = process.communicate()
    assert process.returncode == 0, output
    (folder,) = (place / "results/smoke").iterdir()
    run = judge_run(folder)
    assert run.conclusion is Conclusion.HELD
    assert run.info.platform["emulation"]
    assert (folder / REPORT_FILE).exists()
    assert processes(place) == []
    assert not list((place / "adon").glob("testbed-*"))


def wait_for_line(process: subprocess.Popen[str], text: str) -> list[str]:
    """Return the lines up to the one with a text."""
    assert process.stdout is not None
    seen: list[str] = []
    for line in process.stdout:
        seen.append(line)
        if text in line:
            break
    return seen


@pytest.mark.testbed
@pytest.mark.slow
def test_trial_in_which_the_controller_is_killed_is_partial_and_nothing_is_left(place):
    (place / "mine.yaml").write_text(KILLED)
    process = start(place, str(place / "mine.yaml"), "--platform", "host")
    seen = wait_for_line(process, "long sends")
    (controller,) = [pid for pid, command in find_processes(place).items() if "apps.campus_edge" in command]
    os.kill(controller, signal.SIGKILL)
    output, _ = process.communicate()
    assert process.returncode == DIFFERS, [*seen, output]
    (folder,) = (place / "results/killed").iterdir()
    run = judge_run(folder)
    assert run.conclusion is Conclusion.CANNOT_SAY
    (trial,) = run.info.trials
    assert "controller" in trial.partial  # a part that ended, or a call that it did not answer
    (row,) = run.result.rows(trial).flows
    assert (row.state, row.ended) == (FlowState.RUNNING, None)
    assert trial.partial in (folder / REPORT_FILE).read_text()
    assert processes(place) == []
    assert not list((place / "adon").glob("testbed-*"))


@pytest.mark.testbed
def test_interrupted_run_keeps_the_trials_that_had_ended(place):
    (place / "mine.yaml").write_text(PINNED)
    process = start(place, str(place / "mine.yaml"), "--platform", "host")
    seen = wait_for_line(process, "trial 2 of 2")
    os.killpg(process.pid, signal.SIGINT)
    output, _ = process.communicate()
    assert process.returncode == INTERRUPTED, [*seen, output]
    (folder,) = (place / "results/pinned").iterdir()
    run = judge_run(folder)
    assert (run.info.partial, run.conclusion) == ("interrupted", Conclusion.PARTIAL)
    (trial,) = run.info.trials
    (row,) = run.result.rows(trial).flows
    assert (row.state, row.paths, row.received) == (FlowState.FINISHED, "al2s", 1_000_000)
    assert processes(place) == []
