"""``adon experiment``: what is printed, written and refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from apps.cli.main import app
from tests.apps.experiments.test_folder import written
from tests.experiments import synthetic

RUN = CliRunner()


def adon(*words: object):
    return RUN.invoke(app, ["experiment", *map(str, words)])


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    for name, noise in (("20261101T000000Z", 0.02), ("20261102T000000Z", 0.05)):
        written(root / "figure-21" / name, synthetic.run(name=name, noise=noise))
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


def test_show_tells_the_workload_and_the_checks(file):
    said = adon("show", file).stdout
    assert "flow       soykb: soykb, mu to osu, 25 GB, after neuroblastoma begins + 2 s" in said
    assert "check      25 GB over layer 3 beats contended layer 2 (paper: 1.3)" in said
    assert "trials     27 (3 repetitions), each 10 min at most" in said
    assert adon("show", file, "--yaml").stdout == synthetic.FIGURE_21
    assert json.loads(adon("show", file, "--json").stdout)["trials"] == 27


def test_check_tells_that_a_file_is_valid_or_every_problem_with_its_line(file):
    done = adon("check", file)
    assert (done.exit_code, done.stdout) == (0, f"{file}: figure-21 is valid: 27 trials\n")
    file.write_text(synthetic.FIGURE_21.replace("to: osu", "to: iplant").replace("25 GB,", "25,"))
    done = adon("check", file)
    assert done.exit_code == 2
    lines = [line for line in done.stderr.splitlines() if "iplant" in line]
    assert [line.split(":")[1] for line in lines] == ["16", "24"]


@pytest.mark.parametrize(
    ("network", "said"),
    [
        ("nowhere", "there is no network 'nowhere'"),
        ("nowhere.yaml", "there is no file"),
        (f"{'x' * 300}.yaml", "there is no file"),
    ],
)
def test_check_refuses_a_network_that_is_not_there(file, network: str, said: str):
    file.write_text(synthetic.FIGURE_21.replace("mu_osu", network))
    done = adon("check", file)
    assert done.exit_code == 2
    assert f"{file}:6: network: {said}" in done.stderr


def test_a_template_whose_name_no_file_can_have_is_refused(file):
    file.write_text(synthetic.FIGURE_21.replace("templates: [soykb,", 'templates: ["a\\0.yaml", soykb,'))
    done = adon("check", file)
    assert (done.exit_code, "cannot be read: embedded null byte" in done.stderr) == (2, True)


@pytest.mark.parametrize("words", [("check", "x" * 300), ("report", "x" * 300), ("show", "x" * 300)])
def test_a_name_that_no_file_can_have_is_none(words):
    done = adon(*words)
    assert (done.exit_code, done.exception.__class__) == (2, SystemExit)
    assert "there is no" in done.stderr


def test_what_is_no_experiment_is_refused():
    for command in ("show", "check", "run"):
        done = adon(command, "figure-99")
        assert done.exit_code == 2  # of a run 1 is a check that did not hold
        assert "there is no built-in experiment 'figure-99'; did you mean figure-" in done.stderr
    assert "there is no such file" in adon("check", "figure-99.yaml").stderr
    assert adon("check").exit_code == 2


def test_the_schema_is_one(file):
    assert json.loads(adon("check", "--schema").stdout)["title"] == "ADON experiment"


def test_report_writes_a_page_and_answers_with_3_if_a_check_did_not_hold(results):
    done = adon("report", "figure-21/20261101T000000Z", "--results", results)
    assert done.exit_code == 3
    first, second, *_ = done.stdout.splitlines()
    assert first == "figure-21/20261101T000000Z: complete"
    assert second.startswith("not held   layer 3 is as fast as layer 2: 30.73 s")
    page = results / "figure-21" / "20261101T000000Z" / "report.html"
    assert page.read_text().startswith("<!DOCTYPE html>")


def test_report_of_the_last_run_as_json_into_a_file(results, tmp_path):
    done = adon("report", "figure-21", "--results", results, "--out", tmp_path / "r.html", "--json")
    found = json.loads(done.stdout)
    assert found["run"] == "20261102T000000Z"
    assert [check["outcome"] for check in found["checks"]] == ["held", "held", "not held", "held"]
    assert (tmp_path / "r.html").is_file()


def test_a_run_that_is_not_there_is_refused(results):
    done = adon("report", "figure-22", "--results", results)
    assert done.exit_code == 2
    assert f"RUN: figure-22: there is no such run in {results}" in done.stderr


def test_runs_are_listed_and_damaged_ones_told(results):
    (results / "figure-21" / "20261102T000000Z" / "run.json").write_text("{")
    said = adon("list", "--runs", "--results", results).stdout
    assert "figure-21/20261101T000000Z" in said
    assert "damaged" in said
    listed = json.loads(adon("list", "--runs", "--results", results, "--json").stdout)
    assert [one["state"] for one in listed] == ["complete", "damaged"]


def test_listing_what_there_is_needs_no_run():
    assert adon("list").exit_code == 0
    assert isinstance(json.loads(adon("list", "--json").stdout), list)


@pytest.mark.integration
def test_help_loads_neither_pyarrow_nor_plotly_nor_scipy():
    program = (
        "import sys; from apps.cli.main import app\n"
        "try: app(['experiment', '--help'])\n"
        "except SystemExit: pass\n"
        "slow = {'pyarrow', 'plotly', 'scipy', 'numpy', 'adon.experiments'}\n"
        "print(*slow & {*sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == ""
