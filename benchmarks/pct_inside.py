"""What :mod:`benchmarks.pct` runs in namespaces of its own: data from a file server to chosen instances."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.transfer_control import Ends, ends
from measurement.health.choosing import Direction, towards
from measurement.health.orders import Probing
from measurement.health.planning import plan
from measurement.health.profiles import star
from measurement.health.running import Running as How
from measurement.health.running import run
from measurement.health.scoring import around
from measurement.probes.client import Agent
from measurement.probes.key import read_key
from measurement.probes.train import Shape
from mininet_topos.cloud.agents import agents
from mininet_topos.cloud.build import Running, built
from mininet_topos.cloud.description import Cloud, Limit
from mininet_topos.cloud.seeded import pct

CHOSEN = 8
CANDIDATES = 15
SLOWER = 0.5
"""What all rates of the described cloud are multiplied by: two processors carry that."""
SERVER_EGRESS = 500e6
"""Bits/s out of the file server, five times an instance's: else its hose is all that transfers ever meet."""
PROBING = Probing(count=4, interval=0.01, silent=2.0, shape=Shape(1472, 100, 2))


def main() -> None:
    """Build, probe, choose, transfer, and print JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("seed", type=int)
    parser.add_argument("--bytes", type=int, default=8_000_000, help="to each instance")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="adon-pct-") as folder:
        print(json.dumps(measured(Path(folder), asked)))


def described(seed: int) -> tuple[Cloud, str]:
    """Fifteen instances and a file server, which has a wide way out."""
    cloud = pct(seed, CANDIDATES + 1)
    server, *others = cloud.guests
    guests = (
        replace(server, egress=Limit(SERVER_EGRESS)),
        *(replace(one, egress=Limit(one.egress.rate * SLOWER)) for one in others if one.egress is not None),
    )
    paths = {
        pair: replace(path, rate=None if path.rate is None else path.rate * SLOWER)
        for pair, path in cloud.paths.items()
    }
    return replace(cloud, guests=guests, paths=paths), server.name


def measured(folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """One round of probes, then the distribution to each set, in an order that changes."""
    cloud, server = described(asked.seed)
    chance = random.Random(asked.seed)
    with built(cloud, folder) as running:
        began = time.monotonic()
        with agents(running, folder / "key") as _:
            sets = _chosen(running, folder / "key", server, chance)
        took = time.monotonic() - began
        seconds: dict[str, list[float]] = {name: [] for name in sets}
        with ends(running) as transfers:
            for _ in range(asked.rounds):
                for name in chance.sample([*sets], len(sets)):
                    seconds[name].append(_distributed(transfers, server, sets[name], asked.bytes))
        zone = {guest.name: guest.zone for guest in cloud.guests}
        return {
            "emulation": running.emulation,
            "instances": CANDIDATES,
            "bytes": asked.bytes,
            "probing_s": took,
            "seconds": seconds,
            "zones": {name: "".join(sorted(zone[one] for one in its)) for name, its in sets.items()},
            "server_zone": zone[server],
        }


def _chosen(running: Running, key: Path, server: str, chance: random.Random) -> dict[str, Sequence[str]]:
    """The healthiest, the unhealthiest and random instances towards the server, by real probes."""
    secret = read_key(key)
    names = [one.name for one in running.instances]
    what = plan(star(server, names))
    how = How(PROBING, light_at_once=2, trains_at_once=2)
    record = asyncio.run(run(what, running.instances, lambda one: Agent.connect(one, secret), how))
    health = around(server, record.found)
    return {
        "healthiest": towards(server, health, CHOSEN, Direction.FROM).instances,
        "random": chance.sample([name for name in names if name != server], CHOSEN),
        "unhealthiest": towards(server, health, CHOSEN, Direction.FROM, worst=True).instances,
    }


def _distributed(transfers: Ends, server: str, chosen: Sequence[str], size: int) -> float:
    """Seconds until everybody has all of it."""
    began = time.monotonic()
    machines = {"server": server, **{name: name for name in chosen}}
    transfers.ended({"": transfers.start({("server", name): size for name in chosen}, machines)})
    return time.monotonic() - began


if __name__ == "__main__":
    main()
