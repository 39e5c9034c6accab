"""``adon switch``, ``adon link``, ``adon circuit``, and what they ask: ``GET /network``."""

from __future__ import annotations

import json

from adon.broker.events import SnapshotAsked
from apps.rest.network_views import to_network_view
from tests.support.network_factories import make_slice, make_sliced_configuration
from tests.support.stage import OSU_EDGE, make_stage
from tests.support.web_world import NOW
from tests.support.wired_stage import WiredStage


def link(state, ends, **more):
    ends = [{"switch": one, "dpid": "0" * 16, "number": 2, "port": port, "admin": True} for one, port in ends]
    known = {"reason": "", "since": NOW, "penalised_until": None, "delays": []}
    return {"state": state, **known, "ends": ends, **more}


def wire(name, *ends, state="live", reason=""):
    found = [{"switch": switch, "port": port} for switch, port in ends]
    return {"name": name, "ends": found, "capacity": 1e10, "state": state, "reason": reason}


BOTH = (("mu-edge", "eth1"), ("osu-edge", "eth2"))


def seen(**parts):
    """The network as a page sees it, of a controller's read-out some parts of which are replaced."""
    stage = make_stage()
    stage.submit()
    return to_network_view({**json.loads(json.dumps(stage.snapshot())), **parts})


def test_the_network_joins_what_is_configured_and_what_is_seen():
    foreign = {"state": "foreign", "chassis": "00:11", "port": "ge-0/0/1", "system": ""}
    body = seen(
        wires=[wire("fibre-7", *BOTH), wire("fibre-8", ("mu-edge", "a"), ("osu-edge", "b"))],
        links=[
            link("one-way", BOTH[::-1], reason="osu-edge hears nothing", penalised_until=NOW + 60),
            link("live", (("mu-edge", "x"), ("osu-edge", "y"))),
            {**foreign, "ends": link("", [("mu-edge", "z")])["ends"]},
        ],
    ).body()
    assert [(one["name"], one["state"], one["neighbour"]) for one in body["links"]] == [
        ("fibre-7", "one-way", None),
        ("fibre-8", "live", None),
        (None, "live", None),
        (None, "foreign", "00:11 ge-0/0/1"),
    ]
    assert body["links"][0]["capacity_bps"] == 1e10
    assert body["links"][0]["penalised_until"] == "2025-10-09T08:54:20.000Z"


def test_circuits_are_shown_with_their_flows(world):
    name = world.submit()
    al2s, internet = world.ask("GET", "/network", "operator").json["circuits"]
    assert (al2s["vlan"], al2s["flows"], al2s["usable"]) == (1701, [name], True)
    assert (internet["vlan"], internet["layer"], internet["capacity_bps"]) == (None, "l3", 6.8e6)


def test_what_a_controller_reads_out_is_understood():
    stage = WiredStage()
    stage.connect()
    stage.pass_time(10)
    found = to_network_view(json.loads(json.dumps(stage.command(SnapshotAsked))))
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
    after = to_network_view(json.loads(json.dumps(stage.command(SnapshotAsked))))
    assert [one.connected for one in after.switches] == [True, False]


def test_a_link_that_is_heard_and_must_not_be_used_says_why():
    unheard = wire("fibre-7", *BOTH, state="unheard", reason="not connected")
    (found,) = seen(wires=[unheard], links=[link("live", BOTH)]).links
    assert (found.state, found.reason) == ("unheard", "not connected")


def test_a_circuit_a_port_of_which_is_down_is_down(world):
    world.stage.port_down(OSU_EDGE, "osu-edge-al2s")
    al2s, _ = world.ask("GET", "/network").json["circuits"]
    assert (al2s["usable"], "osu-edge-al2s" in al2s["reason"]) == (False, True)


def test_a_flow_is_asked_for_in_a_slice(world, adon):
    world.start_controller(make_sliced_configuration({"genomics": make_slice(7, 5001, who="admin")}))
    words = ("--from", "mu-dtn", "--to", "osu-dtn", "--size", "25 GB", "--template", "soykb")
    words += ("--port", "5001", "--slice", "genomics")
    assert adon("flow", "submit", *words).exit_code == 0
    assert world.controller.seen[-1][1]["request"]["slice"] == "genomics"
    assert adon("flow", "submit", *words[:-1], "unknown!").exit_code == 2
