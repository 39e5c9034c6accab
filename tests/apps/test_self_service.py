"""Self-service: like what, how it fared, whether that is enough; by API and terminal."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from adon import yamlfile
from adon.config import SelfService
from adon.frozenmap import FrozenMap
from adon.templates_catalog.model import Template
from apps.rest.services import NAME
from tests.apps.web import SOYKB
from tests.templates_catalog.experience import an_outcome

LIKE = {**SOYKB, "name": "ann-soykb", "qspec": {**SOYKB["qspec"], "throughput": {"min": "6.5 Mbps"}}}


@pytest.fixture
def open_(world, monkeypatch):
    """Self-service is on, and 24 of 25 flows of soykb@1 kept their QSpec."""
    world.app.extensions[NAME] = replace(world.app.extensions[NAME], self_service=SelfService())
    broken = an_outcome(25, quality=FrozenMap({"violated": 1.0}))
    got = (*(an_outcome(n) for n in range(1, 25)), broken)
    monkeypatch.setattr(
        type(world.store), "experience", lambda _, name, limit=0: got if name == "soykb" else ()
    )
    return world


def serve(world, who="researcher", **changes):
    return world.ask("POST", "/self-service", who, json={**LIKE, **changes})


def test_similar_ones_are_told_with_reasons_and_how_they_fared(open_):
    answer = open_.ask("POST", "/template-drafts/similar", "researcher", json=LIKE).json
    (first, *_) = answer["items"]
    assert (first["reference"], first["outcomes"], first["kept"]) == ("soykb@1", 25, 24)
    assert first["similarity"] > 0.95
    assert "throughput 6.5 Mbps here, 7 Mbps there" in first["because"]
    assert (answer["self_service"], answer["why"]) == (
        True,
        f"like soykb@1 ({first['similarity']:.2f}), whose flows kept their QSpec by 80% at least",
    )


def test_a_researcher_registers_what_is_like_one_that_succeeded(open_):
    answer = serve(open_, match={"applications": ["soykb"], "ports": [1247]})
    assert answer.status_code == 201, answer.text
    assert answer.headers["Location"] == "/api/v1/templates/ann-soykb/versions/1"
    saved = open_.store.template("ann-soykb")
    assert saved.author == "researcher"
    assert saved.template.notes.startswith("By self-service: like soykb@1 (")
    assert saved.template.match.applications == (), "it takes nobody's requests"
    again = serve(open_, qspec={"throughput": {"min": "6 Mbps"}, "rtt": {"max": "100 ms"}})
    assert (again.status_code, again.json["version"]) == (201, 2)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"priority": 501}, "priority: 501 here, 500 there"),
        ({"protocol": "udp", "weights": {"jitter": 1}}, "is below 0.90"),
        ({"name": "soykb"}, "belongs to somebody else"),
        ({"qspec": {"throughput": {"min": "8 Mbps"}, "rtt": {"max": "100 ms"}}}, "qspec.throughput.min"),
    ],
)
def test_what_lacks_is_told(open_, changes, why):
    answer = serve(open_, **changes)
    assert answer.status_code == 403
    assert why in answer.json["detail"]
    assert "template.add" not in {kind for kind, _ in open_.controller.seen}


def test_a_name_of_another_researcher_is_not_free(open_):
    assert serve(open_).status_code == 201
    assert serve(open_, "rival", priority=400).status_code == 403


def test_it_is_off_by_default(world):
    answer = serve(world)
    assert answer.status_code == 403
    assert "self-service is off" in answer.json["detail"]


def test_too_few_outcomes(world):
    world.app.extensions[NAME] = replace(world.app.extensions[NAME], self_service=SelfService())
    assert "0 outcomes, and 20 are needed" in serve(world).json["detail"]


def test_a_draft_says_what_it_is_like(open_):
    said = {"application": "mine", "kind": "transfer", "rate": "7 Mbps", "counts": ["speed"]}
    answer = open_.ask("POST", "/template-drafts", "researcher", json=said).json
    assert [one["reference"] for one in answer["similar"]["items"]] == ["soykb@1"]
    assert answer["similar"]["self_service"] is False


# -- in the terminal -----------------------------------------------------------------------------------


def file_of(tmp_path, document):
    file = tmp_path / "t.yaml"
    file.write_text(yaml.safe_dump(document))
    return str(file)


def test_the_command_compares_and_registers(open_, adon, tmp_path):
    file = file_of(tmp_path, LIKE)
    told = adon("template", "similar", file, as_="researcher").stdout
    assert told.startswith("like soykb@1: 0.9")
    assert "24 of 25 flows kept their QSpec (80% at least)" in told
    assert "may be added with --self-service" in told
    assert adon("template", "add", file, as_="researcher").exit_code == 1
    added = adon("template", "add", file, "--self-service", as_="researcher")
    assert added.stdout == "ann-soykb@1 is in the catalog\n"


def test_a_draft_in_the_terminal_is_compared(open_, adon, tmp_path):
    answers = {"application": "mine", "kind": "transfer", "rate": "7 Mbps", "counts": ["speed"]}
    found = adon("template", "draft", "--answers", file_of(tmp_path, answers), "--similar", as_="researcher")
    assert found.exit_code == 0, found.output
    assert yamlfile.parse_model(found.stdout, Template).name == "mine"
    assert "like soykb@1: " in found.stderr
    assert "no self-service: " in found.stderr
