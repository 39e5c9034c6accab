from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mininet_topos.experiments.results import (
    RUN_FILE,
    DecisionRow,
    RunResult,
    end_run,
    read_run,
    start_run,
    write_emulation,
    write_trial,
)
from tests.mininet_topos.experiments.synthetic_runs import FIGURE_21, load_figure_21, make_run
from tests.support.refusals import refused


@pytest.fixture(scope="module")
def run() -> RunResult:
    return make_run(load_figure_21())


@pytest.fixture
def folder(run, tmp_path) -> Path:
    folder = tmp_path / "run"
    start_run(folder, FIGURE_21, replace(run.info, trials=()))
    rows = run.tables.by_trial
    for trial in run.info.trials:
        write_trial(folder, trial, rows[trial.number])
    return folder


def test_run_is_read_as_it_was_written(folder, run):
    assert read_run(folder) == run


def test_empty_text_and_missing_value_differ(folder):
    row = read_run(folder).tables.flows[0]
    assert (row.jitter, row.problem) == (None, "")


@pytest.mark.parametrize("reason", ["", "interrupted"])
def test_end_of_a_run_states_why_it_is_partial(folder, reason):
    write_emulation(folder, "netem")
    end_run(folder, reason)
    info = read_run(folder).info
    assert info.partial == reason
    assert info.ended_at
    assert info.platform == {"name": "synthetic", "emulation": "netem"}


def test_rows_of_a_trial_that_was_not_noted_are_left_out(run, folder, tmp_path):
    cut = tmp_path / "cut"
    start_run(cut, FIGURE_21, replace(run.info, trials=()))
    for file in folder.glob("*.csv"):
        (cut / file.name).write_text(file.read_text())
    assert read_run(cut).tables.flows == []


def test_value_of_another_type_is_refused_with_its_line(folder):
    file = folder / "throughput.csv"
    lines = file.read_text().splitlines()
    lines[2] = lines[2].rpartition(",")[0] + ",many"
    file.write_text("\n".join(lines))
    with refused("invalid", line=3) as found:
        read_run(folder)
    assert "received" in str(found.error)


def test_other_format_is_refused(folder):
    file = folder / RUN_FILE
    file.write_text(file.read_text().replace("adon-experiment-run/3", "adon-experiment-run/2"))
    with refused("invalid") as found:
        read_run(folder)
    assert "format" in str(found.error)


@pytest.mark.parametrize(
    ("outcome", "path", "site", "change"),
    [
        ("admit", "al2s", "hpc", "admit on al2s, computed at hpc"),
        ("move", "internet", None, "move to internet"),
        ("queue", None, None, "queue"),
    ],
)
def test_change_of_a_decision_names_path_and_site(outcome, path, site, change):
    row = DecisionRow(1, 0.0, "soykb", outcome, path, site, None, "")
    assert row.change == change
