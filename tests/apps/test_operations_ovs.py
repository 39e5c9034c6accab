"""A port of a real switch goes down under three flows: what was rehearsed happens."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from apps.link import LinkClient
from tests.apps.edge import TEMPLATE, Controller, both_edges, eventually, measured

pytestmark = pytest.mark.integration

BOUND = {"throughput": {"min": "2500 kbps"}}


def submit(web: LinkClient, number: int, **fields: Any) -> dict[str, Any]:
    wish = {"source": "mu-dtn", "destination": "osu-dtn", "size": "10 GB", "template": "test-bulk"}
    request = {**wish, "ports": [5000 + number], "qspec": BOUND, **fields}
    return web.call("flow.submit", {"request": request, "requester": "ann"})


def tell(web: LinkClient, collector: LinkClient, path: str, mbps: float) -> None:
    """Report a result, and wait until the controller knows it."""
    collector.send("measurement", dict(measured(path, mbps)))

    def known() -> bool:
        paths: list[dict[str, Any]] = web.call("snapshot", {})["paths"]
        return any(one["path"] == path and "throughput" in one["metrics"] for one in paths)

    eventually(known, "the result did not arrive")


def test_a_port_that_goes_down_moves_all_its_flows_at_once(tmp_path: Path) -> None:
    controller = Controller(tmp_path)
    with both_edges(tmp_path, controller.port) as switches:
        controller.start()
        try:
            with controller.client() as web, controller.client("collector") as collector:
                eventually(
                    lambda: controller.said("code=switch-connected") == 2, "the switches did not connect"
                )
                web.call("template.add", {"template": TEMPLATE, "author": "eve"})
                tell(web, collector, "al2s", 58)
                flows = [submit(web, number, priority=100 * number) for number in (1, 2, 3)]
                assert {flow["path"] for flow in flows} == {"al2s"}
                tell(web, collector, "internet", 6)
                eventually(lambda: controller.said("code=flow-active") == 3)
                told = web.call("what-if", {"failure": "port-down", "name": "mu-edge:mu-edge-al2s"})
                planned = {one["flow"]: one["to"] for one in told["items"][0]["flows"]}
                assert planned == {"f-3": "internet", "f-2": "internet", "f-1": None}
                switches.ofctl("mod-port", "mu-edge", "mu-edge-al2s", "down")
                eventually(lambda: controller.said("code=flow-rerouted") == 2, "nobody moved")
                eventually(lambda: _outputs(switches) == {5001: 2, 5002: 3, 5003: 3}, "rules did not follow")
                switches.ofctl("mod-port", "mu-edge", "mu-edge-al2s", "up")
                eventually(lambda: {*_outputs(switches).values()} == {2}, "the flows did not come back")
                now = time.time()
                times = {"begins": now + 1, "ends": now + 4, "lead": "1 s"}
                window = {"scope": "path", "name": "al2s", **times}
                web.call("maintenance.add", {"request": window, "requester": "pat"})
                eventually(lambda: controller.said("code=flow-requeued"), "f-1 did not leave")
                eventually(lambda: _outputs(switches).get(5001) != 2, "its rules are left")
                eventually(lambda: _outputs(switches).get(5001) == 2, "f-1 did not come back")
        finally:
            controller.stop()


def _outputs(switches: Any) -> dict[int, int]:
    """Per port of a flow, where its ingress rule at the MU edge sends it."""
    found = {}
    for line in switches.rules("mu-edge"):
        if "in_port=1" in line and "tp_dst=" in line:
            port = int(line.split("tp_dst=")[1].split()[0].split(",")[0])
            found[port] = int(line.rsplit("output:", 1)[1].split(",")[0].rstrip(")"))
    return found
