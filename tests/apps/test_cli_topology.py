"""``adon switch``, ``adon link``, ``adon circuit``, and what they ask: ``GET /network``."""

from __future__ import annotations

import json

import pytest

from adon.broker.events import SnapshotAsked
from apps.rest.network_models import NetworkView
from tests.apps.web import NOW
from tests.support.stage import OSU_EDGE
from tests.support.wired_stage import WiredStage


def link(state, ends, **more):
    ends = [{"switch": one, "dpid": "0" * 16, "number": 2, "port": port, "admin": True} for one, port in ends]
    known = {"reason": "", "since": NOW, "penalised_until": None, "delays": []}
    return {"state": state, **known, "ends": ends, **more}


def wire(name, *ends, state="live", reason=""):
    found = [{"switch": switch, "port": port} for switch, port in ends]
    return {"name": name, "ends": found, "capacity": 1e10, "state": state, "reason": reason}


BOTH = (("mu-edge", "eth1"), ("osu-edge", "eth2"))


@pytest.fixture
def linked(world):
    """A world with a link, configured and discovered, and two ports that lead elsewhere."""
    foreign = {"state": "foreign", "chassis": "00:11", "port": "ge-0/0/1", "system": ""}
    world.controller.snapshot["wires"] = [
        wire("fibre-7", *BOTH),
        wire("fibre-8", ("mu-edge", "a"), ("osu-edge", "b")),
    ]
    world.controller.snapshot["links"] = [
        link("one-way", BOTH[::-1], reason="osu-edge hears nothing", penalised_until=NOW + 60),
        link("live", (("mu-edge", "x"), ("osu-edge", "y"))),
        {**foreign, "ends": link("", [("mu-edge", "z")])["ends"]},
    ]
    return world


def test_the_network_joins_what_is_configured_and_what_is_seen(linked):
    body = linked.ask("GET", "/network", "operator").json
    assert [(one["name"], one["state"], one["neighbour"]) for one in body["links"]] == [
        ("fibre-7", "one-way", None),
        ("fibre-8", "live", None),
        (None, "live", None),
        (None, "foreign", "00:11 ge-0/0/1"),
    ]
    assert body["links"][0]["capacity_bps"] == 1e10
    assert body["links"][0]["penalised_until"] == "2025-10-09T08:54:20.000Z"
    al2s, internet = body["circuits"]
    assert (al2s["vlan"], al2s["flows"], al2s["usable"]) == (3000, ["f-1"], True)
    assert (internet["vlan"], internet["layer"], internet["capacity_bps"]) == (None, "l3", 6.8e6)


def test_what_a_controller_reads_out_is_understood():
    stage = WiredStage()
    stage.connect()
    stage.pass_time(10)
    found = NetworkView.of(json.loads(json.dumps(stage.command(SnapshotAsked))))
    (seen,) = found.links
    assert (seen.name, seen.state) == (None, "live")
    assert {(end.switch, end.port) for end in seen.ends} == {
        ("mu-edge", "mu-edge-al2s"),
        ("osu-edge", "osu-edge-al2s"),
    }
    assert [(one.name, one.vlan, one.layer) for one in found.circuits] == [
        ("al2s", 1701, "l2"),
        ("internet", None, "l3"),
    ]
    assert [(one.control, one.drift, one.down) for one in found.switches] == [("exclusive", "heal", [])] * 2
    stage.disconnect(OSU_EDGE)
    after = NetworkView.of(json.loads(json.dumps(stage.command(SnapshotAsked))))
    assert [one.connected for one in after.switches] == [True, False]


def test_a_link_that_is_heard_and_must_not_be_used_says_why(linked):
    snapshot = linked.controller.snapshot
    snapshot["wires"] = [wire("fibre-7", *BOTH, state="unheard", reason="not connected")]
    snapshot["links"] = [link("live", BOTH)]
    (found,) = linked.ask("GET", "/network").json["links"]
    assert (found["state"], found["reason"]) == ("unheard", "not connected")


def test_a_circuit_one_direction_of_which_is_down_is_down(world):
    world.controller.snapshot["paths"][1].update(usable=False, reason="port down")
    al2s, _ = world.ask("GET", "/network").json["circuits"]
    assert (al2s["usable"], al2s["reason"]) == (False, "port down")


def test_a_flow_is_asked_for_in_a_slice(world, adon):
    words = ("--from", "mu-dtn", "--to", "osu-dtn", "--size", "25 GB", "--slice", "genomics")
    assert adon("flow", "submit", *words).exit_code == 0
    assert world.controller.seen[-1][1]["request"]["slice"] == "genomics"
    assert adon("flow", "submit", *words[:-1], "unknown!").exit_code == 2
