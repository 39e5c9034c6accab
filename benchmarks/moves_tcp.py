"""TCP through moves, inside the lab's namespaces: what the switches lost, and what TCP made of it.

One iperf3 stream below both paths' capacity, in four runs: moved between the two equal layer-2 paths; as long
without a move; moved to a layer-2 path that a token bucket makes slower than the stream, and back; and as
long on that path.  The kernel paces the stream (iperf3 itself would make up for a slow spell at full speed).
Lost is what one edge took from its host and the other did not give to its own, by the counters of those
ports; what the token bucket dropped is in it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from benchmarks import packets
from benchmarks.lab import NETWORK, PORTS, Lab

PORT = 5201
RATE_MBPS = 40
SLOW, SLOW_MBPS = "mu-edge-al2s-b", 20
SLOW_QUEUE_MS = 50
START_S = 1.5
"""Slow start is over by then; arrivals before it do not count."""
END_S = 0.5
COUNTED = {
    "retransmitted": ("mu-dtn", "RetransSegs"),
    "time-outs": ("mu-dtn", "TCPTimeouts"),
    "reordering seen (SACK)": ("mu-dtn", "TCPSACKReorder"),
    "reordering seen (timestamps)": ("mu-dtn", "TCPTSReorder"),
    "out of order at the receiver": ("osu-dtn", "TCPOFOQueue"),
}


def run(network: Lab, act: Callable[[], None], seconds: float) -> dict[str, Any]:
    """One stream, and something done to it.

    :param seconds: how long ``act`` takes, at most.
    """
    far, near = network.namespaces["osu-dtn"], network.namespaces["mu-dtn"]
    arrivals = network.switch.folder.parent / "tcp.records"
    program = (sys.executable, "-m", "benchmarks.packets", "arrive", str(arrivals))
    sniffer = far.popen(*program, "osu-eth", str(PORT), stdout=subprocess.PIPE)
    packets.await_ready(sniffer)
    server = far.popen("iperf3", "-s", "-1", "-p", str(PORT), stdout=subprocess.DEVNULL)
    time.sleep(END_S)
    before = _counters(network)
    length = f"{START_S + seconds + END_S:.0f}"
    words = ["-c", f"{NETWORK['osu']}.10", "-p", str(PORT), "-t", length, "--fq-rate", f"{RATE_MBPS}M", "-J"]
    client = near.popen("iperf3", *words, stdout=subprocess.PIPE, text=True)
    try:
        time.sleep(START_S)
        from_ns = time.time_ns()
        act()
        to_ns = time.time_ns()
        rto = rto_ms(near.run("ss", "-tino", "dst", f"{NETWORK['osu']}.10"))
        told = json.loads(client.communicate(timeout=60)[0])
    finally:
        for process in (client, server, sniffer):
            process.terminate()
            process.wait(10)
    time.sleep(END_S)
    after = _counters(network)
    times = [at for (at,) in packets.read(arrivals, 1)]
    gaps = gaps_ms(times, from_ns, to_ns)
    return {
        **{name: after[name] - before[name] for name in after},
        "mbps": told["end"]["sum_received"]["bits_per_second"] / 1e6,
        "largest_gap_ms": max(gaps),
        "rto_ms": rto,
    }


def gaps_ms(times: list[int], from_ns: int, to_ns: int) -> list[float]:
    """Between arrivals, in milliseconds, where the later one is within these times."""
    pairs = pairwise(times)
    return [(after - before) / 1e6 for before, after in pairs if from_ns <= after <= to_ns]


def rto_ms(text: str) -> float:
    """The largest retransmission time-out that ``ss -ti`` tells.

    :raises ValueError: if it tells none.
    """
    return max(float(value) for value in re.findall(r"\brto:([0-9.]+)", text))


def slow() -> None:
    """Make al2s-b slower than the stream, towards the far edge."""
    words = ["rate", f"{SLOW_MBPS}mbit", "burst", "16kb", "latency", f"{SLOW_QUEUE_MS}ms"]
    subprocess.run(["tc", "qdisc", "add", "dev", SLOW, "root", "tbf", *words], check=True)


def _counters(network: Lab) -> dict[str, int]:
    found = {
        name: statistics(
            network.namespaces[where].run("cat", "/proc/self/net/snmp", "/proc/self/net/netstat")
        )[what]
        for name, (where, what) in COUNTED.items()
    }
    ports = {
        edge: port_packets(network.switch.ofctl("dump-ports", edge, str(PORTS["dtn"])))
        for edge in ("mu-edge", "osu-edge")
    }
    found["lost there"] = ports["mu-edge"][0] - ports["osu-edge"][1]
    shaped = subprocess.run(
        ["tc", "-s", "qdisc", "show", "dev", SLOW], capture_output=True, text=True, check=True
    )
    found["of it: dropped by the token bucket"] = dropped(shaped.stdout)
    found["lost back"] = ports["osu-edge"][0] - ports["mu-edge"][1]
    return found


def statistics(text: str) -> Mapping[str, int]:
    """The counters of ``/proc/net/snmp`` and ``netstat``: a line of names, then a line of numbers."""
    lines = [line.split() for line in text.splitlines() if line.startswith("Tcp")]
    found: dict[str, int] = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        found |= {name: int(value) for name, value in zip(names[1:], values[1:], strict=True)}
    return found


def dropped(text: str) -> int:
    """Packets dropped by queueing disciplines, as ``tc -s qdisc`` tells."""
    return sum(int(count) for count in re.findall(r"\(dropped (\d+),", text))


def port_packets(text: str) -> tuple[int, int]:
    """Packets received and sent by a port, as ``ovs-ofctl dump-ports`` tells.

    :raises ValueError: if it does not tell.
    """
    found = re.search(r"rx pkts=(\d+).*?tx pkts=(\d+)", text, re.DOTALL)
    if found is None:
        raise ValueError(f"no counters in {text!r}")
    return int(found[1]), int(found[2])
