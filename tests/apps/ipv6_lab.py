"""An IPv6 flow with real packets between two edges, moved from layer 2 to layer 3 and back.

``python -m tests.apps.ipv6_lab FOLDER PROTOCOL`` in namespaces of its own (:func:`benchmarks.lab.isolated`)
prints one line of JSON: what was sent and what arrived, and by which path the packets of each stage went.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import yaml

from benchmarks.lab import MACS, Lab, Namespace, lab
from tests.apps.edge import TEMPLATE, Controller, eventually, measured

PORT, RATE, STAGE_S = 5001, 500, 4.0
"""Packets/s, and seconds of a stage: more than twice what is watched of it, as a move may take a while."""
PREFIX = {"mu": "2001:db8:a", "osu": "2001:db8:b"}

SENDER = """
import socket, sys, time
address, protocol = sys.argv[1], sys.argv[5]
port, rate, seconds = int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
kind = socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM
out = socket.socket(socket.AF_INET6, kind)
out.connect((address, port))
started, count = time.monotonic(), int(rate * seconds)
for number in range(count):
    time.sleep(max(0.0, started + number / rate - time.monotonic()))
    out.send(number.to_bytes(8, "big") + bytes(492))
if protocol == "tcp":
    out.shutdown(socket.SHUT_WR)
    out.recv(1)
print(count)
"""
RECEIVER = """
import socket, sys
port, protocol = int(sys.argv[1]), sys.argv[2]
kind = socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM
found = socket.socket(socket.AF_INET6, kind)
found.setsockopt(socket.SOL_SOCKET, 33, 1 << 22)  # SO_RCVBUFFORCE: a busy machine reads late
found.bind(("::", port))
if protocol == "tcp":
    found.listen()
print("ready", flush=True)
if protocol == "tcp":
    found, _ = found.accept()
found.settimeout(6)
size = 0
try:
    while data := found.recv(65536):
        size += len(data)
except TimeoutError:
    pass
print(size // 500)
"""


def six(network: Lab) -> None:
    """Give hosts and router IPv6 addresses and neighbours; what the lab has is IPv4 only."""
    router = network.namespaces["router"]
    for site, prefix in PREFIX.items():
        host = network.namespaces[f"{site}-dtn"]
        join(host, f"{site}-eth", f"{prefix}::10", f"{prefix}::1", MACS[f"{site}-rtr"])
        join(router, f"{site}-rtr", f"{prefix}::1", f"{prefix}::10", MACS[f"{site}-dtn"])
        host.run("ip", "-6", "route", "add", "default", "via", f"{prefix}::1")
    router.run("sysctl", "-q", "-w", "net.ipv6.conf.all.forwarding=1")


def join(inside: Namespace, interface: str, address: str, other: str, mac: str) -> None:
    """An address on an interface, and its neighbour, told rather than asked for."""
    inside.run("sysctl", "-q", "-w", f"net.ipv6.conf.{interface}.disable_ipv6=0")
    inside.run("ip", "-6", "address", "add", f"{address}/64", "dev", interface, "nodad")
    neighbour = ("ip", "-6", "neighbour", "replace", other, "lladdr", mac, "dev", interface)
    inside.run(*neighbour, "nud", "permanent")


def ingress(network: Lab) -> tuple[str, int]:
    """Port and packets of the flow's IPv6 rule out of the first edge."""
    for line in network.rules("mu-edge"):
        if "cookie=0xad10" in line and f"ipv6_dst={PREFIX['osu']}::10" in line:
            counted = re.search(r"n_packets=(\d+)", line)
            out = re.search(r"output:\"?([\w-]+)", line)
            if counted is not None and out is not None:
                return out[1], int(counted[1])
    return "", 0


def run(folder: Path, protocol: str) -> dict[str, Any]:
    controller = Controller(folder)
    document = yaml.safe_load(controller.config.read_text())
    for site, prefix in PREFIX.items():
        document["sites"][site]["hosts"][f"{site}-dtn"]["address6"] = f"{prefix}::10"
    document["policy"]["drain"] = "200 ms"
    controller.config.write_text(yaml.safe_dump(document))
    with lab(folder) as network:
        six(network)
        network.connect(controller.port)
        controller.start()
        try:
            return moved(network, controller, protocol)
        finally:
            controller.stop()


def moved(network: Lab, controller: Controller, protocol: str) -> dict[str, Any]:
    eventually(lambda: controller.said("code=switch-connected") == 2, "the switches did not connect")
    with controller.client() as link:
        template = {**TEMPLATE, "protocol": protocol}
        link.call("template.add", {"template": template, "author": "eve"})
        link.send("measurement", measured("al2s", 50))
        link.send("measurement", measured("internet", 5))
        wish = {"source": "mu-dtn", "destination": "osu-dtn", "ports": [PORT], "size": "10 MB"}
        link.call("flow.submit", {"request": {**wish, "template": "test-bulk"}, "requester": "ann"})
        eventually(lambda: ingress(network)[0], "the flow has no rule")
        inside = network.namespaces
        receiver = inside["osu-dtn"].popen(
            sys.executable, "-c", RECEIVER, str(PORT), protocol, stdout=subprocess.PIPE, text=True
        )
        assert receiver.stdout is not None
        receiver.stdout.readline()
        target = f"{PREFIX['osu']}::10"
        words = (target, str(PORT), str(RATE), str(3 * STAGE_S), protocol)
        sender = inside["mu-dtn"].popen(
            sys.executable, "-c", SENDER, *words, stdout=subprocess.PIPE, text=True
        )
        stages = [stage(network)]
        for rate in (2, 50):
            link.send("measurement", measured("al2s", rate))
            leave(network, stages[-1][0])
            stages.append(stage(network))
        sent = int(sender.communicate(timeout=60)[0])
        received = int(receiver.communicate(timeout=60)[0])
    return {"sent": sent, "received": received, "stages": stages}


def leave(network: Lab, port: str) -> None:
    eventually(lambda: ingress(network)[0] != port, "the flow did not move")


def stage(network: Lab) -> tuple[str, int]:
    """Let packets pass for a while: the port they leave by, and how many did."""
    _, before = ingress(network)
    time.sleep(STAGE_S * 0.45)
    port, after = ingress(network)
    return port, after - before


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run(Path(sys.argv[1]), sys.argv[2])))
