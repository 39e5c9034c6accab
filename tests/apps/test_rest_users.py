"""Users, roles, tokens and the audit log over the API."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace

import pytest

from adon.access.audit import COLUMNS, AuditEntry, Outcome, Verification, csv_rows, json_lines, verify_chain
from adon.access.identity import Actor
from adon.access.user_names import UserIdentity
from adon.api.route import Route
from adon.client import Client
from adon.config.controller import Credentials
from adon.config.policy import UseGrant
from adon.errors import Unavailable
from adon.store.access.access import FILE
from adon.values import Role
from apps.rest.audit_writer import AuditWriter
from apps.rest.authentication import InsideTransport
from apps.rest.services import NAME
from tests.support.rest_answers import audit_entries
from tests.support.web_world import NOW, WISH, signed_in

ENTRY = AuditEntry(
    NOW, "ann", "token:1", "10.0.0.1", "flow.read", "GET", "/flows", Outcome.REFUSED, 403, "no"
)


def made(world, as_="researcher", **body):
    answer = world.ask("POST", "/tokens", as_, json=body)
    assert answer.status_code == 201, answer.text
    return answer.json


# -- users ----------------------------------------------------------------------------------------------


def test_who_asks_is_told_who_they_are(world):
    mine = world.ask("GET", "/users/me", "researcher").json
    assert (mine["name"], mine["roles"], mine["issuer"]) == ("researcher", ["researcher"], "local")
    assert [one["name"] for one in world.ask("GET", "/users", "researcher").json["items"]] == ["researcher"]
    assert world.ask("GET", "/users/admin", "researcher").status_code == 404


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("ann\u200b", "U+200B"),
        ("\u202eann", "U+202E"),
        ("\uff41nn", "compatibility"),
        ("\u0430nn", "Cyrillic"),
        ("ann smith", "U+0020"),
        ("ann\n", "U+000A"),
        ("../admin", "U+002F"),
        ("=1+1", "letter"),
        ("me", "reserved"),
        ("\U000e0041nn", "invisible"),
        ("a\u3164nn", "invisible"),
    ],
)
def test_names_that_play_tricks(world, name, cause):
    answer = world.ask("POST", "/users", json={"name": name})
    assert answer.status_code == 422
    assert answer.json["problems"][0]["field"] == "name"
    assert cause in answer.json["problems"][0]["cause"]


@pytest.mark.parametrize("name", ["ADMIN", "Admin", "admin"])
def test_a_name_that_would_be_mistaken_for_another(world, name):
    answer = world.ask("POST", "/users", json={"name": name})
    assert (answer.status_code, answer.json["problems"][0]["field"]) == (409, "name")


def test_an_administrator_names_somebody_and_hands_over_a_token(world):
    made_ = world.ask("POST", "/users", json={"name": "анна@mu.edu", "granted": ["researcher"]})
    assert made_.status_code == 201
    assert world.ask("GET", made_.headers["Location"].removeprefix("/api/v1")).json["name"] == "анна@mu.edu"
    secret = world.ask("POST", "/tokens", json={"owner": "анна@mu.edu"}).json["secret"]
    assert world.ask("GET", "/users/me", secret).json["roles"] == ["researcher"]


def test_users_come_by_name_and_in_pages(world):
    names, after = [], ""
    while after is not None:
        page = world.ask("GET", "/users", query_string={"limit": 3, "after": after}).json
        names += [one["name"] for one in page["items"]]
        after = page["next"]
    assert names == sorted(names)
    assert {"admin", "auditor", "rival", "gone"} <= set(names)


def test_what_an_administrator_says_wins_over_the_rules(world):
    identity = UserIdentity("bob", "https://idp.example.edu", "7")
    world.access.users.sign_in(identity, ["researcher", "operator"], NOW)
    change = {"granted": ["auditor"], "removed": ["operator"]}
    after = world.ask("PATCH", "/users/bob", json=change).json
    assert after["roles"] == ["auditor", "researcher"]
    world.access.users.sign_in(identity, ["operator"], NOW)
    assert world.ask("GET", "/users/bob").json["roles"] == ["auditor"]
    line = audit_entries(world, action="user.change")[0]
    assert {"auditor;", "operator"} <= {*line["detail"].split()}
    assert (line["actor"], line["object"], line["outcome"]) == ("admin", "/users/bob", "done")


def test_a_disabled_user_is_out_at_once_by_token_and_by_session(world):
    browser = world.app.test_client()
    browser.post("/sign-in", data={"token": world.tokens["researcher"]})
    assert signed_in(browser)
    assert world.ask("PATCH", "/users/researcher", json={"disabled": True}).json["disabled_since"]
    refused = world.ask("GET", "/flows", "researcher")
    assert (refused.status_code, refused.json["code"]) == (401, "disabled")
    assert not signed_in(browser)
    world.ask("PATCH", "/users/researcher", json={"disabled": False})
    assert world.ask("GET", "/flows", "researcher").status_code == 200
    assert not signed_in(browser), "a session does not come back"


@pytest.mark.parametrize("change", [{"disabled": True}, {"granted": []}, {"removed": ["admin"]}])
def test_administrator_cannot_remove_own_access(world, change):
    assert world.ask("PATCH", "/users/admin", json=change).status_code == 409
    assert world.ask("GET", "/users", "admin").status_code == 200


def test_a_change_of_what_was_not_seen_is_refused(world):
    seen = world.ask("GET", "/users/rival").headers["ETag"]
    world.ask("PATCH", "/users/rival", json={"granted": ["auditor"]})
    stale = world.ask("PATCH", "/users/rival", json={"granted": []}, headers={"If-Match": seen})
    assert stale.status_code == 412


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"granted": ["root"]}, "granted.0"),
        ({"roles": ["admin"]}, "roles"),
        ({"disabled": "maybe"}, "disabled"),
        ({"granted": "admin"}, "granted"),
    ],
)
def test_a_change_that_says_nothing_we_know(world, body, field):
    answer = world.ask("PATCH", "/users/rival", json=body)
    assert (answer.status_code, answer.json["problems"][0]["field"]) == (422, field)


def test_the_roles_and_what_each_may_do(world):
    found = world.ask("GET", "/roles", "researcher").json
    may = {one["name"]: {(g["action"], g["scope"]) for g in one["may"]} for one in found["items"]}
    assert ("user.change", "any") in may["admin"]
    assert ("user.change", "any") not in may["operator"]
    assert ("flow.read", "own") in may["researcher"]
    assert found["scopes"]["metrics"] == ["health.read", "metrics.read"]


# -- tokens ---------------------------------------------------------------------------------------------


def test_the_secret_is_shown_once_and_opens_what_its_scope_holds(world, caplog):
    token = made(world, label="laptop", scope=["read"])
    secret = token["secret"]
    assert world.ask("GET", "/flows", secret).status_code == 200
    refused = world.ask("POST", "/flows", secret, json=WISH)
    assert (refused.status_code, "flow.submit" in refused.json["detail"]) == (403, True)
    listed = world.ask("GET", "/tokens", "researcher")
    assert secret not in listed.text
    assert token["id"] in listed.text
    assert listed.json["items"][0]["last_used"] is not None
    assert secret not in json.dumps(audit_entries(world))
    assert secret not in caplog.text
    assert "no-store" in world.ask("POST", "/tokens", "researcher", json={}).headers["Cache-Control"]


def test_a_token_is_never_more_than_its_owner_is_now(world):
    secret = made(world, "operator")["secret"]
    assert world.ask("GET", "/network", secret).status_code == 200
    world.ask("PATCH", "/users/operator", json={"granted": ["researcher"]})
    assert world.ask("GET", "/network", secret).status_code == 403


def test_a_token_limited_to_a_role(world):
    secret = made(world, "admin", roles=["researcher", "operator"])["secret"]
    assert world.ask("GET", "/users/rival", secret).status_code == 403, "admin has neither, so it has none"
    world.ask("PATCH", "/users/rival", json={"granted": ["researcher", "operator"]})
    secret = made(world, "rival", roles=["researcher"])["secret"]
    assert world.ask("GET", "/network", "rival").status_code == 200
    assert world.ask("GET", "/network", secret).status_code == 403
    wider = made(world, secret)
    assert wider["roles"] == ["researcher"], "what is limited makes nothing that is not"


def test_nobody_hands_on_more_than_they_have(world):
    secret = made(world, scope=["read", "token.create"])["secret"]
    refused = world.ask("POST", "/tokens", secret, json={"scope": ["all"]})
    assert refused.status_code == 403
    assert world.ask("POST", "/tokens", secret, json={"scope": ["metrics"]}).status_code == 201
    short = made(world, expires="1 h")["secret"]
    late = world.ask("POST", "/tokens", short, json={"expires": "2 h"})
    assert (late.status_code, late.json["problems"][0]["field"]) == (422, "expires")
    assert made(world, short)["expires"] <= made(world, expires="1 h")["expires"]


def set_policy(world, **settings):
    parts = world.app.extensions[NAME]
    policy = parts.configuration.policy.model_copy(update=settings)
    configuration = parts.configuration.model_copy(update={"policy": policy})
    world.app.extensions[NAME] = replace(parts, configuration=configuration)


def test_how_long_a_token_lasts(world):
    limits = Credentials.model_validate({"token_lifetime": "10 d", "longest_token_lifetime": "20 d"})
    set_policy(world, credentials=limits)
    token = world.access.tokens.get(made(world)["id"])
    assert token.expires - token.created == 10 * 86_400
    refused = world.ask("POST", "/tokens", "researcher", json={"expires": "21 d"})
    assert [(one["field"], one["code"]) for one in refused.json["problems"]] == [("expires", "out-of-range")]
    assert world.ask("POST", "/tokens", json={"expires": "2001-01-01T00:00:00Z"}).status_code == 422


@pytest.mark.parametrize("scope", [[], ["everything"], ["read", "flow.fly"], ["x" * 65], [7]])
def test_a_scope_that_is_none(world, scope):
    answer = world.ask("POST", "/tokens", "researcher", json={"scope": scope})
    assert answer.status_code == 422
    assert answer.json["problems"][0]["field"].startswith("scope")


def test_tokens_of_another(world):
    theirs = made(world, "rival")
    assert world.ask("DELETE", f"/tokens/{theirs['id']}", "researcher").status_code == 404
    assert world.ask("GET", "/tokens", "researcher", query_string={"owner": "rival"}).json["items"] == []
    assert world.ask("POST", "/tokens", "researcher", json={"owner": "rival"}).status_code == 403
    assert world.ask("POST", "/tokens", "admin", json={"owner": "rival"}).status_code == 201
    assert world.ask("POST", "/tokens", "admin", json={"owner": "nobody"}).status_code == 404
    assert world.ask("DELETE", f"/tokens/{theirs['id']}", "admin").status_code == 200
    assert world.ask("GET", "/flows", theirs["secret"]).status_code == 401


def test_a_revoked_token_replayed(world):
    token = made(world)
    first = world.ask("DELETE", f"/tokens/{token['id']}", "researcher").json
    again = world.ask("DELETE", f"/tokens/{token['id']}", "researcher").json
    assert first == again
    assert world.ask("GET", "/flows", token["secret"]).json["code"] == "revoked"


def test_a_user_has_so_many_tokens_at_most(world):
    limits = Credentials(most_tokens=3)
    set_policy(world, credentials=limits)
    tokens = [made(world) for _ in range(2)]
    assert world.ask("POST", "/tokens", "researcher", json={}).status_code == 409
    world.ask("DELETE", f"/tokens/{tokens[0]['id']}", "researcher")
    made(world)


def test_tokens_come_in_pages(world):
    ids = [made(world)["id"] for _ in range(5)]
    found, before = [], None
    while True:
        query = {"limit": 2} | ({} if before is None else {"before": before})
        page = world.ask("GET", "/tokens", "researcher", query_string=query).json
        found += [one["id"] for one in page["items"]]
        before = page["next"]
        if before is None:
            break
    assert len(found) == len(set(found)) == 6
    assert set(ids) <= set(found)


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Basic YWRtaW46YWRtaW4=",
        "Bearer adon_x",
        "Bearer {token}, Bearer {token}",
        "Bearer {token} {token}",
        "{token}",
        "Bearer {token}\x00",
        "Bearer " + "x" * 20_000,
    ],
)
def test_headers_that_prove_nothing(world, header):
    sent = {"Authorization": header.format(token=world.tokens["admin"])}
    answer = world.client.get("/api/v1/users/me", headers=sent)
    assert answer.status_code == 401
    assert world.tokens["admin"] not in answer.text


@pytest.mark.parametrize(
    "header", ["X-Remote-User", "Remote-User", "Adon-Actor", "X-Forwarded-User", "adon.actor"]
)
def test_nobody_is_somebody_by_a_header(world, header):
    assert world.client.get("/api/v1/users/me", headers={header: "admin"}).status_code == 401


def test_a_cookie_opens_no_api(world):
    browser = world.app.test_client()
    browser.post("/sign-in", data={"token": world.tokens["admin"]})
    assert browser.get("/api/v1/users/me").status_code == 401


# -- who may use what -----------------------------------------------------------------------------------


def limited(world, *entries):
    grants = tuple(UseGrant.model_validate(entry) for entry in entries)
    set_policy(world, use_access=grants)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/jobs", {"site": "osu-hpc", "job": "align"}),
        ("/reservations", {"compute": "osu-hpc", "worker_nodes": 1, "ends": "8 h"}),
        (
            "/reservations",
            {"path": "al2s", "source": "mu", "destination": "osu", "bandwidth": "1 Mbps", "ends": "8 h"},
        ),
    ],
)
def test_jobs_and_reservations_of_what_is_not_granted(world, path, body):
    limited(world, {"who": ["rival"]}, {"paths": ["internet"], "compute": ["mu-hpc"]})
    refused = world.ask("POST", path, "researcher", json=body)
    assert (refused.status_code, "policy.use_access" in refused.json["detail"]) == (403, True)
    for who in ("rival", "admin"):
        assert world.ask("POST", path, who, json=body).status_code < 300


# -- the audit log --------------------------------------------------------------------------------------


def test_changes_and_refusals_are_written_down(world):
    flow = world.submit("researcher")
    world.ask("DELETE", f"/flows/{flow}", "rival")
    world.ask("GET", "/network", "researcher")
    world.ask("GET", "/flows", world.revoked)
    world.ask("POST", "/flows", "researcher", json={"size": "hunter2"})
    world.ask("GET", "/flows", "researcher")
    world.ask("GET", "/flows", None)
    lines = audit_entries(world)
    told = [(one["actor"], one["action"], one["object"], one["outcome"], one["status"]) for one in lines]
    assert told == [
        ("researcher", "flow.submit", "/flows", "failed", 422),
        ("", "flow.read", "/flows", "refused", 401),
        ("researcher", "network.read", "/network", "refused", 403),
        ("rival", "flow.cancel", f"/flows/{flow}", "refused", 404),
        ("researcher", "flow.submit", f"/flows/{flow}", "done", 202),
    ]
    revoked = world.access.tokens.list("gone")[0]
    assert (lines[1]["via"], "revoked" in lines[1]["detail"]) == (f"token:{revoked.id}", True)
    assert "network.read" in lines[2]["detail"]
    assert lines[0]["detail"].startswith("invalid: ")
    assert "hunter2" not in json.dumps(lines)
    assert {one["address"] for one in lines} == {"127.0.0.1"}
    assert world.access.audit.verify().problem is None


def test_signing_in_and_out_is_written_down_once(world):
    browser = world.app.test_client()
    browser.post("/sign-in", data={"token": "adon_wrong"})
    browser.post("/sign-in", data={"token": world.tokens["operator"]})
    page = browser.get("/sign-out").text
    csrf = page.partition('name="csrf" value="')[2].partition('"')[0]
    browser.post("/sign-out", data={"csrf": csrf})
    told = [(one["action"], one["actor"], one["outcome"]) for one in reversed(audit_entries(world))]
    assert told == [
        ("session.begin", "", "refused"),
        ("session.begin", "operator", "done"),
        ("session.end", "operator", "done"),
    ]


def test_a_flood_of_refusals_is_a_few_lines(world):
    for number in range(150):
        world.ask("GET", "/network", "researcher")
        world.ask("GET", f"/tokens?owner={number}", "adon_" + f"{number:043}")
    world.audit.close()
    lines = list(world.access.audit.all())
    assert len(lines) <= 70
    assert sum(line.entry.times for line in lines) == 300


@pytest.mark.parametrize(
    ("query", "actions"),
    [
        ({"actor": "rival"}, ["network.read"]),
        ({"action": "flow.submit"}, ["flow.submit"]),
        ({"outcome": "refused"}, ["network.read"]),
        ({"limit": 1}, ["network.read"]),
        ({"before": 2}, ["flow.submit"]),
        ({"until": "2001-01-01T00:00:00Z"}, []),
        ({"since": "2001-01-01T00:00:00Z"}, ["network.read", "flow.submit"]),
        ({"actor": "' OR 1=1 --"}, []),
        ({"actor": "%"}, []),
    ],
)
def test_filters(world, query, actions):
    world.submit("researcher")
    world.ask("GET", "/network", "rival")
    assert [one["action"] for one in audit_entries(world, **query)] == actions


@pytest.mark.parametrize(
    "query",
    [
        {"actor": "x" * 201},
        {"action": "x" * 65},
        {"limit": 1001},
        {"limit": 0},
        {"before": 2**63},
        {"before": -1},
        {"after": -1},
        {"after": 1, "before": 9},
        {"outcome": "maybe"},
        {"since": "yesterday"},
        {"where": "1=1"},
        {"actor": "a\x00b"},
    ],
)
def test_filters_that_are_none(world, query):
    assert world.ask("GET", "/audit", query_string=query).status_code in (200, 422)
    answer = world.ask("GET", "/audit", query_string=query)
    assert answer.status_code == (200 if "\x00" in str(query.get("actor")) else 422)


def reader(world):
    """The client of an auditor."""
    return Client(InsideTransport(world.app, Actor("auditor", frozenset({Role.AUDITOR}))))


def tamper(world, statement):
    """Change the log as somebody could who can write the database."""
    with closing(sqlite3.connect(world.folder / FILE)) as database, database:
        for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            database.execute(f"DROP TRIGGER {name}")
        database.execute(statement)


def test_audit_lines_come_in_order_page_by_page(world):
    for number in range(5):
        world.access.audit.append([replace(ENTRY, detail=str(number))])
    pages, address = [], "/audit?after=1&limit=2"
    while address is not None:
        answer = world.ask("GET", address, "auditor")
        pages.append([one["number"] for one in answer.json["items"]])
        link = answer.headers.get("Link")
        address = None if link is None else link[1:].partition(">")[0].removeprefix("/api/v1")
    assert pages == [[2, 3], [4, 5]]
    assert answer.json["head"].startswith("5:")


def test_audit_export_as_json_lines_is_verified_without_the_database(world, monkeypatch):
    monkeypatch.setattr(Route, "most_items", 2)
    world.access.audit.append([replace(ENTRY, at=NOW + number / 7) for number in range(5)])
    rows = [json.loads(line) for line in "".join(json_lines(reader(world).audit_values({}))).splitlines()]
    head = (5, rows[-1]["digest"])
    assert verify_chain(([row[name] for name in COLUMNS] for row in rows), head).problem is None
    assert reader(world).verify_audit({3: rows[2]["digest"]}) == Verification(5, rows[-1]["digest"])


@pytest.mark.parametrize(
    ("statement", "noted", "good"),
    [
        ("UPDATE access_audit SET actor = 'eve' WHERE number = 3", {}, 2),
        ("DELETE FROM access_audit WHERE number = 3", {}, 2),
        ("DELETE FROM access_audit WHERE number = 5", {}, 4),
        ("UPDATE access_audit_head SET number = 4", {}, 4),
        ("SELECT 1", {6: "0" * 64}, 5),
        ("SELECT 1", {2: "0" * 64}, 1),
    ],
)
def test_client_finds_a_changed_audit_log(world, monkeypatch, statement, noted, good):
    monkeypatch.setattr(Route, "most_items", 2)
    world.access.audit.append([ENTRY] * 5)
    tamper(world, statement)
    found = reader(world).verify_audit(noted)
    assert (found.lines, found.problem is None) == (good, False)


def test_audit_row_that_is_no_line_is_refused(world):
    world.access.audit.append([ENTRY])
    tamper(world, "UPDATE access_audit SET outcome = 'maybe'")
    assert world.ask("GET", "/audit", "auditor").status_code == 503


def test_audit_export_holds_no_formula(world):
    bad = ['=HYPERLINK("http://x")', "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]
    for text in bad:
        world.access.audit.append(
            [AuditEntry(NOW, text, text, text, "a", "GET", text, Outcome.DONE, 200, text)]
        )
    rows = list(csv.reader(io.StringIO("".join(csv_rows(reader(world).audit_values({}))))))
    assert len(rows) == 1 + len(bad)
    assert not [cell for row in rows for cell in row if cell[:1] in ("=", "+", "-", "@", "\t", "\r")]


def test_only_auditors_and_administrators_read_it(world):
    for who in ("researcher", "operator", "performance_engineer"):
        assert world.ask("GET", "/audit", who).status_code == 403


ENTRY = AuditEntry(NOW, "a", "token", "", "flow.submit", "POST", "/flows", Outcome.DONE, 202)


def test_a_database_that_hangs_holds_up_one_request_only(monkeypatch):
    answers, asked, written = threading.Event(), threading.Event(), []

    def append(entries):
        asked.set()
        assert answers.wait(60)
        written.extend(entries)

    monkeypatch.setattr("apps.rest.audit_writer.WAIT_S", 0.01)
    writer = AuditWriter(append, lambda: NOW)
    first = threading.Thread(target=writer.record, args=(ENTRY,))
    first.start()
    assert asked.wait(60)
    writer.record(ENTRY)
    assert written == []
    answers.set()
    first.join(60)
    assert writer.flush()
    assert written == [ENTRY, ENTRY]


def test_entries_without_a_database_are_written_later_and_those_above_the_limit_counted(monkeypatch):
    away, written = threading.Event(), []

    def append(entries):
        if not away.is_set():
            raise Unavailable("the store does not answer")
        written.extend(entries)

    monkeypatch.setattr("apps.rest.audit_writer.MOST_WAITING", 3)
    writer = AuditWriter(append, lambda: NOW)
    for _ in range(30):
        writer.record(ENTRY)
    assert not writer.flush()
    away.set()
    assert writer.flush()
    writer.close()
    assert [(one.action, one.times) for one in written] == [("flow.submit", 1)] * 3 + [("audit.lost", 27)]
