"""From a measurement result to the switches' barrier replies, through the whole process.

One flow is active.  Each sample is a measurement that makes its present path the worse one, so that the flow
moves (patience 1, no dwell time, no margin).  The clock starts before the message is written to the link's
socket, as the collector would, and stops when os-ken's thread hands over the barrier reply that follows
the shift:

- *ingress edge*: the reply of the edge at the flow's source: from here on its packets take the new path;
- *both edges*: the later of the two, the way back shifted too.

A barrier reply is not yet the data path: Open vSwitch applies the change a few milliseconds later.

In the same process, between the samples: a bare barrier, and a rule deleted, added again, and a barrier.
"""

from __future__ import annotations

import json
import os
import random
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from apps.link import LinkClient
from benchmarks.edges import DIES_WITH_US, TEMPLATE, Controller, both_edges, end, eventually, measured
from benchmarks.summary import Summary, table

ROUNDS = 5
SAMPLES = 50
INGRESS_EDGE = 0xA01
SETTLE_S = 0.02
ANSWER_WITHIN_S = 10.0


class Observed:
    """The controller under observation, and what it tells."""

    def __init__(self, process: subprocess.Popen[bytes], told: int) -> None:
        self._process, self._told, self._rest = process, told, b""

    def order(self, text: str) -> None:
        """Ask for a yardstick."""
        assert self._process.stdin is not None
        self._process.stdin.write(text.encode() + b"\n")
        self._process.stdin.flush()

    def lines_until(self, enough: Callable[[list[Mapping[str, Any]]], bool]) -> list[Mapping[str, Any]]:
        """What is told from now on, until it is enough."""
        lines: list[Mapping[str, Any]] = []
        deadline = time.monotonic() + ANSWER_WITHIN_S
        while not enough(lines):
            assert select.select([self._told], [], [], max(0.0, deadline - time.monotonic()))[0], "no answer"
            *whole, self._rest = (self._rest + os.read(self._told, 65536)).split(b"\n")
            lines += [json.loads(line) for line in whole]
        return lines

    def lines_within(self, seconds: float) -> list[Mapping[str, Any]]:
        """What is told next; nothing if nothing is told for so long."""
        if not select.select([self._told], [], [], seconds)[0]:
            return []
        *whole, self._rest = (self._rest + os.read(self._told, 65536)).split(b"\n")
        return [json.loads(line) for line in whole]

    @property
    def pid(self) -> int:
        """The controller's process."""
        return self._process.pid

    def drain(self) -> None:
        """Forget what was told meanwhile."""
        while select.select([self._told], [], [], 0)[0]:
            self._rest = b""
            os.read(self._told, 65536)


@contextmanager
def observed(controller: Controller) -> Iterator[Observed]:
    """Start the controller with the stopwatch."""
    told, tells = os.pipe()
    command = [sys.executable, "-m", "benchmarks.observed_controller", str(tells)]
    command += ["--config", str(controller.config), "--data", str(controller.folder)]
    with controller.log.open("ab") as log:
        process = subprocess.Popen(
            [*DIES_WITH_US, *command], stdin=subprocess.PIPE, stderr=log, pass_fds=(tells,)
        )
    os.close(tells)
    try:
        yield Observed(process, told)
    finally:
        end(process)
        os.close(told)


def run(folder: Path, seed: int) -> dict[str, Any]:
    """The benchmark: samples in milliseconds, by what was measured."""
    controller = Controller(folder, consistency_period="1 h", counters_period="1 h")
    chance = random.Random(seed)
    with both_edges(folder, controller.port), observed(controller) as process:
        eventually(lambda: controller.said("code=switch-connected") == 2, "the switches did not connect")
        with controller.client("collector") as link:
            _begin(link)
            eventually(lambda: controller.said("code=flow-active") == 1, "the flow is not active")
            rounds: list[dict[str, list[float]]] = []
            for _ in range(ROUNDS):
                rounds.append(_round(link, process, chance))
    names = rounds[0].keys()
    return {name: asdict(Summary.of([each[name] for each in rounds])) for name in names}


def _begin(link: LinkClient) -> None:
    link.call("template.add", {"template": TEMPLATE, "author": "benchmark"})
    link.send("measurement", measured("internet", 5))
    link.send("measurement", measured("al2s", 50))
    wish = {
        "source": "mu-dtn",
        "destination": "osu-dtn",
        "size": "10 GB",
        "template": "test-bulk",
        "ports": [5001],
    }
    link.call("flow.submit", {"request": wish, "requester": "benchmark"})


def _round(link: LinkClient, process: Observed, chance: random.Random) -> dict[str, list[float]]:
    samples: dict[str, list[float]] = {}
    for number in range(SAMPLES):
        _pause(process, chance)
        for name, value in _move(link, process, 2.0 if number % 2 == 0 else 50.0).items():
            samples.setdefault(name, []).append(value)
        for which in ("barrier", "replace"):
            _pause(process, chance)
            process.order(which)
            told = process.lines_until(lambda told: any(line["what"] == "yardstick" for line in told))
            (took,) = (line["took"] for line in told if line["what"] == "yardstick")
            samples.setdefault(which, []).append(took * 1e3)
    return samples


def _pause(process: Observed, chance: random.Random) -> None:
    time.sleep(SETTLE_S * chance.uniform(0.5, 1.5))
    process.drain()


def _move(link: LinkClient, process: Observed, mbps: float) -> dict[str, float]:
    def both(told: list[Mapping[str, Any]]) -> bool:
        return sum(line["what"] == "confirmed" for line in told) == 2

    message = measured("al2s", mbps)
    begun = time.monotonic()
    link.send("measurement", message)
    told = process.lines_until(both)
    replies = {line["dpid"]: line["at"] for line in told if line["what"] == "confirmed"}
    (arrived,) = (line["at"] for line in told if line["what"] == "arrived")
    decided = next(line for line in told if line["what"] == "decided")
    last_sent = max(line["at"] + line["took"] for line in told if line["what"] == "sent")
    commits = [line["took"] for line in told if line["what"] == "committed" and line["at"] < last_sent]
    parts = {
        "ingress edge": replies[INGRESS_EDGE] - begun,
        "both edges": max(replies.values()) - begun,
        "of it: link": arrived - begun,
        "of it: decide": decided["took"],
        "of it: commit": max(commits),
        "of it: pack and queue": sum(line["took"] for line in told if line["what"] == "sent"),
        "of it: sent to reply": max(replies.values()) - last_sent,
    }
    return {name: value * 1e3 for name, value in parts.items()}


def report(results: Mapping[str, Any]) -> str:
    """The table for people."""
    rows = [["ms", "median", "p90", "p99", "max", "spread (IQR)", "medians of rounds", "x barrier"]]
    for name, numbers in results.items():
        figures = [f"{numbers[key]:.2f}" for key in ("median", "p90", "p99", "largest", "spread")]
        medians = " ".join(f"{median:.2f}" for median in numbers["rounds"])
        ratio = f"{numbers['median'] / results['barrier']['median']:.1f}"
        rows.append([name, *figures, medians, ratio])
    return table(rows)
