"""A run's folder: what is written is read again, and what is killed keeps what had ended."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adon.errors import Conflict, InvalidInput, NotFound
from adon.experiments import run_json
from adon.experiments.results import (
    ROWS,
    MeasurementRow,
    State,
    Tables,
    ThroughputRow,
)
from apps.experiments import csv_tables, folder
from tests.experiments import synthetic
from tests.experiments.synthetic import write_run
from tests.support.refusals import refused

ROOT = Path(__file__).parents[3]


def as_sets(tables: Tables) -> list[list]:
    return [sorted(rows, key=repr) for rows in tables.all()]


def test_a_run_is_read_as_it_was_written(tmp_path):
    run = synthetic.run()
    made = write_run(tmp_path / "figure-21" / "r", run)
    found = folder.read(made.path)
    assert found.about == replace(run.about, ended_at=found.about.ended_at)
    assert as_sets(found.tables) == as_sets(run.tables)
    assert {file.name for file in made.path.iterdir()} == {
        "experiment.yaml", "files", "run.json", *(f"{name}.csv" for name in ROWS),
    }  # fmt: skip
    assert folder.document(made.path).digest() == run.about.digest


def test_a_run_that_is_not_over_is_read_as_far_as_it_came(tmp_path):
    run = synthetic.run(only=5)
    made = write_run(tmp_path / "r", run, over=False)
    found = folder.read(made.path)
    assert found.about.state is State.PARTIAL
    assert found.about.why
    assert [trial.number for trial in found.about.trials] == [1, 2, 3, 4, 5]
    assert as_sets(found.tables) == as_sets(run.tables)


def test_a_run_that_ended_before_its_time_says_why(tmp_path):
    made = write_run(tmp_path / "r", synthetic.run(only=5), over=False)
    about = made.finish(synthetic.BEGAN + 9, "stopped")
    assert about.state is State.PARTIAL
    assert about.why.startswith("stopped; 22 of")


def test_a_trial_that_is_partial_makes_its_run_so(tmp_path):
    run = synthetic.run()
    first, *others = run.about.trials
    trials = (replace(first, state=State.PARTIAL, why="killed"), *others)
    made = write_run(tmp_path / "r", replace(run, about=replace(run.about, trials=trials)))
    assert made.about.state is State.PARTIAL
    assert made.about.why.endswith(f"{first.key}: killed")


def test_a_folder_that_is_there_is_not_written_to(tmp_path):
    write_run(tmp_path / "r", synthetic.run(only=1))
    with refused(Conflict, field="run"):
        write_run(tmp_path / "r", synthetic.run(only=1))


def test_rows_of_a_trial_that_was_being_written_are_left_out(tmp_path):
    made = write_run(tmp_path / "r", synthetic.run(only=2), over=False)
    row = ThroughputRow(99, 0.0, "a", None, 1)
    csv_tables.write(made.path / "parts" / "00099.throughput.csv", ThroughputRow, [row])
    assert 99 not in {one.trial for one in folder.read(made.path).tables.throughput}


@pytest.mark.integration
def test_a_run_that_is_killed_keeps_every_trial_that_had_ended(tmp_path):
    program = textwrap.dedent("""
        import os, signal, sys
        from pathlib import Path
        from apps.experiments import csv_tables
        from tests.experiments import synthetic
        run = synthetic.run(only=4)
        made = synthetic.write_run(Path(sys.argv[1]), run, over=False)
        real, left = csv_tables.write, [3]
        def write(*words):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)
            real(*words)
        csv_tables.write = write
        made.finish(0.0)
    """)
    path = tmp_path / "r"
    done = subprocess.run([sys.executable, "-c", program, str(path)], cwd=ROOT, check=False)
    assert done.returncode == -9
    found = folder.read(path)
    assert len(found.about.trials) == 4
    assert found.about.state is State.PARTIAL
    assert as_sets(found.tables) == as_sets(synthetic.run(only=4).tables)


def test_a_damaged_file_is_named(tmp_path):
    made = write_run(tmp_path / "r", synthetic.run(only=1))
    (made.path / "flows.csv").write_bytes(b"\xff")
    with pytest.raises(InvalidInput):
        folder.read(made.path)
    csv_tables.write(made.path / "flows.csv", ThroughputRow, [])
    with pytest.raises(InvalidInput):
        folder.read(made.path)
    (made.path / "run.json").write_text("{")
    with pytest.raises(InvalidInput):
        folder.read(made.path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "other/1"}, "format:"),
        ({"seed": "x"}, "seed:"),
        ({"began_at": "yesterday"}, "began_at:"),
        ({"state": "fine"}, "state:"),
    ],
)
def test_a_run_json_with_something_else_names_the_field(change: dict, said: str) -> None:
    data = {**json.loads(run_json.to_text(synthetic.run(only=1).about)), **change}
    with pytest.raises(InvalidInput) as caught:
        run_json.from_text(json.dumps(data))
    assert said in str(caught.value)


def test_run_json_keeps_everything():
    about = synthetic.run().about
    assert run_json.from_text(run_json.to_text(about)) == about
    assert json.loads(run_json.to_text(about))["began_at"] == "2026-11-18T11:06:40+00:00"


def test_runs_are_found_by_path_name_and_last(tmp_path):
    results = tmp_path / "results"
    for name in ("20261101T000000Z", "20261102T000000Z"):
        write_run(results / "figure-21" / name, synthetic.run(only=1))
    last = results / "figure-21" / "20261102T000000Z"
    assert folder.named("figure-21", results) == last
    assert folder.named("figure-21/20261101T000000Z", results).name == "20261101T000000Z"
    assert folder.named(str(last), results) == last
    with pytest.raises(NotFound):
        folder.named("figure-22", results)
    (last / "run.json").write_text("{")
    found = dict(folder.runs(results))
    assert isinstance(found[last], InvalidInput)
    assert len(found) == 2


def test_names_of_runs_sort_by_time():
    assert folder.new_name(synthetic.BEGAN) == "20261118T110640Z"
    assert folder.new_name(synthetic.BEGAN) < folder.new_name(synthetic.BEGAN + 1)


whole = st.integers(-(2**62), 2**62)
texts = st.text(max_size=20).filter(lambda text: max(text, default="a") < "\ud800" or max(text) > "\udfff")
floats = st.floats(allow_nan=False)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.builds(
            MeasurementRow, whole, floats, texts, texts, texts, texts, st.none() | floats
        )
    ),
    st.lists(st.builds(ThroughputRow, whole, floats, texts, st.none() | texts.filter(bool), whole)),
)  # fmt: skip
def test_rows_come_back_as_they_were(tmp_path, measurements, throughput):
    for kind, rows in ((MeasurementRow, measurements), (ThroughputRow, throughput)):
        file = tmp_path / f"{kind.__name__}.csv"
        csv_tables.write(file, kind, rows)
        assert csv_tables.read(file, kind) == rows
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_what_cannot_be_written_leaves_the_file_that_was_there(tmp_path):
    file = tmp_path / "flows.csv"
    csv_tables.write(file, ThroughputRow, [ThroughputRow(1, 0.0, "a", None, 1)])
    with pytest.raises(UnicodeEncodeError):
        csv_tables.write(file, ThroughputRow, [ThroughputRow(1, 0.0, "\ud800", None, 1)])
    assert csv_tables.read(file, ThroughputRow) == [ThroughputRow(1, 0.0, "a", None, 1)]
    assert list(tmp_path.iterdir()) == [file]


def test_a_wrong_value_is_refused_with_its_line(tmp_path):
    file = tmp_path / "throughput.csv"
    file.write_text("trial,at,flow,path,received\r\n1,0.0,a,,1\r\n1,1.0,a,,many\r\n")
    with pytest.raises(InvalidInput) as refusal:
        csv_tables.read(file, ThroughputRow)
    (problem,) = refusal.value.problems
    assert (problem.file, problem.line) == (str(file), 3)
