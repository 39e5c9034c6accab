"""10 000 rules from values to the barrier reply, on Open vSwitch: ours and four yardsticks.

- *ours*: the values of rules, packed, over the controller's own connection and threads, until the event that
  the barrier behind them was answered (:mod:`apps.campus_edge.switchboard`);
- *packed before*: the bytes of that, ready beforehand, over the same connection: what the switch and the
  connection need, and so the least that *ours* can take;
- *os-ken objects*: the same rules in os-ken's classes, one by one, over os-ken's own connection
  (:mod:`benchmarks.osken_install`);
- *ovs-ofctl* and *ovs-ofctl --bundle*: ``add-flows`` from a file, the start of the process included.

And back: *report* is all these rules read from the switch as values, beside ``ovs-ofctl dump-flows``.

The rules: :mod:`benchmarks.rulesets`.  Each round takes the ways in an order of chance; the table is emptied
in between.
"""

from __future__ import annotations

import queue
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from os_ken.base.app_manager import AppManager
from os_ken.controller import ofp_event
from os_ken.controller.handler import MAIN_DISPATCHER, set_ev_cls

from adon.broker.effects import ReadRules, SendBatch
from adon.broker.events import BatchConfirmed, Event, RulesReported, SwitchUp
from adon.config.controller import Connections
from adon.flowvisor.openflow import encode
from adon.flowvisor.openflow.wire import V13
from adon.flowvisor.rules.rule import Change, Op, rule_text
from apps.campus_edge import connections, switch_listener
from apps.campus_edge.gate import Gate, Terms
from apps.campus_edge.loop import Stamps
from apps.campus_edge.switchboard import Switchboard
from apps.campus_edge.tls import Identity
from benchmarks.edges import DIES_WITH_US, add_bridge, end
from benchmarks.rulesets import DPID, RULES, delivery_rules
from benchmarks.summary import Summary, table
from mininet_topos.openvswitch import OpenVSwitch, open_vswitch

ROUNDS = 7
BRIDGE = "mu-edge"
SETTLE_S = 0.3
ANSWER_WITHIN_S = 30.0
OURS, FLOOR = "ours", "packed before"
OBJECTS, OFCTL, BUNDLE = "os-ken objects", "ovs-ofctl", "ovs-ofctl --bundle"
FLOOR_XID = 0x3FFF_0000
PACKING, REPORT, DUMP = "of ours: packing", "report: ours", "report: ovs-ofctl"
AT_MOST = {OBJECTS: 1 / 15, BUNDLE: 0.7}
"""What ours may take at most, as a share of the yardstick's time."""


class Board(Switchboard):
    """The switchboard, which also sends bytes as they are."""

    def send_packed(self, packed: bytes) -> None:
        """Messages with a barrier of :data:`FLOOR_XID` behind."""
        self._connections[DPID].send(packed)

    @set_ev_cls(ofp_event.EventOFPBarrierReply, MAIN_DISPATCHER)  # type: ignore[untyped-decorator]
    def on_floor(self, event: Any) -> None:
        """The answer to that barrier."""
        if event.msg.xid == FLOOR_XID:
            self._put(BatchConfirmed("floor", 0.0, DPID, "floor"))


class World:
    """One switch, connected to a switchboard in this process and to an os-ken controller in another."""

    def __init__(self, switch: OpenVSwitch) -> None:
        self.switch = switch
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        connections.configure()
        manager = AppManager.get_instance()
        handshake = manager.instantiate(connections.Handshake)
        known = frozenset({DPID})
        self.board: Board = manager.instantiate(Board, known, self.events.put, Stamps())
        # As in the controller: os-ken's threads inherit from a daemon that nobody waits for them.
        apps = (handshake, self.board)
        starter = threading.Thread(target=lambda: [app.start() for app in apps], daemon=True)
        starter.start()
        starter.join()
        listener = switch_listener.listen("127.0.0.1", 0)
        self.port = int(listener.getsockname()[1])
        terms = Terms(Connections(), frozenset({V13}), Identity({}, None), {})
        gate = Gate(terms, None, self.board.tally)
        threading.Thread(target=switch_listener.accept, args=(listener, gate), daemon=True).start()

    def ofctl(self, command: str, *words: str) -> None:
        """Run ``ovs-ofctl`` on the bridge."""
        self.switch.ofctl(command, BRIDGE, *words)

    def until(self, kind: type[Event]) -> None:
        """Wait for an event; what else comes is not of interest."""
        while not isinstance(self.events.get(timeout=ANSWER_WITHIN_S), kind):
            pass


class Yardstick:
    """os-ken as it comes, in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.port = int(self.line())

    def line(self) -> str:
        """What it says next."""
        assert self._process.stdout is not None
        found = self._process.stdout.readline()
        assert found, "the os-ken controller is gone"
        return found

    def install(self) -> float:
        """Milliseconds, by its own clock."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return float(self.line())


@contextmanager
def world(folder: Path, seed: int) -> Iterator[tuple[World, Yardstick]]:
    """A private Open vSwitch with one bridge that has found both its controllers."""
    command = [*DIES_WITH_US, sys.executable, "-m", "benchmarks.osken_install", str(seed)]
    with (folder / "os-ken.log").open("w") as log, open_vswitch(folder / "ovs", dummy=True) as switch:
        made = World(switch)
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
        try:
            yardstick = Yardstick(process)
            add_bridge(switch, BRIDGE, f"{DPID:016x}", made.port, ("dtn", "al2s", "rtr"))
            made.until(SwitchUp)
            both = (f"tcp:127.0.0.1:{port}" for port in (made.port, yardstick.port))
            switch.vsctl("set-controller", BRIDGE, *both)
            yardstick.line()
            yield made, yardstick
        finally:
            end(process)


def run(folder: Path, seed: int) -> dict[str, Any]:
    """The benchmark: milliseconds, by the way they were installed or read."""
    wanted = delivery_rules(seed)
    listed = folder / "rules.txt"
    listed.write_text("".join(rule_text(rule) + "\n" for rule in wanted))
    changes = tuple(Change(Op.ADD, rule) for rule in wanted)
    packed = b"".join(encode.encode_batch(changes, V13, (*range(1, RULES + 1), FLOOR_XID)))
    chance = random.Random(seed)
    with world(folder, seed) as (made, yardstick):
        ways: dict[str, Callable[[], float]] = {
            OURS: partial(_timed, partial(_ours, made, changes)),
            FLOOR: partial(_timed, partial(_floor, made, packed)),
            OBJECTS: yardstick.install,
            OFCTL: partial(_timed, partial(made.ofctl, "add-flows", str(listed))),
            BUNDLE: partial(_timed, partial(made.ofctl, "add-flows", str(listed), "--bundle")),
        }
        rounds = [_round(made, ways, changes, chance) for _ in range(ROUNDS)]
    return {name: asdict(Summary.of([[each[name]] for each in rounds])) for name in rounds[0]}


def _round(
    made: World, ways: Mapping[str, Callable[[], float]], changes: tuple[Change, ...], chance: random.Random
) -> dict[str, float]:
    took: dict[str, float] = {}
    for name in chance.sample(list(ways), len(ways)):
        made.ofctl("del-flows")
        time.sleep(SETTLE_S)
        took[name] = ways[name]()
        assert _installed(made) == RULES, f"{name} did not install them all"
        if name == OURS:
            took[REPORT] = _timed(partial(_report, made))
            took[DUMP] = _timed(partial(made.ofctl, "dump-flows"))
            took[PACKING] = _timed(lambda: [encode.encode_change(change, V13) for change in changes])
    return {name: took[name] for name in (*ways, PACKING, REPORT, DUMP)}


def _installed(made: World) -> int:
    said = made.switch.ofctl("dump-aggregate", BRIDGE)
    return int(said.rsplit("flow_count=", 1)[1])


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return (time.perf_counter() - begun) * 1e3


def _ours(made: World, changes: tuple[Change, ...]) -> None:
    made.board.send_batch(SendBatch("install", DPID, "batch", changes))
    made.until(BatchConfirmed)


def _floor(made: World, packed: bytes) -> None:
    made.board.send_packed(packed)
    made.until(BatchConfirmed)


def _report(made: World) -> None:
    made.board.read_rules(ReadRules("report", DPID))
    made.until(RulesReported)


def passed(results: Mapping[str, Any]) -> bool:
    """Whether ours keeps to its share of both yardsticks."""
    ours = results[OURS]["median"]
    return all(ours <= results[name]["median"] * share for name, share in AT_MOST.items())


def report(results: Mapping[str, Any]) -> str:
    """The tables for people."""
    rows = [["10 000 rules, ms", "median", "largest", "spread (IQR)", "rounds", "x ours"]]
    for name, numbers in results.items():
        figures = [f"{numbers[key]:.0f}" for key in ("median", "largest", "spread")]
        rounds = " ".join(f"{median:.0f}" for median in numbers["rounds"])
        rows.append([name, *figures, rounds, f"{numbers['median'] / results[OURS]['median']:.2f}"])
    bounds = [["ours, as a share of", "measured", "at most", ""]]
    for name, share in AT_MOST.items():
        measured = results[OURS]["median"] / results[name]["median"]
        verdict = "kept" if measured <= share else "MISSED"
        bounds.append([name, f"{measured:.3f}", f"{share:.3f}", verdict])
    return f"{table(rows)}\n\n{table(bounds)}"
