"""Inside a network namespace of its own: one bridge, one generator, and controllers by turns.

``python -m benchmarks.setups_inside FOLDER ROUNDS SEED``; one JSON line on standard output.  Each frame
begins a new UDP connection, so each needs a set-up.  *Rate*: so many under way at once, as many set-ups as
come through in a time.  *First packet*: one at a time, from the sender's socket to the receiver's.

A set-up counts when its frame arrives; how many rules the switch has at the end says whether each also left
one.
"""

from __future__ import annotations

import json
import os
import random
import select
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from benchmarks.edges import TEMPLATE, Controller, free_port
from benchmarks.edges import measured as result
from mininet_topos.openvswitch import OpenVSwitch, open_vswitch

WINDOW = 64
"""Set-ups under way at once: enough to keep a controller busy, too few to fill a queue."""
RATE_S = 3.0
SINGLES = 300
LOST_AFTER_S = 1.0
BRIDGE, DPID = "mu-edge", "0000000000000a01"
FAR, FAR_DPID = "osu-edge", "0000000000000a02"
A, B = b"\x02\x00\x00\x00\x0a\x0a", b"\x02\x00\x00\x00\x0b\x0a"
ADDRESS_A, ADDRESS_B = b"\x0a\x01\x00\x0a", b"\x0a\x02\x00\x0a"
OURS = "adon"
POLLED = "adon, 200 pollers"
POLLERS = 200
TOLD: list[dict[str, float]] = []
"""What the pollers say, per round."""
PROGRAM = ("-m", "apps.campus_edge")
SERVE = ("-c", "from apps.cli.main import main; main()", "serve", "--admin-token-file")
NETWORK: dict[str, Any] = {
    "switches": {"mu-edge": {"dpid": DPID}, "osu-edge": {"dpid": FAR_DPID}},
    "sites": {
        site: {
            "edge": f"{site}-edge",
            "gateway_mac": f"02:00:00:00:{letter}:01",
            "hosts": {
                f"{site}-dtn": {
                    "address": address,
                    "mac": f"02:00:00:00:{letter}:0a",
                    "port": port,
                }
            },
        }
        for site, letter, address, port in (
            ("mu", "0a", "10.1.0.10", "left-port"),
            ("osu", "0b", "10.2.0.10", "far-host-port"),
        )
    },
    "paths": {
        "internet": {
            "layer": 3,
            "capacity": "6.8 Mbps",
            "ends": {
                "mu": {"port": "right-port", "next_hop_mac": "02:00:00:00:0a:01"},
                "osu": {"port": "far-path-port", "next_hop_mac": "02:00:00:00:0b:01"},
            },
        }
    },
}
UNLIMITED = {"packet_ins_per_second": None, "packet_ins_per_port": None}
POLICY = {
    "reactive": [
        {
            "template": "test-bulk",
            "flowspace": [{"protocols": ["udp"], "ports": ["5001-5020"]}],
            "per_minute": 10_000_000,
        }
    ]
}
UDP_AT = 14 + 20
PAYLOAD_AT = UDP_AT + 8


def frame(number: int, size: int = 64) -> bytes:
    """The frame of one connection: its ports and its payload tell its number."""
    source, destination = 1024 + number % 60_000, 5001 + number // 60_000
    length = size - 14
    header = struct.pack("!BBHHHBBH4s4s", 0x45, 0, length, 0, 0, 64, 17, 0, ADDRESS_A, ADDRESS_B)
    total = sum(struct.unpack("!10H", header))
    total = (total >> 16) + (total & 0xFFFF)
    header = header[:10] + struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF) + header[12:]
    udp = struct.pack("!HHHH", source, destination, length - 20, 0)
    return B + A + b"\x08\x00" + header + udp + struct.pack("!I", number).ljust(length - 28, b"\0")


class Generator:
    """A sender and a receiver at two ports of the bridge."""

    def __init__(self) -> None:
        self._sender, self._receiver = (raw(name) for name in ("left", "right"))
        self._next = 0

    def prime(self) -> None:
        """Let a learning switch see where the receiver is."""
        hello = A + B + b"\x08\x00" + frame(0)[14:]
        self._receiver.send(hello)
        time.sleep(0.2)
        self._drain()

    def rate(self, seconds: float, window: int = WINDOW) -> dict[str, float]:
        """Set-ups per second with so many under way."""
        begun = time.monotonic()
        waiting: dict[int, float] = {}
        done = lost = 0
        while (now := time.monotonic()) < begun + seconds:
            while len(waiting) < window:
                waiting[self._send()] = now
            for number in self._arrived(0.05):
                done += waiting.pop(number, None) is not None
            overdue = [number for number, at in waiting.items() if now - at > LOST_AFTER_S]
            lost += len(overdue)
            for number in overdue:
                del waiting[number]
        took = time.monotonic() - begun
        time.sleep(0.2)
        self._drain()
        return {"per_second": done / took, "lost": lost, "done": done}

    def first_packets(self, count: int, pause: Callable[[], float]) -> list[float]:
        """Microseconds from sending the first frame of a connection to its arrival, one at a time."""
        found: list[float] = []
        for _ in range(count):
            time.sleep(pause())
            begun = time.monotonic()
            number = self._send()
            while time.monotonic() < begun + LOST_AFTER_S:
                if number in self._arrived(LOST_AFTER_S):
                    found.append((time.monotonic() - begun) * 1e6)
                    break
        return found

    def _send(self) -> int:
        self._next += 1
        self._sender.send(frame(self._next))
        return self._next

    def _arrived(self, patience: float) -> list[int]:
        if not select.select([self._receiver], [], [], patience)[0]:
            return []
        found: list[int] = []
        while True:
            try:
                data = self._receiver.recv(2048)
            except BlockingIOError:
                return found
            if data[12:14] == b"\x08\x00" and data[26:30] == ADDRESS_A:
                found.append(struct.unpack_from("!I", data, PAYLOAD_AT)[0])

    def _drain(self) -> None:
        while self._arrived(0):
            pass


def raw(interface: str) -> socket.socket:
    """A socket for whole frames of one interface."""
    made = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
    made.bind((interface, 0))
    made.setblocking(False)
    return made


def ip(*words: str) -> None:
    """``ip`` of iproute2."""
    subprocess.run(["ip", *words], check=True)


def build(switch: OpenVSwitch) -> None:
    """The bridge with its two ports, secure, without a rule."""
    ip("link", "set", "lo", "up")
    for name in ("left", "right", "far-host", "far-path"):
        ip("link", "add", name, "type", "veth", "peer", "name", f"{name}-port")
        for end in (name, f"{name}-port"):
            subprocess.run(["sysctl", "-q", "-w", f"net.ipv6.conf.{end}.disable_ipv6=1"], check=True)
            ip("link", "set", end, "up")
    words = ["add-br", BRIDGE, "--", "set", "Bridge", BRIDGE, "datapath_type=netdev", "fail_mode=secure"]
    words += ["protocols=OpenFlow13", f"other-config:datapath-id={DPID}"]
    for number, name in enumerate(("left", "right"), 1):
        words += ["--", "add-port", BRIDGE, f"{name}-port"]
        words += ["--", "set", "Interface", f"{name}-port", f"ofport_request={number}"]
    switch.vsctl(*words)
    words = ["add-br", FAR, "--", "set", "Bridge", FAR, "datapath_type=netdev", "fail_mode=secure"]
    words += ["protocols=OpenFlow13", f"other-config:datapath-id={FAR_DPID}"]
    for name in ("far-host", "far-path"):
        words += ["--", "add-port", FAR, f"{name}-port"]
    switch.vsctl(*words)


@contextmanager
def started(command: list[str], log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """A controller, until the end of the context."""
    with log.open("ab") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env={**os.environ, **environment})
    try:
        yield process
    finally:
        process.terminate()
        process.wait(10)


def connected(switch: OpenVSwitch, port: int) -> None:
    """Give the bridge its controller and wait until it is there."""
    for bridge in (FAR, BRIDGE):
        switch.ofctl("del-flows", bridge)
        switch.vsctl("set-controller", bridge, f"tcp:127.0.0.1:{port}")
        switch.vsctl("set", "Controller", bridge, "connection_mode=out-of-band", "max_backoff=1000")
        deadline = time.monotonic() + 30
        while switch.vsctl("get", "Controller", bridge, "is_connected").strip() != "true":
            if time.monotonic() > deadline:
                raise TimeoutError("the bridge did not connect")
            time.sleep(0.1)
    time.sleep(0.5)


@contextmanager
def testcontroller(folder: Path) -> Iterator[int]:
    """Open vSwitch's own example controller, in C."""
    port = free_port()
    command = ["ovs-testcontroller", "-O", "OpenFlow13", f"ptcp:{port}:127.0.0.1"]
    command += [f"--unixctl={folder}/testcontroller.ctl", "--verbose=off"]
    with started(command, folder / "testcontroller.log"):
        yield port


@contextmanager
def simple_switch(folder: Path) -> Iterator[int]:
    """os-ken's learning switch."""
    port = free_port()
    with started([sys.executable, "-m", "benchmarks.simple_switch", str(port)], folder / "simple.log"):
        yield port


@contextmanager
def ours(folder: Path) -> Iterator[int]:
    """The whole controller process, with one entry of ``policy.reactive``."""
    with configured(folder) as controller, served(controller, PROGRAM):
        yield controller.port


@contextmanager
def polled(folder: Path) -> Iterator[int]:
    """All of ``adon serve``, while many read its paths."""
    with configured(folder) as controller:
        token = controller.folder / "token"
        web = yaml.safe_load(controller.config.read_text())["controller"]["web_port"]
        with served(controller, (*SERVE, str(token))):
            command = [sys.executable, "-m", "benchmarks.pollers", str(web), str(token), str(POLLERS)]
            pollers = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            try:
                yield controller.port
            finally:
                answers, failures, seconds = pollers.communicate(timeout=30)[0].split()
                TOLD.append({"answers": int(answers), "failures": int(failures), "seconds": float(seconds)})


@contextmanager
def configured(folder: Path) -> Iterator[Controller]:
    """A controller with a data folder of its own and the network of this benchmark."""
    with tempfile.TemporaryDirectory(dir=folder) as data:
        controller = Controller(Path(data))
        document = yaml.safe_load(controller.config.read_text())
        document |= NETWORK
        document["policy"] = POLICY
        document["controller"]["connections"] = UNLIMITED
        document["controller"]["web_limits"] = {
            kind: {"requests": 10 * POLLERS, "per": "5 s"} for kind in ("reads", "addresses")
        }
        controller.config.write_text(yaml.safe_dump(document))
        yield controller


@contextmanager
def served(controller: Controller, program: tuple[str, ...]) -> Iterator[None]:
    """The running controller, which knows a template and a result of the path."""
    with controller.running(*program), controller.client("collector") as link:
        template = {**TEMPLATE, "protocol": "udp"}
        link.call("template.add", {"template": template, "author": "benchmark"})
        link.send("measurement", result("internet", 5))
        yield


def opted_in(switch: OpenVSwitch) -> None:
    """Wait until the switch shows unannounced packets."""
    deadline = time.monotonic() + 30
    while "cookie=0xad05" not in switch.ofctl("dump-flows", BRIDGE):
        if time.monotonic() > deadline:
            raise TimeoutError("no reactive rule came")
        time.sleep(0.1)


CONTROLLERS = {
    OURS: ours,
    POLLED: polled,
    "ovs-testcontroller": testcontroller,
    "os-ken simple switch": simple_switch,
}


def rules(switch: OpenVSwitch) -> int:
    """How many rules for UDP the switch has."""
    return switch.ofctl("dump-flows", BRIDGE, "udp").count("cookie=")


def measured(switch: OpenVSwitch, generator: Generator, chance: random.Random) -> dict[str, Any]:
    """One round with one controller."""
    generator.prime()
    generator.rate(0.3)  # warm
    # While there are few rules: with tens of thousands Open vSwitch itself takes longer.
    first = generator.first_packets(SINGLES, lambda: chance.uniform(0.002, 0.006))
    before, spent = rules(switch), processor_seconds()
    found: dict[str, Any] = generator.rate(RATE_S)
    spent = {who: seconds - spent.get(who, 0.0) for who, seconds in processor_seconds().items()}
    found["rules"] = rules(switch) - before
    found["cpu_us"] = {who: seconds / max(1, found["done"]) * 1e6 for who, seconds in spent.items()}
    return {**found, "first_us": first}


def processor_seconds() -> dict[str, float]:
    """Processor time so far of the generator, of Open vSwitch, and of all others: the controller's."""
    found = {"generator": 0.0, "open vswitch": 0.0, "controller": 0.0}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = stat.read_text().split("(", 1)[1].rsplit(")", 1)
        except FileNotFoundError:
            continue  # it has just ended
        who = "open vswitch" if name.startswith("ovs-v") else "controller"
        who = "generator" if stat.parent.name == str(os.getpid()) else who
        found[who] += sum(map(int, rest.split()[11:13])) / os.sysconf("SC_CLK_TCK")
    return found


def main() -> None:
    """All rounds; controllers take turns within each."""
    folder, rounds, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    chance = random.Random(seed)
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in CONTROLLERS}
    with open_vswitch(folder / "ovs") as switch:
        build(switch)
        generator = Generator()
        for _ in range(rounds):
            for name in chance.sample(list(CONTROLLERS), len(CONTROLLERS)):
                with CONTROLLERS[name](folder) as port:
                    connected(switch, port)
                    if name in (OURS, POLLED):
                        opted_in(switch)
                    results[name].append(measured(switch, generator, chance))
                    for bridge in (BRIDGE, FAR):
                        switch.vsctl("del-controller", bridge)
    print(json.dumps({"ways": results, "pollers": TOLD}))


if __name__ == "__main__":
    main()
