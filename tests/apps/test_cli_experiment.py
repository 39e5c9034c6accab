"""``adon experiment``: what is printed, written and refused."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from apps.cli.main import app
from tests.experiments import synthetic
from tests.experiments.synthetic import write_run

RUN = CliRunner()


def adon(*words: object):
    return RUN.invoke(app, ["experiment", *map(str, words)])


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    for name, noise in (("20261101T000000Z", 0.02), ("20261102T000000Z", 0.05)):
        write_run(root / "figure-21" / name, synthetic.run(name=name, noise=noise))
    return root


@pytest.fixture
def results(two_runs: Path, tmp_path: Path) -> Path:
    shutil.copytree(two_runs, tmp_path / "results")
    return tmp_path / "results"


@pytest.fixture
def file(tmp_path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(synthetic.FIGURE_21)
    return path


def test_check_tells_that_a_file_is_valid_or_every_problem_with_its_line(file):
    done = adon("check", file)
    assert done.exit_code == 0
    assert {"figure-21", "27"} <= {*done.stdout.split()}
    file.write_text(synthetic.FIGURE_21.replace("to: osu", "to: iplant").replace("25 GB,", "25,"))
    done = adon("check", file)
    assert done.exit_code == 2
    lines = [line for line in done.stderr.splitlines() if "iplant" in line]
    assert [line.split(":")[1] for line in lines] == ["16", "24"]


@pytest.mark.parametrize("network", ["nowhere", "nowhere.yaml", f"{'x' * 300}.yaml"])
def test_check_refuses_a_network_that_is_not_there(file, network: str):
    file.write_text(synthetic.FIGURE_21.replace("mu_osu", network))
    done = adon("check", file)
    assert done.exit_code == 2
    assert f"{file}:6: network:" in done.stderr


def test_report_writes_a_page_and_answers_with_3_if_a_check_did_not_hold(results):
    done = adon("report", "figure-21/20261101T000000Z", "--results", results)
    assert done.exit_code == 3
    first, second, *_ = done.stdout.splitlines()
    assert first == "figure-21/20261101T000000Z: complete"
    assert second.startswith("not held")
    assert "30.73 s" in second
    page = results / "figure-21" / "20261101T000000Z" / "report.html"
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_a_run_that_is_not_there_is_refused(results):
    done = adon("report", "figure-22", "--results", results)
    assert done.exit_code == 2
    assert "RUN: figure-22:" in done.stderr


@pytest.mark.integration
def test_help_loads_neither_plotly_nor_scipy():
    program = (
        "import sys; from apps.cli.main import app\n"
        "try: app(['experiment', '--help'])\n"
        "except SystemExit: pass\n"
        "slow = {'plotly', 'scipy', 'numpy', 'adon.experiments'}\n"
        "print(*slow & {*sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == ""
