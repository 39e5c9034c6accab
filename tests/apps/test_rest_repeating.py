"""A POST that is sent again: once carried out, the same answer; and If-Match of what is deleted."""

from __future__ import annotations

import threading

import pytest

from apps.link import LinkClient
from apps.rest.examples import EXAMPLES
from tests.apps.peopled import RESERVATION, WINDOW
from tests.support.web_world import SOYKB, WISH, World, empty_database

POSTS = [
    ("/flows", WISH, "/flows"),
    ("/templates", {**SOYKB, "name": "twice"}, "/templates"),
    ("/maintenance", WINDOW, "/maintenance"),
    ("/jobs", {"site": "osu-hpc", "job": "align"}, "/jobs"),
    ("/reservations", RESERVATION, "/reservations"),
    ("/subscriptions", {"channel": "mail", "target": "ann@example.edu"}, "/subscriptions"),
]


def key(name):
    return {"headers": {"Idempotency-Key": name}}


def counted(world, path):
    return len(world.ask("GET", path).json["items"])


@pytest.mark.parametrize(("path", "body", "listed"), POSTS)
def test_what_is_sent_twice_is_done_once(world, path, body, listed):
    first = world.ask("POST", path, json=body, **key("k"))
    assert first.status_code < 300, first.text
    assert "Idempotency-Replayed" not in first.headers
    count = counted(world, listed)
    again = world.ask("POST", path, json=dict(reversed(body.items())), **key("k"))
    assert (again.status_code, again.data) == (first.status_code, first.data)
    assert again.headers["Idempotency-Replayed"] == "true"
    for name in ("Location", "ETag", "Content-Type"):
        assert again.headers.get(name) == first.headers.get(name)
    assert counted(world, listed) == count


def test_where_no_body_is_taken_none_need_be_sent(world):
    answers = [
        world.ask("POST", "/rules/sync", **key("k")),
        world.ask("POST", "/rules/sync", json={}, **key("k")),
    ]
    assert [answer.status_code for answer in answers] == [202, 202]
    assert [kind for kind, _ in world.controller.seen].count("rules.sync") == 1


def test_the_same_key_with_something_else_is_refused(world):
    world.ask("POST", "/flows", json=WISH, **key("k"))
    for path, body in (("/flows", {**WISH, "size": "26 GB"}), ("/flow-previews", WISH)):
        answer = world.ask("POST", path, json=body, **key("k"))
        assert (answer.status_code, answer.json["problems"][0]["field"]) == (422, "Idempotency-Key")
    assert counted(world, "/flows") == 1


def test_a_key_is_its_actor_s_own(world):
    wishes = {"admin": {**WISH, "ports": [5001]}, "rival": {**WISH, "ports": [5002]}}
    ids = {world.ask("POST", "/flows", who, json=wish, **key("k")).json["id"] for who, wish in wishes.items()}
    assert len(ids) == 2


def test_what_failed_may_be_tried_again(world):
    bad = world.ask("POST", "/flows", json={**WISH, "source": "nowhere"}, **key("k"))
    assert bad.status_code == 422
    assert world.ask("POST", "/flows", json=WISH, **key("k")).status_code == 202


def test_what_comes_while_the_first_is_carried_out_waits_for_its_turn(world, monkeypatch):
    entered, go, real = threading.Event(), threading.Event(), LinkClient.call

    def slow(link, name, *arguments, **more):
        if name == "template.add":
            entered.set()
            assert go.wait(120)
        return real(link, name, *arguments, **more)

    monkeypatch.setattr(LinkClient, "call", slow)
    body = {**SOYKB, "name": "slow"}
    answers = []

    def post():
        client = world.app.test_client()
        headers = {"Authorization": f"Bearer {world.tokens['admin']}", "Idempotency-Key": "k"}
        answers.append(client.post("/api/v1/templates", json=body, headers=headers))

    first = threading.Thread(target=post)
    first.start()
    assert entered.wait(60)
    early = world.ask("POST", "/templates", json=body, **key("k"))
    assert (early.status_code, early.json["problems"][0]["field"]) == (409, "Idempotency-Key")
    go.set()
    first.join(60)
    assert answers[0].status_code == 201
    assert world.ask("POST", "/templates", json=body, **key("k")).data == answers[0].data


def test_it_is_remembered_over_a_restart(tmp_path):
    for name in ("empty", "world"):
        (tmp_path / name).mkdir()
    world = World(tmp_path / "world", empty_database(tmp_path / "empty"))
    try:
        first = world.ask("POST", "/templates", json={**SOYKB, "name": "kept"}, **key("k"))
        token = world.tokens["admin"]
    finally:
        world.close()
    (tmp_path / "later").mkdir()
    again = World(tmp_path / "later", tmp_path / "world" / "state.db")
    try:
        answer = again.ask("POST", "/templates", token, json={**SOYKB, "name": "kept"}, **key("k"))
        assert (answer.status_code, answer.data) == (201, first.data)
        assert answer.headers["Idempotency-Replayed"] == "true"
    finally:
        again.close()


@pytest.mark.parametrize("name", ["", " " * 3, "x" * 201, "a\tb", "é"])
def test_a_key_that_is_none_is_refused(world, name):
    answer = world.ask(
        "POST", "/flows", json=WISH, headers={"Idempotency-Key": name.encode().decode("latin-1")}
    )
    assert answer.status_code == 422
    assert answer.json["problems"][0]["field"] == "Idempotency-Key"


# -- If-Match ------------------------------------------------------------------------------------------

DELETES = [
    ("/flows/f-1", ("POST", "/flows", WISH)),
    ("/jobs/j-1", ("POST", "/jobs", {"site": "osu-hpc", "job": "align"})),
    ("/reservations/r-1", ("POST", "/reservations", RESERVATION)),
    ("/maintenance/m-1", ("POST", "/maintenance", WINDOW)),
    ("/subscriptions/{id}", ("POST", "/subscriptions", {"channel": "stream"})),
    ("/tokens/{id}", ("POST", "/tokens", {"label": "nightly"})),
    ("/studies/{id}", ("POST", "/studies", EXAMPLES["add_study"])),
]


@pytest.mark.parametrize(("address", "made"), DELETES)
def test_what_has_changed_since_it_was_seen_is_not_deleted(world, address, made):
    method, path, body = made
    address = address.replace("{id}", world.ask(method, path, json=body).json["id"])
    stale = world.ask("DELETE", address, headers={"If-Match": '"elsewhen"'})
    assert (stale.status_code, stale.mimetype) == (412, "application/problem+json")
    seen = world.ask("GET", address).headers["ETag"]
    assert world.ask("DELETE", address, headers={"If-Match": seen}).status_code < 300


@pytest.mark.parametrize(
    "address",
    ["/flows", "/decisions", "/policy", "/version", "/templates", "/measurements/mesh", "/schedule/gantt"],
)
def test_what_is_known_already_is_not_sent_again(world, address):
    seen = world.ask("GET", address)
    again = world.ask("GET", address, headers={"If-None-Match": seen.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
