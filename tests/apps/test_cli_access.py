"""``adon token``, ``user``, ``role`` and ``audit``: over the API, and on the machine itself."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from apps.cli.main import app


def here(world, *arguments):
    return CliRunner().invoke(app, [*arguments, "--data", str(world.folder)], env={"ADON_TOKEN": ""})


def test_a_token_is_made_used_and_revoked(adon):
    made = adon("token", "create", "--label", "laptop", "--scope", "read", "--lifetime", "1 h", as_="rival")
    secret = made.stdout.strip()
    assert secret.startswith("adon_")
    assert adon("flow", "list", as_=secret).exit_code == 0
    listed = json.loads(adon("token", "list", "--json", as_="rival").stdout)
    token = next(one for one in listed if one["label"] == "laptop")
    assert "laptop" in adon("token", "list", as_="rival").stdout
    assert token["id"] in adon("token", "revoke", token["id"], as_="rival").stdout
    assert adon("flow", "list", as_=secret).exit_code == 1


def test_the_log_is_listed_exported_and_checked(adon, world, tmp_path):
    adon("user", "add", "bob", "researcher")
    adon("rules", "sync", as_="researcher")
    world.audit.flush()
    assert "network.sync" in adon("audit", "list", as_="auditor").stdout
    found = json.loads(adon("audit", "list", "--outcome", "refused", "--json", as_="auditor").stdout)
    assert [one["action"] for one in found] == ["network.sync"]
    assert adon("audit", "export").stdout.startswith("number,at,actor,")
    file = tmp_path / "audit.jsonl"
    adon("audit", "export", str(file), "--format", "jsonl")
    noted = adon("audit", "verify", "--file", str(file)).stdout.split()[-1]
    assert here(world, "audit", "verify", "--expect", noted).exit_code == 0
    assert adon("audit", "verify", "--expect", noted).exit_code == 0
    assert adon("audit", "export", "--format", "xml").exit_code == 2
    assert json.loads(adon("audit", "verify", "--json").stdout)["problem"] is None
    assert json.loads(adon("audit", "export", "--json").stdout)["format"] == "csv"
    file.write_text(file.read_text().replace("bob", "eve"))
    assert adon("audit", "verify", "--file", str(file)).exit_code == 1
    forged = f"1:{'0' * 64}"
    assert here(world, "audit", "verify", "--expect", forged).exit_code == 1
    assert adon("audit", "verify", "--expect", forged).exit_code == 1


def test_on_the_machine_itself_no_token_is_needed_and_it_is_written_down(world, adon):
    assert here(world, "user", "grant", "carol", "admin").stdout == "carol: admin\n"
    made = here(world, "token", "create", "--user", "carol", "--lifetime", "never", "--json")
    secret = json.loads(made.stdout)["secret"]
    assert adon("user", "list", as_=secret).exit_code == 0
    token = json.loads(made.stdout)["id"]
    assert here(world, "user", "grant", "carol", "nobody").exit_code == 2
    lines = [line.entry for line in world.access.audit.all() if line.entry.via == "local"]
    told = [(entry.action, entry.object, entry.outcome.value) for entry in lines]
    assert told == [
        ("user.change", "/users/carol", "done"),
        ("token.create", f"/tokens/{token}", "done"),
    ]
    assert secret not in str(lines)


def test_a_folder_that_no_server_was_given_is_told_with_what_makes_it(tmp_path):
    found = CliRunner().invoke(app, ["user", "grant", "ann", "admin", "--data", str(tmp_path / "nothing")])
    assert found.exit_code == 1
    assert "adon serve" in found.stderr
