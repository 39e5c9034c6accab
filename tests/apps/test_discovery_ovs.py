"""Links between two real bridges, found by the real controller process.

The wires are sockets between dummy ports of one private Open vSwitch, so that a hello goes the whole way:
packet-out, frame, the peer's flow table, the discovery rule, packet-in.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.apps.edge import BRIDGES, Controller, Switches, both_edges, eventually
from tests.apps.fabric import join_bridges
from tests.flowvisor.frames import CHASSIS, END, PORT, TTL, lldp_frame, tlv

pytestmark = pytest.mark.integration

DISCOVERY = "0xad04"
RULE = "priority=45000,dl_type=0x88cc actions=CONTROLLER:65535"


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[Controller]:
    """With hellos so rare that what is noticed quickly was not noticed by a missing hello."""
    built = Controller(tmp_path)
    document = yaml.safe_load(built.config.read_text())
    document["discovery"] = {"enabled": True, "hello": "20 s", "debounce": "100 ms"}
    built.config.write_text(yaml.safe_dump(document))
    yield built
    built.stop()


@pytest.fixture
def switches(tmp_path: Path, controller: Controller) -> Iterator[Switches]:
    """Both edges, joined by one wire, before the controller."""
    with both_edges(tmp_path, controller.port) as running:
        join_bridges(running, ("mu-edge", "mu-wire", 4), ("osu-edge", "osu-wire", 5))
        controller.start()
        yield running


def links(controller: Controller) -> list[dict[str, Any]]:
    with controller.client() as client:
        found: list[dict[str, Any]] = client.call("snapshot", {})["links"]
    return found


def states(controller: Controller) -> dict[tuple[str, ...], str]:
    return {tuple(end["port"] for end in link["ends"]): link["state"] for link in links(controller)}


WIRE = ("mu-wire", "osu-wire")


def live(controller: Controller) -> bool:
    return states(controller) == {WIRE: "live"}


def test_a_real_link_is_found_and_goes_with_its_port(controller: Controller, switches: Switches) -> None:
    """The rules are there only after the first hellos, so the second ones bring it about."""
    eventually(lambda: live(controller), "no link was found")
    for bridge in BRIDGES:
        (rule,) = [line for line in switches.rules(bridge) if f"cookie={DISCOVERY}" in line]
        assert RULE in rule
    switches.ofctl("mod-port", "osu-edge", "osu-wire", "down")
    eventually(lambda: states(controller) == {WIRE: "down"}, "the link is not down", patience=15)
    (link,) = links(controller)
    assert "osu-wire" in link["reason"]
    assert [(end["switch"], end["number"], end["admin"]) for end in link["ends"]] == [
        ("mu-edge", 4, True),
        ("osu-edge", 5, False),
    ]
    assert controller.said(link["reason"]) == 1
    switches.ofctl("mod-port", "osu-edge", "osu-wire", "up")
    eventually(lambda: live(controller), "the link did not come back", patience=15)
    assert controller.alive


def test_loops_wrong_wires_and_strangers_are_said(controller: Controller, switches: Switches) -> None:
    eventually(lambda: live(controller), "no link was found")
    join_bridges(switches, ("mu-edge", "mu-loop-a", 6), ("mu-edge", "mu-loop-b", 7))
    eventually(lambda: states(controller).get(("mu-loop-a", "mu-loop-b")) == "loop", "no loop was found")
    stranger = lldp_frame(CHASSIS, tlv(2, b"\x07Gi0/1\x1b[2J"), TTL, tlv(5, b"core"), END)
    for data in (stranger, stranger[:20], lldp_frame(PORT, END), lldp_frame(tlv(127, b"\xff" * 200))):
        switches.appctl("netdev-dummy/receive", "mu-edge-rtr", data.hex())
    eventually(lambda: states(controller).get(("mu-edge-rtr",)) == "foreign", "no stranger was seen")
    (entry,) = [link for link in links(controller) if link["state"] == "foreign"]
    assert (entry["system"], entry["port"]) == ("core", "Gi0/1\ufffd[2J")
    assert states(controller)[WIRE] == "live"
    assert controller.alive
