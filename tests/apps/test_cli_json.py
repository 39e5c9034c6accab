"""``--json`` everywhere: one document on standard output and nothing else; errors as problem documents."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from adon import yamlfile
from adon.evaluation_file import BUILTIN
from adon.templates_catalog.model import Template
from apps.cli.main import app
from tests.apps.commands import assert_json, command_of, commands, options
from tests.support.cli_commands import COMMANDS
from tests.support.web_world import SOYKB

DATA = Path(__file__).parents[1] / "data"
NETWORK = str(DATA / "network.yaml")

STREAMS = {"alarm watch", "events", "flow watch"}
"""Each change is a document on a line of its own."""
PROCESSES = {
    "serve": "runs until it is told to stop; its log is its output",
    "collect": "runs until it is told to stop; its log is its output",
    "demo": "writes its report, with checks.json, into a folder",
    "deploy show": "prints a file, to be written as it is",
    "deploy apache": "prints a file, to be written as it is",
    "deploy nginx": "prints a file, to be written as it is",
    "testbed exec": "becomes a program in a host; its output is the program's",
    "testbed run": "gives Mininet's prompt, or becomes a program",
    "config init": "prints a configuration file",
    "config schema": "prints a JSON schema, and nothing else",
}
"""Commands that print no data, and what they do instead."""

LOCAL: dict[str, tuple[str, ...]] = {
    "config check": (NETWORK, "--offline"),
    "plan show": (NETWORK,),
    "plan page": (NETWORK,),
    "plan psconfig": (NETWORK,),
    "evaluate list": (),
    "evaluate show": ("nectar",),
    "evaluate check": ("{evaluation}",),
    "evaluate run": ("{evaluation}", "--dry-run"),
    "evaluate report": ("nectar", "--reference"),
    "testbed show": ("mu_osu",),
    "template validate": ("{template}",),
    "template draft": ("--answers", "{answers}"),
    "template from-rspec": ("{rspec}", "--name", "draft"),
    "template backtest": ("{template}", "--config", NETWORK, "--since", "1 d", "--data", "{folder}"),
    "archive info": ("--data", "{folder}"),
    "archive export": ("{folder}/values.csv", "--data", "{folder}"),
    "archive import": ("{folder}/values.csv", "--data", "{folder}"),
    "decision recompute": ("d-1", "--data", "{folder}"),
    "reload": ("--data", "{folder}"),
}
"""Commands that ask no server, with arguments to run them."""
TRIED_ELSEWHERE = {
    "advice check",
    "audit export",
    "audit verify",
    "backup",
    "circuit list",
    "config show",
    "deploy grafana",
    "deploy list",
    "deploy perfsonar",
    "evaluate note",
    "experiment report",
    "experiment run",
    "flow again",
    "health choose",
    "health diagnose",
    "health map",
    "health markers",
    "health probe",
    "health report",
    "health show",
    "link list",
    "login",
    "logout",
    "place bursts",
    "place predict",
    "place profile",
    "place sequence",
    "place snapshot",
    "place staleness",
    "place tasks",
    "reserve path",
    "restore",
    "user enable",
    "user grant",
    "user revoke",
}
"""Run below, or in a test of their own."""


def test_every_command_that_prints_data_takes_json():
    known = commands()
    without = {name for name, command in known.items() if "--json" not in options(command)}
    assert without == set(PROCESSES)


def test_every_command_is_run_with_json():
    run = {command_of(" ".join(words)) for words in COMMANDS.values()}
    assert run | set(LOCAL) | STREAMS | set(PROCESSES) | TRIED_ELSEWHERE == set(commands())


@pytest.fixture
def files(world, tmp_path):
    template = tmp_path / "soykb.yaml"
    template.write_text(yamlfile.dump(Template.model_validate(SOYKB)))
    rspec = tmp_path / "soykb.xml"
    from adon.templates_catalog.rspec_xml import export_rspec

    rspec.write_text(export_rspec(Template.model_validate(SOYKB), "mu", "osu"))
    evaluation = tmp_path / "evaluation.yaml"
    evaluation.write_text(BUILTIN.text("starter"))
    answers = next((DATA / "surveys").glob("*.yaml"))
    return {
        "{template}": str(template),
        "{rspec}": str(rspec),
        "{folder}": str(tmp_path),
        "{evaluation}": str(evaluation),
        "{answers}": str(answers),
    }


def test_what_needs_no_server_speaks_json(files):
    for name, words in LOCAL.items():
        arguments = [*name.split(), *words, "--json"]
        for key, value in files.items():
            arguments = [word.replace(key, value) for word in arguments]
        found = CliRunner().invoke(app, arguments, env={"ADON_URL": "http://127.0.0.1:9", "ADON_TOKEN": ""})
        assert_json(found)
        if name not in ("decision recompute", "reload"):
            assert found.exit_code == 0, f"{name}: {found.output}"


@pytest.mark.parametrize(
    "arguments",
    [
        ("link", "list"),
        ("circuit", "list"),
        ("flow", "again", "f-1"),
        ("reserve", "path", "al2s", "mu", "osu", "--bandwidth", "1 Mbps", "--until", "2 h"),
        ("user", "enable", "researcher"),
        ("user", "grant", "researcher", "auditor"),
        ("user", "revoke", "researcher", "auditor"),
        ("alarm", "watch", "--seconds", "0.05"),
    ],
)
def test_the_rest_speaks_json(adon, world, arguments):
    world.submit(as_="admin")
    assert_json(adon(*arguments, "--json"), lines="watch" in arguments)


@pytest.mark.parametrize(
    ("arguments", "status", "title", "field"),
    [
        (("flow", "show", "f-9"), 1, "Not found", None),
        (("flow", "submit", "--from", "a", "--to", "b", "--size", "25"), 2, "Invalid input", "--size"),
        (("flow", "submit", "--to", "b", "--size", "1 GB"), 2, "Invalid input", "--from"),
        (("flow", "list", "--limit", "0"), 2, "Invalid input", "--limit"),
        (("flow", "list", "--no-such"), 2, "Invalid input", "--no-such"),
        (("flow", "nonsense"), 2, "Invalid input", ""),
        (("template", "validate", "/nonexistent.yaml"), 2, "Invalid input", ""),
    ],
)
def test_an_error_is_a_problem_document(adon, arguments, status, title, field):
    found = adon(*arguments, "--json")
    assert (found.exit_code, found.stdout) == (status, "")
    document = json.loads(found.stderr)
    assert document["title"] == title
    if field is not None:
        assert document["problems"][0]["field"] == field


def test_a_flow_that_is_watched_is_a_document_per_change(adon, world):
    name = world.submit()
    adon("flow", "cancel", name)
    found = adon("flow", "watch", name, "--json")
    assert found.exit_code == 1
    assert [json.loads(line)["state"] for line in found.stdout.splitlines()] == ["cancelled"]
    assert adon("flow", "watch", name, "--quiet").output == ""


def test_behind_two_dashes_nothing_is_an_option_of_ours(adon):
    """Words for a program: they come to the controller, which takes no options for programs."""
    found = adon("job", "submit", "osu-hpc", "align", "--", "--json", "--utc")
    assert (found.exit_code, found.stderr.partition(" ")[0]) == (2, "ARGUMENTS:")
    assert adon("job", "submit", "osu-hpc", "align", "--", "chr1", "b").stdout.startswith("j-1 requested")
