"""The flows of :mod:`benchmarks.foretold_requests` on the testbed, under a real ADON.

Testbed, measurement points and ``adon serve`` are the demo's (:mod:`mininet_topos.demo.stage`).  What a
researcher's tools would do is done here, by one loop: ask, see whether the flow may begin, carry the bytes,
report.  Receivers listen from the request on, so a transfer begins as soon as its sender has started.

Times of both sides are of one machine's clock.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adon.client import Client
from adon.errors import AdonError, Unavailable
from adon.templates_catalog.model import Template
from benchmarks.foretold_requests import DESTINATION, SOURCE, Asked, templates
from mininet_topos.demo.stage import World, adon_on, remove_remains, require_machine, testbed_up
from mininet_topos.isolation import default_folder, run_folder
from mininet_topos.networks import Network
from mininet_topos.platforms.bed import Bed
from mininet_topos.transfer import Transfer, arguments
from mininet_topos.waiting import wait_until

PREFIX = "foretold"
POLL_S = 0.2
FIRST_RESULTS_S = 120.0
SILENCE_S = 900.0
"""How long a receiver waits for its first byte, at most: its flow may be in the queue."""
LONGEST_S = 1200.0
"""After so long a round is over, whatever is missing."""
OVER = ("rejected", "failed", "expired", "cancelled", "finished")


@dataclass(slots=True)
class _Flow:
    """One request on its way."""

    asked: Asked
    id: str
    receiver: subprocess.Popen[bytes]
    output: Path
    sender: subprocess.Popen[bytes] | None = None
    load: float = 0.0
    problem: str = ""
    over: bool = False


@dataclass(slots=True)
class Round:
    """One round of requests, being played."""

    bed: Bed
    api: Client
    folder: Path
    flows: list[_Flow] = field(default_factory=list)

    def play(self, requests: Sequence[Asked]) -> None:
        """Ask for all of them in time, and carry what is admitted, until all are over."""
        began, waiting = time.time(), list(requests)
        while (waiting or not all(flow.over for flow in self.flows)) and time.time() < began + LONGEST_S:
            while waiting and began + waiting[0].at <= time.time():
                self._ask(waiting.pop(0))
            for flow in self.flows:
                if not flow.over:
                    self._step(flow)
            time.sleep(POLL_S)
        for flow in self.flows:
            if not flow.over:
                flow.problem, flow.over = "not over when the round was", True

    def _ask(self, asked: Asked) -> None:
        here = Transfer(
            str(self.bed.network.dtn(DESTINATION).address), (asked.port,), asked.streams, SILENCE_S
        )
        output = self.folder / f"received-{asked.number}"
        with output.open("wb") as written:
            receiver = self._start(DESTINATION, arguments("receive", here), written.fileno())
        self.flows.append(_Flow(asked, self.api.submit(asked.body())["id"], receiver, output))

    def _start(self, host: str, argv: list[str], output: int) -> subprocess.Popen[bytes]:
        mortal = self.bed.inside(["setpriv", "--pdeathsig", "TERM", *argv], host)
        return subprocess.Popen(
            mortal, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def _step(self, flow: _Flow) -> None:
        if flow.receiver.poll() is not None:
            self._ended(flow)
        elif flow.sender is None:
            self._begun(flow)

    def _begun(self, flow: _Flow) -> None:
        found = self.api.flow(flow.id)
        if found["state"] == "active":
            flow.load = os.getloadavg()[0]
            self.api.report(flow.id, "started", 0, "")
            here = Transfer(str(self.bed.network.dtn(SOURCE).address), (flow.asked.port,), flow.asked.streams)
            size = found["transfer_size_bytes"]
            argv = arguments("send", here, to=str(self.bed.network.dtn(DESTINATION).address), size=size)
            flow.sender = self._start(SOURCE, argv, subprocess.DEVNULL)
        elif found["state"] in OVER:
            flow.problem, flow.over = f"{found['state']}: {found['reason']}", True

    def _ended(self, flow: _Flow) -> None:
        flow.over, report = True, received(flow)
        status, moved = ("failed", 0) if report is None else ("finished", report["bytes"])
        with suppress(AdonError):  # one that was cancelled takes no report
            self.api.report(flow.id, status, moved, "")
        if report is None:
            flow.problem = "the transfer failed"

    def end(self) -> None:
        """No process of ours stays."""
        programs = [p for flow in self.flows for p in (flow.receiver, flow.sender) if p is not None]
        for program in programs:
            if program.poll() is None:
                program.terminate()
        for program in programs:
            try:
                program.wait(10)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()


def received(flow: _Flow) -> dict[str, Any] | None:
    """The receiver's report; None if it failed."""
    lines = flow.output.read_text().splitlines()
    last: dict[str, Any] = json.loads(lines[-1]) if lines else {}
    return last if last.get("event") == "received" else None


def played(network: Network, requests: Sequence[Asked], log: Path) -> dict[str, Any]:
    """One round on a testbed of its own: what was told about each flow, and what came of it.

    :param log: a folder that gets ADON's log and its database.
    :raises Unavailable: if the machine cannot run a testbed, or it or ADON does not come up.
    """
    require_machine()
    remove_remains(PREFIX)
    with (
        run_folder(default_folder(f"{PREFIX}-{os.getpid()}")) as folder,
        testbed_up(folder, network) as bed,
        adon_on(bed) as world,
    ):
        try:
            return _played(world, network, requests)
        finally:
            _keep(world.folder, log)


def _played(world: World, network: Network, requests: Sequence[Asked]) -> dict[str, Any]:
    api = world.client
    for document in templates(network):
        api.add_template(Template.model_validate(document).model_dump(mode="json", exclude={"version"}))
    if not wait_until(lambda: _measured(api), FIRST_RESULTS_S):
        raise Unavailable(f"no path was measured within {FIRST_RESULTS_S:g} s")
    with _round(world) as told:
        told.play(requests)
        flows = [_told(api, flow) for flow in told.flows]
    tests = [
        {"path": one["path"], "at": one["started_at"], "bps": one["value"]}
        for one in api.measurements(metric="throughput", source="mu", limit="10000")
    ]
    return {"emulation": world.bed.emulation, "flows": flows, "tests": tests}


@contextmanager
def _round(world: World) -> Iterator[Round]:
    told = Round(world.bed, world.client, world.folder)
    try:
        yield told
    finally:
        told.end()


def _measured(api: Client) -> bool:
    needed = {"throughput", "rtt"}
    return all(needed <= set(path["metrics"]) for path in api.paths() if path["source"] == "mu")


def _told(api: Client, flow: _Flow) -> dict[str, Any]:
    """Everything about one flow that the analysis asks for."""
    outcome = None if flow.problem else _outcome(api, flow.id)
    admitted = [one for one in api.decisions(flow.id) if one["outcome"] == "admit"]
    return {
        "number": flow.asked.number,
        "kind": flow.asked.kind,
        "size": flow.asked.size,
        "streams": flow.asked.streams,
        "flow": flow.id,
        "problem": flow.problem,
        "load": flow.load,
        "outcome": outcome,
        "received": None if flow.problem else received(flow),
        "admitted": [_short(one) for one in admitted],
    }


def _outcome(api: Client, flow: str) -> dict[str, Any] | None:
    found: list[dict[str, Any]] = []

    def there() -> bool:
        with suppress(AdonError):
            found.append(api.outcome(flow))
        return bool(found)

    wait_until(there, 10.0)
    return found[0] if found else None


def _short(decision: Mapping[str, Any]) -> dict[str, Any]:
    """A decision to admit: what it expected of its path."""
    taken = next((one for one in decision["candidates"] if one["path"] == decision["path"]), None)
    expected = [] if taken is None else [one for one in taken["metrics"] if one["metric"] == "throughput"]
    same = {name: decision[name] for name in ("id", "at", "path", "forecast")}
    return {**same, "throughput": expected[0] if expected else None}


def _keep(folder: Path, log: Path) -> None:
    """ADON's log and database, to look at what it saw."""
    log.mkdir(parents=True, exist_ok=True)
    for name in ("adon.log", "data"):
        subprocess.run(["cp", "-r", str(folder / name), str(log)], check=False)
