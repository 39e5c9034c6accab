"""A POST that is sent again: once carried out, the same answer; and If-Match of what is deleted."""

from __future__ import annotations

import pytest

from apps.rest.examples import EXAMPLES
from tests.apps.peopled import RESERVATION, WINDOW
from tests.support.web_world import WISH, World, empty_database

POSTS = [
    ("/flows", WISH),
    ("/maintenance", WINDOW),
    ("/jobs", {"site": "osu-hpc", "job": "align"}),
    ("/reservations", RESERVATION),
]


def key(name):
    return {"headers": {"Idempotency-Key": name}}


def counted(world, path):
    return len(world.ask("GET", path).json["items"])


@pytest.mark.parametrize(("path", "body"), POSTS)
def test_what_is_sent_twice_is_done_once(world, path, body):
    first = world.ask("POST", path, json=body, **key("k"))
    assert first.status_code < 300, first.text
    again = world.ask("POST", path, json=dict(reversed(body.items())), **key("k"))
    assert (again.status_code, again.data) == (first.status_code, first.data)
    for name in ("Location", "ETag", "Content-Type"):
        assert again.headers.get(name) == first.headers.get(name)
    assert counted(world, path) == 1


def test_where_no_body_is_taken_none_need_be_sent(world):
    answers = [world.ask("POST", "/rules/sync"), world.ask("POST", "/rules/sync", json={})]
    assert [answer.status_code for answer in answers] == [202, 202]


def test_the_same_key_with_something_else_is_refused(world):
    world.ask("POST", "/flows", json=WISH, **key("k"))
    for path, body in (("/flows", {**WISH, "size": "26 GB"}), ("/reservations", RESERVATION)):
        answer = world.ask("POST", path, json=body, **key("k"))
        assert (answer.status_code, answer.json["problems"][0]["field"]) == (409, "Idempotency-Key")
    assert counted(world, "/flows") == 1
    assert counted(world, "/reservations") == 0


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("POST", "/flow-previews", WISH), ("POST", "/rules/sync", None), ("GET", "/flows", None)],
)
def test_other_requests_take_no_key(world, method, path, body):
    answer = world.ask(method, path, json=body, **key("k"))
    assert (answer.status_code, answer.json["problems"][0]["field"]) == (422, "Idempotency-Key")


def test_a_key_is_its_actor_s_own(world):
    wishes = {"admin": {**WISH, "ports": [5001]}, "rival": {**WISH, "ports": [5002]}}
    ids = {world.ask("POST", "/flows", who, json=wish, **key("k")).json["id"] for who, wish in wishes.items()}
    assert len(ids) == 2


def test_what_failed_may_be_tried_again(world):
    bad = world.ask("POST", "/flows", json={**WISH, "source": "nowhere"}, **key("k"))
    assert bad.status_code == 422
    assert world.ask("POST", "/flows", json=WISH, **key("k")).status_code == 202


def test_it_is_remembered_over_a_restart(tmp_path):
    for name in ("empty", "world"):
        (tmp_path / name).mkdir()
    world = World(tmp_path / "world", empty_database(tmp_path / "empty"))
    try:
        first = world.ask("POST", "/flows", json=WISH, **key("k"))
        token = world.tokens["admin"]
    finally:
        world.close()
    (tmp_path / "later").mkdir()
    again = World(tmp_path / "later", tmp_path / "world" / "state.db")
    try:
        answer = again.ask("POST", "/flows", token, json=WISH, **key("k"))
        assert (answer.status_code, answer.data) == (202, first.data)
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
