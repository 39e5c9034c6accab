"""Compute sites and their jobs through the API, the command line and Prometheus."""

from __future__ import annotations

import re

import pytest

from tests.support.rest_answers import problem_fields

WISH = {"site": "osu-hpc", "job": "align", "size": "1 GB", "template": "soykb"}


# -- the API -------------------------------------------------------------------------------------------


def test_every_site_says_how_it_stands(world):
    world.ask("POST", "/jobs", json=WISH)
    world.end_job(1)
    world.report_sites()
    configured, asked, cloud = world.ask("GET", "/sites", "researcher").json["items"]
    assert (asked["name"], asked["adapter"], asked["state"]) == ("osu-hpc", "slurm", "answers")
    assert asked["capacity"]["cores_free"] == 32
    assert asked["capacity"]["memory_bytes"] == 4 * 2**30
    assert asked["waits"][0]["said_seconds"] == 120.0
    assert asked["waits"][0]["counted_seconds"] > 120.0  # it was late once
    assert (asked["waits"][2]["said_seconds"], asked["waits"][2]["counted_seconds"]) == (None, None)
    assert asked["honesty"]["waited_seconds"] == 540.0
    assert asked["rates"][0]["template"] == "soykb"
    assert (cloud["state"], cloud["why"].split()[0]) == ("silent", "condor_status")
    assert cloud["silent_since"] is not None
    assert cloud["capacity"] is None
    assert (configured["state"], configured["adapter"], configured["queue_wait_seconds"]) == (
        "configured",
        None,
        20.0,
    )
    assert world.ask("GET", "/sites/osu-hpc").json == asked
    assert world.ask("GET", "/sites/nowhere").status_code == 404


def test_without_the_controller_nothing_is_told_of_sites(world):
    world.stop_controller()
    assert world.ask("GET", "/sites").status_code == 503
    assert world.ask("GET", "/jobs").status_code == 200


def test_a_job_is_asked_for_listed_shown_and_ended(world):
    made = world.ask("POST", "/jobs", "researcher", json=WISH)
    assert (made.status_code, made.headers["Location"]) == (202, "/api/v1/jobs/j-1")
    assert (made.json["state"], made.json["final"], made.json["size_bytes"]) == ("requested", False, 10**9)
    assert world.ask("GET", "/jobs/j-1", "researcher").json == made.json
    assert world.ask("GET", "/jobs", "researcher").json["items"] == [made.json]
    gone = world.ask("DELETE", "/jobs/j-1", "researcher")
    assert (gone.status_code, gone.json["cancelling"]) == (202, True)
    world.end_job(1)
    shown = world.ask("GET", "/jobs/j-1").json
    assert (shown["predicted_seconds"], shown["waited_seconds"], shown["ran_seconds"]) == (0.0, 540.0, 1000.0)
    assert shown["node_rate_bps"] == 4e6


def test_a_researcher_sees_and_ends_only_their_own(world):
    world.ask("POST", "/jobs", "researcher", json=WISH)
    assert world.ask("GET", "/jobs", "rival").json["items"] == []
    assert world.ask("GET", "/jobs?requester=researcher", "rival").json["items"] == []
    assert world.ask("GET", "/jobs/j-1", "rival").status_code == 404
    assert world.ask("DELETE", "/jobs/j-1", "rival").status_code == 404


def test_jobs_come_in_pages(world):
    for _ in range(3):
        world.ask("POST", "/jobs", json=WISH)
    first = world.ask("GET", "/jobs?limit=2").json
    assert ([one["id"] for one in first["items"]], first["next"]) == (["j-3", "j-2"], "j-2")
    second = world.ask("GET", f"/jobs?limit=2&before={first['next']}").json
    assert ([one["id"] for one in second["items"]], second["next"]) == (["j-1"], None)
    assert world.ask("GET", "/jobs?site=mu-hpc").json["items"] == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"site": "nowhere"}, "site"),
        ({"site": "../etc"}, "site"),
        ({"job": "a b"}, "job"),
        ({"size": 5}, "size"),
        ({"size": "5 parsecs"}, "size"),
        ({"script": "#!/bin/sh\nid"}, "script"),
        ({"arguments": "chr1"}, "arguments"),
    ],
)
def test_a_bad_wish_is_refused_by_field_and_cause(world, change, field):
    answer = world.ask("POST", "/jobs", json={**WISH, **change})
    assert answer.status_code == 422
    assert any(name.startswith(field) and cause for name, cause in problem_fields(answer).items()), (
        answer.json
    )
    assert world.ask("GET", "/jobs").json["items"] == []


@pytest.mark.parametrize(
    ("method", "address", "status"),
    [
        ("GET", "/jobs/j-9", 404),
        ("GET", "/jobs/9", 404),
        ("DELETE", "/jobs/j-0", 404),
        ("GET", "/jobs?before=f-1", 404),
        ("GET", "/jobs?colour=blue", 422),
        ("GET", "/jobs?limit=0", 422),
    ],
)
def test_what_cannot_be_is_refused(world, method, address, status):
    assert world.ask(method, address).status_code == status


# -- Prometheus ------------------------------------------------------------------------------------------


def test_the_metrics(world):
    for _ in range(2):
        world.ask("POST", "/jobs", json=WISH)
    world.end_job(1)
    world.report_sites()
    text = world.ask("GET", "/metrics").text
    values = dict(re.findall(r"^(adon_(?:site|jobs)\S*) (\S+)$", text, re.MULTILINE))
    assert values['adon_site_up{site="osu-hpc"}'] == "1.0"
    assert values['adon_site_up{site="cloud"}'] == "0.0"
    assert 'adon_site_up{site="mu-hpc"}' not in values
    assert values['adon_site_capacity{resource="cores",site="osu-hpc"}'] == "64.0"
    assert values['adon_site_free{resource="gpus",site="osu-hpc"}'] == "2.0"
    assert values['adon_site_jobs{site="osu-hpc",state="waiting"}'] == "1.0"
    said = 'adon_site_queue_wait_said_seconds{cores="1",memory="0",nodes="1",site="osu-hpc"}'
    assert values[said] == "120.0"
    assert float(values[said.replace("_said", "")]) > 120.0
    assert float(values['adon_site_stretch_ratio{site="osu-hpc"}']) > 3
    assert values['adon_jobs{state="requested"}'] == "1.0"
    assert not any(
        "cloud" in name for name in values if not name.startswith(("adon_site_up", "adon_site_stretch"))
    )


# -- the command line --------------------------------------------------------------------------------------


def test_a_flow_brings_its_job_along(adon, world):
    wish = ("flow", "submit", "--from", "mu-dtn", "--to", "osu-dtn", "--size", "1 GB", "--template", "soykb")
    assert adon(*wish, "--job", "align chr1").exit_code == 0
    assert world.controller.seen[-1][1]["request"]["job"] == {"job": "align", "arguments": ["chr1"]}
    assert world.ask("GET", "/flows/f-1").json["request"]["job"] == {"job": "align", "arguments": ["chr1"]}
    assert adon(*wish, "--job", " ").exit_code == 2
    assert adon(*wish, "--job", "../align").exit_code == 2
