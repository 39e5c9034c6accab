"""ADON as it runs at a campus: a filled store, its processes, its switches, and flows under way.

The controller is the real one with a stopwatch (:mod:`benchmarks.observed_controller`), before four bridges
of a private Open vSwitch; collector and web process are the real ones.  One flow moves from path to path
because results arrive (:class:`Deciding`); the others, which are steady, run or wait.
"""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import requests
import yaml

from apps.link import LinkClient
from benchmarks.edges import DIES_WITH_US, ROOT, Controller, add_bridge, end, eventually, free_port
from benchmarks.filled import campus
from benchmarks.filled.filling import Filled
from benchmarks.filled.lives import KINDS, REQUESTERS
from benchmarks.reaction import Observed, observed
from measurement.model import Measurement, Metric, PathKey, to_json
from mininet_topos.openvswitch import open_vswitch

RUNNING, WAITING = 200, 20
STEADY_BPS, WORSE_BPS, BETTER_BPS = 5e9, 1e9, 9e9
BEGIN_WITHIN_S = 300.0
EVERY_S = 0.1
"""Between two decisions, on average."""


@dataclass(slots=True)
class Scene:
    """What runs.

    :param processes: the processes by what they are.
    """

    url: str
    filled: Filled
    folder: Path
    link: LinkClient
    observed: Observed
    processes: Mapping[str, psutil.Process]

    @contextmanager
    def unobserved(self) -> Iterator[None]:
        """While nothing is decided for us: what the controller tells meanwhile is forgotten."""
        with read_on(self.observed):
            yield

    def used(self) -> dict[str, float]:
        """Seconds of processor time that each process has used, with those that it started."""
        return {name: cpu_seconds(process) for name, process in self.processes.items()}


def cpu_seconds(process: psutil.Process) -> float:
    """Seconds of processor time of a process and its children, those that have ended too."""
    found = process.cpu_times()
    total = found.user + found.system + found.children_user + found.children_system
    for child in process.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            total += sum(child.cpu_times()[:2])
    return float(total)


@contextmanager
def scene(folder: Path, seed: int, make: Callable[[Path, Path], Filled]) -> Iterator[Scene]:
    """Fill a folder, start everything, and have the flows under way; nothing is left behind.

    :param make: fills the folder, for this configuration.
    """
    controller = Controller(folder)
    web_port = free_port()
    controller.config.write_text(yaml.safe_dump(campus.document(controller.port, web_port)))
    filled = make(folder, controller.config)
    with open_vswitch(folder / "ovs", dummy=True) as switch, observed(controller) as process:
        for name, (dpid, ports) in campus.bridges().items():
            add_bridge(switch, name, dpid, controller.port, tuple(ports))
        eventually(
            lambda: controller.said("code=switch-connected") == len(campus.SITES), "a switch is missing"
        )
        daemon = int((switch.folder / "ovs-vswitchd.pid").read_text())
        with (
            controller.client("collector") as link,
            _python(folder, controller.config, "apps.collector") as collector,
            _python(folder, controller.config, "apps.rest") as web,
        ):
            with read_on(process):
                _begin(link, controller, random.Random(seed))
            url = f"http://127.0.0.1:{web_port}"
            eventually(lambda: _ready(url), "the web process is not ready")
            processes = {
                "controller": psutil.Process(process.pid),
                "web": web,
                "collector": collector,
                "Open vSwitch": psutil.Process(daemon),
            }
            yield Scene(url, filled, folder, link, process, processes)


@contextmanager
def _python(folder: Path, config: Path, module: str) -> Iterator[psutil.Process]:
    command = [*DIES_WITH_US, sys.executable, "-m", module, "--config", str(config), "--data", str(folder)]
    with (folder / f"{module}.log").open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        yield psutil.Process(process.pid)
    finally:
        end(process)


def _ready(url: str) -> bool:
    with suppress(requests.ConnectionError):
        return bool(requests.get(f"{url}/api/v1/readyz", timeout=5).ok)
    return False


@contextmanager
def read_on(process: Observed) -> Iterator[None]:
    """Read what the controller tells, and forget it: it would wait for us when the pipe is full."""
    ended = threading.Event()

    def read() -> None:
        while not ended.is_set():
            process.lines_within(0.1)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield
    finally:
        ended.set()
        reader.join()


def _begin(link: LinkClient, controller: Controller, chance: random.Random) -> None:
    for key in campus.directions():
        at_watched = key.path in (*campus.WATCHED, "mu-osu-2")
        _send(link, key, Metric.THROUGHPUT, WORSE_BPS if key.path == "mu-osu-2" else STEADY_BPS)
        for metric, value in ((Metric.RTT, 0.03 if at_watched else 0.02), (Metric.LOSS, 0.0)):
            _send(link, key, metric, value)
    others = [one for one in campus.directions() if {one.source, one.destination} != {"mu", "osu"}]
    for number in range(RUNNING + WAITING):
        key = chance.choice(others)
        wish = _wish(key, chance.choice(KINDS), 30_000 + number)
        if number >= RUNNING:
            wish |= {"qspec": {"throughput": {"min": "9.9 Gbps"}}, "queue_patience": "6 h"}
        link.call("flow.submit", {"request": wish, "requester": chance.choice(REQUESTERS)})
    moved = _wish(PathKey(campus.WATCHED[0], "mu", "osu"), campus.NIMBLE, 29_999)
    link.call("flow.submit", {"request": moved, "requester": REQUESTERS[0]})

    begun = "code=flow-active"
    eventually(lambda: controller.said(begun) >= RUNNING, "the flows are not active", BEGIN_WITHIN_S)


def _wish(key: PathKey, template: str, port: int) -> dict[str, Any]:
    ends = {"source": f"{key.source}-dtn1", "destination": f"{key.destination}-dtn1"}
    return {**ends, "size": "50 TB", "template": template, "ports": [port], "label": "night run"}


def _send(link: LinkClient, key: PathKey, metric: Metric, value: float) -> None:
    now = time.time()
    name = f"run-{key.path}-{key.source}-{metric}-{now}"
    link.send(
        "measurement", to_json(Measurement(key, metric, value, now - 10, now, name, "iperf3", {"streams": 1}))
    )


class Deciding:
    """Has the controller move the one flow again and again, and times it.

    :param scene: the flow is under way there.
    """

    def __init__(self, playing: Scene, chance: random.Random) -> None:
        self._scene = playing
        self._chance = chance
        self._better = True
        for _ in range(2):  # wherever it is now, it has moved once or twice then
            self._decide(wait=False)
            time.sleep(0.5)
        playing.observed.drain()

    def for_seconds(self, seconds: float) -> dict[str, list[float]]:
        """Decisions for so long: milliseconds from before the result is written to the controller.

        ``decided``: until the broker has decided; ``sent``: until that is saved, and told to both edges;
        ``confirmed``: until both have answered the barrier.
        """
        found: dict[str, list[float]] = {"decided": [], "sent": [], "confirmed": []}
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._pause(EVERY_S * self._chance.uniform(0.5, 1.5))
            for name, took in self._decide(wait=True).items():
                found[name].append(took)
        return found

    def _pause(self, seconds: float) -> None:
        # What the controller tells is read on, or it would wait for us.
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._scene.observed.lines_within(left)

    def _decide(self, *, wait: bool) -> dict[str, float]:
        rate = BETTER_BPS if self._better else WORSE_BPS
        self._better = not self._better
        begun = time.monotonic()
        _send(self._scene.link, PathKey(campus.WATCHED[0], "mu", "osu"), Metric.THROUGHPUT, rate)
        if not wait:
            return {}
        told = self._scene.observed.lines_until(_both_confirmed)
        decided = next(x for x in told if x["what"] == "decided" and x["event"] == "MeasurementArrived")
        sent = [x for x in told if x["what"] == "sent" and x["at"] >= decided["at"]]
        confirmed = [x for x in told if x["what"] == "confirmed" and x["at"] >= decided["at"]]
        return {
            "decided": (decided["at"] + decided["took"] - begun) * 1e3,
            "sent": (max(x["at"] + x["took"] for x in sent[:2]) - begun) * 1e3,
            "confirmed": (max(x["at"] for x in confirmed[:2]) - begun) * 1e3,
        }


def _both_confirmed(told: Sequence[Mapping[str, Any]]) -> bool:
    decided = [x["at"] for x in told if x["what"] == "decided" and x["event"] == "MeasurementArrived"]
    return bool(decided) and sum(x["what"] == "confirmed" and x["at"] >= decided[0] for x in told) >= 2
