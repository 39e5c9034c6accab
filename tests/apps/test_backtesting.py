"""`adon template backtest` on databases of a past; nothing is touched."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

from adon import yamlfile
from adon.broker.diary import Diary
from adon.broker.outcomes import Stay
from adon.store.store import Store
from apps.cli.main import app
from measurement.archive import Archive
from tests.support.backtests import EAGER, START, UNTIL, catalog, results, then
from tests.support.factories import make_alarm
from tests.support.fake_collector import put_alarm
from tests.support.network_factories import NETWORK


@pytest.fixture
def folder(tmp_path: Path, empty_state: Path) -> Path:
    """A data folder, a configuration and a template file."""
    document = yaml.safe_load(NETWORK.read_text())
    document["paths"]["internet"]["capacity"] = "40 Mbps"
    (tmp_path / "network.yaml").write_text(yaml.safe_dump(document, sort_keys=False))
    (tmp_path / "eager.yaml").write_text(yamlfile.dump(EAGER))
    (tmp_path / "state.db").write_bytes(empty_state.read_bytes())
    with Store.open(f"sqlite:///{tmp_path / 'state.db'}") as store:
        for template in catalog().latest:
            store.save_template(template, "eve", START - 1000)
        first = then(diary=Diary(stays=(Stay("al2s", START + 2, START + 50),)))
        for flow in (first, replace(then(2, 400.0, size="20 MB"), ended_at=START + 412)):
            store.save_flow(flow, "e-1", flow.submitted_at)
    with Archive(tmp_path / "measurements.db") as archive:
        archive.append(results())
        put_alarm(archive, make_alarm(START + 5, "a-1", "internet", critical=False))
    return tmp_path


def text(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


def run(folder: Path, *more: object) -> Result:
    options = ["--config", folder / "network.yaml", "--since", text(START), "--until", text(UNTIL)]
    command = ["template", "backtest", folder / "eager.yaml", *options, "--data", folder, *more]
    return CliRunner().invoke(app, [str(each) for each in command])


def fingerprints(folder: Path) -> dict[str, str]:
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.iterdir())
        if file.suffix in (".db", ".yaml")
    }


def test_it_prints_a_table_and_changes_nothing(folder: Path) -> None:
    before = fingerprints(folder)
    found = run(folder)
    assert found.exit_code == 0, found.output
    for shown in ("f-1", "f-2", "internet", "bulk@2", "saved", "The model:"):
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
