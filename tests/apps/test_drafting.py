"""The survey in the terminal."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from adon import yamlfile
from adon.templates_catalog.model import Template
from adon.templates_catalog.template_draft import questions
from apps.cli.main import app

SURVEYS = Path(__file__).parents[1] / "data" / "surveys"


def alone(*arguments, said=None):
    """Run a command that needs no server."""
    environment = {"ADON_URL": "http://127.0.0.1:9", "ADON_TOKEN": ""}
    return CliRunner().invoke(app, ["template", "draft", *arguments], env=environment, input=said)


def test_a_file_of_answers_becomes_a_template_that_is_valid():
    found = alone("--answers", str(SURVEYS / "soykb.yaml"))
    assert found.exit_code == 0, found.output
    template = yamlfile.parse_model(found.stdout, Template)
    assert (template.name, template.priority) == ("soykb", 500)
    assert "666.7 Mbps" in found.stdout


def test_the_draft_is_written_once(tmp_path):
    file = tmp_path / "draft.yaml"
    arguments = ("--answers", str(SURVEYS / "soykb.yaml"), "--output", str(file))
    assert alone(*arguments).exit_code == 0
    assert yamlfile.load_model(file, Template).name == "soykb"
    found = alone(*arguments)
    assert found.exit_code == 2


def test_a_contradiction_in_a_file_is_told_by_line(tmp_path):
    file = tmp_path / "answers.yaml"
    file.write_text("application: x\nkind: transfer\ncounts: [speed]\nrate: 1 Gbps\nfastest: 100 Mbps\n")
    found = alone("--answers", str(file))
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith(f"{file}:5: fastest:")


def conversation(**said):
    """What is typed, one line per question that is asked."""
    return "".join(f"{said.get(one.key, '')}\n" for one in questions().values() if one.is_asked(said))


def test_both_answers_of_a_contradiction_are_asked_for_again(tmp_path):
    file = tmp_path / "draft.yaml"
    said = conversation(application="soykb", rate="700 Mbps", fastest="100 Mbps")
    found = alone("--output", str(file), said=said + "50 Mbps\n100 Mbps\n")
    assert found.exit_code == 0, found.output
    assert "contradicts rate" in found.stderr
    assert yamlfile.load_model(file, Template).rspec.bandwidth_ceiling == 1e8
