"""Findings of two agents with a router between them, in namespaces of their own.

``python -m tests.measurement.probes.network_lab FOLDER`` prints JSON: findings by the state of the path.
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
from measurement.probes.agent_client import AgentClient
from measurement.probes.documents import to_document
from measurement.probes.probe_types import (
    Hops,
    Probe,
    ProbeOrder,
    Sandwich,
    SandwichBack,
    Throughput,
    Train,
    TrainBack,
    TrainShape,
    UdpEcho,
)
from measurement.probes.secure_channel import read_key, write_key

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
            stack.enter_context(_run_agent(namespace, key))
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        sys.stdout.write(json.dumps(asyncio.run(_measure(key, right))))


@contextmanager
def _run_agent(namespace: Namespace, key: Path) -> Iterator[None]:
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


async def _measure(key: Path, right: Namespace) -> dict[str, Any]:
    """Return findings; the router is the namespace of this process."""
    found = dict[str, Any]()
    async with (
        await AgentClient.connect(A, read_key(key)) as agent_a,
        await AgentClient.connect(B, read_key(key)) as agent_b,
    ):

        async def probe_b(name: str, *probes: Probe) -> None:
            found[name] = to_document((await agent_a.probe(ProbeOrder(B, probes))).findings)

        await probe_b("plain", Hops(), UdpEcho(1400))
        for rate in RATES:
            limit = ("tbf", "rate", f"{rate}mbit", "burst", "64k", "limit", "1500k")
            await _run("tc", "qdisc", "add", "dev", "right-here", "root", *limit)
            trains = [Train(TrainShape(burst=burst, bursts=5)) for burst in (200, 800)]
            await probe_b(str(rate), Throughput(4, 0.5), *trains)
            back = TrainBack(trains[0].shape)
            await probe_b(f"{rate} back", back)
            report = await agent_b.probe(ProbeOrder(A, (back,)))
            found[f"{rate} back of the other"] = to_document(report.findings)
            await _run("tc", "qdisc", "del", "dev", "right-here", "root")
        narrow = (
            UdpEcho(1400, 2, timeout=0.5),
            UdpEcho(500, 2),
            Train(),
            Sandwich(64, 2, timeout=0.5, large=1400),
            TrainBack(),
            SandwichBack(64, 2, timeout=0.5, large=1400),
        )
        # A black hole: the last link takes no frame of that length, and no ICMP message is sent.
        right.run("ip", "link", "set", "right-there", "mtu", "1000")
        await probe_b("hole", *narrow)
        right.run("ip", "link", "set", "right-there", "mtu", "1500")
        # A link that is narrower than those at the ends: the router sends an ICMP message.
        await _run("ip", "link", "set", "right-here", "mtu", "1000")
        await probe_b("narrow", *narrow)
    return found


async def _run(*words: str) -> None:
    process = await asyncio.create_subprocess_exec(*words)
    assert await process.wait() == 0, words


if __name__ == "__main__":
    main()
