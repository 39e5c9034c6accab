"""From the controller's effects through its database to `adon decision recompute`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy
from click.testing import Result
from typer.testing import CliRunner

from adon.code_version import code_version
from adon.errors import NotFound, Unavailable
from adon.store import tables
from adon.store.store import Store
from apps.campus_edge.input_recorder import Remembering
from apps.cli.main import app
from tests.support.decision_store import decision_ids, write_story
from tests.support.stage import make_stage


@pytest.fixture
def data(tmp_path: Path, empty_state: Path) -> Path:
    return write_story(tmp_path, empty_state)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["decision", "recompute", *map(str, arguments)])


def change(data: Path, what: Any) -> None:
    engine = sqlalchemy.create_engine(f"sqlite:///{data / 'state.db'}")
    with engine.begin() as connection:
        connection.execute(what)
    engine.dispose()


def test_every_decision_of_the_story_is_made_again(data: Path) -> None:
    names = decision_ids(data)
    assert len(names) >= 3
    before = hashlib.sha256((data / "state.db").read_bytes()).hexdigest()
    for name in names:
        found = run(name, "--data", data)
        assert found.exit_code == 0, found.output
        assert code_version() in found.stdout
    assert hashlib.sha256((data / "state.db").read_bytes()).hexdigest() == before


def test_a_record_that_is_not_what_was_decided_is_found_out(data: Path) -> None:
    name = decision_ids(data)[0]
    with Store.open(f"sqlite:///{data / 'state.db'}", read_only=True) as store:
        body = store.decision(name).body()
    body["path"], body["reason"] = "internet", "forged"
    change(data, tables.decisions.update().where(tables.decisions.c.id == name).values(body=body))
    found = run(name, "--data", data)
    assert found.exit_code == 1
    assert "forged" in found.stdout
    told = json.loads(run(name, "--data", data, "--json").stdout)
    assert (told["equal"], told["code"], told["this_code"]) == (False, code_version(), code_version())
    assert {one["field"] for one in told["differences"]} == {"path", "reason"}


def test_another_version_is_said_and_still_compared(data: Path) -> None:
    name = decision_ids(data)[0]
    change(data, tables.snapshots.update().values(code="0.0.9+fffffffffff0"))
    found = run(name, "--data", data)
    assert found.exit_code == 0
    assert {"0.0.9+fffffffffff0", code_version()} <= {*found.stdout.replace(";", "").split()}


def test_it_travels_as_a_file_to_a_version_that_has_another_database(data: Path, tmp_path: Path) -> None:
    name, file = decision_ids(data)[-1], tmp_path / "d.json"
    assert run(name, "--data", data, "--save", file).exit_code == 0
    (data / "state.db").unlink()
    found = run("--from", file)
    assert found.exit_code == 0, found.output
    assert name in found.stdout


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"decision": {}, "code": 1, "snapshot": "", "parts": {}}'])
def test_a_file_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "d.json"
    file.write_text(text)
    found = run("--from", file)
    assert (found.exit_code, len(found.stderr.splitlines())) == (2, 1)
    assert run("--from", tmp_path / "none.json").exit_code == 2


def test_what_was_not_kept_is_said(data: Path) -> None:
    name = decision_ids(data)[0]
    change(data, tables.snapshots.delete().where(tables.snapshots.c.decision == name))
    found = run(name, "--data", data)
    assert (found.exit_code, repr(name) in found.stderr) == (1, True)
    assert run("d-none", "--data", data).exit_code == 1


def test_a_part_or_a_snapshot_that_was_changed_is_found_out(data: Path) -> None:
    first, second, *_ = decision_ids(data)
    change(data, tables.snapshots.update().where(tables.snapshots.c.decision == first).values(body="{}"))
    found = run(first, "--data", data)
    assert (found.exit_code, "digest differs" in found.stderr) == (1, True)
    change(data, tables.snapshot_parts.update().values(body="{}"))
    found = run(second, "--data", data)
    assert found.exit_code == 1


@pytest.mark.parametrize(
    "arguments", [(), ("d-1",), ("d-1", "--from", "x"), ("d-1", "--data", "a", "--store", "b")]
)
def test_a_wrong_use(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_a_database_that_is_away_is_not_swallowed(tmp_path: Path, empty_state: Path) -> None:
    (tmp_path / "state.db").write_bytes(empty_state.read_bytes())
    stage = make_stage()
    stage.submit()
    with Store.open(f"sqlite:///{tmp_path / 'state.db'}") as store:
        change(tmp_path, sqlalchemy.text("DROP TABLE snapshot_parts"))
        remembering = Remembering(store, "1")
        remembering.keep(stage.snapshots)
        with pytest.raises(Unavailable):
            remembering.do_some()


def test_memory_has_an_end(tmp_path: Path, empty_state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "state.db").write_bytes(empty_state.read_bytes())
    monkeypatch.setattr("apps.campus_edge.input_recorder.MOST", 10)
    stage = make_stage()
    stage.submit()
    many = [replace(stage.snapshots[0], decision=f"d-{number}") for number in range(25)]
    with Store.open(f"sqlite:///{tmp_path / 'state.db'}") as store:
        remembering = Remembering(store, "1")
        remembering.keep(many)
        assert store.snapshot("d-15").code == "1"
        with pytest.raises(NotFound):
            store.snapshot("d-24")
        while remembering.pending:
            remembering.do_some()
        remembering.do_some()
        assert store.snapshot("d-24").code == "1"
