"""Commands about everything at once: decisions, parts, policy, the mesh, templates."""

from __future__ import annotations

import json

import pytest

from adon import yamlfile
from adon.templates_catalog.model import Template
from tests.apps.web import SOYKB


@pytest.fixture
def template(tmp_path):
    file = tmp_path / "soykb.yaml"
    file.write_text(yamlfile.dump(Template.model_validate(SOYKB)).replace("version: 1\n", ""))
    return file


def test_what_is_known_is_shown(adon, world):
    """All in one world: making one takes longer than the commands."""
    world.fill(world.submit(as_="admin"))
    cases = [
        (("decision", "list"), ("d-1", "f-1", "admit", "al2s")),
        (("decision", "list", "--path", "internet"), ("nothing was decided",)),
        (("status", "--parts"), ("ADON is degraded", "not connected: osu-edge", "archive")),
        (("version",), ("API v1", "database schema")),
        (("policy", "show"), ("aging", "60.0 s", "default", "reserve_nodes")),
        (("slice", "list"), ("no slice uses a path",)),
        (("workflow", "list"), ("no host tells of a workflow",)),
        (("measure", "mesh"), ("58 Mbps", "critical", "never measured")),
        (("measure", "series", "--path", "al2s"), ("mu > osu", "rtt")),
        (("measure", "boxes", "--metric", "rtt"), ("al2s mu > osu rtt", "33 ms")),
        (("measure", "overlaps"), ("no run met",)),
        (("template", "versions", "soykb"), ("soykb@1", "SoyKB")),
        (("template", "diff", "soykb"), ("there is no version before",)),
    ]
    for arguments, told in cases:
        found = adon(*arguments)
        assert found.exit_code == 0, f"{arguments}: {found.output}"
        assert [text for text in told if text not in found.stdout] == [], found.stdout


def test_only_what_was_set_of_the_policy(adon):
    shown = json.loads(adon("policy", "show", "--set", "--json").stdout)
    assert shown
    assert all(one["configured"] for one in shown)


def test_an_unknown_outcome_is_told_by_its_option(adon):
    found = adon("decision", "list", "--outcome", "nonsense")
    assert (found.exit_code, found.stderr.startswith("--outcome: ")) == (2, True)


def test_values_go_on_from_page_to_page(adon, world, monkeypatch):
    """Values of one moment stand on several pages; none is lost or told twice."""
    monkeypatch.setattr("adon.client.measurements.MOST_VALUES", 2)
    whole = json.loads(adon("measure", "list", "--json").stdout)
    names = {(one["path"], one["metric"], one["observed_at"], one["origin"]) for one in whole}
    kept = world.ask("GET", "/measurements?limit=1000").json["items"]
    assert len(whole) == len(names) == len(kept) > 2


def test_a_file_is_checked_by_the_server_and_not_saved(adon, template, tmp_path):
    assert adon("template", "add", str(template)).exit_code == 0
    before = adon("template", "list", "--json").stdout
    template.write_text(template.read_text().replace("SoyKB", "SoyKB changed"))
    assert adon("template", "check", str(template)).stdout.startswith(f"{template}: would be soykb@")
    assert adon("template", "list", "--json").stdout == before
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("name: soykb\npriority: many\n")
    found = adon("template", "check", str(wrong))
    assert (found.exit_code, f"{wrong}:2: priority: " in found.stderr) == (2, True)


def test_what_a_version_changed(adon, template):
    template.write_text(template.read_text().replace("SoyKB", "SoyKB changed"))
    assert adon("template", "add", str(template)).stdout == "soykb@2 is in the catalog\n"
    assert "+title: SoyKB changed" in adon("template", "diff", "soykb").stdout
    assert "there is no version before" in adon("template", "diff", "soykb@1").stdout
    assert adon("template", "diff", "soykb@x").exit_code == 2


def test_a_subscription_is_shown_by_the_beginning_of_its_id(adon):
    made = adon("alarm", "subscribe", "ann@example.org", "--critical", "--quiet").stdout.strip()
    shown = adon("alarm", "subscription", made[:8]).stdout
    assert [text for text in (made, "mail to ann@example.org", "least: critical") if text not in shown] == []
