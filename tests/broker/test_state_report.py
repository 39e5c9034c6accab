from __future__ import annotations

import json
from typing import Any

from adon.broker.events import SnapshotAsked
from tests.support.stage import MU_EDGE, OSU_EDGE, Stage, make_stage


def snapshot(stage: Stage) -> Any:
    return json.loads(json.dumps(stage.command(SnapshotAsked), allow_nan=False))


def test_before_anything_happened() -> None:
    found = snapshot(Stage())
    assert {switch["connected"] for switch in found["switches"]} == {False}
    assert {path["usable"] for path in found["paths"]} == {False}
    assert all(path["reason"] for path in found["paths"])
    assert found["queue"] == []


def test_paths_in_both_directions_with_values_ages_and_flows() -> None:
    stage = make_stage()
    flow = stage.submit()
    stage.pass_time(3)
    (there,) = (p for p in snapshot(stage)["paths"] if (p["path"], p["source"]) == ("al2s", "mu"))
    (back,) = (p for p in snapshot(stage)["paths"] if (p["path"], p["source"]) == ("al2s", "osu"))
    assert there["metrics"]["throughput"]["value"] == 58e6
    assert there["metrics"]["throughput"]["age"] == 3.0
    assert (there["flows"], back["flows"]) == ([flow.id], [])
    assert back["metrics"] == {}


def test_switches_with_their_rules_ports_and_state() -> None:
    stage = make_stage()
    stage.disconnect(OSU_EDGE)
    mu, osu = snapshot(stage)["switches"]
    assert (mu["dpid"], mu["connected"], osu["connected"]) == (f"{MU_EDGE:016x}", True, False)
    assert mu["rules"] == len(stage.installed(MU_EDGE))
    assert mu["ports"]["mu-edge-al2s"] == {"number": 2, "live": True}


def test_the_queue_in_its_order() -> None:
    stage = make_stage(al2s=1.0, internet=1.0)
    low, high = stage.submit(priority=1), stage.submit(priority=9)
    assert snapshot(stage)["queue"] == [high.id, low.id]
