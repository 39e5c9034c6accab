"""What the tests of built clouds run in their namespaces; each returns what is JSON."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path as Folder
from typing import Any

from adon.errors import AdonError
from measurement.health.model import Pair
from mininet_topos.cloud.build import Running, built
from mininet_topos.cloud.choreo import tree
from mininet_topos.cloud.description import Cloud, Guest, Limit, Path, Router
from mininet_topos.cloud.plan import CONTROL
from mininet_topos.cloud.seeded import throttled
from mininet_topos.waiting import wait_until

ROUTERS = (Router("core"), Router("left", "core", up=20e6, down=20e6), Router("right", "core"))
GUESTS = (
    Guest("a", "left", egress=Limit(60e6)),
    Guest("b", "left", ingress=30e6),
    Guest("c", "right"),
    Guest("d", "right"),
    Guest("e", "left", machine="m"),
    Guest("f", "left", machine="m"),
)
DIFFERENT = Cloud(
    "different",
    ROUTERS,
    GUESTS,
    {
        Pair("a", "b"): Path(rate=10e6, delay=5e-3),
        Pair("b", "a"): Path(delay=15e-3),
        Pair("c", "d"): Path(rate=40e6, delay=1e-3),
        Pair("d", "c"): Path(delay=1e-3),
        Pair("e", "f"): Path(rate=80e6),
    },
)


def differing(folder: Folder) -> Any:
    """Rates, round trips and hops of a few paths, as programs in the guests see them."""
    with built(DIFFERENT, folder) as cloud:
        return {
            "emulation": cloud.emulation,
            "rates": {
                f"{one} > {other}": carried(cloud, one, other)
                for one, other in ("ab", "ba", "cd", "cb", "ac", "ef", "fb")
            },
            "pings": {f"{one} {other}": ping(cloud, one, other) for one, other in ("ab", "ba", "cd", "cb")},
            "hops": {f"{one} > {other}": hops(cloud, one, other) for one, other in ("ef", "ab", "ac")},
            "owner": least(said(["ping", "-q", "-c", "5", "-i", "0.02", str(cloud.cloud.address("a"))])),
            "udp": udp_round_trip(cloud, "a", "b"),
        }


def changing(folder: Folder) -> Any:
    """A path before and after it was changed, and after it was cut."""
    pair = Pair("c", "d")
    with built(DIFFERENT, folder) as cloud:
        found = {"before": [carried(cloud, *pair), ping(cloud, *pair)]}
        cloud.change(pair, Path(rate=10e6, delay=20e-3))
        found["after"] = [carried(cloud, *pair), ping(cloud, *pair)]
        cloud.change(pair, Path(rate=10e6, loss=1.0))
        found["cut"] = lost(cloud, *pair)
        refused = []
        for changed in (Pair("c", "d"), Path()), (Pair("c", "b"), Path(rate=1e6)), (Pair("c", "x"), Path()):
            try:
                cloud.change(*changed)
            except AdonError as error:
                refused.append(str(error))
        return {**found, "refused": refused}


def losing(folder: Folder) -> Any:
    """The share that is lost one way only."""
    paths = {Pair("r0m0g0", "r0m1g0"): Path(loss=0.3)}
    whole = tree(racks=1)
    with built(Cloud("losing", whole.routers, whole.guests, paths), folder) as cloud:
        return {"lost": lost(cloud, "r0m0g0", "r0m1g0", 200), "back": lost(cloud, "r0m1g0", "r0m0g0", 200)}


def bursting(folder: Folder) -> Any:
    """Bits/s in each second, from a bucket that is full: 20 Mbit/s for four seconds, then 8."""
    with built(throttled(), folder) as cloud:
        return carried_by_second(cloud, "i0", "i1", 7)


def failing(folder: Folder) -> Any:
    """What is left after the context was left by an exception; and that a second cloud can be built."""
    before = processes()
    words = ""
    try:
        with built(DIFFERENT, folder):
            while_there = processes() - before
            [].pop()
    except IndexError as error:
        words = str(error)
    gone = wait_until(lambda: processes() == before, 30)
    looked = ["ip", "-brief", "address"]
    wait_until(lambda: len(said(looked).splitlines()) == 1, 30)  # the kernel removes them in its own time
    left = said(looked)
    with built(tree(racks=1), folder) as cloud:
        again = ping(cloud, "r0m0g0", "r0m1g0")
        try:
            with built(tree(racks=1), folder):
                second = ""
        except AdonError as error:
            second = str(error)
    return {
        "error": words,
        "line": len(while_there),
        "gone": gone,
        "interfaces": [line.split()[0] for line in left.splitlines()],
        "addresses": CONTROL in left,
        "files": [entry.name for entry in folder.iterdir() if entry.name != "pid"],
        "again": again,
        "second": second,
    }


def staying(folder: Folder) -> Any:
    """Say that the cloud is there, and stay."""
    with built(DIFFERENT, folder) as cloud:
        cloud.popen("a", "sleep", "600")
        (folder / "built").touch()
        time.sleep(600)


def said(argv: list[str]) -> str:
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def processes() -> set[int]:
    return {int(entry.name) for entry in Folder("/proc").iterdir() if entry.name.isdigit()} - {os.getpid()}


def carried(cloud: Running, source: str, destination: str) -> float:
    """Bits/s that TCP gets, from the second second on."""
    return carried_by_second(cloud, source, destination, 2)[-1]


def carried_by_second(cloud: Running, source: str, destination: str, seconds: int) -> list[float]:
    server = cloud.popen(
        destination, "iperf3", "-s", "-1", "-f", "m", "--forceflush", stdout=subprocess.PIPE, text=True
    )
    for line in server.stdout:
        if "listening" in line:
            break
    address = str(cloud.cloud.address(destination))
    cloud.run(source, "iperf3", "-t", str(seconds), "-c", address)
    # Read at the receiver: what a sender has written may still wait in its own buffer.
    told, _ = server.communicate(timeout=60)
    return [1e6 * float(rate) for rate in re.findall(r"Bytes\s+([\d.]+) Mbits/sec *$", told, re.MULTILINE)][
        :seconds
    ]


def ping(cloud: Running, source: str, destination: str) -> float:
    """The least round-trip time of some, in seconds."""
    address = str(cloud.cloud.address(destination))
    told = cloud.run(source, "ping", "-q", "-c", "10", "-i", "0.02", address)
    return least(told)


def least(told: str) -> float:
    """Of what ping(8) says, in seconds."""
    return float(re.search(r"= ([\d.]+)/", told)[1]) / 1e3


def lost(cloud: Running, source: str, destination: str, count: int = 20) -> float:
    """The share of UDP packets that does not come."""
    receiver = cloud.popen(
        destination, sys.executable, "-c", RECEIVER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert receiver.stdout.readline() == "ready\n"
    address = str(cloud.cloud.address(destination))
    cloud.run(source, sys.executable, "-c", SENDER, address, str(count))
    time.sleep(1.0)  # what carries them may be late
    came, _ = receiver.communicate("stop\n", timeout=60)
    return 1 - int(came) / count


RECEIVER = """
import select, socket, sys
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("", 7000))
print("ready", flush=True)
count = 0
while True:
    for one in select.select([sock, sys.stdin], [], [])[0]:
        if one is sys.stdin:
            print(count)
            sys.exit()
        sock.recv(100)
        count += 1
"""
SENDER = """
import socket, sys, time
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(int(sys.argv[2])):
    sock.sendto(b"x", (sys.argv[1], 7000))
    time.sleep(0.001)
"""
ECHO = """
import socket
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("", 7001))
print("ready", flush=True)
while True:
    sock.sendto(*sock.recvfrom(100))
"""
ASK = """
import socket, sys, time
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.connect((sys.argv[1], 7001))
best = 9.0
for _ in range(10):
    began = time.monotonic()
    sock.send(b"x")
    sock.recv(100)
    best = min(best, time.monotonic() - began)
print(best)
"""


def udp_round_trip(cloud: Running, source: str, destination: str) -> float:
    """The least of some round trips by UDP, in seconds."""
    answerer = cloud.popen(destination, sys.executable, "-c", ECHO, stdout=subprocess.PIPE, text=True)
    try:
        assert answerer.stdout.readline() == "ready\n"
        return float(cloud.run(source, sys.executable, "-c", ASK, str(cloud.cloud.address(destination))))
    finally:
        answerer.kill()
        answerer.wait()


def hops(cloud: Running, source: str, destination: str) -> int:
    """As traceroute(8) counts them."""
    address = str(cloud.cloud.address(destination))
    last = cloud.run(source, "traceroute", "-n", "-q", "1", "-w", "5", address).splitlines()[-1]
    assert address in last
    return int(last.split()[0])
