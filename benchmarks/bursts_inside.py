"""What :mod:`benchmarks.bursts` runs in namespaces of its own: transfers through token buckets."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from adon.flowvisor.bursts import throttling_of
from benchmarks.transfer_control import Ends, ends
from measurement.health.model import Pair
from measurement.instances import Instance
from measurement.model import Measurement, Metric, PathKey
from measurement.point.specs import Throughput as Test
from measurement.point.tools.iperf3 import READY, client_argv, parse, server_argv
from measurement.probes.client import Agent
from measurement.probes.findings import Carried
from measurement.probes.key import read_key
from measurement.probes.orders import Order, Throughput
from measurement.pscheduler.results import Reading, read_result
from measurement.throttling import fit
from mininet_topos.cloud.agents import agents
from mininet_topos.cloud.build import Running, built
from mininet_topos.cloud.seeded import throttled

SIZES = (5_000_000, 20_000_000)
REFILLED_S = {"i0": 10.0, "i1": 9.0}
"""A bucket's depth at its sustained rate, and some: then the next transfer begins with a full one."""
PORT = 5201
INTERVAL_S = {"i0": 1.0, "i1": 0.25}
"""Of an iperf3 test; with intervals of a second a burst of one second could be the sender's buffer."""
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
                time.sleep(max(REFILLED_S.values()))
                for path, seconds in _timed(transfers, size).items():
                    took[path].append(seconds)
        time.sleep(max(REFILLED_S.values()))
        by_test = _tested(running)
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
                    "test": by_test[path].value,
                    "tested_s": _by_test(by_test[path]),
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


def _tested(running: Running) -> dict[Pair, Measurement]:
    """A test of ten seconds on each path, as a measurement point runs it and ADON reads it."""
    found = {}
    for path in PATHS:
        there = str(running.cloud.address(path.destination))
        spec = Test(dest=there, interval=INTERVAL_S[path.source])
        said = _of_a_test(running, path, spec)
        (reading,) = read_result("throughput", {"dest": there}, parse(said, spec), path.source)
        if not isinstance(reading, Reading):
            raise RuntimeError(f"{path}: {reading}")
        key = PathKey("throttled", *path)
        found[path] = Measurement(
            key, Metric.THROUGHPUT, reading.value, 0, spec.duration, "test", "iperf3", reading.parameters
        )
    return found


def _of_a_test(running: Running, path: Pair, spec: Test) -> str:
    """What the client of iperf3 says."""
    piped: dict[str, Any] = {"stdout": subprocess.PIPE, "text": True}
    server = running.popen(path.destination, *server_argv(spec, PORT), **piped)
    try:
        if server.stdout is None or not any(READY in line for line in server.stdout):
            raise RuntimeError(f"{path}: the server of iperf3 does not start")
        client = running.popen(path.source, *client_argv(spec, PORT), **piped)
        said, _ = client.communicate(timeout=4 * spec.lasts)
    finally:
        server.terminate()
        server.communicate()
    return str(said)


def _by_test(tested: Measurement) -> list[float] | None:
    """What transfers take by the token bucket that the test shows; None if it shows none."""
    bucket = throttling_of(tested)
    return None if bucket is None else [bucket.takes(size) for size in SIZES]


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
