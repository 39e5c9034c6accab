"""``adon demo`` as a user runs it: the end-to-end test of the whole system."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mininet_topos.commands import wait_until
from mininet_topos.demo import CHECKS_FILE
from mininet_topos.experiments.runner import EXIT_INTERRUPTED
from mininet_topos.isolation import running_folders
from mininet_topos.showcase import STAYS
from tests.mininet_topos.isolated import interfaces_left
from tests.terminal import Command, left_of
from tests.walks.people import walk_all

ADON = Path(sys.executable).parent / "adon"
LONGEST_S = 900
PICTURES = Path("reports/walks")


@contextmanager
def demo(runtime: Path, log: Path, *options: str) -> Iterator[tuple[Command, Path]]:
    """Yield a demo that runs, and its run folder.

    :param runtime: runtime folder of this demo alone.
    """
    command = Command([str(ADON), "demo", *options], log)
    try:
        assert wait_until(lambda: running_folders() != [] or command.process.poll() is not None, 60)
        assert running_folders(), command.text
        assert running_folders()[0].is_relative_to(runtime)
        yield command, running_folders()[0]
    finally:
        if command.process.poll() is None:
            command.process.kill()
        command.process.wait()


@pytest.mark.slow
@pytest.mark.testbed
def test_the_demo_holds_all_checks_and_its_dashboard_is_walked_through(runtime, tmp_path):
    report = tmp_path / "report"
    with demo(runtime, tmp_path / "log", "--report", str(report), "--stay") as (run, folder):
        run.says(STAYS, LONGEST_S)
        (url,) = re.findall(r"dashboard: (http://127\.0\.0\.1:[0-9]+)", run.text)
        walk_all(url, folder, PICTURES)
        run.types("exit\n")
        assert run.process.wait(60) == 0, run.text
    checks = json.loads((report / CHECKS_FILE).read_text())
    assert len(checks) == 16
    assert [one for one in checks if one["outcome"] != "held"] == []
    for name in ("figure-18", "alarm-reroute"):
        assert (report / name / "report.html").exists()
        assert f'href="{name}/report.html"' in (report / "index.html").read_text()
    assert wait_until(lambda: left_of(folder) == [] and not folder.exists(), 10)


@pytest.mark.testbed
@pytest.mark.parametrize("line", ["Building the network", "The network runs", "measuring each path once"])
def test_ctrl_c_removes_everything_and_reports_it_in_one_line(runtime, tmp_path, line):
    with demo(runtime, tmp_path / "log", "--report", str(tmp_path / "report")) as (run, folder):
        run.says(line)
        os.killpg(run.process.pid, signal.SIGINT)
        assert run.process.wait(60) == EXIT_INTERRUPTED, run.text
    assert "interrupted" in run.text.splitlines()[-1]
    assert "Traceback" not in run.text
    assert wait_until(lambda: left_of(folder) == [] and not folder.exists(), 10)
    assert interfaces_left() == []


@pytest.mark.testbed
def test_of_a_killed_demo_no_process_is_left(runtime, tmp_path):
    with demo(runtime, tmp_path / "log", "--report", str(tmp_path / "report")) as (killed, folder):
        killed.says("The network runs")
        killed.process.kill()
        killed.process.wait()
    assert wait_until(lambda: left_of(folder) == [], 10)
