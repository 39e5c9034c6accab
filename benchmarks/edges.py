"""Two campus edges on a private Open vSwitch with dummy ports, and the real controller process.

The userspace data path with dummy ports needs no root and no interface; nothing outside a folder and loopback
is touched.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from adon.store.schema import make_database
from apps.link import LinkClient
from measurement.model import Measurement, Metric, PathKey, to_json
from mininet_topos.commands import wait_until
from mininet_topos.openvswitch import OpenVSwitch, open_vswitch

NETWORK = Path(__file__).parent / "network.yaml"
ROOT = Path(__file__).parents[1]
DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL")
PATIENCE_S = 180.0
BRIDGES = {"mu-edge": "0000000000000a01", "osu-edge": "0000000000000a02"}
LINKS = ("dtn", "al2s", "rtr")
TEMPLATE: Mapping[str, Any] = {
    "name": "test-bulk",
    "title": "Bulk transfer",
    "qspec": {"throughput": {"min": "1 Mbps"}},
    "rspec": {"bandwidth_ceiling": "100 Mbps"},
    "weights": {"throughput": 1.0},
    "tables": {"throughput": {"points": [["1 Mbps", 1], ["100 Mbps", 10]]}},
    "priority": 500,
    "selection": {"patience": 1, "min_dwell": "0 s", "switch_margin": 0, "idle_timeout": "60 s"},
}
"""One that moves a flow at once."""


def eventually(condition: Callable[[], bool], missing: str, patience: float = PATIENCE_S) -> None:
    """Wait until a condition holds.

    :raises TimeoutError: with ``missing``, if it does not.
    """
    if not wait_until(condition, patience):
        raise TimeoutError(missing)


def end(process: subprocess.Popen[Any]) -> None:
    """End a process, by SIGKILL if it takes too long."""
    process.terminate()
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def free_port() -> int:
    """A TCP port of loopback that is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Controller:
    """A controller process with the network of :data:`NETWORK`, in a folder of its own."""

    def __init__(self, folder: Path, **policy: object) -> None:
        self.folder, self.port = folder, free_port()
        self.config, self.log = folder / "network.yaml", folder / "controller.log"
        document = yaml.safe_load(NETWORK.read_text())
        web = {"web_port": free_port()}
        document["controller"] = {"openflow_host": "127.0.0.1", "openflow_port": self.port, **web}
        often = {"counters_period": "500 ms", "consistency_period": "1 s", "drain": "50 ms"}
        document["policy"] |= {**often, **policy}
        self.config.write_text(yaml.safe_dump(document))
        make_database(f"sqlite:///{folder / 'state.db'}")

    @contextmanager
    def running(self, *program: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run a program with this configuration and folder."""
        command = [*DIES_WITH_US, sys.executable, *program]
        command += ["--config", str(self.config), "--data", str(self.folder)]
        with self.log.open("ab") as output:
            process = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        try:
            yield process
        finally:
            end(process)

    def said(self, text: str) -> int:
        """How many lines of the log hold this text."""
        return sum(text in line for line in self.log.read_text().splitlines()) if self.log.exists() else 0

    @contextmanager
    def client(self, role: str) -> Iterator[LinkClient]:
        """A connection to the process, once it takes connections."""
        client = LinkClient(self.folder / "controller.sock", role)
        eventually(lambda: client.connected, "the controller does not serve its socket")
        try:
            yield client
        finally:
            client.close()


def measured(path: str, mbps: float) -> Mapping[str, Any]:
    """A throughput result that has just come in, mu to osu, as the collector sends it."""
    now, key = time.time(), PathKey(path, "mu", "osu")
    run, streams = f"run-{now}", {"streams": 1}
    return to_json(Measurement(key, Metric.THROUGHPUT, mbps * 1e6, now - 5, now, run, "iperf3", streams))


def add_bridge(switch: OpenVSwitch, name: str, dpid: str, controller: int, ports: Sequence[str]) -> None:
    """Add an edge with dummy ports, and connect it to the controller at this port of loopback."""
    words = ["add-br", name, "--", "set", "Bridge", name, "datapath_type=dummy", "fail_mode=secure"]
    words += ["protocols=OpenFlow13", f"other-config:datapath-id={dpid}"]
    for number, port in enumerate(ports, 1):
        words += ["--", "add-port", name, port]
        words += ["--", "set", "Interface", port, "type=dummy", f"ofport_request={number}"]
    switch.vsctl(*words)
    switch.vsctl("set-controller", name, f"tcp:127.0.0.1:{controller}")
    switch.vsctl("set", "Controller", name, "connection_mode=out-of-band")
    switch.ofctl("add-flow", name, "priority=0,actions=NORMAL")


@contextmanager
def both_edges(folder: Path, controller: int) -> Iterator[OpenVSwitch]:
    """Open vSwitch with the bridges of the network, which look for their controller."""
    with open_vswitch(folder / "ovs", dummy=True) as switch:
        for name, dpid in BRIDGES.items():
            add_bridge(switch, name, dpid, controller, [f"{name}-{link}" for link in LINKS])
        yield switch
