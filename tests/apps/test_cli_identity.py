"""Login, identity and logout; repeated requests; changed templates."""

from __future__ import annotations

import json
import stat

import pytest
from typer.testing import CliRunner

from apps.cli.main import app


@pytest.fixture
def home(tmp_path):
    """An environment of its own, without a token."""
    clean = {"ADON_TOKEN": None, "ADON_TOKEN_FILE": None, "ADON_URL": None}
    return {**clean, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config")}


def run(home, *arguments, typed=None):
    return CliRunner().invoke(app, list(arguments), env=home, input=typed)


def test_a_login_is_kept_used_and_forgotten(home, served, world, tmp_path):
    token = world.tokens["researcher"]
    assert "adon login" in run(home, "flow", "list").stderr
    made = run(home, "--url", served, "login", typed=token + "\n")
    file = tmp_path / "config" / "adon" / "credentials.json"
    assert made.exit_code == 0
    assert str(file) in made.stdout
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token not in made.output
    assert run(home, "flow", "list").exit_code == 0  # neither address nor token is told
    who = json.loads(run(home, "whoami", "--json").stdout)
    assert (who["name"], who["roles"]) == ("researcher", ["researcher"])
    assert run(home, "--url", "http://127.0.0.1:9", "whoami").exit_code == 1
    assert json.loads(run(home, "logout", "--json").stdout) == {"url": served, "forgotten": True}
    assert token not in file.read_text()
    assert run(home, "--url", served, "whoami").exit_code == 1


@pytest.mark.parametrize(
    ("typed", "status"), [("adon_wrong\n", 1), ("\n", 2), ("two words\n", 2), ("a\x00b\n", 2), ("ä\n", 2)]
)
def test_a_token_that_is_not_accepted_is_not_kept(home, served, tmp_path, typed, status):
    found = run(home, "--url", served, "login", typed=typed)
    assert found.exit_code == status
    assert not (tmp_path / "config").exists()
    assert typed.strip() == "" or typed.strip() not in found.output


def test_a_token_in_the_clear_is_warned_of(home):
    found = run(home, "--url", "http://adon.example.org", "login", "--no-check", typed="adon_x\n")
    assert found.exit_code == 0
    warned = found.stderr.strip()
    assert "encrypted" in warned
    near = run(home, "--url", "http://[::1]:9", "login", "--no-check", typed="x\n")
    assert "encrypted" not in near.stderr


def test_once_more_asks_for_the_same_without_its_times(adon, world):
    times = ("--not-before", "2025-11-20T22:00:00Z", "--deadline", "2025-11-21T06:00:00Z")
    wish = ("--from", "mu-dtn", "--to", "osu-dtn", "--size", "25 GB", "--weight", "loss=2", "--port", "5001")
    wish += ("--template", "soykb")
    assert adon("flow", "submit", *wish, *times, "--label", "first").exit_code == 0
    adon("flow", "cancel", "f-1")
    again = adon("flow", "again", "f-1", "--size", "1 GB", "--quiet")
    assert again.stdout == "f-2\n"
    first, second = world.store.flow(1).request, world.store.flow(2).request
    assert (second.deadline, second.not_before, second.size) == (None, None, 10**9)
    assert (second.weights, second.ports, second.label) == (first.weights, first.ports, "first")
    assert adon("flow", "again", "f-1", "--size", "none").stderr.startswith("--size: ")
    assert adon("flow", "again", "f-9").exit_code == 1


# -- templates -----------------------------------------------------------------------------------------


def test_changed_template_is_saved_as_the_next_version(adon, world, tmp_path):
    file = tmp_path / "soykb.yaml"
    text = adon("template", "show", "soykb", "--next-version").stdout
    file.write_text(text.replace("max: 100 ms", "max: 90 ms"))
    assert "soykb@2" in adon("template", "add", str(file)).stdout
    assert world.store.template("soykb").template.qspec.rtt.max == pytest.approx(0.09)
    difference = adon("template", "diff", "soykb").stdout
    assert "-  rtt: {max: 100 ms}" in difference
    assert "+  rtt: {max: 90 ms}" in difference
    assert "max:" not in adon("template", "diff", "soykb", "--from", "2", "--to", "2").stdout
    assert adon("template", "diff", "soykb", "--to", "3").exit_code == 1
