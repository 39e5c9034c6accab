"""Templates that a specification is like, by API and terminal."""

from __future__ import annotations

import pytest
import yaml

from adon import yamlfile
from adon.frozenmap import FrozenMap
from adon.templates_catalog.model import Template
from tests.apps.web import SOYKB
from tests.templates_catalog.experience import an_outcome

LIKE = {**SOYKB, "name": "ann-soykb", "qspec": {**SOYKB["qspec"], "throughput": {"min": "6.5 Mbps"}}}


@pytest.fixture
def tried(world, monkeypatch):
    """24 of 25 flows of soykb@1 kept their QSpec."""
    broken = an_outcome(25, quality=FrozenMap({"violated": 1.0}))
    got = (*(an_outcome(n) for n in range(1, 25)), broken)
    monkeypatch.setattr(
        type(world.store), "experience", lambda _, name, limit=0: got if name == "soykb" else ()
    )
    return world


def test_similar_templates_are_listed_with_reasons_and_outcomes(tried):
    answer = tried.ask("POST", "/template-drafts/similar", "researcher", json=LIKE).json
    (first, *_) = answer["items"]
    assert (first["reference"], first["outcomes"], first["kept"]) == ("soykb@1", 25, 24)
    assert first["similarity"] > 0.95
    assert "throughput 6.5 Mbps here, 7 Mbps there" in first["because"]


def test_a_draft_in_the_terminal_is_compared(tried, adon, tmp_path):
    file = tmp_path / "t.yaml"
    file.write_text(
        yaml.safe_dump({"application": "m", "kind": "session", "rate": "7 Mbps", "counts": ["speed"]})
    )
    found = adon("template", "draft", "--answers", str(file), "--similar", as_="researcher")
    assert found.exit_code == 0, found.output
    assert yamlfile.parse_model(found.stdout, Template).name == "m"
    assert "like soykb@1: " in found.stderr
