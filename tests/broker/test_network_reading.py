"""What the network is made of, as it is read out."""

from __future__ import annotations

from adon.broker.network_reading import circuits, sites, wires
from tests.broker.stage import configuration as example
from tests.flowvisor.graphs import configuration, connected, link_down
from tests.flowvisor.test_overlay import planned

SQUARE = configuration([(0, 1), (1, 2), (0, 3), (3, 2)], [0, 2], paths=2)


def test_sites_have_their_edge_and_their_hosts() -> None:
    assert sites(SQUARE) == [
        {"name": "site0", "edge": "s0", "hosts": ["dtn0"]},
        {"name": "site1", "edge": "s2", "hosts": ["dtn1"]},
    ]


def test_a_link_is_as_bad_as_its_worse_direction() -> None:
    topology = link_down(connected(SQUARE), "l1").switch_down(SQUARE.switches["s3"].dpid)
    found = {str(wire["name"]): wire for wire in wires(topology)}
    assert {name: wire["state"] for name, wire in found.items()} == {
        "l0": "live",
        "l1": "down",
        "l2": "unheard",
        "l3": "unheard",
    }
    assert found["l0"]["ends"] == [{"switch": "s0", "port": "to-l0"}, {"switch": "s1", "port": "to-l0"}]
    assert found["l0"]["capacity"] == 1e10
    assert "s1" in str(found["l1"]["reason"])


def test_a_circuit_is_walked_from_its_source_to_its_destination() -> None:
    topology, _ = planned(connected(SQUARE))
    first, second = circuits(topology)
    assert (first["name"], first["overlay"], first["vlan"]) == ("core.1", "core", 100)
    assert (first["links"], first["switches"]) == (["l0", "l1"], ["s0", "s1", "s2"])
    assert second["switches"] == ["s0", "s3", "s2"]


def test_a_circuit_over_a_link_that_is_configured_no_more_is_told_as_far_as_it_goes() -> None:
    topology, _ = planned(connected(SQUARE))
    left = {name: link for name, link in SQUARE.links.items() if name != "l1"}
    topology = connected(SQUARE.model_copy(update={"links": left})).__class__(
        SQUARE.model_copy(update={"links": left}), overlay_paths=topology.overlay_paths
    )
    first, _ = circuits(topology)
    assert (first["links"], first["switches"]) == (["l0", "l1"], ["s0", "s1"])


def test_configured_paths_come_first_with_their_edges() -> None:
    found = circuits(connected(example()))
    assert [(one["name"], one["overlay"], one["switches"]) for one in found] == [
        ("al2s", None, ["mu-edge", "osu-edge"]),
        ("internet", None, ["mu-edge", "osu-edge"]),
    ]
