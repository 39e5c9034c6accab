"""What a flow wants watched, at real points: begun and ended by the controller's word, told back to it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from apps.collector.identity import FILE, Identity
from apps.link import LinkServer
from measurement.model import Observation, from_json
from measurement.pscheduler import specs
from tests.apps.edge import eventually
from tests.measurement.point.running import RunningPoint
from tests.support.measured_points import count_tasks, has_archive, run_points, start_collector, write_points


@pytest.fixture
def points(tmp_path: Path) -> Iterator[dict[str, RunningPoint]]:
    with run_points(tmp_path) as running:
        yield running


@pytest.mark.integration
def test_the_points_observe_while_a_flow_runs_and_the_controller_hears_of_it(
    points: dict[str, RunningPoint],
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    data.mkdir()
    told: SimpleQueue[tuple[str, Any]] = SimpleQueue()
    link = LinkServer(data / "controller.sock", lambda _, kind, payload: told.put((kind, payload)))
    process = start_collector(write_points(tmp_path, points), data)

    def standing() -> int:
        held = json.loads((data / FILE).read_text())
        owner = Identity(held["name"], 1, b"").owner
        return sum(count_tasks(point, owner, kind) for point in points.values() for kind in specs.WITHOUT_END)

    try:
        eventually(
            lambda: any(peer.role == "collector" for peer in link.peers), "the collector does not connect"
        )
        eventually(lambda: has_archive(data), "no archive")
        watches = [
            {"site": "mu", "metric": "host", "period": 1.0},
            {"site": "tacc", "metric": "host", "period": 1.0},
        ]
        monitor = {"watches": watches, "series": [["mu", "host.load_1m"]]}
        link.broadcast("monitor", monitor, "collector")
        kind, payload = "", {}
        while kind != "observation":
            kind, payload = told.get(timeout=60)
        seen = from_json(Observation, payload)
        assert (seen.key.source, seen.metric) == ("mu", "host.load_1m")
        assert standing() == 1
        link.broadcast("monitor", {"watches": [], "series": []}, "collector")
        eventually(lambda: standing() == 0, "its task goes on")
        link.broadcast("monitor", monitor, "collector")
        eventually(lambda: standing() == 1, "it does not begin again")
    finally:
        os.kill(process.pid, signal.SIGTERM)
        process.wait(60)
        link.close()
        log = (data / "log").read_text()
    assert process.returncode == 0, log
    assert "Traceback" not in log
    assert "event=not_watched point=tacc" in log
    assert standing() == 0, "nothing of ours is left at a point"
