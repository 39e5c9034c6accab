"""Resources and reservations through the API and the command line."""

from __future__ import annotations

import json

import pytest

from tests.apps.peopled import RESERVATION
from tests.support.network_factories import make_configuration
from tests.support.rest_answers import problem_fields
from tests.support.web_world import COMPUTED

NIGHT = {"begins": "2025-10-09T22:00:00Z", "ends": "2025-10-10T06:00:00Z"}
NIGHT_TEXT = "2025-10-09 22:00 to 2025-10-10 06:00 UTC"
PATH = {"path": "al2s", "source": "mu", "destination": "osu", "bandwidth": "40 Mbps", **NIGHT}


def test_a_reservation_is_made_listed_and_released(world):
    answer = world.ask("POST", "/reservations", "researcher", json={**RESERVATION, "note": "soybeans"})
    assert (answer.status_code, answer.headers["Location"]) == (201, "/api/v1/reservations/r-1")
    document = {**answer.json}
    assert "osu-hpc" in document.pop("words")
    assert document == {
        "id": "r-1",
        "stage": "active",
        "compute": "osu-hpc",
        "path": None,
        "source": None,
        "destination": None,
        "worker_nodes": 1,
        "cores": 0,
        "gpus": 0,
        "memory_bytes": 0,
        "storage_bytes": 0,
        "bandwidth_bps": 0,
        "begins": "2025-10-09T08:53:20.000Z",
        "ends": "2025-10-10T00:00:00.000Z",
        "owner": "researcher",
        "flow": None,
        "note": "soybeans",
    }
    assert world.ask("GET", "/reservations/r-1", "researcher").json == answer.json
    assert world.ask("GET", "/reservations", "rival").json["items"] == []
    assert world.ask("GET", "/reservations").json["items"] == [answer.json]
    gone = world.ask("DELETE", "/reservations/r-1", "researcher")
    assert (gone.status_code, gone.json["stage"]) == (200, "released")
    assert world.ask("GET", "/reservations").json["items"] == []
    assert [one["id"] for one in world.ask("GET", "/reservations?all=true").json["items"]] == ["r-1"]
    assert world.ask("DELETE", "/reservations/r-1").status_code == 409


def test_asking_twice_with_one_key_reserves_once(world):
    answers = [
        world.ask("POST", "/reservations", json=RESERVATION, headers={"Idempotency-Key": "k-1"})
        for _ in range(2)
    ]
    assert [answer.json["id"] for answer in answers] == ["r-1", "r-1"]
    assert world.ask("POST", "/reservations", json=RESERVATION).json["id"] == "r-2"


def test_what_does_not_fit_is_refused_with_what_is_lacking_and_when_it_would(world):
    assert world.ask("POST", "/reservations", "researcher", json=PATH).status_code == 201
    answer = world.ask("POST", "/reservations", "rival", json=PATH)
    assert answer.status_code == 409
    assert answer.json["problems"][0]["field"] == "reservation"
    for lacking in ("20.6 Mbps", "40 Mbps", "2025-10-10 06:00:00"):
        assert lacking in answer.json["detail"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"compute": "nowhere"}, "compute"),
        ({"compute": None}, "compute"),
        ({"worker_nodes": 0}, "compute"),
        ({"worker_nodes": -1}, "worker_nodes"),
        ({"worker_nodes": 16}, "worker_nodes"),  # one is the policy's
        ({"memory": 64}, "memory"),
        ({"bandwidth": "1 Gbps"}, "bandwidth"),
        ({"path": "al2s"}, "compute"),
        ({"ends": "2025-10-09T08:00:00Z"}, "ends"),
        ({"ends": "2025-12-09T08:00:00Z"}, "ends"),
        ({"begins": "2027-10-09T08:00:00Z", "ends": "2027-10-10T08:00:00Z"}, "ends"),
        ({"begins": "2025-10-11T08:00:00Z"}, "ends"),
        ({"begins": "tomorrow"}, "begins"),
        ({"flow": "f-9"}, "flow"),
        ({"note": "x" * 201}, "note"),
        ({"colour": "blue"}, "colour"),
    ],
)
def test_a_bad_reservation_is_refused_by_field_and_cause(world, change, field):
    answer = world.ask("POST", "/reservations", json={**RESERVATION, **change})
    assert answer.status_code == 422
    assert any(name.startswith(field) and cause for name, cause in problem_fields(answer).items()), (
        answer.json
    )
    assert world.ask("GET", "/reservations?all=true").json["items"] == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"path": "nowhere"}, "path"),
        ({"source": "osu", "destination": "osu"}, "path"),
        ({"source": None}, "source"),
        ({"bandwidth": "0 bps"}, "bandwidth"),
        ({"bandwidth": "61 Mbps"}, "bandwidth"),
        ({"worker_nodes": 1}, "path"),
    ],
)
def test_a_bad_reservation_of_a_path(world, change, field):
    answer = world.ask("POST", "/reservations", json={**PATH, **change})
    assert answer.status_code == 422
    assert any(name.startswith(field) and cause for name, cause in problem_fields(answer).items()), (
        answer.json
    )


@pytest.mark.parametrize("address", ["/reservations/r-9", "/reservations/9", "/reservations/r-0"])
def test_one_that_is_not_there(world, address):
    assert world.ask("GET", address).status_code == 404
    assert world.ask("DELETE", address).status_code == 404


@pytest.fixture
def holding(world):
    """A world in which a flow holds nodes of one site, and a reservation those of another."""
    world.start_controller(make_configuration())
    world.ask("POST", "/templates", json=COMPUTED)
    world.submit(template="computed")
    world.stage.reserve(compute="mu-hpc", worker_nodes=3)
    return world


def test_compute_sites_with_what_is_free(holding):
    sites = {one["name"]: one for one in holding.ask("GET", "/resources", "researcher").json["items"]}
    assert sites["mu-hpc"]["limits"] == {"nodes": 4, "cores": 64}
    assert (sites["mu-hpc"]["held"], sites["osu-hpc"]["held"]["nodes"]) == ({}, 4)
    assert sites["mu-hpc"]["free"] == {"nodes": 1, "cores": 64}
    assert (sites["osu-hpc"]["queue_wait_seconds"], sites["osu-hpc"]["flows"]) == (5.0, ["f-1"])


def test_without_the_controller_there_is_no_read_out(world):
    world.stop_controller()
    assert world.ask("GET", "/resources").status_code == 503


# -- the command line ----------------------------------------------------------------------------------


def test_the_commands(adon):
    times = ("--from", NIGHT["begins"], "--until", NIGHT["ends"])
    made = adon("reserve", "compute", "osu-hpc", "--nodes", "2", *times, "--note", "soybeans")
    assert (made.exit_code, NIGHT_TEXT in made.stdout) == (0, True)
    assert {"r-1", "osu-hpc", "admin,"} <= {*made.stdout.split()}
    along = adon("reserve", "path", "al2s", "mu", "osu", "--bandwidth", "40 Mbps", *times)
    assert "40 Mbps" in along.stdout
    listed = adon("reserve", "list").stdout
    assert all(word in listed for word in ("r-1", "r-2", "ahead", "admin", "soybeans"))
    assert [one["id"] for one in json.loads(adon("reserve", "list", "--json").stdout)] == ["r-1", "r-2"]
    assert "r-1" in adon("reserve", "release", "r-1").stdout
    assert "r-1" not in adon("reserve", "list").stdout
    assert "r-1" in adon("reserve", "list", "--all").stdout
    assert adon("reserve", "release", "r-1").exit_code == 1


def test_what_does_not_fit_ends_with_its_reason(adon):
    more = adon("reserve", "compute", "osu-hpc", "--nodes", "99", "--until", NIGHT["ends"])
    assert (more.exit_code, more.stderr.startswith("--nodes: ")) == (2, True), more.stderr
    soon = adon("reserve", "compute", "osu-hpc", "--nodes", "1", "--until", "2 h")
    assert (soon.exit_code, "osu-hpc" in soon.stdout) == (0, True), soon.stderr
    wrong = adon("reserve", "compute", "osu-hpc", "--memory", "64", "--until", NIGHT["ends"])
    assert (wrong.exit_code, wrong.stderr.startswith("--memory: ")) == (2, True)


def test_what_is_free(adon, holding):
    shown = adon("reserve", "free").stdout
    assert all(word in shown for word in ("mu-hpc", "nodes 4", "nodes 1", "cores 64"))
