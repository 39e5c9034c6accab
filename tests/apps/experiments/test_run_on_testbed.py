"""``adon experiment run`` as a user runs it: to its end, interrupted, and when something dies under it."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from adon.experiments.results import FlowState, Run, State
from apps.experiments import folder as folders
from mininet_topos.waiting import wait_until
from tests.terminal import Command, in_terminal, left_of

ADON = (sys.executable, "-m", "apps.cli")
HOST = ("--platform", "host-user")

TRANSFER = "{flow: soykb, template: soykb, from: mu, to: osu, streams: 1, "
NOTHING_MEASURED = "{throughput: null, rtt: null, latency: null}"


def written(tmp_path: Path, flow: str, measuring: str = NOTHING_MEASURED, more: str = "") -> Path:
    file = tmp_path / "small.yaml"
    file.write_text(
        f"""
experiment: small
title: A small one
network: mu_osu
templates: [soykb]
policies: [always al2s]
repetitions: 1
limit: 3 min
measuring: {measuring}
workload:
  - {flow}
{more}
"""
    )
    return file


def started(file: Path, results: Path, log: Path, *options: str) -> AbstractContextManager[Command]:
    argv = [*ADON, "experiment", "run", str(file), "--results", str(results), *options]
    return in_terminal(argv, log)


def found(results: Path) -> Run:
    return folders.read(folders.named("small", results))


@pytest.mark.testbed
def test_each_policy_carries_the_bytes_on_its_path_two_runs_do_not_meet_and_nothing_is_left(tmp_path):
    more = """
policies: [always al2s, always internet]
events:
  - {event: others, at: 0 s, load: {path: al2s, streams: 4}}
figures:
  time: {of: transfer_time, flow: soykb}
  layer-2: {of: throughput, flow: soykb, where: {policy: always al2s}}
  layer-3: {of: throughput, flow: soykb, where: {policy: always internet}}
checks:
  - {check: both carry something, ratio: [layer-2, layer-3], between: [0.01, 100]}
"""
    text = written(tmp_path, TRANSFER + "size: 500 MB}", more=more).read_text()
    file = tmp_path / "small.yaml"
    file.write_text(text.replace("policies: [always al2s]\n", "", 1))
    only = ("--only", "always internet")
    with (
        started(file, tmp_path / "results", tmp_path / "log", *HOST) as run,
        started(file, tmp_path / "other", tmp_path / "other.log", *HOST, *only) as other,
    ):
        run.says("others begins")
        folder = run.run_folder("experiment")
        assert run.ends(180) == 0, run.text
        assert other.ends(180) == 1, other.text  # a part of the plan only
    assert [row.received for row in found(tmp_path / "other").tables.flows] == [5_000_000]
    assert not folder.exists()
    assert left_of(folder) == []
    done = found(tmp_path / "results")
    assert done.about.state is State.COMPLETE
    assert "user datapath" in done.about.platform["emulation"]
    assert [(row.path, row.received, row.state) for row in done.tables.flows] == [
        ("al2s", 5_000_000, FlowState.FINISHED),
        ("internet", 5_000_000, FlowState.FINISHED),
    ]
    assert (folders.named("small", tmp_path / "results") / folders.REPORT).exists()


@pytest.mark.testbed
@pytest.mark.parametrize(
    ("moment", "number"),
    [("building mu_osu", signal.SIGINT), ("soykb sends", signal.SIGTERM)],
    ids=["while it builds", "while it sends"],
)
def test_interrupted_at_any_moment_everything_goes_and_what_was_found_stays(tmp_path, moment, number):
    file = written(tmp_path, TRANSFER + "lasts: 2 min}")
    with started(file, tmp_path / "results", tmp_path / "log", *HOST) as run:
        run.says(moment)
        folder = None if moment.startswith("building") else run.run_folder("experiment")
        run.process.send_signal(number)
        assert run.ends(90) == 130, run.text
    if folder is not None:
        assert not folder.exists()
        assert left_of(folder) == []
    done = found(tmp_path / "results")
    assert done.about.state is State.PARTIAL
    assert done.about.why.startswith("interrupted")
    if folder is not None:
        assert [row.state for row in done.tables.flows] == [FlowState.RUNNING]


@pytest.mark.slow
@pytest.mark.testbed
def test_when_adon_dies_in_the_middle_that_is_said_and_the_rest_is_kept(tmp_path):
    file = written(tmp_path, TRANSFER + "lasts: 1 min}", "{throughput: null, rtt: 20 s, latency: null}")
    with started(file, tmp_path / "results", tmp_path / "log", *HOST) as run:
        run.says("soykb sends")
        folder = run.run_folder("experiment")
        os.kill(run.pid_of("apps.cli.main", "serve"), signal.SIGKILL)
        assert run.ends(120) == 1, run.text
    assert not folder.exists()
    assert wait_until(lambda: left_of(folder) == [], 10), left_of(folder)
    done = found(tmp_path / "results")
    assert done.about.state is State.PARTIAL
    assert "adon serve" in done.about.why
    assert [row.state for row in done.tables.flows] == [FlowState.RUNNING]
    assert done.tables.measurements != ()


@pytest.mark.testbed
def test_when_the_network_dies_the_next_trial_gets_another(tmp_path):
    flow = TRANSFER + "lasts: 4 s}"
    file = written(tmp_path, flow)
    with started(file, tmp_path / "results", tmp_path / "log", *HOST, "--repetitions", "2") as run:
        run.says("soykb sends")
        folder = run.run_folder("experiment")
        os.kill(int((folder / "pid").read_text()), signal.SIGKILL)
        assert run.ends(180) == 1, run.text
    done = found(tmp_path / "results")
    assert [trial.state for trial in done.about.trials] == [State.PARTIAL, State.COMPLETE], run.text
    assert "network" in done.about.why
    assert [row.state for row in done.tables.flows][1] == FlowState.FINISHED


def test_a_missing_tool_is_named_before_anything_starts(tmp_path, monkeypatch):
    file = written(tmp_path, TRANSFER + "size: 500 MB}")
    monkeypatch.setenv("PATH", str(tmp_path))
    with started(file, tmp_path / "results", tmp_path / "log", *HOST) as run:
        assert run.ends(120) == 1
    assert "iperf3" in run.text
    assert not (tmp_path / "results").exists()


def test_a_platform_that_there_is_not_is_an_error_of_input(tmp_path):
    file = written(tmp_path, TRANSFER + "size: 500 MB}")
    with started(file, tmp_path / "results", tmp_path / "log", "--platform", "mainframe") as run:
        assert run.ends(120) == 2
    assert "mainframe" in run.text
