"""``adon evaluate``: what is printed, written and refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from apps.cli.main import app
from measurement.ceem.run_log import read_log
from tests.support.evaluation_documents import INSTANCES, TEXT

RUN = CliRunner()


def adon(*words: str | Path) -> Result:
    return RUN.invoke(app, ["evaluate", *map(str, words)])


@pytest.fixture
def document(tmp_path: Path) -> Path:
    file = tmp_path / "small.yaml"
    file.write_text(TEXT)
    (tmp_path / "instances.yaml").write_text(INSTANCES)
    return file


def carried_out(document: Path, out: str, *options: str, **changes: str) -> Result:
    for old, new in changes.items():
        document.write_text(document.read_text().replace(old, new))
    words = ("--instances", document.parent / "instances.yaml", "--out", document.parent / out)
    return adon("run", document, *words, *options)


def test_the_reference_is_reported_as_the_paper_prints_it(tmp_path: Path) -> None:
    found = adon("report", "nectar", "--reference")
    assert found.exit_code == 0
    assert {"2750.7", "(138.8)", "215.5", "(95)"} <= {*found.stdout.split()}
    assert ["MEB-qh2", "-", "qld", "0.5174", "206.4946"] in [
        line.split() for line in found.stdout.splitlines()
    ]
    page = tmp_path / "nectar.html"
    assert adon("report", "nectar", "--reference", "--out", page).stdout == f"{page}: written\n"
    assert page.read_text().startswith("<!DOCTYPE html>")
    told = json.loads(adon("report", "nectar", "--reference", "--json").stdout)
    assert told["diameters"]["sa"] == pytest.approx(1.9838, abs=1e-4)
    assert len(told["answers"]) == 4


def test_a_plan_is_told_and_nothing_is_done(document: Path) -> None:
    found = adon("run", document, "--dry-run")
    assert found.exit_code == 0
    assert {"10", "5"} <= {*found.stdout.split()}
    assert json.loads(adon("run", document, "--dry-run", "--pilot", "--json").stdout)["tests"] == 5
    nectar = adon("run", "nectar", "--dry-run").stdout
    assert {"14400", "20", "720"} <= {*nectar.split()}
    assert "12 h" in nectar
    assert [one.name for one in document.parent.iterdir() if one.is_dir()] == []


def test_a_run_is_made_kept_and_reported(document: Path, tmp_path: Path) -> None:
    found = carried_out(document, "first")
    assert found.exit_code == 0, found.output
    assert "10 of" in found.stderr
    assert ["u", *["7", "(0)"] * 2] in [line.split() for line in found.stdout.splitlines()]
    assert {one.name for one in (tmp_path / "first").iterdir()} == {
        "document.yaml", "log.jsonl", "run.json", "report.html"
    }  # fmt: skip
    for run in (tmp_path / "first", tmp_path / "first" / "run.json"):
        assert "7 Mbps" in adon("report", run).stdout
    again = carried_out(document, "first")
    assert (again.exit_code, again.stderr.splitlines()[-1].partition(":")[0]) == (1, "--out")
    done = carried_out(document, "first", "--resume", "--json")
    assert json.loads(done.stdout)["complete"] is True


def test_only_the_same_document_is_gone_on_with(document: Path) -> None:
    assert carried_out(document, "first").exit_code == 0
    found = carried_out(document, "first", "--resume", **{"runs: 2": "runs: 3"})
    assert found.exit_code == 1


def test_tests_that_fail_are_told_and_kept(document: Path, tmp_path: Path) -> None:
    found = carried_out(
        document, "run", "--json", **{'[printf, "7000000"]': "[sh, -c, 'test {other} = a && echo 9']"}
    )
    assert found.exit_code == 3
    told = json.loads(found.stdout)
    assert (told["complete"], told["tests"], told["failed"]) == (True, 10, 6)
    assert "status 1" in (tmp_path / "run" / "log.jsonl").read_text()
    assert "Tests failed" in adon("report", tmp_path / "run").stdout


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("show", "none"), 2, "DOCUMENT:"),
        (("show", "none.yaml"), 2, "DOCUMENT: none.yaml:"),
        (("show", "x" * 300), 2, "DOCUMENT:"),
        (("report", "x" * 300), 2, "RUN:"),
        (("run", "nectar"), 2, "--instances:"),
        (("show", "startr"), 2, "starter?"),
        (("report", "none"), 2, "RUN:"),
        (("report", "none.json"), 2, "RUN: none.json:"),
        (("note", "/nonexistent", " "), 2, "TEXT:"),
        (("report", "starter", "--reference"), 2, "'starter'"),
        (("note", "/nonexistent", "x"), 1, "/nonexistent"),
    ],
)
def test_what_cannot_be_is_a_line(words: tuple[str, ...], status: int, says: str) -> None:
    found = adon(*words)
    assert found.exit_code == status
    assert says in found.stderr


@pytest.mark.slow
@pytest.mark.integration
def test_recorded_results_survive_a_kill(tmp_path: Path) -> None:
    """Each reported result is in the log after SIGKILL and after SIGINT, and the run is resumed."""
    document, instances = tmp_path / "d.yaml", tmp_path / "i.yaml"
    slow = TEXT.replace('command: [printf, "7000000"]', 'command: [sh, -c, "sleep 0.1; echo 7000000"]')
    document.write_text(slow.replace("runs: 2", "runs: 8"))
    instances.write_text(INSTANCES)
    out = tmp_path / "run"
    argv = [sys.executable, "-m", "apps.cli", "evaluate", "run", str(document), "--instances", str(instances),
            "--out", str(out)]  # fmt: skip
    assert until(argv, 3, signal.SIGKILL) == -signal.SIGKILL
    kept = read_log(out)
    assert 3 <= len(kept.samples) < 40
    assert until([*argv, "--resume"], 2, signal.SIGINT) == 130
    stopped = read_log(out)
    resumed, ended = [note.text for note in stopped.notes]
    assert (str(len(kept.samples)) in resumed, ended) == (True, "stopped")
    assert (stopped.is_complete, stopped.ended) == (False, None)
    assert (out / "report.html").exists()
    assert until([*argv, "--resume"]) == 0
    found = read_log(out)
    assert found.is_complete
    assert found.samples[: len(stopped.samples)] == stopped.samples
    assert stopped.samples[: len(kept.samples)] == kept.samples


def until(argv: list[str], results: int = 0, number: int = 0) -> int:
    """Run a command, send it a signal after some results, and return its exit status."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stderr is not None
        told = 0
        for line in process.stderr:
            told += " of 40, " in line
            if results and told == results:
                process.send_signal(number)
                results = 0
    return process.returncode
