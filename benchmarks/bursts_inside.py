"""What :mod:`benchmarks.bursts` runs in namespaces of its own: transfers through token buckets."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.transfer_control import Ends, ends
from measurement.health.model import Pair
from measurement.instances import Instance
from measurement.probes.client import Agent
from measurement.probes.findings import Carried
from measurement.probes.key import read_key
from measurement.probes.orders import Order, Throughput
from measurement.throttling import fit
from mininet_topos.cloud.agents import agents
from mininet_topos.cloud.build import built
from mininet_topos.cloud.seeded import throttled

SIZES = (5_000_000, 20_000_000)
REFILLED_S = 10.0
"""Both buckets' depths at their sustained rates, and some: then the next transfer begins with full ones."""
PATHS = (Pair("i0", "i2"), Pair("i1", "i3"))


def main() -> None:
    """Build, measure, fit, transfer, and print JSON."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="adon-bursts-") as folder:
        print(json.dumps(measured(Path(folder))))


def measured(folder: Path) -> dict[str, Any]:
    """Both kinds of instance at once: they share nothing."""
    cloud = throttled()
    limits = {guest.name: guest.egress for guest in cloud.guests}
    with built(cloud, folder) as running:
        named = {one.name: one for one in running.instances}
        with agents(running, folder / "key"):
            profiles = asyncio.run(_profiles(named, read_key(folder / "key")))
        fitted = {path: fit(rates) for path, rates in profiles.items()}
        took: dict[Pair, list[float]] = {path: [] for path in PATHS}
        with ends(running) as transfers:
            for size in SIZES:
                time.sleep(REFILLED_S)
                for path, seconds in _timed(transfers, size).items():
                    took[path].append(seconds)
        found = []
        for path in PATHS:
            limit, allowance = limits[path.source], fitted[path]
            if limit is None or limit.peak is None or allowance is None:
                raise RuntimeError(f"{path}: nothing came through")
            found.append(
                {
                    "path": [*path],
                    "described": [limit.peak, limit.rate, limit.bucket * 8],
                    "fitted": [allowance.burst, allowance.sustained, allowance.bucket],
                    "lasts": allowance.lasts,
                    "sizes": SIZES,
                    "expected_s": [allowance.takes(size) for size in SIZES],
                    "sustained_s": [8 * size / allowance.sustained for size in SIZES],
                    "burst_s": [8 * size / allowance.burst for size in SIZES],
                    "took_s": took[path],
                }
            )
        return {"emulation": running.emulation, "paths": found}


async def _profiles(named: dict[str, Instance], key: bytes) -> dict[Pair, tuple[float, ...]]:
    """Ten intervals of a second of each path, together."""

    async def one(path: Pair) -> tuple[float, ...]:
        async with await Agent.connect(named[path.source], key) as agent:
            (found,) = (await agent.probe(Order(named[path.destination], (Throughput(),)))).findings
        if not isinstance(found, Carried):
            raise RuntimeError(f"{path}: {found}")
        return found.rates

    return dict(zip(PATHS, await asyncio.gather(*map(one, PATHS)), strict=True))


def _timed(transfers: Ends, size: int) -> dict[Pair, float]:
    """How long a transfer on each path takes, both begun now."""
    began, found = time.monotonic(), {}
    under_way = {
        path.source: transfers.start({("from", "to"): size}, {"from": path.source, "to": path.destination})
        for path in PATHS
    }
    while under_way:
        source = transfers.ended(under_way)
        if source is not None:
            del under_way[source]
            found[next(path for path in PATHS if path.source == source)] = time.monotonic() - began
    return found


if __name__ == "__main__":
    main()
