"""From a result to the barrier replies among many flows: the whole process, two real Open vSwitch bridges.

As :mod:`benchmarks.reaction`, with 16 candidate paths and 100 or 1 000 active flows (34 rules per flow: one
per direction, and one per direction and path standing by).  One flow moves at each sample.  In the same
process, between the samples: a bare barrier.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from apps.link import LinkClient
from benchmarks.reaction import Observed, observed
from benchmarks.summary import Summary, table
from tests.apps.edge import BRIDGES, TEMPLATE, Controller, Switches, eventually, measured
from tests.broker.many import EDGES, network, ports

ROUNDS = 5
SAMPLES = 20
SIZES = (100, 1_000)
PATHS = 16
BASE_MBPS, BETTER_MBPS = 40e3, 60e3
BEGIN_WITHIN_S = 600.0
STEADY = {"patience": 100, "min_dwell": "1 h", "switch_margin": 9, "idle_timeout": "3600 s", "max_age": "1 h"}
NIMBLE = {**TEMPLATE["selection"], "idle_timeout": "3600 s", "max_age": "1 h"}  # type: ignore[dict-item]


def run(folder: Path, seed: int, sizes: Iterable[int] = SIZES) -> dict[str, Any]:
    """The benchmark: milliseconds, by number of flows."""
    return {str(size): _with(folder / str(size), size, random.Random(seed)) for size in sizes}


def _with(folder: Path, flows: int, chance: random.Random) -> dict[str, Any]:
    folder.mkdir()
    controller = Controller(folder, consistency_period="1 h", counters_period="1 h")
    document = yaml.safe_load(controller.config.read_text())
    controller.config.write_text(yaml.safe_dump({**network(PATHS), **_kept(document)}))
    (folder / "ovs").mkdir()
    switches = Switches(folder / "ovs")
    with switches.running(), observed(controller) as process:
        for (bridge, dpid), site in zip(BRIDGES.items(), EDGES, strict=True):
            switches.add_bridge(bridge, dpid, controller.port, tuple(ports(site, PATHS)))
        eventually(lambda: controller.said("is connected") == len(BRIDGES), "the switches did not connect")
        with controller.client("collector") as link:
            _begin(link, process, flows)
            text = "the transfer can begin"
            eventually(lambda: controller.said(text) == flows, "not all are active", BEGIN_WITHIN_S)
            present = _bring(link, process)
            rounds: list[dict[str, list[float]]] = []
            for _ in range(ROUNDS):
                samples: dict[str, list[float]] = {"both edges": [], "of it: decide": [], "barrier": []}
                for _ in range(SAMPLES):
                    present = _sample(link, process, present, chance, samples)
                rounds.append(samples)
    return {name: asdict(Summary.of([each[name] for each in rounds])) for name in rounds[0]}


def _kept(document: Mapping[str, Any]) -> dict[str, Any]:
    return {"controller": document["controller"], "policy": document["policy"]}


def _begin(link: LinkClient, process: Observed, flows: int) -> None:
    ends = {"source": "mu-dtn", "destination": "osu-dtn", "size": "1 TB"}
    scores = {"throughput": {"points": [["1 Mbps", 1], ["100 Gbps", 10]]}}
    for name, selection in (("steady", STEADY), ("nimble", NIMBLE)):
        body = {**TEMPLATE, "name": name, "selection": selection, "rspec": {}, "tables": scores}
        link.call("template.add", {"template": body, "author": "benchmark"})
    for index in range(PATHS):
        link.send("measurement", measured(f"path-{index:02}", BASE_MBPS))
    for number in range(flows):
        wish = {**ends, "ports": [1024 + number], "template": "steady" if number + 1 < flows else "nimble"}
        link.call("flow.submit", {"request": wish, "requester": "benchmark"})
        process.drain()


def _bring(link: LinkClient, process: Observed) -> str:
    """All paths are measured beside the flows that are there by now; the one flow comes to the first path."""
    time.sleep(6.0)
    for index in range(1, PATHS):
        link.send("measurement", measured(f"path-{index:02}", BASE_MBPS))
    time.sleep(2.0)  # it may have gone to the first of these, and is looked at again when it is there
    link.send("measurement", measured("path-00", BETTER_MBPS))
    time.sleep(2.0)
    process.drain()
    return "path-00"


def _sample(
    link: LinkClient, process: Observed, present: str, chance: random.Random, samples: dict[str, list[float]]
) -> str:
    link.send("measurement", measured(present, BASE_MBPS))
    time.sleep(0.1 * chance.uniform(0.5, 1.5))
    process.drain()
    process.order("barrier")
    told = process.lines_until(lambda told: any(line["what"] == "yardstick" for line in told))
    samples["barrier"] += [line["took"] * 1e3 for line in told if line["what"] == "yardstick"]
    other = chance.choice([name for name in (f"path-{n:02}" for n in range(PATHS)) if name != present])
    message = measured(other, BETTER_MBPS)
    begun = time.monotonic()
    link.send("measurement", message)
    told = process.lines_until(lambda told: sum(line["what"] == "confirmed" for line in told) == len(EDGES))
    samples["both edges"].append((max(x["at"] for x in told if x["what"] == "confirmed") - begun) * 1e3)
    decided = (x["took"] for x in told if x["what"] == "decided" and x["event"] == "MeasurementArrived")
    samples["of it: decide"].append(next(decided) * 1e3)
    return other


def report(results: Mapping[str, Any]) -> str:
    """The table for people."""
    rows = [["ms", "flows", "median", "p99", "max", "medians of rounds"]]
    for size, found in results.items():
        for name, numbers in found.items():
            figures = [f"{numbers[key]:.2f}" for key in ("median", "p99", "largest")]
            rows.append([name, size, *figures, " ".join(f"{median:.2f}" for median in numbers["rounds"])])
    return table(rows)
