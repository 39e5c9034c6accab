"""Workflows as metrics, with stand-ins that print what Pegasus' tools would."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from measurement.custom.errors import MetricFailed
from measurement.custom.execute import Limits
from measurement.custom.pegasus.metric import Tools, UserMetric, WorkflowMetric
from measurement.custom.pegasus.workflows import all_workflows
from measurement.model import Observation
from tests.measurement.custom.conftest import DATA, Install
from tests.support.refusals import refused

TOOLS = Tools(passed=("PATH",), limits=Limits(seconds=60))
SECRETS = ("/data", "hunter2", "node7")


@pytest.fixture
def pegasus(install: Install, tmp_path: Path) -> Path:
    """Tools that print, for a submit directory, what is in that folder under the tool's name."""
    install("pegasus-status", 'echo "$1" >> "$2/asked"; cat "$2/status"')
    kept = 'echo "$4" > "$5/scratch" && touch "$4/summary.txt" && cat "$5/statistics"'
    install("pegasus-statistics", f'[ "$1 $2 $3" = "-s summary -o" ] && {kept}')
    install("pegasus-analyzer", '[ "$1" = -q ] && cat "$2/analyzer"; exit 2')
    return tmp_path


def workflow(folder: Path, name: str, status: str) -> Path:
    made = folder / name
    made.mkdir(exist_ok=True)
    for tool, recorded in (
        ("statistics", "statistics-5.1.3-failure.txt"),
        ("analyzer", "analyzer-5.1.3-failure.txt"),
        ("status", status),
    ):
        shutil.copy(DATA / "pegasus" / recorded, made / tool)
    return made


def of(values: list[Observation], what: str) -> dict[str, float]:
    return {value.metric: value.value for value in values if value.key.destination == what}


def test_a_workflow_that_runs(pegasus: Path) -> None:
    metric = WorkflowMetric("soykb", "isi", workflow(pegasus, "run", "status-5.1.3-running.json"), TOOLS)
    values = metric.sample(1000.0)
    assert of(values, "soykb") == {
        "pegasus.jobs_unready": 4, "pegasus.jobs_ready": 0, "pegasus.jobs_pre": 0, "pegasus.jobs_queued": 5,
        "pegasus.jobs_post": 0, "pegasus.jobs_done": 4, "pegasus.jobs_failed": 0, "pegasus.jobs_total": 13,
        "pegasus.percent_done": 30.77, "pegasus.state": 0,
    }  # fmt: skip
    assert not metric.is_final(values)
    (state,) = [value for value in values if value.metric == "pegasus.state"]
    assert state.parameters["state"] == "Running"
    assert (pegasus / "run" / "asked").read_text() == "-j\n"


@pytest.mark.parametrize(
    ("status", "state"), [("status-5.1.3-failure.json", 2), ("status-5.1.3-success.json", 1)]
)
def test_a_workflow_that_ended_has_its_statistics_and_analysis(
    pegasus: Path, status: str, state: int
) -> None:
    metric = WorkflowMetric("soykb", "isi", workflow(pegasus, "run", status), TOOLS)
    values = metric.sample(1000.0)
    assert metric.is_final(values)
    found = of(values, "soykb")
    assert found["pegasus.state"] == state
    assert (found["pegasus.wall_time"], found["pegasus.job_retries"]) == (2 * 3600 + 3 * 60, 2)
    assert (found["pegasus.analysis_failed"], found["pegasus.analysis_held"]) == (2, 1)


def test_nothing_that_is_secret_leaves_the_host(pegasus: Path) -> None:
    metric = WorkflowMetric("soykb", "isi", workflow(pegasus, "run", "status-5.1.3-failure.json"), TOOLS)
    said = repr(metric.sample(1000.0))
    assert "align_ID0000002" in said
    assert not [secret for secret in (*SECRETS, str(pegasus)) if secret in said]


def test_a_workflow_that_failed_is_not_over_while_other_jobs_of_it_run(pegasus: Path) -> None:
    metric = WorkflowMetric("soykb", "isi", workflow(pegasus, "run", "status-5.1.3-failing.json"), TOOLS)
    values = metric.sample(1000.0)
    assert not metric.is_final(values)
    assert of(values, "soykb")["pegasus.jobs_failed"] == 1


def test_statistics_are_not_written_into_the_submit_directory(pegasus: Path) -> None:
    folder = workflow(pegasus, "run", "status-5.1.3-failure.json")
    WorkflowMetric("soykb", "isi", folder, TOOLS).sample(1000.0)
    scratch = Path((folder / "scratch").read_text().strip())
    assert not scratch.is_relative_to(folder)
    assert not scratch.exists()


def test_an_end_without_statistics_is_told_after_some_attempts(pegasus: Path) -> None:
    folder = workflow(pegasus, "run", "status-5.1.3-failure.json")
    (folder / "statistics").unlink()
    metric = WorkflowMetric("soykb", "isi", folder, TOOLS)
    for _ in range(11):
        with pytest.raises(MetricFailed, match="pegasus-statistics"):
            metric.sample(1000.0)
    values = metric.sample(1060.0)
    assert metric.is_final(values)
    assert of(values, "soykb")["pegasus.state"] == 2


@pytest.mark.parametrize("said", ["Error: no such folder", ""])
def test_a_tool_that_says_something_else(pegasus: Path, said: str) -> None:
    folder = workflow(pegasus, "run", "status-5.1.3-running.json")
    (folder / "status").write_text(said)
    with refused("malformed"):
        WorkflowMetric("soykb", "isi", folder, TOOLS).sample(1000.0)


def test_pegasus_is_not_installed(tmp_path: Path) -> None:
    with refused("not-started"):
        WorkflowMetric("soykb", "isi", tmp_path, Tools(passed=())).sample(1000.0)


# --- all of a user's workflows -----------------------------------------------------------------------------

Entry = tuple[str, Path, list[tuple[str, float, int | None]]]

STARTED, TERMINATED = "WORKFLOW_STARTED", "WORKFLOW_TERMINATED"
UUIDS = [f"{n:08x}-0000-4000-8000-000000000000" for n in range(9)]


RECORDED = (DATA / "pegasus" / "workflow-5.1.3.sql").read_text()
TABLES = ";".join(part for part in RECORDED.split(";") if "CREATE TABLE" in part) + ";"


def listed(database: Path, rows: list[Entry]) -> Path:
    """A list of workflows in the tables that Pegasus makes."""
    with closing(sqlite3.connect(database)) as opened, opened:
        opened.executescript(
            f"DROP TABLE IF EXISTS master_workflow; DROP TABLE IF EXISTS master_workflowstate; {TABLES}"
        )
        for number, (label, folder, states) in enumerate(rows):
            opened.execute(
                "INSERT INTO master_workflow (wf_id, wf_uuid, dax_label, timestamp, submit_dir, archived)"
                " VALUES (?,?,?,?,?,0)",
                (number, UUIDS[number], label, 100.0 + number, str(folder)),
            )
            opened.executemany(
                "INSERT INTO master_workflowstate VALUES (?,?,?,0,?,NULL)",
                [(number, state, at, status) for state, at, status in states],
            )
    return database


def test_the_list_that_pegasus_wrote(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "workflow.db")) as opened:
        opened.executescript(RECORDED)
    found = all_workflows(tmp_path / "workflow.db")
    assert [(each.name, each.running, each.succeeded, each.folder[-7:], each.since) for each in found] == [
        ("soykb-6a1f8c55", True, None, "run0005", 1795168800),
        ("soykb-6a1f8c53", True, None, "run0003", 1795168800),
        ("soykb-6a1f8c52", False, False, "run0002", 1795176190),
        ("soykb-6a1f8c51", False, True, "run0001", 1795180230),
    ]


def test_all_workflows(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    database = listed(
        tmp_path / "workflow.db",
        [
            ("soykb", gone, [(STARTED, 10.0, None), (TERMINATED, 20.0, 0)]),
            ("soykb", gone, [(STARTED, 11.0, None), (TERMINATED, 21.0, 1)]),
            ("soykb", gone, [(STARTED, 12.0, None), (TERMINATED, 22.0, 1), (STARTED, 30.0, None)]),
            ("montage", gone, [(STARTED, 13.0, None), (TERMINATED, 13.0, 0)]),
            ("planned", gone, []),
        ],
    )
    found = all_workflows(database)
    assert [(each.name, each.running, each.succeeded, each.since) for each in found] == [
        ("planned-00000004", False, None, None),
        ("montage-00000003", False, True, 13.0),
        ("soykb-00000002", True, None, 30.0),
        ("soykb-00000001", False, False, 21.0),
        ("soykb-00000000", False, True, 20.0),
    ]


def test_a_list_that_cannot_be_read(tmp_path: Path) -> None:
    for database in (tmp_path / "missing.db", tmp_path):
        with refused("unreadable") as caught:
            all_workflows(database)
        assert str(tmp_path) not in str(caught.error)
    assert not (tmp_path / "missing.db").exists()
    (tmp_path / "other.db").write_text("no database")
    with refused("unreadable"):
        all_workflows(tmp_path / "other.db")


def test_a_user_from_start_to_end(pegasus: Path) -> None:
    one, two = (
        workflow(pegasus, "one", "status-5.1.3-running.json"),
        workflow(pegasus, "two", "status-5.1.3-running.json"),
    )
    old: Entry = ("old", pegasus / "deleted", [(STARTED, 1.0, None), (TERMINATED, 2.0, 0)])
    running: list[Entry] = [("soykb", one, [(STARTED, 10.0, None)]), ("soykb", two, [(STARTED, 11.0, None)])]
    database = listed(pegasus / "workflow.db", [old, *running])
    metric = UserMetric("soykb", "isi", database, TOOLS)

    first = metric.sample(1000.0)
    totals = of(first, "soykb")
    assert (totals["pegasus.workflows_total"], totals["pegasus.workflows_running"]) == (3, 2)
    assert (totals["pegasus.workflows_succeeded"], totals["pegasus.workflows_unreadable"]) == (1, 0)
    assert of(first, "soykb-00000001")["pegasus.percent_done"] == 30.77
    assert of(first, "old-00000000") == {}

    workflow(pegasus, "one", "status-5.1.3-failure.json")
    ended: Entry = ("soykb", one, [(STARTED, 10.0, None), (TERMINATED, 15.0, 1)])
    listed(database, [old, ended, running[1]])
    second = metric.sample(1005.0)
    assert of(second, "soykb-00000001")["pegasus.state"] == 2
    assert of(second, "soykb-00000001")["pegasus.analysis_failed"] == 2
    assert of(second, "soykb")["pegasus.workflows_failed"] == 1

    third = metric.sample(1010.0)
    assert of(third, "soykb-00000001") == {}
    assert of(third, "soykb-00000002")["pegasus.state"] == 0
    assert not metric.is_final(third)


def test_one_that_cannot_be_read_does_not_hide_the_others(pegasus: Path) -> None:
    one, two = (
        workflow(pegasus, "one", "status-5.1.3-running.json"),
        workflow(pegasus, "two", "status-5.1.3-running.json"),
    )
    (two / "status").write_text("nonsense")
    rows: list[Entry] = [(name, folder, [(STARTED, 10.0, None)]) for name, folder in (("a", one), ("b", two))]
    database = listed(pegasus / "workflow.db", rows)
    metric = UserMetric("soykb", "isi", database, TOOLS)
    values = metric.sample(1000.0)
    assert of(values, "soykb")["pegasus.workflows_unreadable"] == 1
    assert of(values, "a-00000000")["pegasus.state"] == 0
    (one / "status").write_text("nonsense")
    with refused("malformed"):
        metric.sample(1005.0)
