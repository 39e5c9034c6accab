"""What tests measure inside a testbed: ``python -m tests.mininet_topos.measured FUNCTION ANSWER``."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from measurement.probes.secure_channel import write_key
from mininet_topos.isolation import folder_inside
from mininet_topos.pinned_rules import PinnedFlow, pin_flow, unpin_flow
from mininet_topos.testbed import LinkChange, Testbed, build_testbed
from mininet_topos.topologies.mu_osu import MuOsu
from tests.support.rack_tree import RackTree

SCALE = 1000.0
"""Rates that a busy machine carries too."""


def both_paths(testbed: Testbed) -> dict[str, Any]:
    """Goodput of one stream over each path, and whether it went through the provider's switch."""
    found: dict[str, Any] = {}
    for path in testbed.topo.paths:
        pin_flow(testbed.switches.ofctl, testbed.topo, path, PinnedFlow("mu-dtn", "osu-dtn"))
        before = _transit_packets(testbed)
        found[path] = {"goodput": _goodput(testbed), "transit": _transit_packets(testbed) - before}
        unpin_flow(testbed.switches.ofctl, testbed.topo)
    return found


def changed_links(testbed: Testbed) -> dict[str, Any]:
    """Answers of the routed path before a circuit goes down, while it is down, and when it is restored."""
    found: dict[str, Any] = {"before": _is_answered(testbed)}
    undo = testbed.change_link("routed", LinkChange(up=False, rate=400_000.0))
    found["down"] = _is_answered(testbed)
    found["changed"] = testbed.run("core", "tc", "class", "show", "dev", "core-mu")
    testbed.change_link("routed", undo)
    found["undone"] = testbed.run("core", "tc", "class", "show", "dev", "core-mu")
    testbed.change_link("routed", LinkChange(up=False, rate=400_000.0))
    testbed.restore_links()
    found["restored"] = _is_answered(testbed)
    found["built"] = testbed.run("core", "tc", "class", "show", "dev", "core-mu")
    return found


def in_a_cloud(testbed: Testbed) -> dict[str, Any]:
    """Routers on a way, goodput of a hose, and whether probe agents start."""
    far = testbed.topo.instances["r1g0"].address
    key = testbed.folder / "key"
    write_key(key)
    argv = [sys.executable, "-m", "measurement.probes.main", "--key", str(key)]
    agents = [testbed.popen(name, argv, stdout=subprocess.PIPE, text=True) for name in ("r0g0", "r1g0")]
    return {
        "ttl": int(re.search(r"ttl=(\d+)", testbed.run("r0g0", "ping", "-n", "-c", "1", "-w", "10", far))[1]),
        "goodput": _goodput(testbed, "r0g0", "r1g0", far),
        "agents": [agent.stdout.readline().split()[0] for agent in agents],
    }


def _is_answered(testbed: Testbed) -> bool:
    argv = ["ping", "-n", "-q", "-c", "1", "-w", "5", "10.2.0.10"]
    return testbed.popen("mu-dtn", argv, stdout=subprocess.DEVNULL).wait() == 0


def _transit_packets(testbed: Testbed) -> int:
    return sum(map(int, re.findall(r"n_packets=(\d+)", testbed.switches.ofctl("dump-flows", "t1"))))


def _goodput(
    testbed: Testbed, source: str = "mu-dtn", destination: str = "osu-dtn", address: str = "10.2.0.10"
) -> float:
    argv = ["iperf3", "-s", "-1", "--forceflush"]
    server = testbed.popen(destination, argv, stdout=subprocess.PIPE, text=True)
    assert any("listening" in line for line in server.stdout)
    report = testbed.run(source, "iperf3", "-c", address, "-t", "6", "-J", timeout=120)
    server.communicate()
    return float(json.loads(report)["end"]["sum_received"]["bits_per_second"])


if __name__ == "__main__":
    name, answer = sys.argv[1:]
    topo = RackTree(instances=1, hose=4) if name == "in_a_cloud" else MuOsu(scale=SCALE)
    with build_testbed(topo, folder_inside()) as built:
        Path(answer).write_text(json.dumps(globals()[name](built)))
