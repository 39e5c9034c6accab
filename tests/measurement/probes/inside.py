"""Inside namespaces of its own: two agents, a router between them, and what they find on such paths.

``python -m tests.measurement.probes.inside FOLDER`` prints JSON: findings by what was done to the path.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from benchmarks.lab import Namespace, beside
from measurement.instances import PORT, Instance
from measurement.probes.client import Agent
from measurement.probes.documents import value_to_json
from measurement.probes.key import read_key, write_key
from measurement.probes.orders import (
    Hops,
    Order,
    Probe,
    Sandwich,
    SandwichBack,
    Throughput,
    Train,
    TrainBack,
    UdpEcho,
)
from measurement.probes.train import Shape

A, B = Instance("a", "10.91.1.2", PORT), Instance("b", "10.91.2.2", PORT)
RATES = (50, 400)


def main() -> None:
    """Build, measure, print."""
    folder = Path(sys.argv[1])
    key = folder / "key"
    write_key(key)
    with ExitStack() as stack:
        left = stack.enter_context(beside("left", "10.91.1.1", A.address))
        right = stack.enter_context(beside("right", "10.91.2.1", B.address))
        for namespace, router in ((left, "10.91.1.1"), (right, "10.91.2.1")):
            namespace.run("ip", "route", "add", "default", "via", router)
            stack.enter_context(_agent(namespace, key))
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        sys.stdout.write(json.dumps(asyncio.run(_found(key, right))))


@contextmanager
def _agent(namespace: Namespace, key: Path) -> Iterator[None]:
    process = namespace.popen(
        sys.executable, "-m", "measurement.probes.main", "--key", str(key), stdout=-1, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield
    finally:
        process.kill()
        process.wait()


async def _found(key: Path, right: Namespace) -> dict[str, Any]:
    """Findings; the router is the namespace that this runs in."""
    found = dict[str, Any]()
    async with await Agent.connect(A, read_key(key)) as agent:

        async def asked(name: str, *probes: Probe) -> None:
            report = await agent.probe(Order(B, probes))
            found[name] = [value_to_json(each) for each in report.findings]

        await asked("plain", Hops(), Hops(routers=True), UdpEcho(1400))
        for rate in RATES:
            limit = ("tbf", "rate", f"{rate}mbit", "burst", "64k", "limit", "1500k")
            await _run("tc", "qdisc", "add", "dev", "right-here", "root", *limit)
            trains = [Train(Shape(burst=burst, bursts=5)) for burst in (200, 800)]
            await asked(str(rate), Throughput(4, 0.5), *trains)
            back = TrainBack(trains[0].shape)
            await asked(f"{rate} back", back)
            async with await Agent.connect(B, read_key(key)) as other:
                report = await other.probe(Order(A, (back,)))
                found[f"{rate} back of the other"] = [value_to_json(each) for each in report.findings]
            await _run("tc", "qdisc", "del", "dev", "right-here", "root")
        narrow = (
            UdpEcho(1400, 2, timeout=0.5),
            UdpEcho(500, 2),
            Train(),
            Sandwich(64, 2, timeout=0.5, large=1400),
            TrainBack(),
            SandwichBack(64, 2, timeout=0.5, large=1400),
        )
        # A black hole: the last link takes no frame of that length, and nobody tells.
        right.run("ip", "link", "set", "right-there", "mtu", "1000")
        await asked("hole", *narrow)
        right.run("ip", "link", "set", "right-there", "mtu", "1500")
        # A link that is narrower than those at the ends: the router tells.
        await _run("ip", "link", "set", "right-here", "mtu", "1000")
        await asked("narrow", *narrow)
    return found


async def _run(*words: str) -> None:
    process = await asyncio.create_subprocess_exec(*words)
    assert await process.wait() == 0, words


if __name__ == "__main__":
    main()
