"""A link goes down with a hundred flows on it: how long until each has its packets on another path.

Inside namespaces of their own: ``python -m benchmarks.failures_links FOLDER SEED ROUNDS``.  One JSON value on
standard output: per form a list of rounds, in which they took turns.  Per round: a hundred flows are asked
for over the link, each with a port of its own, and get the path ``al2s``; each sends packets; the path's veth
pair is taken down.  Two clocks:

- of control (CLOCK_MONOTONIC): from the port-status handed to the decision thread to the reply to the barrier
  behind the last ingress rule, both edges together;
- of packets (the kernel's time stamps): from before ``ip link set ... down`` to the first packet of each flow
  that leaves on another path.  At 20 packets/s a flow waits up to 50 ms for its next packet.
"""

from __future__ import annotations

import json
import os
import queue
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from apps.link import LinkClient
from benchmarks import moves_analysis, packets
from benchmarks.edges import TEMPLATE, Controller, eventually
from benchmarks.lab import EDGES, NETWORK, Lab, configuration, lab
from benchmarks.reaction import Observed, observed
from measurement.model import Measurement, Metric, PathKey, to_json

FLOWS = 100
RATE = 20
FIRST_PORT = 6001
PORTS = tuple(range(FIRST_PORT, FIRST_PORT + FLOWS))
TAPS = ("mu-edge-al2s", "mu-edge-al2s-b", "mu-edge-rtr")
FAILS = "mu-edge-al2s"
RTT_S = {"al2s": 0.010, "al2s-b": 0.020, "internet": 0.030}
"""Measured once; the template prefers the shorter one, so that all flows begin on al2s."""
SELECTION = {"patience": 1, "min_dwell": "0 s", "switch_margin": 0, "idle_timeout": "1 h"}
QUIET_S = 1.5
SETTLE_S = 1.0
PATIENCE_S = 60.0
FORMS: Mapping[str, Mapping[str, Any]] = {
    "standby": {"policy": {"standby_paths": None}},
    "groups": {"policy": {"standby_paths": None}, "switches": {"pipeline": "staged", "failover": "groups"}},
    "no standby": {"policy": {"standby_paths": 0}},
}


class Notes(threading.Thread):
    """What the controller tells, read as it comes: its pipe must not fill."""

    def __init__(self, watch: Observed) -> None:
        super().__init__(daemon=True)
        self._watch = watch
        self._lines: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        self._ended = threading.Event()

    def run(self) -> None:
        """Read until told to end."""
        while not self._ended.is_set():
            for line in self._watch.lines_within(0.1):
                self._lines.put(line)

    def end(self) -> None:
        """Read no more."""
        self._ended.set()
        self.join()

    def take(self) -> list[Mapping[str, Any]]:
        """What was told since the last time."""
        taken = []
        while not self._lines.empty():
            taken.append(self._lines.get())
        return taken

    def until_quiet(self) -> list[Mapping[str, Any]]:
        """What is told from now on, until both edges answered for every flow and nothing more is told."""
        told, heard, begun = list[Mapping[str, Any]](), time.monotonic(), time.monotonic()
        while time.monotonic() - heard < QUIET_S or (
            len(_steering(told)) < len(EDGES) * FLOWS and time.monotonic() - begun < PATIENCE_S
        ):
            time.sleep(0.05)
            lines = self.take()
            heard = time.monotonic() if lines else heard
            told += lines
        return told


def _steering(told: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """When each batch with an ingress rule was answered."""
    steering = {line["batch"] for line in told if line["what"] == "sent" and line["steers"]}
    answered = (line for line in told if line["what"] == "confirmed" and line["batch"] in steering)
    return {line["batch"]: line["at"] for line in answered}


@contextmanager
def listened(controller: Controller) -> Iterator[Notes]:
    """The controller under observation."""
    with observed(controller) as watch:
        notes = Notes(watch)
        notes.start()
        try:
            yield notes
        finally:
            notes.end()


def round_of(network: Lab, controller: Controller, form: str) -> dict[str, Any]:
    """One failure: spans in milliseconds, and what became of the packets."""
    _configure(controller, FORMS[form])
    controller.log.unlink(missing_ok=True)
    with listened(controller) as notes:
        eventually(lambda: controller.said("code=switch-connected") == len(EDGES), "a switch is missing")
        for edge in EDGES:
            network.switch.vsctl("set", "Controller", edge, "max_backoff=1000")
        with controller.client("collector") as link:
            _submit(link, controller)
            try:
                return _failure(network, notes)
            finally:
                _end_all(link, network)
                _ip_link(FAILS, "up")


def _failure(network: Lab, notes: Notes) -> dict[str, Any]:
    with flowing(network) as files:
        notes.take()
        begun_ns, begun = time.time_ns(), time.monotonic()
        _ip_link(FAILS, "down")
        told = notes.until_quiet()
    return {
        "control": control(told, begun),
        "flows": outcomes(files, begun_ns),
        "load": os.getloadavg()[0],
    }


def control(told: Sequence[Mapping[str, Any]], begun: float) -> dict[str, float]:
    """How long the controller took, in milliseconds, and how many flow-mods it sent."""
    port = min(line["at"] for line in told if line["what"] == "port")
    answered = _steering(told).values()
    decided = [line["took"] for line in told if line["what"] == "decided" and line["event"] == "PortChanged"]
    commits = [line["took"] for line in told if line["what"] == "committed"]
    return {
        "link down to port-status": (port - begun) * 1e3,
        "port-status to last barrier": (max(answered) - port) * 1e3 if answered else 0.0,
        "of it: decide": sum(decided) * 1e3,
        "of it: commit": sum(commits) * 1e3,
        "of it: pack and queue": sum(line["took"] for line in told if line["what"] == "sent") * 1e3,
        "flow-mods": sum(line["changes"] for line in told if line["what"] == "sent"),
        "ingress batches": len(answered),
    }


def outcomes(files: Mapping[str, Path], begun_ns: int) -> list[dict[str, float]]:
    """Per flow: milliseconds until its first packet on another path, and how many were lost."""
    sent = json.loads(files["send"].read_text())
    received: dict[int, list[tuple[int, int]]] = {port: [] for port in PORTS}
    for port, number, at in packets.read(files["receive"], "receive"):
        received[port].append((number, at))
    first: dict[int, int] = {}
    for place, port, _, at in packets.read(files["sniff"], "sniff"):
        if TAPS[place] != FAILS and at >= begun_ns:
            first[port] = min(at, first.get(port, at))
    found = []
    for port in PORTS:
        counted = moves_analysis.arrivals(sent[str(port)], received[port])
        moved = (first[port] - begun_ns) / 1e6 if port in first else float("inf")
        found.append({"moved ms": moved, "lost": counted["lost"], "gap ms": counted["largest_gap_ms"]})
    return found


@contextmanager
def flowing(network: Lab) -> Iterator[dict[str, Path]]:
    """Numbered packets of all flows from mu to osu; the files are written when the context ends."""
    folder = network.switch.folder.parent
    files = {name: folder / f"{name}.records" for name in ("send", "receive", "sniff")}
    program, words = (sys.executable, "-m", "benchmarks.packets"), [str(port) for port in PORTS]
    near, far = network.namespaces["mu-dtn"], network.namespaces["osu-dtn"]
    sniffer = subprocess.Popen([*program, "sniff", str(files["sniff"]), *TAPS], stdout=subprocess.PIPE)
    receiver = far.popen(*program, "receive", str(files["receive"]), *words, stdout=subprocess.PIPE)
    for listener in (sniffer, receiver):
        packets.await_ready(listener)
    destination = (str(RATE), f"{NETWORK['osu']}.10")
    sender = near.popen("nice", "-n", "-20", *program, "send", str(files["send"]), *destination, *words)
    time.sleep(SETTLE_S)
    try:
        yield files
    finally:
        for process, rest in ((sender, SETTLE_S / 2), (receiver, 0.0), (sniffer, 0.0)):
            process.terminate()
            process.wait(10)
            time.sleep(rest)


def template() -> dict[str, Any]:
    """One that prefers the path with the shorter RTT and moves at once; its rules do not idle out."""
    return {
        **TEMPLATE,
        "name": "test-udp",
        "protocol": "udp",
        "qspec": {"rtt": {"max": "1 s"}},
        "weights": {"rtt": 1.0},
        "tables": {"rtt": {"points": [["1 ms", 10], ["1 s", 1]]}},
        "selection": SELECTION,
    }


def measured(path: str) -> Mapping[str, Any]:
    """A path's RTT, as the collector sends it."""
    now = time.time()
    key = PathKey(path, "mu", "osu")
    return to_json(Measurement(key, Metric.RTT, RTT_S[path], now - 1, now, f"run-{now}", "ping", {}))


def _submit(link: LinkClient, controller: Controller) -> None:
    link.call("template.add", {"template": template(), "author": "benchmark"})
    for path in RTT_S:
        link.send("measurement", measured(path))
    for port in PORTS:
        request = {"source": "mu-dtn", "destination": "osu-dtn", "size": "10 GB", "template": "test-udp"}
        link.call("flow.submit", {"request": {**request, "ports": [port]}, "requester": "benchmark"})
    eventually(lambda: controller.said("code=flow-active") == FLOWS, "not all flows are active")
    assert controller.said("is admitted to al2s:") == FLOWS, "not all flows are on al2s"
    time.sleep(SETTLE_S)


def _end_all(link: LinkClient, network: Lab) -> None:
    for path in link.call("snapshot", {})["paths"]:
        for name in path["flows"]:
            ended = {"flow": int(str(name).removeprefix("f-")), "requester": "benchmark"}
            link.call("flow.cancel", ended, timeout=PATIENCE_S)
    ports = [f"tp_dst={port}" for port in (PORTS[0], PORTS[-1])]
    eventually(
        lambda: not any(port in rule for rule in network.rules("mu-edge") for port in ports),
        "rules of flows that were cancelled are still there",
        PATIENCE_S,
    )


def _configure(controller: Controller, form: Mapping[str, Any]) -> None:
    configuration(controller.folder, **form["policy"])
    document = yaml.safe_load(controller.config.read_text())
    for switch in document["switches"].values():
        for key in ("pipeline", "failover"):
            switch.pop(key, None)
        switch.update(form.get("switches", {}))
    controller.config.write_text(yaml.safe_dump(document))


def _ip_link(interface: str, state: str) -> None:
    subprocess.run(["ip", "link", "set", interface, state], check=True)


def _let_switches_go_first(network: Lab) -> None:
    daemon = (network.switch.folder / "ovs-vswitchd.pid").read_text().strip()
    for thread in Path(f"/proc/{daemon}/task").iterdir():
        os.setpriority(os.PRIO_PROCESS, int(thread.name), -20)


def main() -> None:
    """All rounds."""
    folder, seed, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    found: dict[str, list[Any]] = {form: [] for form in FORMS}
    with lab(folder) as network:
        _let_switches_go_first(network)
        controller = Controller(folder, counters_period="1 h", consistency_period="1 h", drain="200 ms")
        for number in range(rounds):
            network.connect(controller.port)
            for form in chance.sample(list(FORMS), len(FORMS)):
                print(f"round {number + 1}: {form}", file=sys.stderr)
                found[form].append(round_of(network, controller, form))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
