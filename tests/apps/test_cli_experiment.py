"""``adon experiment``: what is printed, written and refused."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from apps.cli.main import app
from mininet_topos.experiments.loading import BUILT_IN
from mininet_topos.experiments.results import start_run, write_trial
from tests.mininet_topos.experiments.synthetic_runs import FIGURE_21, load_figure_21, make_run

NOT_HELD = "    discrepancy: no publication claims this\n"


def adon(*words: object):
    return CliRunner().invoke(app, ["experiment", *map(str, words)])


def write_run(folder, text=FIGURE_21):
    run = make_run(load_figure_21(text))
    info = replace(run.info, trials=())
    start_run(folder, text, info)
    rows = run.tables.by_trial
    for trial in run.info.trials:
        write_trial(folder, trial, rows[trial.number])
    return folder


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(FIGURE_21)
    return path


def test_list_names_every_built_in_experiment():
    done = adon("run", "--list", "--json")
    assert [one["experiment"] for one in json.loads(done.stdout)] == list(BUILT_IN.names())


def test_check_prints_the_trials_of_a_valid_file(file):
    done = adon("run", file, "--check")
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 1 + 27


def test_check_without_a_name_checks_all_with_all():
    done = adon("run", "--all", "--check", "--json")
    assert done.exit_code == 0
    assert list(json.loads(done.stdout)) == list(BUILT_IN.names())


def test_check_names_every_problem_with_its_line(file):
    file.write_text(FIGURE_21.replace("to: osu", "to: iplant"))
    done = adon("run", file, "--check")
    assert done.exit_code == 2
    lines = [line for line in done.stderr.splitlines() if "iplant" in line]
    assert len(lines) == 2
    assert all(line.startswith(f"{file}:") for line in lines)


@pytest.mark.parametrize("words", [["run"], ["run", "figure-18", "--all"], ["run", "figure-99", "--check"]])
def test_run_needs_one_known_experiment_or_all(words):
    assert adon(*words).exit_code in (1, 2)


def test_report_writes_the_page_and_exits_0_if_only_stated_discrepancies_differ(tmp_path):
    folder = write_run(tmp_path / "figure-21" / "20261101-000000")
    done = adon("report", folder)
    assert done.exit_code == 0
    assert (folder / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_report_exits_3_if_a_check_did_not_hold(tmp_path):
    assert NOT_HELD in FIGURE_21
    folder = write_run(tmp_path / "run", FIGURE_21.replace(NOT_HELD, ""))
    done = adon("report", folder, "--json")
    assert done.exit_code == 3
    document = json.loads(done.stdout)
    assert document["conclusion"] == "not held"
    assert [one["outcome"] for one in document["checks"]].count("not held") == 1


def test_report_of_a_folder_of_runs_takes_the_last(tmp_path):
    for name in ("20261101-000000", "20261102-000000"):
        write_run(tmp_path / "figure-21" / name)
    adon("report", tmp_path / "figure-21")
    reports = [file.parent.name for file in tmp_path.rglob("report.html")]
    assert reports == ["20261102-000000"]


def test_report_of_a_folder_without_runs_is_refused(tmp_path):
    assert adon("report", tmp_path).exit_code == 2


@pytest.mark.integration
def test_help_loads_neither_plotly_nor_scipy():
    program = (
        "import sys; from apps.cli.main import app\n"
        "try: app(['experiment', '--help'])\n"
        "except SystemExit: pass\n"
        "slow = {'plotly', 'scipy', 'numpy', 'mininet_topos.experiments'}\n"
        "print(*slow & {*sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == ""
