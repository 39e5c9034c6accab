"""Moves of live flows, inside namespaces of their own.

``python -m benchmarks.moves_inside FOLDER SEED ROUNDS``.
One JSON value on standard output: per kind of move and rate, a list of rounds.  :mod:`benchmarks.moves` says
what they mean.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apps.link import LinkClient
from benchmarks import moves_analysis, packets
from benchmarks.edges import TEMPLATE, Controller, end, eventually, measured
from benchmarks.lab import EDGES, NETWORK, PORTS, VLANS, Lab, configuration, lab
from benchmarks.moves_controller import HAND_PORT, HAND_PRIORITY

RATES = (1_000, 5_000)
MOVES = 20
"""Per round and rate."""
BY_HAND = 10
"""Moves by hand per round, kind and rate."""
DRAIN_MS = 200
DRAINS_MS = (0, 10, 50)
"""Tried beside the configured one, at the higher rate, with fresh paths: there the old path's rules go."""
PAUSE_S = 0.35
"""Between two moves, on average: longer than the drain and the work after it."""
SETTLE_S = 0.5
PORT = 5301
PATHS = ("internet", "al2s", "al2s-b")
TAPS = {"internet": "mu-edge-rtr", "al2s": "mu-edge-al2s", "al2s-b": "mu-edge-al2s-b"}
DESTINATION = f"{NETWORK['osu']}.10"
KINDS: Mapping[str, int | None] = {"standby": None, "fresh": 0}
"""What ``policy.standby_paths`` is."""


@dataclass(frozen=True, slots=True)
class Driver:
    """The controller under observation, and the way to make it move a flow."""

    process: subprocess.Popen[str]
    link: LinkClient

    def order(self, *words: str) -> Any:
        """Give an order; its answer."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def tell(self, path: str, mbps: float) -> None:
        """A throughput result arrives."""
        self.link.send("measurement", measured(path, mbps))

    def submit(self, template: str, port: int) -> None:
        """Ask for a flow."""
        wish = {"source": "mu-dtn", "destination": "osu-dtn", "size": "10 GB", "template": template}
        self.link.call("flow.submit", {"request": {**wish, "ports": [port]}, "requester": "benchmark"})


@contextmanager
def controlled(network: Lab, controller: Controller, standby: int | None, drain_ms: int) -> Iterator[Driver]:
    """The controller with so many standby paths, both edges connected and right."""
    configuration(controller.folder, standby_paths=standby, drain=f"{drain_ms} ms")
    before = controller.said("code=switch-connected")
    command = [sys.executable, "-m", "benchmarks.moves_controller"]
    command += ["--config", str(controller.config), "--data", str(controller.folder)]
    with controller.log.open("ab") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        connected = before + len(EDGES)
        eventually(lambda: controller.said("code=switch-connected") >= connected, "a switch is missing")
        for edge in EDGES:
            network.switch.vsctl("set", "Controller", edge, "max_backoff=1000")
        with controller.client("collector") as link:
            driver = Driver(process, link)
            for path, mbps in (("internet", 5.0), ("al2s-b", 1.5), ("al2s", 50.0)):
                driver.tell(path, mbps)
            time.sleep(SETTLE_S + drain_ms / 1e3)
            yield driver
    finally:
        end(process)


@dataclass(frozen=True, slots=True)
class Seen:
    """What became of the packets of one stretch of traffic."""

    arrivals: dict[str, float]
    left: dict[str, list[int]]


def traffic(network: Lab, rate: int, port: int, act: Callable[[], None]) -> Seen:
    """Do something while numbered packets flow."""
    folder = network.switch.folder.parent
    files = {name: folder / f"{name}.records" for name in ("send", "receive", "sniff")}
    program = (sys.executable, "-m", "benchmarks.packets")
    with ExitStack() as stack:
        sniffer = subprocess.Popen(
            [*program, "sniff", str(files["sniff"]), *TAPS.values()], stdout=subprocess.PIPE
        )
        stack.callback(_ended, sniffer)
        far, near = network.namespaces["osu-dtn"], network.namespaces["mu-dtn"]
        receiver = far.popen(*program, "receive", str(files["receive"]), str(port), stdout=subprocess.PIPE)
        stack.callback(_ended, receiver)
        for listener in (sniffer, receiver):
            packets.await_ready(listener)
        sender = near.popen(*program, "send", str(files["send"]), str(rate), DESTINATION, str(port))
        stack.callback(_ended, sender)
        time.sleep(SETTLE_S)
        act()
        _ended(sender)
        time.sleep(SETTLE_S / 2)
    sent = json.loads(files["send"].read_text())[str(port)]
    received = [(number, at) for _, number, at in packets.read(files["receive"], "receive")]
    counted = moves_analysis.arrivals(sent, received)
    return Seen(counted, moves_analysis.by_path(packets.read(files["sniff"], "sniff"), PATHS, port))


def _ended(process: subprocess.Popen[Any]) -> None:
    process.terminate()
    process.wait(10)


def targets(count: int) -> list[str]:
    """From al2s: as often to the layer-3 path and back as to the other layer-2 path and back."""
    return [("internet", "al2s", "al2s-b", "al2s")[number % 4] for number in range(count)]


def moved(driver: Driver, count: int, chance: random.Random, pause: float = PAUSE_S) -> None:
    """Let measurements move the flow so many times."""
    for target in targets(count):
        if target != "al2s":
            driver.tell("al2s-b", 20.0 if target == "al2s-b" else 1.5)  # moves nothing by itself
            time.sleep(0.05)
        driver.tell("al2s", 50.0 if target == "al2s" else 2.0)
        time.sleep(pause * chance.uniform(0.9, 1.1))


def by_adon(network: Lab, driver: Driver, rate: int, chance: random.Random) -> dict[str, Any]:
    """One round of moves by the controller."""
    driver.order("marks")
    seen = traffic(network, rate, PORT, lambda: moved(driver, MOVES, chance))
    times = moves_analysis.moves(driver.order("marks"), seen.left, targets(MOVES))
    return {**seen.arrivals, "moves": times, "load": os.getloadavg()[0]}


def by_hand(network: Lab, driver: Driver, how: str, rate: int, chance: random.Random) -> dict[str, Any]:
    """One round of moves by hand, of a flow of its own."""
    hand_rules(network, standby=how == "shift")

    def act() -> None:
        path = "al2s"
        for target in targets(BY_HAND):
            driver.order(how, path, target)
            path = target
            time.sleep(PAUSE_S * chance.uniform(0.9, 1.1))

    driver.order("marks")
    seen = traffic(network, rate, HAND_PORT, act)
    times = moves_analysis.by_hand(driver.order("marks"), seen.left)
    return {
        **seen.arrivals,
        "moves": [{"desired to packet": time} for time in times],
        "load": os.getloadavg()[0],
    }


def hand_rules(network: Lab, *, standby: bool) -> None:
    """The rules of the flow that is moved by hand, on al2s; its packets have no other way."""
    between = f"udp,nw_src={NETWORK['mu']}.10,nw_dst={DESTINATION},tp_dst={HAND_PORT}"
    head = f"cookie=1,priority={HAND_PRIORITY}"
    for edge in EDGES:
        network.switch.ofctl("del-flows", edge, "cookie=1/-1")
    onto = f"set_field:02:00:00:00:0b:0a->eth_dst,push_vlan:0x8100,set_field:{4096 + VLANS['al2s']}->vlan_vid"
    rules = [
        ("mu-edge", f"{head},in_port={PORTS['dtn']},{between},actions={onto},output:{PORTS['al2s']}"),
        ("mu-edge", f"cookie=1,priority=1,{between},actions=drop"),
    ]
    to_host = f"set_field:02:00:00:00:0b:01->eth_src,output:{PORTS['dtn']}"
    for path in PATHS if standby else ("al2s",):
        where, pop = (f"in_port={PORTS['rtr']}", "")
        if path in VLANS:
            where, pop = f"in_port={PORTS[path]},dl_vlan={VLANS[path]}", "pop_vlan,"
        rules.append(("osu-edge", f"{head},{where},{between},actions={pop}{to_host}"))
    for edge, rule in rules:
        network.switch.ofctl("add-flow", edge, rule)


def moves(network: Lab, controller: Controller, rounds: int, chance: random.Random) -> dict[str, Any]:
    """All rounds; kinds and rates take turns within each."""
    results: dict[str, list[dict[str, Any]]] = {}

    def keep(kind: str, rate: int, found: dict[str, Any]) -> None:
        results.setdefault(f"{kind} {rate}", []).append(found)

    for _ in range(rounds):
        for kind in chance.sample(list(KINDS), len(KINDS)):
            with controlled(network, controller, KINDS[kind], DRAIN_MS) as driver:
                begun(driver, controller)
                for rate in RATES:
                    keep(kind, rate, by_adon(network, driver, rate, chance))
                if kind == "standby":
                    for rate in RATES:
                        keep("still", rate, still(network, rate))
                        for how in ("shift", "replace"):
                            keep(how, rate, by_hand(network, driver, how, rate, chance))
        for drain in chance.sample(DRAINS_MS, len(DRAINS_MS)):
            with controlled(network, controller, KINDS["fresh"], drain) as driver:
                keep(f"drain {drain} ms", max(RATES), by_adon(network, driver, max(RATES), chance))
    return results


def still(network: Lab, rate: int) -> dict[str, Any]:
    """As long a stretch of traffic without a move: what the machine itself loses."""
    seen = traffic(network, rate, PORT, lambda: time.sleep(MOVES * PAUSE_S))
    return {**seen.arrivals, "moves": [], "load": os.getloadavg()[0]}


def begun(driver: Driver, controller: Controller) -> None:
    """The flow that is moved, unless an earlier round has begun it."""
    if controller.said("code=flow-active"):
        return
    driver.link.call("template.add", {"template": template(), "author": "benchmark"})
    driver.submit("test-udp", PORT)
    eventually(lambda: controller.said("code=flow-active") == 1, "the flow is not active")


def template() -> dict[str, Any]:
    """One that moves at once, and whose rules do not idle out between rounds."""
    selection = {"patience": 1, "min_dwell": "0 s", "switch_margin": 0, "idle_timeout": "1 h"}
    return {**TEMPLATE, "name": "test-udp", "protocol": "udp", "selection": selection}


def main() -> None:
    """Everything, in the order of the report."""
    folder, seed, rounds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    with lab(folder) as network:
        controller = Controller(folder, counters_period="1 h", consistency_period="1 h")
        network.connect(controller.port)
        results = moves(network, controller, rounds, chance)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
