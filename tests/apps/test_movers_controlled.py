"""A transfer that follows its flow: the real controller on Open vSwitch, the moving process, and rclone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from adon.broker.flow import Flow, FlowState
from adon.store.store import Store
from adon.transfers.machine import Phase, Transfer
from apps.link import LinkClient
from apps.movers import book
from tests.apps.edge import TEMPLATE, Controller, both_edges, end, eventually, measured
from tests.apps.moving import PASSWORD, SIZE, USER, Rclone, digest, put

pytestmark = pytest.mark.integration
PATIENT = {**TEMPLATE, "selection": {**TEMPLATE["selection"], "idle_timeout": "1 h"}}  # type: ignore[dict-item]


class World:
    def __init__(self, folder: Path) -> None:
        self.rclone = Rclone(folder)
        self.controller = Controller(folder)
        document = yaml.safe_load(self.controller.config.read_text())
        remotes = {
            "data": {"at": "mu-dtn", "fs": str(self.rclone.here)},
            "far": {"at": "osu-dtn", "fs": str(self.rclone.there)},
        }
        tool = {
            "url": f"http://127.0.0.1:{self.rclone.port}",
            "user": USER,
            "password_file": "rclone.password",
        }
        document["transfers"] = {
            "rclone": {"mu-dtn": {**tool, "remotes": remotes, "limit": "none"}},
            "period": "100 ms",
            "backoff": "200 ms",
        }
        (folder / "rclone.password").write_text(PASSWORD)
        self.controller.config.write_text(yaml.safe_dump(document))
        self.folder = folder
        self.movers: subprocess.Popen[bytes] | None = None

    def start_movers(self) -> None:
        command = [sys.executable, "-m", "apps.movers", "--config", str(self.controller.config)]
        command += ["--data", str(self.folder), "--store", self.controller.url]
        self.movers = subprocess.Popen(command)

    def flow(self) -> Flow:
        store = Store.open(self.controller.url, read_only=True)
        try:
            return store.flow(1)
        finally:
            store.close()

    def transfer(self) -> Transfer | None:
        return book.read(self.folder, 1)

    def becomes(self, phase: Phase) -> Transfer:
        eventually(lambda: (now := self.transfer()) is not None and now.phase is phase, f"it is not {phase}")
        found = self.transfer()
        assert found is not None
        return found

    def jobs(self) -> int:
        """How many runs rclone has ever had."""
        groups = self.rclone.ask("core/group-list").get("groups") or ()
        return sum(group.startswith("adon/") for group in groups)

    def close(self) -> None:
        if self.movers is not None:
            end(self.movers)
        self.controller.stop()
        self.rclone.kill()


@contextmanager
def world_in(folder: Path) -> Iterator[World]:
    made = World(folder)
    try:
        with both_edges(folder, made.controller.port):
            made.controller.start()
            eventually(lambda: made.controller.said("is connected") == 2, "the switches did not connect")
            made.start_movers()
            yield made
    finally:
        made.close()


def tell(link: LinkClient, al2s: float, internet: float) -> None:
    """What was measured, in Mbit/s; the flow wants one."""
    link.send("measurement", measured("al2s", al2s))
    link.send("measurement", measured("internet", internet))


def submit(link: LinkClient, **more: Any) -> int:
    moved = {"tool": "rclone", "source": "data:big", "destination": "far:"}
    wish = {"source": "mu-dtn", "destination": "osu-dtn", "size": f"{SIZE} B", "template": "test-bulk"}
    request = {**wish, "ports": [5001], "pausable": True, "transfer": moved, **more}
    answer = link.call("flow.submit", {"request": request, "requester": "ann"})
    return int(answer["number"])


def test_a_transfer_waits_moves_pauses_and_goes_on_with_its_flow(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        content = put(world.rclone.here / "big")
        world.rclone.ask("core/bwlimit", rate="20k")  # so slow that only what the test does ends it
        with world.controller.client() as link:
            link.call("template.add", {"template": PATIENT, "author": "eve"})
            tell(link, 0.1, 0.1)
            submit(link)
            eventually(lambda: world.flow().state is FlowState.QUEUED, "it is not queued")
            world.becomes(Phase.WAITING)
            assert world.jobs() == 0
            tell(link, 50, 5)
            job = world.becomes(Phase.RUNNING).job
            # Another path: the run goes on.
            tell(link, 0.1, 5)
            eventually(lambda: world.flow().path == "internet", "it was not moved")
            assert world.becomes(Phase.RUNNING).job == job
            tell(link, 50, 0.1)
            eventually(lambda: world.flow().path == "al2s", "it was not moved back")
            # Somebody more urgent takes the place that is full: it stops, and nothing is under way at rclone.
            tell(link, 0.5, 0.1)
            urgent = submit(link, priority=900, ports=[5002], transfer=None)
            eventually(lambda: world.flow().state is FlowState.QUEUED, "it does not give way")
            world.becomes(Phase.WAITING)
            assert world.rclone.ask("job/status", jobid=job)["finished"]
            link.call("flow.report", {"flow": urgent, "status": "finished", "bytes": SIZE, "detail": ""})
            tell(link, 50, 5)
            again = world.becomes(Phase.RUNNING)
            assert again.job != job
        # The controller dies: what runs goes on, and is followed when it is back.
        world.controller.kill()
        world.controller.start()
        with world.controller.client():
            world.rclone.ask("core/bwlimit", rate="off")
            done = world.becomes(Phase.DONE)
            assert (done.job, done.tries, done.failures) == (again.job, 2, 0)
            assert world.jobs() == 2
            eventually(lambda: world.flow().state is FlowState.FINISHED, "the controller was not told")
        assert digest(world.rclone.there / "big") == content
