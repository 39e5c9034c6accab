"""Whole evaluations with iperf3: between machines in namespaces whose rates are known."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from adon.evaluations import builtins, reading
from apps.evaluation import logfile
from measurement.evaluation.answers import answers
from measurement.evaluation.results import Path as Way
from mininet_topos.isolation import UNSHARE

ROOT = Path(__file__).parents[2]


def evaluated(folder: Path, document: str, *options: str) -> subprocess.CompletedProcess[str]:
    file = folder / "document.yaml"
    file.write_text(document)
    argv = [*UNSHARE, sys.executable, "-m", "tests.apps.evaluating_inside", str(folder), str(folder / "run")]
    return subprocess.run(
        ["setpriv", "--pdeathsig", "KILL", *argv, str(file), *options],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=120,
    )


@pytest.mark.testbed
def test_the_answers_are_those_of_the_network(tmp_path: Path) -> None:
    text = builtins.text("starter").replace("runs: 8", "runs: 2").replace("duration: 8 s", "duration: 1 s")
    done = evaluated(tmp_path, text.replace("pause: 2 s", "pause: 0 s"))
    assert done.returncode == 0, done.stderr
    run = logfile.read(tmp_path / "run")
    assert run.complete
    assert run.failures() == {}
    assert "iperf" in run.versions["iperf3 --version"]
    found = {path: its.mean / 1e6 for path, its in run.results().paths.items()}
    assert found[Way("user", "one")] == pytest.approx(50, rel=0.2)
    assert found[Way("user", "two")] == pytest.approx(20, rel=0.2)
    assert found[Way("one", "two")] == pytest.approx(20, rel=0.2)
    told = answers(reading.parse(text).value(), run)
    assert told[1].found[0].startswith("The nearest node to user is one with ")
    assert (tmp_path / "run" / "report.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.testbed
def test_a_machine_that_is_down_is_a_failure_of_its_paths_alone(tmp_path: Path) -> None:
    server = (
        "server: [sh, -c, 'test {other} != two && exec iperf3 --server --one-off --port {port} --forceflush']"
    )
    lines = [
        f"    {server}" if line.startswith("    server:") else line
        for line in builtins.text("starter").splitlines()
    ]
    done = evaluated(tmp_path, "\n".join(lines), "--pilot")
    assert done.returncode == 3, done.stderr
    run = logfile.read(tmp_path / "run")
    assert set(run.failures()) == {Way("user", "two"), Way("one", "two")}
    assert [*run.results().paths] == [Way("user", "one")]
    assert "Tests failed, and are in no mean" in done.stdout
