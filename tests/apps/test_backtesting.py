"""`adon template backtest` on databases of a past; nothing is touched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from adon.store.store import Store
from apps.cli.main import app
from tests.support.backtests import START, UNTIL
from tests.support.past_folder import fingerprints, to_iso, write_past


@pytest.fixture
def folder(tmp_path: Path, empty_state: Path) -> Path:
    return write_past(tmp_path, empty_state)


def run(folder: Path, *more: object) -> Result:
    options = ["--config", folder / "network.yaml", "--since", to_iso(START), "--until", to_iso(UNTIL)]
    command = ["template", "backtest", folder / "eager.yaml", *options, "--data", folder, *more]
    return CliRunner().invoke(app, [str(each) for each in command])


def test_it_prints_a_table_and_changes_nothing(folder: Path) -> None:
    before = fingerprints(folder)
    found = run(folder)
    assert found.exit_code == 0, found.output
    for shown in ("f-1", "f-2", "internet", "bulk@2", "saved", "Model:"):
        assert shown in found.stdout
    assert fingerprints(folder) == before
    with Store.open(f"sqlite:///{folder / 'state.db'}", read_only=True) as store:
        assert [saved.template.reference for saved in store.templates()] == ["bulk@1"]


def test_as_json_it_can_be_worked_with(folder: Path) -> None:
    found = json.loads(run(folder, "--json").stdout)
    assert (found["present"], found["proposed"]) == ("bulk@1", "bulk@2")
    flows = {one["flow"]: one for one in found["flows"]}
    assert list(flows) == ["f-1", "f-2"]
    one = flows["f-1"]
    assert one["moved"] is True
    assert one["present"]["paths"] == ["al2s"]
    assert one["proposed"]["paths"] == ["al2s", "internet"]
    assert one["saved_seconds"] == pytest.approx(
        one["present"]["took_seconds"] - one["proposed"]["took_seconds"]
    )
    assert one["happened"] == {"paths": ["al2s"], "took_seconds": 498}
    assert found["model_off_by"] is not None


@pytest.mark.parametrize(
    ("more", "field"),
    [
        (("--until", "2020-01-01T00:00:00Z", "--since", "2021-01-01T00:00:00Z"), "until"),
        (("--since", "yesterday"), "since"),
    ],
)
def test_a_wrong_use_is_one_line(folder: Path, more: tuple[str, ...], field: str) -> None:
    found = run(folder, *more)
    assert (found.exit_code, len(found.stderr.splitlines())) == (2, 1)
    assert found.stderr.startswith(field)


def test_a_template_that_is_not_there_is_said(folder: Path) -> None:
    (folder / "eager.yaml").write_text(
        (folder / "eager.yaml").read_text().replace("name: bulk", "name: none")
    )
    found = run(folder)
    assert (found.exit_code, "none" in found.stderr) == (1, True)


def test_without_databases_it_says_so(folder: Path) -> None:
    (folder / "measurements.db").unlink()
    assert run(folder).exit_code == 1
    assert not (folder / "measurements.db").exists(), "none is made"
    (folder / "state.db").unlink()
    assert run(folder).exit_code == 1
    assert not (folder / "state.db").exists()
