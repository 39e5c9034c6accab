"""Slices, queues and marking in the rules of real Open vSwitch, put there by the whole controller process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from apps.link import LinkClient
from tests.apps.edge import TEMPLATE, Controller, Switches, both_edges, eventually, measured
from tests.support.refusals import refused

pytestmark = pytest.mark.integration

SLICE = {
    "number": 7,
    "members": {"groups": ["genomics"]},
    "flowspace": [{"protocols": ["tcp"], "ports": ["5000-5099"]}],
    "share": 0.5,
    "mark": "LE",
}
INGRESS_OF_TENANT_7 = "cookie=0xad10007000000001,"


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[Controller]:
    built = Controller(tmp_path, ladder={"mode": "queues", "queues": [11, 12, 13]})
    document = yaml.safe_load(built.config.read_text())
    built.config.write_text(yaml.safe_dump({**document, "slices": {"genomics": SLICE}}))
    yield built
    built.stop()


@pytest.fixture
def switches(tmp_path: Path, controller: Controller) -> Iterator[Switches]:
    with both_edges(tmp_path, controller.port) as running:
        controller.start()
        eventually(lambda: controller.said("code=switch-connected") == 2, "the switches did not connect")
        yield running


def submit(link: LinkClient, port: int, *groups: str) -> dict[str, Any]:
    wish = {
        "source": "mu-dtn",
        "destination": "osu-dtn",
        "size": "10 MB",
        "template": "test-bulk",
        "ports": [port],
    }
    return dict(link.call("flow.submit", {"request": wish, "requester": "ann", "groups": list(groups)}))


def test_a_members_flow_is_queued_marked_and_known_by_its_tenant(
    controller: Controller, switches: Switches
) -> None:
    with controller.client() as link:
        link.call("template.add", {"template": TEMPLATE, "author": "eve"})
        link.send("measurement", measured("al2s", 50))
        link.send("measurement", measured("internet", 5))
        for port, groups, code in ((5001, (), "forbidden"), (6000, ("genomics",), "invalid-input")):
            with refused(code):
                submit(link, port, *groups)
        flow = submit(link, 5001, "genomics")
        assert (flow["slice"], flow["granted"]["by"], flow["granted"]["number"]) == ("genomics", "queue", 11)
        eventually(lambda: ingress(switches), "no rule of the tenant")
        rule = ingress(switches)[0]
        queue, output = rule.index("set_queue:11"), rule.index("output:2")
        assert queue < output  # R12
        assert "set_field:1->ip_dscp" in rule or "set_field:4->nw_tos" in rule or "mod_nw_tos:4" in rule


def ingress(switches: Switches) -> list[str]:
    return [
        line for line in switches.rules("mu-edge") if INGRESS_OF_TENANT_7 in line and "tp_dst=5001" in line
    ]
