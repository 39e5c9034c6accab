from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator
from typer.testing import CliRunner, Result

from adon.config import load
from adon.yamlfile import BuiltinFiles
from apps.cli.config_commands import Example
from apps.cli.main import app
from tests.apps.edge import NETWORK


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["config", *words])


@pytest.mark.parametrize("effective", [[], ["--effective"]])
def test_what_is_shown_means_the_same(effective: list[str], tmp_path: Path) -> None:
    found = run("show", str(NETWORK), *effective)
    assert found.exit_code == 0, found.output
    (tmp_path / "again.yaml").write_text(found.stdout)
    assert load(tmp_path / "again.yaml") == load(NETWORK)


def test_what_is_in_force_has_every_default() -> None:
    plain, effective = (
        json.loads(run("show", str(NETWORK), "--json", *more).stdout) for more in ([], ["--effective"])
    )
    assert "credentials" not in plain["policy"]
    assert effective["policy"]["credentials"]["most_tokens"] == 50
    assert effective["controller"]["web_port"] == load(NETWORK).controller.web_port


def test_every_key_has_a_description() -> None:
    schema = json.loads(run("schema").stdout)
    keys = [
        key
        for section in (schema, *schema["$defs"].values())
        for key in section.get("properties", {}).items()
    ]
    assert len(keys) > 300
    assert [name for name, key in keys if not key.get("description")] == []


def test_the_schema_takes_what_is_right_and_nothing_that_is_misspelt() -> None:
    schema = json.loads(run("schema").stdout)
    Draft202012Validator.check_schema(schema)
    validator, document = Draft202012Validator(schema), yaml.safe_load(NETWORK.read_text())
    assert [error.message for error in validator.iter_errors(document)] == []
    document["polcy"] = {}
    (error,) = validator.iter_errors(document)
    assert (error.validator, "'polcy'" in error.message) == ("additionalProperties", True)


def test_problems_as_json(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text(NETWORK.read_text() + "polcy: {}\n")
    found = run("check", str(bad), "--json")
    assert found.exit_code == 2
    line = bad.read_text().count("\n")
    told = json.loads(found.stdout)
    (problem,) = told["problems"]
    assert "policy" in problem.pop("cause")
    assert problem == {"file": str(bad), "line": line, "field": "polcy", "code": "unknown-key"}
    assert told["file"] == str(bad)
    assert (
        json.loads(run("check", str(NETWORK), "--offline", "--json").stdout)["network"]
        == load(NETWORK).network
    )


def test_every_example_is_in_dry_run_mode_and_passes_the_strict_check(tmp_path: Path) -> None:
    assert {example.value for example in Example} == {*BuiltinFiles("example", "adon.config").names()}
    for example in Example:
        file = tmp_path / f"{example}.yaml"
        made = run("init", "--example", example, "-o", str(file))
        assert (made.exit_code, f"adon config check {file}" in made.stderr) == (0, True)
        assert run("check", "--offline", "--strict", str(file)).exit_code == 0
        assert load(file).mode == "dry-run"
    assert run("init").stdout == (tmp_path / "minimal.yaml").read_text()
    again = run("init", "-o", str(file))
    assert (again.exit_code, again.stderr.startswith("--output: ")) == (2, True)
