"""Cross traffic: other people's load between two hosts of a running testbed, made by iperf3.

TCP streams take what congestion control gives them; UDP keeps its rate whatever happens to the others.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Literal

from adon.errors import InvalidInput, Unavailable
from adon.units import format_rate
from mininet_topos.old_testbed import Testbed
from mininet_topos.waiting import wait_until

START_TIMEOUT = 10.0
MAX_STREAMS = 64


@dataclass(frozen=True, slots=True)
class CrossTraffic:
    """One load: from where to where, of what kind, for how long.

    :param source: host name and the address there that it is sent from (its path is that address's path).
    :param rate: bits/s of all streams together; None (TCP only): as much as there is.
    :param seconds: how long, in whole seconds: a part of one is rounded up; it also ends with its context.
    :raises InvalidInput: for a rate, duration or number of streams that makes no sense.
    """

    source: tuple[str, IPv4Address]
    destination: tuple[str, IPv4Address]
    port: int
    seconds: float
    protocol: Literal["tcp", "udp"] = "tcp"
    streams: int = 1
    rate: float | None = None

    def __post_init__(self) -> None:
        if not 1 <= self.streams <= MAX_STREAMS:
            raise InvalidInput.of("streams", f"{self.streams} is not in 1..{MAX_STREAMS}")
        if not 0 < self.seconds <= 86_400:
            raise InvalidInput.of("seconds", f"{self.seconds:g} is not in 0..86400")
        if self.protocol == "udp" and self.rate is None:
            raise InvalidInput.of("rate", "UDP needs one")
        if self.rate is not None and not 1000 <= self.rate <= 1e9:
            raise InvalidInput.of("rate", f"{format_rate(self.rate)} is not in 1 kbps to 1 Gbps")

    def receiver(self) -> list[str]:
        """The command at the destination."""
        return ["iperf3", "-s", "-1", "-B", str(self.destination[1]), "-p", str(self.port)]

    def sender(self) -> list[str]:
        """The command at the source."""
        argv = ["iperf3", "-c", str(self.destination[1]), "-B", str(self.source[1]), "-p", str(self.port)]
        argv += ["-t", str(math.ceil(self.seconds)), "-P", str(self.streams)]
        if self.protocol == "udp":
            argv.append("-u")
        if self.rate is not None:
            argv += ["-b", f"{self.rate / self.streams:.0f}"]  # iperf3's -b is per stream
        return argv


@contextmanager
def cross_traffic(testbed: Testbed, load: CrossTraffic) -> Iterator[subprocess.Popen[bytes]]:
    """Run it in the background; the sender's process is given, and both ends are gone at the end.

    :raises Unavailable: if the receiver does not come up.
    """
    at_source, at_destination = testbed.host(load.source[0]), testbed.host(load.destination[0])
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    receiver = at_destination.popen(load.receiver(), **quiet)
    processes = [receiver]
    try:
        listening = ("ss", "-Hltn", f"sport = :{load.port}")
        if not wait_until(lambda: at_destination.run(*listening) != "", START_TIMEOUT):
            raise Unavailable(f"cross traffic: nothing listens on port {load.port} of {load.destination[0]}")
        sender = at_source.popen(load.sender(), **quiet)
        processes.append(sender)
        yield sender
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
