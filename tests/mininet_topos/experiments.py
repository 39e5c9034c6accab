"""What the testbed's tests do inside it; each returns values for the test outside to judge."""

from __future__ import annotations

import json
import re
import ssl
import subprocess
import urllib.request
from functools import partial
from ipaddress import IPv4Address
from itertools import count
from pathlib import Path
from typing import Any

import adon.config
from mininet_topos.demo.scenario import CONTENDING_STREAMS
from mininet_topos.networks import Dtn, named
from mininet_topos.networks.configuration import configuration
from mininet_topos.old_platforms.bed import PointContact
from mininet_topos.old_testbed import Testbed
from mininet_topos.points import measurement_points
from mininet_topos.static_rules import Traffic, pin
from mininet_topos.topology import MEASUREMENT_POINT_PORT
from mininet_topos.transfer import Transfer, arguments
from mininet_topos.waiting import wait_until
from tests.mininet_topos.cross_traffic import CrossTraffic, cross_traffic
from tests.undisturbed import undisturbed

NETWORK = named("mu_osu")
MU, OSU = NETWORK.dtn("mu-dtn"), NETWORK.dtn("osu-dtn")
AT_MU, AT_OSU = ({"data": dtn.address, **dtn.measured} for dtn in (MU, OSU))
TEST_SECONDS = 3
IDLE_MBPS = {"al2s": 58.0, "internet": 6.5}
"""What the paper measured of one stream, at scale 1:100."""


def campus_rules_only(bed: Testbed) -> dict[str, Any]:
    """Ping with nothing but NORMAL; and whether a frame leaked onto the overlay."""
    ping = bed.host("mu-dtn").run("ping", "-c", "3", "-i", "0.2", str(AT_OSU["data"]))
    return {
        "ping": ping,
        "rules": bed.dump_flows("mu-edge"),
        "trace": bed.host("mu-dtn").run("traceroute", "-n", "-q", "1", "-w", "2", str(AT_OSU["data"])),
        "transit_packets": packets(bed, "t1"),
        "leaked": frames(bed, "t1", "t1-mu-edge"),
        "rates": bed.host("line").run("tc", "class", "show", "dev", "line-t1"),
        "emulated_by": str(bed.emulated_by),
    }


def idle_rates(bed: Testbed) -> dict[str, Any]:
    """Single-stream goodput of each path in each direction, in Mbit/s, and what crossed the overlay."""
    for path in ("al2s", "internet"):
        pin_measured(bed, path)
    found: dict[str, Any] = {}
    for path in ("internet", "al2s"):
        ends = ("mu-dtn", AT_MU[path]), ("osu-dtn", AT_OSU[path])
        found[path] = [
            undisturbed(partial(goodput, bed, source, destination), (0.9 * IDLE_MBPS[path]).__lt__)
            for source, destination in (ends, ends[::-1])
        ]
        found[f"transit packets after {path}"] = packets(bed, "t1")
    return found


def beside_transfers(bed: Testbed) -> dict[str, Any]:
    """What a single-stream test on layer 2 gets beside a transfer there; and the transfers' reports."""
    pin_measured(bed, "al2s")
    pin(bed.switches.ofctl, NETWORK, "al2s", Traffic(MU.host, OSU.host))
    ports = count(6001)

    def beside(streams: int, size: int) -> dict[str, Any]:
        transfer = start_transfer(bed, streams, size, next(ports))
        tested = goodput(bed, ("mu-dtn", AT_MU["al2s"]), ("osu-dtn", AT_OSU["al2s"]))
        return {"test": tested, "size": size, **finish_transfer(transfer)}

    # Where the machine holds transfers up, they leave a test more than their share.
    many = partial(beside, CONTENDING_STREAMS, 70_000_000), lambda found: found["test"] < 5.7
    one = partial(beside, 1, 40_000_000), lambda found: found["test"] > 10
    return {str(CONTENDING_STREAMS): undisturbed(*many), "1": undisturbed(*one)}


def points_and_cross_traffic(bed: Testbed) -> dict[str, Any]:
    """The points answer on the management network with the certificate that the configuration pins."""
    with measurement_points(bed) as points:
        path = bed.folder / "network.yaml"
        contacts = {dtn.host: contact(dtn, points.certificates[dtn.host]) for dtn in (MU, OSU)}
        path.write_text(configuration(NETWORK, contacts, points.controller))
        read = adon.config.load(path)
        answers = {
            name: http_status(f"{point.url}/", point.verify)
            for name, point in read.measurements.points.items()
        }
    load = CrossTraffic(("mu-dtn", AT_MU["data"]), ("osu-dtn", AT_OSU["data"]), 6001, 30, "udp", 1, 2e6)
    before = received(bed)
    with cross_traffic(bed, load):
        arrived = wait_until(lambda: received(bed) - before > 250_000, 10)
    return {"answers": answers, "arrived": arrived}


def contact(dtn: Dtn, certificate: Path) -> PointContact:
    """How a DTN's point is reached on the management network."""
    assert dtn.management is not None
    node = f"{dtn.management.ip}:{MEASUREMENT_POINT_PORT}"
    return PointContact(f"https://{node}/pscheduler", node, certificate)


def pin_measured(bed: Testbed, path: str) -> None:
    """Keep what is between the measured addresses of a path on it."""
    addresses = (AT_MU[path], AT_OSU[path])
    pin(bed.switches.ofctl, NETWORK, path, Traffic(MU.host, OSU.host, addresses=addresses))


def http_status(url: str, pem: str) -> int:
    """What the URL answers, if its certificate is the one pinned."""
    with urllib.request.urlopen(url, timeout=10, context=ssl.create_default_context(cafile=pem)) as answer:  # noqa: S310
        return int(answer.status)


def goodput(bed: Testbed, source: tuple[str, IPv4Address], destination: tuple[str, IPv4Address]) -> float:
    """Mbit/s of one TCP stream as the receiver counted it, after a second of slow start.

    That ends in a burst of losses, now and then in a time-out that would be a sixth of the whole.
    """
    receiver = bed.host(destination[0]).popen(["iperf3", "-s", "-1", "-B", str(destination[1])], stdout=-3)
    wait_until(lambda: bed.host(destination[0]).run("ss", "-Hltn", "sport = :5201") != "", 5)
    argv = [
        "iperf3",
        "-J",
        "-c",
        str(destination[1]),
        "-B",
        str(source[1]),
        "-O",
        "1",
        "-t",
        str(TEST_SECONDS),
    ]
    report = json.loads(bed.host(source[0]).run(*argv, timeout=30))
    receiver.wait()
    return float(report["end"]["sum_received"]["bits_per_second"]) / 1e6


def start_transfer(bed: Testbed, streams: int, size: int, port: int) -> tuple[Any, Any]:
    """Receiver at OSU and sender at MU, running."""
    there, here = (Transfer(str(side["data"]), (port,), streams) for side in (AT_OSU, AT_MU))
    receiver = bed.host("osu-dtn").popen(arguments("receive", there), stdout=subprocess.PIPE, text=True)
    sender = bed.host("mu-dtn").popen(
        arguments("send", here, str(AT_OSU["data"]), size), stdout=subprocess.PIPE, text=True
    )
    sender.stdout.readline()  # its first progress: all streams are there
    return receiver, sender


def finish_transfer(transfer: tuple[Any, Any]) -> dict[str, Any]:
    """The last line that each side printed."""
    receiver, sender = transfer
    lines = [side.communicate()[0].splitlines()[-1] for side in (receiver, sender)]
    return {"received": json.loads(lines[0]), "sent": json.loads(lines[1])}


def packets(bed: Testbed, switch: str) -> int:
    """Packets that the switch's rules have counted."""
    return sum(int(n) for n in re.findall(r"n_packets=(\d+)", bed.dump_flows(switch)))


def frames(bed: Testbed, switch: str, port: str) -> int:
    """Frames that a port of a switch has received."""
    counters = bed.switches.ofctl("--names", "dump-ports", switch, port)
    return int(re.search(r"rx pkts=(\d+)", counters)[1])  # type: ignore[index]


def received(bed: Testbed) -> int:
    """Bytes that OSU's DTN has received on its data interface."""
    link = json.loads(bed.host("osu-dtn").run("ip", "-s", "-j", "link", "show", "osu-dtn-data"))
    return int(link[0]["stats64"]["rx"]["bytes"])
