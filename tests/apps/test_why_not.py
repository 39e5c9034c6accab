"""Why a recorded decision took nothing else: by REST, from the command line, from a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from adon.api.decisions import WhyNotView
from adon.code_version import code_version
from adon.store.store import Store
from apps.cli.main import app
from apps.rest import explanations
from tests.support.decision_store import decision_ids, save_decisions, write_story
from tests.support.stage import make_stage

ASKED: Any = {"qspec": {"throughput": {"min": "6 Mbps"}}, "by": "researcher"}


@pytest.fixture
def data(tmp_path: Path, empty_state: Path) -> Path:
    return write_story(tmp_path, empty_state)


@pytest.fixture
def decided(world) -> str:
    """A decision with what it saw, in the database; it is about the researcher's flow."""
    stage = make_stage(internet=40.0)
    flow = stage.submit(**ASKED)
    with Store.open(world.url) as store:
        store.save_flow(stage.flow(flow), "e", stage.now)
    save_decisions(stage, world.folder, code_version())
    return stage.saved.decisions[-1].id


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["decision", "why-not", *map(str, arguments)])


def test_what_would_have_had_the_other_path_taken(world, decided):
    answer = world.ask("GET", f"/decisions/{decided}/why-not", "researcher")
    assert answer.status_code == 200
    found = answer.json
    assert (found["decision"], found["outcome"], found["path"]) == (decided, "admit", "al2s")
    assert found["as_recorded"]
    assert found["code"] == found["this_code"] == code_version()
    other = next(one for one in found["alternatives"] if one["path"] == "internet")
    first = other["flips"][0]
    assert other["text"] == first["text"]
    assert "internet" in first["text"]
    assert first["needed"] != first["short_of"]
    sizes = [one["size"] for one in other["flips"] if one["size"] is not None]
    assert sizes == sorted(sizes)
    assert any(one["kind"] == "metric" and one["path"] == "al2s" for one in found["searched"])


def test_what_was_found_once_is_told_again(world, decided, monkeypatch):
    first = world.ask("GET", f"/decisions/{decided}/why-not")

    def refuse(*_: object) -> None:
        raise AssertionError("it was worked out again")

    monkeypatch.setattr(explanations, "explain_decision", refuse)
    again = world.ask("GET", f"/decisions/{decided}/why-not")
    assert again.json == first.json
    tag = {"If-None-Match": first.headers["ETag"]}
    assert world.ask("GET", f"/decisions/{decided}/why-not", headers=tag).status_code == 304


@pytest.mark.parametrize(("who", "status"), [("rival", 404), (None, 401), ("auditor", 200)])
def test_whoever_may_read_the_decision_may_ask(world, decided, who, status, monkeypatch):
    monkeypatch.setattr(
        explanations, "explain_decision", lambda *_: WhyNotView.model_validate(EMPTY | {"decision": decided})
    )
    assert world.ask("GET", f"/decisions/{decided}/why-not", who).status_code == status


EMPTY: dict[str, Any] = {
    "outcome": "admit",
    "path": "al2s",
    "compute_site": None,
    "alternatives": [],
    "searched": [],
    "left_out": [],
    "decisions_made": 1,
    "code": "1",
    "this_code": "1",
    "as_recorded": True,
}


def test_a_decision_that_is_not_there_and_one_whose_snapshot_is_not(world):
    assert world.ask("GET", "/decisions/d-nothing.1/why-not").status_code == 404
    stage = make_stage()
    flow = stage.submit(**ASKED)
    with Store.open(world.url) as store:
        store.save_flow(stage.flow(flow), "e", stage.now)
        store.save_decision(stage.saved.decisions[-1])
    answer = world.ask("GET", f"/decisions/{stage.saved.decisions[-1].id}/why-not")
    assert answer.status_code == 404
    assert "snapshot" in answer.json["detail"]


def test_from_a_database_and_from_a_file(data: Path, tmp_path: Path) -> None:
    name = decision_ids(data)[0]
    first = run(name, "--data", data, "--json")
    assert first.exit_code == 0, first.output
    file = tmp_path / "d.json"
    saved = CliRunner().invoke(app, ["decision", "recompute", name, "--data", str(data), "--save", str(file)])
    assert saved.exit_code == 0
    assert json.loads(run("--from", file, "--json").output) == json.loads(first.output)
    assert run(name, "--data", data).exit_code == 0
    assert run().exit_code == 2
    assert run(name, "--from", file).exit_code == 2
