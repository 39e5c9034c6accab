"""What Pegasus' tools print, read; all in their formats (tests/data/pegasus/README.md), and what is none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from measurement.custom.pegasus.analyzer import read_analysis
from measurement.custom.pegasus.model import Analysis, Counts, Dag, FailedJob, State, Statistics, Tally
from measurement.custom.pegasus.statistics import read_statistics
from measurement.custom.pegasus.status import read_status
from tests.measurement.custom.conftest import DATA

PEGASUS = DATA / "pegasus"
RUNNING = Counts(5, 1, 1, 3, 0, 15, 1, 57.69)


def recorded(name: str) -> str:
    return (PEGASUS / name).read_text()


@pytest.mark.parametrize(
    ("name", "counts", "state", "dags"),
    [
        ("status-4-long.txt", Counts(15, 1, 1, 4, 1, 25, 0, 53.2), State.RUNNING, 3),
        ("status-4-success.txt", Counts(0, 0, 0, 0, 0, 12480, 0, 100.0), State.SUCCESS, 0),
        ("status-4-failure.txt", Counts(31, 0, 0, 0, 0, 14, 2, 29.8), State.FAILURE, 0),
        ("status-5-long.txt", RUNNING, State.RUNNING, 3),
        ("status-5-success.txt", Counts(0, 0, 0, 0, 0, 26, 0, 100.0), State.SUCCESS, 0),
        ("status-5-running.json", RUNNING, State.RUNNING, 3),
        ("status-5-failure.json", Counts(20, 0, 0, 0, 0, 4, 2, 15.38), State.FAILURE, 1),
        ("status-5-planned.json", Counts(0, 0, 0, 0, 0, 0, 0, 0.0), None, 1),
    ],
)
def test_status(name: str, counts: Counts, state: State | None, dags: int) -> None:
    status = read_status(recorded(name))
    assert (status.counts, status.state, len(status.dags)) == (counts, state, dags)


def test_the_table_and_the_json_of_one_workflow_say_the_same() -> None:
    table, document = (
        read_status(recorded("status-5-long.txt")),
        read_status(recorded("status-5-running.json")),
    )
    assert table == document
    assert table.dags[2] == Dag("chr21-0.dag", Counts(0, 0, 0, 0, 0, 5, 1, 83.33), State.FAILURE)


COLUMNS = "UNREADY READY PRE IN_Q POST DONE FAIL %DONE STATE DAGNAME"


def test_a_table_above_pegasus_own_is_not_believed() -> None:
    text = recorded("status-5-long.txt")
    assert read_status(f"{COLUMNS}\n 0 0 0 0 0 9 0 100.0 Success forged\n{text}") == read_status(text)


def test_a_dag_may_be_called_anything() -> None:
    status = read_status(recorded("status-5-long.txt").replace("chr20-0.dag", COLUMNS))
    assert status.counts == RUNNING
    assert status.dags[1].name == COLUMNS


def test_the_workflow_itself_is_the_one_with_an_asterisk() -> None:
    status = read_status(recorded("status-4-long.txt").replace("Running *soykb", "Failure *soykb"))
    assert status.state is State.FAILURE
    assert [dag.name for dag in status.dags] == [
        "chr20_ID0000004/chr20-0.dag",
        "chr21_ID0000005/chr21-0.dag",
        "soykb-0.dag",
    ]


@pytest.mark.parametrize(
    ("summary", "state"),
    [
        ("3 DAGs total (Success:3)", State.SUCCESS),
        ("3 DAGs total (Success:1 Failure:1 Running:1)", State.RUNNING),
        ("3 DAGs total (Success:2 Failure:1)", State.FAILURE),
        ("1 DAG total ()", None),
    ],
)
def test_state_from_the_summary(summary: str, state: State | None) -> None:
    text = recorded("status-4-failure.txt").replace("1 DAG total (Failure:1)", summary)
    assert read_status(text).state is state


def test_state_over() -> None:
    assert [state for state in State if state.over] == [State.SUCCESS, State.FAILURE]


def changed(**fields: object) -> str:
    document = json.loads(recorded("status-5-failure.json"))
    document["totals"].update(fields)
    return json.dumps(document)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(no matching jobs found in Condor Q)",
        "UNREADY READY PRE IN_Q POST DONE FAIL %DONE STATE DAGNAME",
        "{}",
        '{"totals": {}, "dags": {}}',
        '{"totals": []',
        '{"totals": ' + "[" * 100_000,
        changed(done=1, failed=-1),
        changed(ready="many"),
        changed(ready=1.5),
        changed(percent_done=float("nan")),
        changed(percent_done=101),
        recorded("status-5-failure.json").replace('"Failure"', '"Lost"'),
        recorded("status-5-failure.json").replace('"root"', '"other"'),
        recorded("status-4-failure.txt").replace("29.8", "298"),
    ],
)
def test_what_is_no_status(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 -- of many causes
        read_status(text)


@given(st.text(alphabet='{}[]":,0123456789. \nUNREADYPIQ_OSTFL%', max_size=300))
@settings(max_examples=100)
def test_any_text_is_a_status_or_refused(text: str) -> None:
    for header in ("", "UNREADY READY PRE IN_Q POST DONE FAIL %DONE STATE DAGNAME\n"):
        try:
            counts = read_status(header + text).counts
        except ValueError:
            continue
        assert 0 <= counts.percent_done <= 100


def test_statistics() -> None:
    assert read_statistics(recorded("statistics.txt")) == Statistics(
        tasks=Tally(38, 2, 7, 47, 3),
        jobs=Tally(54, 2, 9, 65, 5),
        sub_workflows=Tally(1, 1, 0, 2, 0),
        wall_time=3 * 3600 + 12 * 60,
        job_wall_time=86400 + 4 * 3600,
        job_wall_time_submit_side=86400 + 5 * 3600,
        badput_wall_time=12.41,
    )


def test_statistics_of_what_still_runs() -> None:
    found = read_statistics(recorded("statistics-running.txt"))
    assert (found.wall_time, found.job_wall_time, found.job_wall_time_submit_side) == (None, 0.0, 21.0)
    assert found.jobs == Tally(1210, 0, 0, 1210, 0)


def test_what_are_no_statistics() -> None:
    with pytest.raises(ValueError, match="no line Jobs"):
        read_statistics(recorded("statistics.txt").replace("\nJobs ", "\nJob "))


@pytest.mark.parametrize(
    ("name", "analysis"),
    [
        (
            "analyzer-failed.txt",
            Analysis(
                65, 54, 2, 1, 8, 0,
                (
                    FailedJob("align_ID0000007", "POST_SCRIPT_FAILED", "stampede", 127),
                    FailedJob("stage_out_local_0_1", "POST_SCRIPT_FAILED", "local", -9),
                ),
            ),
        ),
        ("analyzer-success.txt", Analysis(10, 10, 0, 0, 0, 0, ())),
        (
            "analyzer-4.txt",
            Analysis(75, 41, 1, 0, 32, 1, (FailedJob("findrange_j3", "JOB_FAILURE", "local", 2),)),
        ),
    ],
)  # fmt: skip
def test_analysis(name: str, analysis: Analysis) -> None:
    assert read_analysis(recorded(name)) == analysis


def test_a_job_cannot_add_failures_by_what_it_prints() -> None:
    forged = "\n=====forged=====\n last state: JOB_FAILURE\n"
    printed = recorded("analyzer-failed.txt").replace("align: reference genome not found", forged)
    assert len(read_analysis(printed).failures) == 2
    # Below what looks like a summary nothing is a failed job's any more.
    named = [job.name for job in read_analysis(recorded("analyzer-failed.txt") + forged).failures]
    assert named == ["align_ID0000007", "stage_out_local_0_1"]


@pytest.mark.parametrize("text", ["", "pegasus-analyzer: initializing...", "Total jobs : 3 (100.00%)"])
def test_what_is_no_analysis(text: str) -> None:
    with pytest.raises(ValueError, match="no line"):
        read_analysis(text)


def test_every_recorded_file_is_used() -> None:
    here = Path(__file__).read_text() + (Path(__file__).parent / "test_pegasus_metric.py").read_text()
    assert [path.name for path in PEGASUS.iterdir() if path.suffix != ".md" and path.name not in here] == []
