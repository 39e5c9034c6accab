"""Networks with overlays for tests: a diamond of four switches, and a fabric of twenty."""

from __future__ import annotations

from typing import Any

import yaml

from adon import yamlfile
from adon.config import Configuration
from adon.templates_catalog.catalog import Catalog
from tests.apps.fabric import BRIDGES, DTN_PORT, EDGES, configuration, dtn_port, plan
from tests.support.factories import make_template
from tests.support.network_factories import NETWORK
from tests.support.stage import MU_EDGE, OSU_EDGE, Stage

UPPER, LOWER = 0xC1, 0xC2
PORTS = {
    MU_EDGE: {"dtn": 1, "up": 2, "down": 3},
    OSU_EDGE: {"dtn": 1, "up": 2, "down": 3},
    UPPER: {"west": 1, "east": 2},
    LOWER: {"west": 1, "east": 2},
}
DIAMOND = """
network: diamond
switches:
  mu-edge: {dpid: "0000000000000a01"%s}
  osu-edge: {dpid: "0000000000000a02"%s}
  upper: {dpid: "00000000000000c1"}
  lower: {dpid: "00000000000000c2"}
sites:
  mu:
    edge: mu-edge
    gateway_mac: "02:00:00:00:0a:01"
    hosts: {mu-dtn: {address: 10.1.0.10, address6: "2001:db8:a::10", mac: "02:00:00:00:0a:0a", port: dtn}}
  osu:
    edge: osu-edge
    gateway_mac: "02:00:00:00:0b:01"
    hosts: {osu-dtn: {address: 10.2.0.10, address6: "2001:db8:b::10", mac: "02:00:00:00:0b:0a", port: dtn}}
links:
  a-up: {ends: {mu-edge: up, upper: west}, capacity: 100 Mbps, delay: 1 ms}
  up-b: {ends: {upper: east, osu-edge: up}, capacity: 100 Mbps, delay: 1 ms}
  a-down: {ends: {mu-edge: down, lower: west}, capacity: 80 Mbps, delay: 2 ms}
  down-b: {ends: {lower: east, osu-edge: down}, capacity: 80 Mbps, delay: 2 ms}
overlays:
  ring: {vlans: "100-101", paths: 2}
paths: {}
policy: {drain: 0 s}
"""
TEMPLATES = Catalog.of(
    [
        make_template(
            name="bulk",
            qspec={"throughput": {"min": "1 Mbps"}},
            rspec={"bandwidth_ceiling": "100 Mbps"},
            tables={"throughput": {"points": [["1 Mbps", 1], ["100 Mbps", 10]]}},
            selection={"patience": 1, "min_dwell": "0 s", "switch_margin": 0},
        )
    ]
)
"""A template that moves its flows at once."""


def make_diamond_stage(pipeline: str = "single") -> Stage:
    """Return a stage of the diamond with all switches connected."""
    staged = f", pipeline: {pipeline}"
    read = yamlfile.parse_model(DIAMOND % (staged, staged), Configuration, NETWORK.name)
    stage = Stage(read, ports=PORTS, catalog=TEMPLATES)
    stage.connect()
    return stage


def make_fabric_stage(**overlay: Any) -> Stage:
    """Return a stage of five sites and twenty switches (:mod:`tests.apps.fabric`), all connected."""
    document = configuration("mixed", drain="0 s")
    document["overlays"]["mesh"] |= overlay
    document["discovery"] = {"enabled": False}
    read = yamlfile.parse_model(yaml.safe_dump(document), Configuration, "fabric")
    ports: dict[int, dict[str, int]] = {int(dpid, 16): {} for dpid in BRIDGES.values()}
    for ends in plan().links.values():
        for end in ends:
            ports[int(BRIDGES[end.switch], 16)][end.port] = end.number
    for site, edge in enumerate(EDGES):
        ports[int(BRIDGES[edge], 16)][dtn_port(site)] = DTN_PORT
    stage = Stage(read, catalog=TEMPLATES, ports=ports)
    stage.connect()
    return stage


def submit_between(stage: Stage, one: int, other: int, *ports: int) -> Any:
    """Submit a flow between two sites of the fabric, by number."""
    return stage.submit("bulk", source=f"dtn-{one}", destination=f"dtn-{other}", ports=list(ports))
