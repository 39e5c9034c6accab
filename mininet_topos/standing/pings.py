"""Pings over every path of a network, and the rules of ADON's by which they went.

ADON pins the addresses that are measured on a path to it as soon as a switch connects: a ping between them is
the first packet that goes through our rules.
"""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from adon.errors import Unavailable
from mininet_topos.networks import Network
from mininet_topos.old_platforms.bed import Bed

_RTT = re.compile(r"time=([\d.]+) ms")
_PACKETS = re.compile(r"n_packets=(\d+)")
_OURS = re.compile(r"cookie=0x(?!0,)")
TRY_INTERVAL = 0.2
PACE = 0.2
"""Seconds from one ping of a row to the next."""
PATIENCE = 20.0
"""Seconds beyond what pings take: a host that runs none in that time does not answer."""


@dataclass(frozen=True, slots=True)
class Way:
    """Where a ping goes.

    :param host: that sends it, from the address ``source``.
    :param edge: the switch that decides on which path.
    """

    path: str
    host: str
    edge: str
    source: str
    destination: str

    def ping(self, count: int) -> list[str]:
        """The command."""
        pace = ("-i", f"{PACE:g}", "-W", "1", "-n")
        return ["ping", *pace, "-c", str(count), "-I", self.source, self.destination]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of it.

    :param times: round trips in seconds.
    :param rule: of ADON's, in the edge, as ``ovs-ofctl`` prints it; None if there is none for it.
    :param at: when the last was answered, or given up (seconds since 1970).
    """

    way: Way
    times: tuple[float, ...]
    rule: str | None
    at: float

    @property
    def packets(self) -> int | None:
        """How many packets the rule has counted."""
        found = None if self.rule is None else _PACKETS.search(self.rule)
        return None if found is None else int(found[1])

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {
            **asdict(self.way),
            "rtt_s": list(self.times),
            "rule": self.rule,
            "packets": self.packets,
            "at": self.at,
        }

    def __str__(self) -> str:
        """In one line."""
        way = self.way
        where = f"{way.host} {way.source} > {way.destination} over {way.path}"
        if not self.times:
            return f"{where}: no answer"
        times = sorted(self.times)
        by = f"by our rule in {way.edge} ({self.packets} packets)" if self.rule else "by no rule of ours"
        return f"{where}: {times[len(times) // 2] * 1e3:.2f} ms, {by}"


def ways(network: Network, paths: Sequence[str] = ()) -> Iterator[Way]:
    """Over each of these paths that is measured, or all, from the site where its description begins.

    :raises InvalidInput: if there is no such path.
    """
    for path in [network.path(name) for name in paths] or network.paths:
        if not path.addresses:
            continue
        one, other = path.sites
        site = network.site(one)
        yield Way(
            path.name, site.measuring.host, site.edge, str(path.addresses[one]), str(path.addresses[other])
        )


def ping(bed: Bed, way: Way, count: int) -> Answer:
    """Send some, and look up the rule.

    :raises Unavailable: if the host runs no ping, or the switch cannot be asked.
    """
    try:
        done = subprocess.run(
            bed.inside(way.ping(count), way.host),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=count * PACE + PATIENCE,
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{way.host}: ping has not ended within {error.timeout:g} s") from error
    at = time.time()
    times = tuple(float(found) / 1e3 for found in _RTT.findall(done.stdout))
    return Answer(way, times, rule_of(bed.dump_flows(way.edge), way), at)


def first(bed: Bed, way: Way, timeout: float) -> Answer | None:
    """The first ping through a rule of ours that is answered; None if there is none in time."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if rule_of(bed.dump_flows(way.edge), way) is not None:
            answer = ping(bed, way, 1)
            if answer.times:
                return answer
        time.sleep(TRY_INTERVAL)
    return None


def rule_of(flows: str, way: Way) -> str | None:
    """The rule of ADON's that matches these addresses, among the rules of a switch."""
    wanted = (f"nw_src={way.source}", f"nw_dst={way.destination}")
    for line in flows.splitlines():
        words = re.split(r"[\s,]+", line)
        if _OURS.search(line) and all(word in words for word in wanted):
            return line.strip()
    return None
