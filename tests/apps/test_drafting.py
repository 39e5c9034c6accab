"""The survey in the terminal and by the API."""

from __future__ import annotations

from pathlib import Path

import yaml
from typer.testing import CliRunner

from adon import yamlfile
from adon.templates_catalog.model import Template
from apps.cli.main import app

SURVEYS = Path(__file__).parents[1] / "data" / "surveys"
SOYKB = yaml.safe_load((SURVEYS / "soykb.yaml").read_text())


def alone(*arguments, said=None):
    """Run a command that needs no server."""
    environment = {"ADON_URL": "http://127.0.0.1:9", "ADON_TOKEN": ""}
    return CliRunner().invoke(app, ["template", "draft", *arguments], env=environment, input=said)


# -- in the terminal -----------------------------------------------------------------------------------


def test_a_file_of_answers_becomes_a_template_that_is_valid():
    found = alone("--answers", str(SURVEYS / "soykb.yaml"))
    assert found.exit_code == 0, found.output
    template = yamlfile.parse_model(found.stdout, Template)
    assert (template.name, template.priority) == ("soykb", 500)
    assert "# 25 GB within 5 min are 666.7 Mbps" in found.stdout


def test_the_draft_is_written_once(tmp_path):
    file = tmp_path / "draft.yaml"
    arguments = ("--answers", str(SURVEYS / "soykb.yaml"), "--output", str(file))
    assert alone(*arguments).exit_code == 0
    assert yamlfile.load_model(file, Template).name == "soykb"
    found = alone(*arguments)
    assert found.exit_code == 2
    assert "is there already" in found.stderr


def test_a_contradiction_in_a_file_is_told_by_line(tmp_path):
    file = tmp_path / "answers.yaml"
    file.write_text("application: x\nkind: transfer\ncounts: [speed]\nrate: 1 Gbps\nfastest: 100 Mbps\n")
    found = alone("--answers", str(file))
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith(f"{file}:5: fastest: 100 Mbps contradicts rate")


def conversation(**said):
    """What is typed, one line per question that is asked."""
    from adon.templates_catalog.questionnaire.asking import QUESTIONS

    return "".join(f"{said.get(one.key, '')}\n" for one in QUESTIONS if one.asked(said))


def test_the_questions_are_asked(tmp_path):
    file = tmp_path / "draft.yaml"
    said = conversation(application="soykb", rate="700 Mbps", loss="little or no loss")
    found = alone("--output", str(file), said=said)
    assert found.exit_code == 0, found.output
    template = yamlfile.load_model(file, Template)
    assert template.qspec.model_dump(mode="json", exclude_none=True)["throughput"]["min"] == "700000000.0 bps"
    assert template.qspec.loss is not None
    assert "Within which time" in found.stderr


def test_an_answer_that_is_none_is_asked_for_again():
    said = conversation(application="soykb", rate="700 Mbps").replace("soykb\n", "Soy KB\nsoykb\n")
    found = alone(said=said)
    assert found.exit_code == 0, found.output
    assert found.stderr.count("What is the application called?") == 2


def test_both_answers_of_a_contradiction_are_asked_for_again(tmp_path):
    file = tmp_path / "draft.yaml"
    said = conversation(application="soykb", rate="700 Mbps", fastest="100 Mbps")
    found = alone("--output", str(file), said=said + "50 Mbps\n100 Mbps\n")
    assert found.exit_code == 0, found.output
    assert "contradicts rate" in found.stderr
    assert yamlfile.load_model(file, Template).rspec.bandwidth_ceiling == 1e8


# -- by the API ----------------------------------------------------------------------------------------


def test_the_api_drafts_and_saves_nothing(world):
    answer = world.ask("POST", "/template-drafts", "researcher", json=SOYKB)
    assert answer.status_code == 200, answer.text
    template = Template.model_validate(answer.json["template"])
    assert yamlfile.parse_model(answer.json["yaml"], Template) == template
    assert {"field": "priority", "because": "priority medium (journal version): ours is 500"} in answer.json[
        "reasons"
    ]
    assert {kind for kind, _ in world.controller.seen} <= {"hello"}


def test_the_api_names_every_contradiction(world):
    answer = world.ask(
        "POST", "/template-drafts", json={**SOYKB, "fastest": "1 Mbps", "counts": ["steadiness"]}
    )
    assert answer.status_code == 422
    assert [problem["field"] for problem in answer.json["problems"]] == ["fastest", "counts"]


def test_the_api_tells_the_questions(world):
    items = world.ask("GET", "/template-drafts/questions").json["items"]
    assert items[0]["key"] == "application"
    assert "little" in next(one for one in items if one["key"] == "loss")["choices"]


def test_a_draft_is_what_the_catalog_takes(world):
    template = world.ask("POST", "/template-drafts", json=SOYKB).json["template"]
    answer = world.ask("POST", "/templates", json={**template, "name": "drafted"})
    assert (answer.status_code, answer.json["version"]) == (201, 1)
