"""The network as configured and reported: what is usable, and why not."""

from __future__ import annotations

from typing import Any

import pytest

from adon.config import Configuration
from adon.errors import InvalidInput
from adon.flowvisor.topology.network_graph import PortState
from adon.flowvisor.topology.path import Attachment, Layer, PathEnd
from adon.flowvisor.topology.topology import Topology
from measurement.model import PathKey
from tests.support.refusals import refused

MU, OSU = 0xA, 0xB
MU_PORTS = {"mu-dtn": PortState(1, True), "mu-l2": PortState(2, True), "mu-l3": PortState(3, True)}
OSU_PORTS = {"osu-dtn": PortState(11, True), "osu-l2": PortState(12, True), "osu-l3": PortState(13, True)}


def configuration() -> Configuration:
    def site(name: str, byte: int) -> dict[str, Any]:
        return {
            "edge": f"{name}-edge",
            "gateway_mac": f"02:00:00:00:{byte:02x}:01",
            "hosts": {
                f"{name}-dtn": {
                    "address": f"10.{byte}.0.10",
                    "mac": f"02:00:00:00:{byte:02x}:10",
                    "port": f"{name}-dtn",
                }
            },
        }

    return Configuration.model_validate(
        {
            "network": "test",
            "switches": {"mu-edge": {"dpid": f"{MU:016x}"}, "osu-edge": {"dpid": f"{OSU:016x}"}},
            "sites": {"mu": site("mu", 1), "osu": site("osu", 2), "isu": site("osu", 3) | {"hosts": {}}},
            "paths": {
                "al2s": {
                    "layer": 2,
                    "capacity": "58 Mbps",
                    "vlan": 100,
                    "ends": {"mu": {"port": "mu-l2"}, "osu": {"port": "osu-l2"}},
                },
                "routed": {
                    "layer": 3,
                    "capacity": "6.5 Mbps",
                    "ends": {
                        "mu": {"port": "mu-l3", "next_hop_mac": "02:00:00:0a:00:01"},
                        "osu": {"port": "osu-l3", "next_hop_mac": "02:00:00:0b:00:01"},
                    },
                },
                "elsewhere": {
                    "layer": 2,
                    "capacity": "1 Mbps",
                    "vlan": 9,
                    "ends": {"mu": {"port": "mu-l2"}, "isu": {"port": "osu-l2"}},
                },
            },
            "measurements": {
                "points": {"mu": {"url": "http://127.0.0.1:1"}, "osu": {"url": "http://127.0.0.1:2"}},
                "tests": [
                    {
                        "path": "routed",
                        "from": "osu",
                        "to": "mu",
                        "source": "10.2.0.21",
                        "destination": "10.1.0.21",
                        "rtt_period": "10 s",
                    }
                ],
            },
        }
    )


CONFIGURATION = configuration()


def up() -> Topology:
    return Topology(CONFIGURATION).switch_up(MU, MU_PORTS).switch_up(OSU, OSU_PORTS)


def test_all_paths_between_two_sites_in_configuration_order_and_both_directions() -> None:
    there = up().candidates("mu-dtn", "osu-dtn")
    assert [(c.key.path, c.layer, c.usable, c.reason) for c in there] == [
        ("al2s", Layer.L2, True, None),
        ("routed", Layer.L3, True, None),
    ]
    back = up().candidates("osu-dtn", "mu-dtn")
    assert [c.key for c in back] == [PathKey("al2s", "osu", "mu"), PathKey("routed", "osu", "mu")]
    for one, other in zip(there, back, strict=True):
        assert one.path is not None
        assert one.path.reverse() == other.path
        assert one.path.reverse().reverse() == one.path


def test_a_candidate_carries_port_numbers_and_its_place_in_the_configuration() -> None:
    path = up().candidate(PathKey("routed", "mu", "osu")).path
    assert path is not None
    assert (path.index, path.capacity, path.attributes.mtu, path.vlan) == (1, 6.5e6, 1500, None)
    assert path.source_end == PathEnd(MU, 3, "02:00:00:0a:00:01")
    assert path.destination_end == PathEnd(OSU, 13, "02:00:00:0b:00:01")


def test_every_direction_of_every_path() -> None:
    assert len(up().directions()) == 2 * len(CONFIGURATION.paths)
    assert {c.key.path for c in up().directions()} == set(CONFIGURATION.paths)


@pytest.mark.parametrize(
    ("topology", "known", "code"),
    [
        (Topology(CONFIGURATION), False, "switch-disconnected"),
        (up().switch_down(OSU), True, "switch-disconnected"),
        (up().change_port(MU, "mu-l2", None), False, "port-unknown"),
        (up().change_port(OSU, "osu-l2", PortState(12, False)), True, "port-down"),
        (up().change_port(OSU, "osu-dtn", PortState(11, False)), True, "port-down"),
    ],
)
def test_an_unusable_candidate_is_listed_with_the_reason(topology: Topology, known: bool, code: str) -> None:
    first = topology.candidates("mu-dtn", "osu-dtn")[0]
    assert first.reason is not None
    assert (first.usable, first.path is not None, first.reason.code) == (False, known, code)


def test_port_numbers_are_remembered_while_a_switch_is_away() -> None:
    """It goes on forwarding with the rules it has (R10)."""
    away = up().switch_down(MU)
    assert away.attachment("mu-dtn").port == 1
    assert away.switch_up(MU, MU_PORTS) == up()


def test_an_attachment_joins_configuration_and_report() -> None:
    assert up().attachment("osu-dtn") == Attachment(
        host="osu-dtn",
        site="osu",
        dpid=OSU,
        port=11,
        address="10.2.0.10",
        mac="02:00:00:00:02:10",
        gateway_mac="02:00:00:00:02:01",
    )
    assert up().site_of("osu-dtn") == "osu"


def test_no_transit_path_is_chosen_within_a_site() -> None:
    with refused(InvalidInput, field="destination"):
        up().candidates("mu-dtn", "mu-dtn")
