"""Slices, queues and marking in the rules of real Open vSwitch, put there by the whole controller process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.apps.edge import Controller, Switches, eventually
from tests.support.refusals import refused
from tests.support.switched_flows import prepare, request_flow

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


def test_a_members_flow_is_queued_marked_and_known_by_its_tenant(
    controller: Controller, switches: Switches
) -> None:
    with controller.client() as link:
        prepare(link)
        for port, groups, code in ((5001, (), "forbidden"), (6000, ("genomics",), "invalid-input")):
            with refused(code):
                request_flow(link, *groups, ports=[port])
        flow = request_flow(link, "genomics")
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
