"""``adon token``, ``user``, ``role`` and ``audit``: over the API, and on the machine itself."""

from __future__ import annotations

import json

import pytest
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
    assert adon("token", "revoke", token["id"], as_="rival").stdout == f"{token['id']} is revoked\n"
    assert adon("flow", "list", as_=secret).exit_code == 1


def test_users_are_named_given_roles_shut_out_and_let_in(adon):
    wrong = adon("user", "add", "bob", "performance-engineer")
    assert (wrong.exit_code, wrong.stderr.partition(":")[0]) == (2, "roles")
    assert "'performance-engineer' is no role: admin, performance_engineer," in wrong.stderr
    assert adon("user", "add", "bob", "researcher").stdout == "bob: researcher\n"
    assert adon("user", "grant", "bob", "operator", "auditor").stdout == "bob: auditor operator researcher\n"
    assert adon("user", "revoke", "bob", "operator").stdout == "bob: auditor researcher\n"
    assert adon("user", "disable", "bob").stdout == "bob is disabled\n"
    assert "disabled 20" in adon("user", "list").stdout
    assert adon("user", "enable", "bob").stdout == "bob is enabled\n"
    shown = adon("user", "show", "bob").stdout
    assert "taken away" in shown
    assert "operator" in shown
    assert adon("user", "grant", "bob", "operator", as_="rival").exit_code == 1


def test_somebody_is_named_before_they_sign_in(adon):
    ann = "ann@missouri.edu"
    made = json.loads(adon("user", "add", ann, "operator", "--signs-in-as", ann, "--json").stdout)
    assert (made["issuer"], made["subject"]) == ("eduPersonPrincipalName", ann)
    party = "https://login.example.edu"
    assert adon("user", "add", "joe", "researcher", "--signs-in-as", "7", "--issuer", party).exit_code == 0
    assert f"{party} as 7" in adon("user", "show", "joe").stdout
    assert "say --signs-in-as" in adon("user", "add", "bob@missouri.edu", "researcher").stderr
    for wrong, field in (
        (("--signs-in-as", "eve"), "--signs-in-as"),
        (("--issuer", party), "--issuer"),
        (("--signs-in-as", "7", "--issuer", "local"), "--issuer"),
    ):
        refused = adon("user", "add", "eve", "researcher", *wrong)
        assert (refused.exit_code, refused.stderr.startswith(field)) == (2, True), refused.stderr


def test_roles_are_a_table(adon):
    table = adon("role", "list", as_="researcher").stdout
    assert "performance_engineer" in table
    assert any(line.split()[:2] == ["token.create", "any"] for line in table.splitlines())


def test_the_log_is_listed_exported_and_checked(adon, world, tmp_path):
    adon("user", "add", "bob", "researcher")
    adon("rules", "sync", as_="researcher")
    world.audit.flush()
    assert "researcher (researcher) may not do network.sync" in adon("audit", "list", as_="auditor").stdout
    found = json.loads(adon("audit", "list", "--outcome", "refused", "--json", as_="auditor").stdout)
    assert [one["action"] for one in found] == ["network.sync"]
    assert adon("audit", "export").stdout.startswith("number,at,actor,")
    file = tmp_path / "audit.jsonl"
    adon("audit", "export", str(file), "--format", "jsonl")
    told = adon("audit", "verify", "--file", str(file)).stdout
    assert "all as they were written" in told
    noted = told.split()[-1]
    assert here(world, "audit", "verify", "--expect", noted).exit_code == 0
    assert adon("audit", "verify", "--expect", noted).exit_code == 0
    assert adon("audit", "export", "--format", "xml").exit_code == 2
    assert json.loads(adon("audit", "verify", "--json").stdout)["problem"] is None
    assert json.loads(adon("audit", "export", "--json").stdout)["format"] == "csv"
    file.write_text(file.read_text().replace("bob", "eve"))
    changed = adon("audit", "verify", "--file", str(file))
    assert changed.exit_code == 1
    assert "was changed" in changed.stdout
    forged = f"1:{'0' * 64}"
    assert "not the one that was noted" in here(world, "audit", "verify", "--expect", forged).stdout
    assert "not the one that was noted" in adon("audit", "verify", "--expect", forged).stdout


@pytest.mark.parametrize("text", ["", "{}", "[]", "x", '{"number": 1}', "null"])
def test_a_file_that_is_no_export(adon, tmp_path, text):
    file = tmp_path / "x"
    file.write_text(text + "\n")
    assert adon("audit", "verify", "--file", str(file)).exit_code == 2


def test_on_the_machine_itself_no_token_is_needed_and_it_is_written_down(world, adon):
    assert here(world, "user", "grant", "carol", "admin").stdout == "carol: admin\n"
    made = here(world, "token", "create", "--user", "carol", "--lifetime", "never", "--json")
    secret = json.loads(made.stdout)["secret"]
    assert adon("user", "list", as_=secret).exit_code == 0
    assert here(world, "user", "revoke", "carol", "admin").stdout == "carol: no role\n"
    assert adon("user", "list", as_=secret).exit_code == 1
    assert "carol" in here(world, "user", "list").stdout
    token = json.loads(made.stdout)["id"]
    assert here(world, "token", "revoke", token).exit_code == 0
    assert here(world, "user", "disable", "nobody").exit_code == 1
    lines = [line.entry for line in world.access.audit.all() if line.entry.via == "local"]
    told = [(entry.action, entry.object, entry.outcome.value) for entry in lines]
    assert told == [
        ("user.change", "/users/carol", "done"),
        ("token.create", f"/tokens/{token}", "done"),
        ("user.change", "/users/carol", "done"),
        ("token.revoke", f"/tokens/{token}", "done"),
        ("user.change", "/users/nobody", "failed"),
    ]
    assert secret not in str(lines)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("user", "grant", "carol", "root"), "roles"),
        (("user", "grant", "c\u200barol", "admin"), "name"),
        (("token", "create"), "user"),
        (("token", "create", "--user", "admin", "--scope", "x"), "scope"),
        (("token", "create", "--user", "admin", "--lifetime", "soon"), "--lifetime"),
        (("token", "create", "--user", "admin", "--role", "root"), "roles"),
        (("audit", "verify", "--expect", "1"), "--expect"),
    ],
)
def test_what_is_typed_wrong_is_named(world, arguments, field):
    result = here(world, *arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(field)


def test_a_folder_that_no_server_was_given_is_told_with_what_makes_it(tmp_path):
    found = CliRunner().invoke(app, ["user", "grant", "ann", "admin", "--data", str(tmp_path / "nothing")])
    assert found.exit_code == 1
    assert "adon serve makes it at its first start, in the folder that it is given" in found.stderr
