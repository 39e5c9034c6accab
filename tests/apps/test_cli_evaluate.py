"""``adon evaluate``: what is printed, written and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from apps.cli.main import app
from apps.evaluation import logfile
from tests.evaluations.documents import INSTANCES, TEXT

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


def test_what_adon_brings_is_listed() -> None:
    assert "nectar@1    yes" in adon("list").stdout
    assert [one["name"] for one in json.loads(adon("list", "--json").stdout)] == ["nectar", "starter"]


def test_a_document_is_shown_in_its_ten_steps() -> None:
    found = adon("show", "nectar")
    lines = found.stdout.splitlines()
    assert [line[:2].strip() for line in lines if line[:2].strip().isdecimal()] == [*map(str, range(1, 11))]
    assert adon("show", "nectar", "--yaml").stdout.startswith("# The communication evaluation")
    assert json.loads(adon("show", "nectar", "--json").stdout)["design"]["runs"] == 720


def test_documents_are_checked(document: Path, tmp_path: Path) -> None:
    found = adon("check", document)
    assert (found.exit_code, found.stdout) == (0, f"{document}: small, version 1, is valid\n")
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(TEXT.replace("analysis: {}\n", ""))
    found = adon("check", document, wrong)
    assert found.exit_code == 2
    assert f"{wrong}:1: analysis: is required" in found.stderr
    assert adon("check").exit_code == 2
    assert json.loads(adon("check", "--schema").stdout)["title"] == "CEEM evaluation"


def test_the_reference_is_reported_as_the_paper_prints_it(tmp_path: Path) -> None:
    found = adon("report", "nectar", "--reference")
    assert found.exit_code == 0
    assert "Monash01                                       2750.7 (138.8)  215.5 (95)" in found.stdout
    assert "MEB-qh2 - qld             0.5174   206.4946" in found.stdout
    assert "diameters (3): MEB-np 1.980, MEB-qh2 1.708, Monash01 1.045, qld 1.000, sa 1.984" in found.stdout
    page = tmp_path / "nectar.html"
    assert adon("report", "nectar", "--reference", "--out", page).stdout == f"{page}: written\n"
    assert page.read_text().startswith("<!DOCTYPE html>")
    told = json.loads(adon("report", "nectar", "--reference", "--json").stdout)
    assert told["diameters"]["sa"] == pytest.approx(1.9838, abs=1e-4)
    assert len(told["answers"]) == 4


def test_a_plan_is_told_and_nothing_is_done(document: Path) -> None:
    found = adon("run", document, "--dry-run")
    assert found.exit_code == 0
    assert "run: 10 tests of 5 paths in 10 turns" in found.stdout
    assert "each 1 s: 10 s in all" in found.stdout
    assert json.loads(adon("run", document, "--dry-run", "--pilot", "--json").stdout)["tests"] == 5
    nectar = adon("run", "nectar", "--dry-run").stdout
    assert "14400 tests of 20 paths in 720 turns" in nectar
    assert "each 30 s and 30 s of pause: 12 h in all" in nectar
    assert "20 tests at once: those that share a place disturb each other" in nectar
    assert [one.name for one in document.parent.iterdir() if one.is_dir()] == []


def test_a_run_is_made_kept_and_reported(document: Path, tmp_path: Path) -> None:
    found = carried_out(document, "first")
    assert found.exit_code == 0, found.output
    assert "10 of 10, 0 s left:" in found.stderr
    assert "u  7 (0)  7 (0)" in found.stdout
    assert {one.name for one in (tmp_path / "first").iterdir()} == {
        "document.yaml", "log.jsonl", "run.json", "report.html"
    }  # fmt: skip
    for run in (tmp_path / "first", tmp_path / "first" / "run.json"):
        assert "The nearest node to u is a with 7 Mbit/s." in adon("report", run).stdout
    again = carried_out(document, "first")
    assert (again.exit_code, again.stderr.splitlines()[-1]) == (
        1, f"--out: there is a run in {tmp_path / 'first'}; --resume goes on with it"
    )  # fmt: skip
    done = carried_out(document, "first", "--resume", "--json")
    assert json.loads(done.stdout)["complete"] is True


def test_only_the_same_document_is_gone_on_with(document: Path) -> None:
    assert carried_out(document, "first").exit_code == 0
    found = carried_out(document, "first", "--resume", **{"runs: 2": "runs: 3"})
    assert found.exit_code == 1
    assert "is of another document" in found.stderr


def test_tests_that_fail_are_told_and_kept(document: Path, tmp_path: Path) -> None:
    found = carried_out(
        document, "run", "--json", **{'[printf, "7000000"]': "[sh, -c, 'test {other} = a && echo 9']"}
    )
    assert found.exit_code == 3
    told = json.loads(found.stdout)
    assert (told["complete"], told["tests"], told["failed"]) == (True, 10, 6)
    assert "sh ended with status 1" in (tmp_path / "run" / "log.jsonl").read_text()
    assert "Tests failed, and are in no mean" in adon("report", tmp_path / "run").stdout


def test_two_runs_are_compared(document: Path, tmp_path: Path) -> None:
    assert carried_out(document, "one", **{"runs: 2": "runs: 6"}).exit_code == 0
    assert carried_out(document, "two", "--json").exit_code == 0
    same = adon("compare", tmp_path / "one", tmp_path / "two")
    assert same.exit_code == 0, same.output
    assert "all 5 paths are alike; geometric mean of the ratios 1.000" in same.stdout
    assert carried_out(document, "three", **{"7000000": "3500000"}).exit_code == 0
    less = adon("compare", tmp_path / "one", tmp_path / "three" / "run.json")
    assert less.exit_code == 3
    assert "of 5 paths tested 0 are higher and 5 lower than before" in less.stdout
    assert "different: document: the content differs, though both say version 1" in less.stdout
    assert "different: command: printf 7000000, then printf 3500000" in less.stdout
    told = json.loads(adon("compare", tmp_path / "one", tmp_path / "three", "--json").stdout)
    assert {one["verdict"] for one in told["paths"]} == {"lower"}


def test_a_comparison_is_a_page_too(document: Path, tmp_path: Path) -> None:
    assert carried_out(document, "one", **{"runs: 2": "runs: 6"}).exit_code == 0
    assert carried_out(document, "two", **{"7000000": "3500000"}).exit_code == 0
    file = tmp_path / "compared.html"
    words = ("compare", tmp_path / "one", tmp_path / "two", "--out", file)
    found = adon(*words)
    assert (found.exit_code, found.stdout.splitlines()[0]) == (3, f"{file}: written")
    assert found.stdout.splitlines()[1].startswith("of 5 paths tested 0 are higher and 5 lower than before")
    page = file.read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "Of 5 paths tested 0 are higher and 5 lower than before." in page
    assert "Different: command: printf 7000000, then printf 3500000" in page
    assert '<td>a - b</td><td class="words">lower</td><td>7 (0)</td><td>3.5 (0)</td><td>0.500</td>' in page
    assert json.loads(adon(*words, "--json").stdout)["file"] == str(file)
    assert file.read_text() == page, "the same runs give the same page"
    nowhere = adon(*words[:3], "--out", tmp_path / "none" / "x.html")
    assert (nowhere.exit_code, nowhere.stdout) == (2, "")
    assert "--out: " in nowhere.stderr


def test_what_is_not_the_same_evaluation_is_not_compared(document: Path, tmp_path: Path) -> None:
    assert carried_out(document, "one").exit_code == 0
    found = adon("compare", "nectar", tmp_path / "one")
    assert found.exit_code == 2
    assert "they cannot be compared: document: 'nectar' and 'small' are two evaluations" in found.stderr


def test_a_note_is_in_the_log_and_the_report(document: Path, tmp_path: Path) -> None:
    assert carried_out(document, "one").exit_code == 0
    assert adon("note", tmp_path / "one", "the switch was replaced").exit_code == 0
    assert logfile.read(tmp_path / "one").notes[-1].text == "the switch was replaced"
    page = tmp_path / "page.html"
    assert adon("report", tmp_path / "one", "--out", page).exit_code == 0
    assert "the switch was replaced" in page.read_text()


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("show", "none"), 2, "DOCUMENT: none is no file, and there is no built-in evaluation 'none'"),
        (("show", "none.yaml"), 2, "DOCUMENT: none.yaml: there is no such file"),
        (("show", "x" * 300), 2, "x is no file, and there is no built-in evaluation 'x"),
        (("report", "x" * 300), 2, "x is no file or run's folder, and there is no evaluation"),
        (("run", "nectar"), 2, "--instances: is required"),
        (("show", "startr"), 2, "there is no built-in evaluation 'startr'; did you mean starter?"),
        (("report", "none"), 2, "RUN: none is no file or run's folder, and there is no evaluation"),
        (("report", "none.json"), 2, "RUN: none.json: there is no such file"),
        (("compare", "nectar", "none/run"), 2, "RUN: none/run: there is no such file"),
        (("note", "/nonexistent", " "), 2, "TEXT: is empty"),
        (("report", "starter", "--reference"), 2, "there is no evaluation with a reference 'starter'"),
        (("note", "/nonexistent", "x"), 1, "there is no run '/nonexistent'"),
    ],
)
def test_what_cannot_be_is_a_line(words: tuple[str, ...], status: int, says: str) -> None:
    found = adon(*words)
    assert found.exit_code == status
    assert says in found.stderr


@pytest.mark.parametrize(
    ("content", "says"), [(b"\xff\xfe\x00", "is not UTF-8 text"), (b"[1", "is no JSON: ")]
)
def test_what_cannot_be_read_is_told(tmp_path: Path, content: bytes, says: str) -> None:
    file = tmp_path / "run.json"
    file.write_bytes(content)
    found = adon("report", file)
    assert (found.exit_code, found.stderr.startswith(f"{file}: {says}")) == (2, True), found.stderr
    for words in (("show", file), ("run", file, "--dry-run")):
        found = adon(*words)
        assert (found.exit_code, found.stderr.startswith(f"{file}:")) == (2, True), found.stderr


def test_a_file_that_is_no_run_is_told(tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    file.write_text('{"format": "ceem-run/1"}')
    found = adon("report", file)
    assert found.exit_code == 2
    assert "name: Field required" in found.stderr


def test_instances_that_are_missing_are_told(document: Path) -> None:
    (document.parent / "instances.yaml").write_text(
        "instances:\n  - {name: a, address: 127.0.0.1}\n  - {name: c, address: 127.0.0.2}\n"
    )
    found = carried_out(document, "run", "--place", "b=c")
    assert found.exit_code == 2
    assert found.stderr == (
        "--instances: no instance 'u' for the place 'u'; --place u=INSTANCE says which it is\n"
    )
    assert carried_out(document, "run", "--place", "b").exit_code == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--place", "b=a"), "--place: 'a' and 'b' are both the instance 'a'"),
        (("--place", "b=a", "--place", "b=u"), "--place: 'b' is there twice"),
        (("--reach", "ssh {adress}"), "--reach: {adress} is not one of name, address"),
        (("--reach", "ssh 'x"), "--reach: cannot be read"),
        (("--here", "z"), "--here: 'z' is no place of the design"),
    ],
)
def test_machines_that_cannot_be_are_told_and_nothing_is_written(
    document: Path, options: tuple[str, ...], says: str
) -> None:
    found = carried_out(document, "run", *options)
    assert found.exit_code == 2
    assert says in found.stderr
    assert not (document.parent / "run").exists()


def test_tests_at_once_need_a_port_each(document: Path) -> None:
    nodes = ", ".join(f"n{number}" for number in range(40))
    text = document.read_text()
    (line,) = (line for line in text.splitlines() if line.strip().startswith("nodes:"))
    document.write_text(text.replace(line, f"  nodes: [{nodes}]\n  at_once: all"))
    listed = (
        f"  - {{name: {name}, address: 127.0.1.{number}}}"
        for number, name in enumerate([*nodes.split(", "), "u"])
    )
    (document.parent / "instances.yaml").write_text("\n".join(["instances:", *listed, ""]))
    words = ("--instances", document.parent / "instances.yaml", "--out", document.parent / "run")
    found = adon("run", document, *words, "--port", "65000")
    assert found.exit_code == 2
    assert "--port: 860 tests at once would need ports up to 65859" in found.stderr
