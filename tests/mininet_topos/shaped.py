"""What tests of links do inside a testbed; each returns values for the test outside to judge."""

from __future__ import annotations

import re
import socket
from typing import Any

from mininet_topos import networks
from mininet_topos.old_testbed import Testbed
from mininet_topos.shaping import Change
from mininet_topos.static_rules import Traffic, pin
from tests.undisturbed import undisturbed

NETWORK = networks.named("mu_osu")
MU, OSU = NETWORK.dtns
THERE = str(OSU.address)
QUEUE = 40
BURST = 200
SLOW = 500e3
"""Bits/s: of a frame of a full kilobyte the queue sends one in 17 ms."""
PORT = 6100
SENT_MEANWHILE = 20
"""While the burst comes in HTB sends its own of six frames, and hardly more."""


def changes(bed: Testbed) -> dict[str, Any]:
    """A burst into a slow link; links of each kind taken down and up again."""
    pin(bed.switches.ofctl, NETWORK, "al2s", Traffic(MU.host, OSU.host))
    bed.set_link("line-t1", "line-t2", change=Change(rate=SLOW))
    # Who is stopped in the middle of its burst leaves the link the time to send some of it.
    found = undisturbed(lambda: _queued(bed), lambda found: found["arrived"] <= QUEUE + SENT_MEANWHILE)
    bed.set_link("line-t1", "line-t2", change=Change(rate=60e6))
    found["rate"] = bed.host("line").run("tc", "class", "show", "dev", "line-t2")
    for name, ends in (("cable", ("t1-mu-edge",)), ("router", ("mu-rtr-wan",))):
        if name == "router":
            bed.switches.ofctl("del-flows", "mu-edge", "cookie=1/-1")
            bed.switches.ofctl("del-flows", "osu-edge", "cookie=1/-1")
        before = _pings(bed)
        bed.set_link(*ends, change=Change(up=False))
        down = _pings(bed, within=2)
        bed.set_link(*ends, change=Change(up=True))
        found[name] = [before, down, _pings(bed)]
    return found


def _pings(bed: Testbed, within: int = 10) -> bool:
    """Whether a packet comes back within so many seconds."""
    argv = ["ping", "-n", "-q", "-c", "1", "-i", "0.2", "-w", str(within), THERE]
    return bed.host(MU.host).popen(argv, stdout=-3, stderr=-3).wait() == 0


def _queued(bed: Testbed) -> dict[str, Any]:
    """How many of a burst arrive, and what the queue says of it."""
    before = _queue(bed)["dropped"]
    arrived, queue = _burst(bed), _queue(bed)
    return {"arrived": arrived, "queue": {**queue, "dropped": queue["dropped"] - before}}


def _burst(bed: Testbed) -> int:
    """Of so many packets at once, those that arrive."""
    with bed.host(OSU.host).entered(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind((THERE, PORT))
        receiver.settimeout(2.0)
        with bed.host(MU.host).entered(), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for _ in range(BURST):
                sender.sendto(bytes(1000), (THERE, PORT))
        arrived = 0
        try:
            while receiver.recv(2000):
                arrived += 1
        except TimeoutError:
            return arrived
    return arrived


def _queue(bed: Testbed) -> dict[str, int]:
    told = bed.host("line").run("tc", "-s", "qdisc", "show", "dev", "line-t2")
    queue = told[told.index("qdisc pfifo") :]
    limit, dropped = re.search(r"limit (\d+)p", queue), re.search(r"dropped (\d+)", queue)
    assert limit is not None
    assert dropped is not None
    return {"limit": int(limit[1]), "dropped": int(dropped[1])}
