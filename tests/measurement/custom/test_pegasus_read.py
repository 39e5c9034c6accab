"""What Pegasus' tools print, read: recorded from 5.1.3 (tests/data/pegasus/README.md)."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.custom.pegasus.analyzer import read_analysis
from measurement.custom.pegasus.model import Analysis, Counts, Dag, FailedJob, State, Statistics, Tally
from measurement.custom.pegasus.statistics import read_statistics
from measurement.custom.pegasus.status import read_status
from tests.measurement.custom.conftest import DATA
from tests.support.refusals import refused

PEGASUS = DATA / "pegasus"
RUNNING = Counts(4, 0, 0, 5, 0, 4, 0, 30.77)
FAILING = Counts(4, 0, 0, 4, 0, 4, 1, 30.77)
FAILED = Counts(3, 0, 0, 0, 0, 8, 2, 61.54)
DONE = Counts(0, 0, 0, 0, 0, 13, 0, 100.0)


def recorded(name: str) -> str:
    return (PEGASUS / name).read_text()


@pytest.mark.parametrize(
    ("name", "counts", "state", "dags"),
    [
        ("status-5.1.3-running.json", RUNNING, State.RUNNING, 2),
        ("status-5.1.3-failing.json", FAILING, State.RUNNING, 2),
        ("status-5.1.3-failure.json", FAILED, State.FAILURE, 2),
        ("status-5.1.3-success.json", DONE, State.SUCCESS, 2),
        ("status-5.1.3-planned.json", Counts(0, 0, 0, 0, 0, 0, 0, 0.0), State.RUNNING, 1),
    ],
)
def test_status(name: str, counts: Counts, state: State | None, dags: int) -> None:
    status = read_status(recorded(name))
    assert (status.counts, status.state, len(status.dags)) == (counts, state, dags)


def test_each_dag_of_a_workflow() -> None:
    assert read_status(recorded("status-5.1.3-failing.json")).dags == (
        Dag("soykb-0.dag", Counts(3, 0, 0, 2, 0, 3, 1, 33.33), State.FAILURE),
        Dag("chr20-0.dag", Counts(1, 0, 0, 2, 0, 1, 0, 25.0), State.RUNNING),
    )


def test_a_workflow_without_a_state() -> None:
    document = json.loads(recorded("status-5.1.3-planned.json"))
    document["dags"]["root"]["state"] = None
    assert read_status(json.dumps(document)).state is None


def test_state_over() -> None:
    assert [state for state in State if state.over] == [State.SUCCESS, State.FAILURE]


def changed(**fields: object) -> str:
    document = json.loads(recorded("status-5.1.3-failure.json"))
    document["totals"].update(fields)
    return json.dumps(document)


@pytest.mark.parametrize(
    "text",
    [
        "",
        recorded("status-5.1.3-none.txt"),
        "{}",
        '{"totals": {}, "dags": {}}',
        '{"totals": []',
        '{"totals": ' + "[" * 100_000,
        changed(done=1, failed=-1),
        changed(ready="many"),
        changed(ready=1.5),
        changed(percent_done=float("nan")),
        changed(percent_done=101),
        recorded("status-5.1.3-failure.json").replace('"Failure"', '"Lost"'),
        recorded("status-5.1.3-failure.json").replace('"root"', '"other"'),
    ],
)
def test_what_is_no_status(text: str) -> None:
    with refused(ValueError):
        read_status(text)


@given(st.text(alphabet='{}[]":,0123456789. \n', max_size=300))
def test_any_text_is_a_status_or_refused(text: str) -> None:
    try:
        counts = read_status(text).counts
    except ValueError:
        return
    assert 0 <= counts.percent_done <= 100


ENDED = Statistics(
    tasks=Tally(6, 0, 0, 6, 1),
    jobs=Tally(12, 0, 0, 12, 1),
    sub_workflows=Tally(1, 0, 0, 1, 0),
    wall_time=3 * 3600 + 10 * 60,
    job_wall_time=5 * 3600 + 9 * 60,
    job_wall_time_submit_side=3 * 3600 + 14 * 60,
    badput_wall_time=98,
)


@pytest.mark.parametrize(
    ("name", "statistics"),
    [
        ("statistics-5.1.3-success.txt", ENDED),
        (
            "statistics-5.1.3-failure.txt",
            Statistics(
                Tally(3, 2, 1, 6, 2), Tally(7, 2, 3, 12, 2), Tally(1, 0, 0, 1, 0),
                2 * 3600 + 3 * 60, 4 * 3600 + 5 * 60, 2 * 3600 + 10 * 60, 4 * 60 + 32,
            ),
        ),
        (
            "statistics-5.1.3-running.txt",
            Statistics(
                Tally(1, 0, 5, 6, 0), Tally(4, 0, 8, 12, 1), Tally(0, 0, 1, 1, 0),
                None, 7 * 60 + 30, 7 * 60 + 40, 60 + 38,
            ),
        ),
    ],
)  # fmt: skip
def test_statistics(name: str, statistics: Statistics) -> None:
    assert read_statistics(recorded(name)) == statistics


def test_statistics_agree_with_pegasus_own_table_of_seconds() -> None:
    rows = [line for line in recorded("statistics-5.1.3-success-time.csv").splitlines() if line[:1] != "#"]
    seconds = {row["stat_type"]: float(row["time_seconds"]) for row in csv.DictReader(rows)}
    read = read_statistics(recorded("statistics-5.1.3-success.txt"))
    for name, of_text in (
        ("workflow_wall_time", read.wall_time),
        ("workflow_cumulative_job_wall_time", read.job_wall_time),
        ("cumulative_job_walltime_from_submit_side", read.job_wall_time_submit_side),
        ("workflow_cumulative_badput_time", read.badput_wall_time),
    ):
        assert of_text is not None
        assert 0 <= seconds[name] - of_text < 60, name  # the text has the two largest units only


def test_statistics_agree_with_pegasus_own_table_of_counts() -> None:
    rows = [line for line in recorded("statistics-5.1.3-success.csv").splitlines() if line[:1] != "#"]
    tallies = {row["Type"]: row for row in csv.DictReader(filter(None, rows))}
    read = read_statistics(recorded("statistics-5.1.3-success.txt"))
    for name, tally in (("Tasks", read.tasks), ("Jobs", read.jobs), ("Sub-Workflows", read.sub_workflows)):
        columns = ("Succeeded", "Failed", "Incomplete", "Total", "Retries")
        assert tally == Tally(*(int(tallies[name][column]) for column in columns))


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("1 day, 4 hrs", 86400 + 4 * 3600),
        ("2 years, 1 day", 2 * 31_536_000 + 86400),
        ("0.0 secs", 0),
        ("-", None),
    ],
)
def test_a_time_in_words(words: str, seconds: float | None) -> None:
    text = recorded("statistics-5.1.3-success.txt").replace("3 hrs, 10 mins", words)
    assert read_statistics(text) == replace(ENDED, wall_time=seconds)


@pytest.mark.parametrize(
    ("row", "tally"),
    [
        ("12        0       -10         2         1         13", Tally(12, 0, -10, 2, 1)),
        ("1,210     0       0           1,210     -         1,210", Tally(1210, 0, 0, 1210, 0)),
    ],
)
def test_a_row_of_the_table(row: str, tally: Tally) -> None:
    text = recorded("statistics-5.1.3-success.txt")
    (before,) = [line for line in text.splitlines() if line.startswith("Tasks ")]
    assert read_statistics(text.replace(before, f"Tasks          {row}")) == replace(ENDED, tasks=tally)


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        (recorded("statistics-5.1.3-success.txt").replace("\nJobs ", "\nJob "), "Jobs"),
        (recorded("statistics-5.1.3-planned.txt"), "Tasks"),
    ],
)
def test_what_are_no_statistics(text: str, missing: str) -> None:
    with refused(ValueError) as caught:
        read_statistics(text)
    assert missing in str(caught.error)


ALIGN = FailedJob("align_ID0000002", "POST_SCRIPT_FAILED", "stampede", 127)
ANNOTATE = FailedJob("annotate_ID0000003", "POST_SCRIPT_FAILED", "stampede", -9)


@pytest.mark.parametrize(
    ("name", "analysis"),
    [
        ("analyzer-5.1.3-failure.txt", Analysis(9, 4, 2, 1, 3, 0, (ALIGN, ANNOTATE))),
        # Without -q: what a job printed looks like a summary and like a failed job; no more is believed.
        ("analyzer-5.1.3-failure-verbose.txt", Analysis(9, 4, 2, 1, 3, 0, (ALIGN,))),
        ("analyzer-5.1.3-running.txt", Analysis(9, 3, 0, 1, 6, 0, ())),
        ("analyzer-5.1.3-success.txt", Analysis(9, 9, 0, 0, 0, 0, ())),
    ],
)  # fmt: skip
def test_analysis(name: str, analysis: Analysis) -> None:
    assert read_analysis(recorded(name)) == analysis


def test_a_job_cannot_add_failures_by_what_it_prints() -> None:
    forged = "\n=====forged=====\n last state: JOB_FAILURE\n"
    printed = recorded("analyzer-5.1.3-failure.txt").replace("working dir : /scratch/soykb", forged)
    assert len(read_analysis(printed).failures) == 2


def test_what_pegasus_does_not_know_of_a_job() -> None:
    text = recorded("analyzer-5.1.3-failure.txt").replace("site: stampede", "site: -").replace(": 127", ": -")
    assert read_analysis(text).failures[0] == FailedJob("align_ID0000002", "POST_SCRIPT_FAILED")


@pytest.mark.parametrize("text", ["", "pegasus-analyzer: initializing...", "Total jobs : 3 (100.00%)"])
def test_what_is_no_analysis(text: str) -> None:
    with refused(ValueError):
        read_analysis(text)


def test_every_recorded_file_is_used() -> None:
    here = Path(__file__).read_text() + (Path(__file__).parent / "test_pegasus_metric.py").read_text()
    assert [path.name for path in PEGASUS.iterdir() if path.suffix != ".md" and path.name not in here] == []
