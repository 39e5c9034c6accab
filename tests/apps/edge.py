"""Two campus edges on a private Open vSwitch, and the real controller process in front of them.

The userspace data path with dummy ports: no root, no interface, nothing outside a folder and loopback.
Packets are put in with ``netdev-dummy/receive``.  Every process is a child of the test's, and dies with it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import yaml
from requests.adapters import HTTPAdapter

from adon.store.schema import make_database
from apps.link import LinkClient
from measurement.model import PathKey, to_json
from tests.ports import free_port
from tests.support.factories import make_measurement

SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
NETWORK = Path(__file__).parents[1] / "data" / "network.yaml"
ROOT = Path(__file__).parents[2]
PATIENCE_S = 180.0
DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL")

BRIDGES = {"mu-edge": "0000000000000a01", "osu-edge": "0000000000000a02"}
LINKS = ("dtn", "al2s", "rtr")

TEMPLATE = {
    "name": "test-bulk",
    "title": "Bulk transfer",
    "description": "Moves at once: for tests.",
    "qspec": {"throughput": {"min": "1 Mbps"}},
    "rspec": {"bandwidth_ceiling": "100 Mbps"},
    "weights": {"throughput": 1.0},
    "tables": {"throughput": {"points": [["1 Mbps", 1], ["100 Mbps", 10]]}},
    "priority": 500,
    "selection": {"patience": 1, "min_dwell": "0 s", "switch_margin": 0, "idle_timeout": "1 h"},
}
"""Its flows end by command only: most tests send no packets, and a busy machine takes its time."""


def eventually(condition: Callable[[], Any], what: str = "", patience: float = PATIENCE_S) -> Any:
    """Wait until the condition is true, and return what it said."""
    deadline = time.monotonic() + patience
    while not (found := condition()):
        assert time.monotonic() < deadline, what or "it did not happen"
        time.sleep(0.06)  # slower than the web side's limit of what one user may ask
    return found


class Switches:
    """A private Open vSwitch; bridges are added by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {**os.environ, "OVS_RUNDIR": str(folder), "OVS_LOGDIR": str(folder)}
        self._database = f"unix:{folder}/db.sock"
        self.daemon: subprocess.Popen[bytes] | None = None

    @contextmanager
    def running(self) -> Iterator[None]:
        for tool in ("ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl", "setpriv"):
            assert shutil.which(tool), f"{tool} is not installed: run scripts/setup.sh"
        self.run("ovsdb-tool", "create", str(self.folder / "conf.db"), str(SCHEMA))
        with ExitStack() as stack:
            server = self.start(
                "ovsdb-server",
                str(self.folder / "conf.db"),
                f"--remote=p{self._database}",
                f"--unixctl={self.folder}/db.ctl",
            )
            stack.callback(end, server)
            eventually((self.folder / "db.sock").exists, "the database did not start")
            self.vsctl("--no-wait", "init")
            self.start_daemon()
            stack.callback(self.stop_daemon)
            yield

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{Path(command[0]).name}.out").open("ab") as output:
            return subprocess.Popen(
                [*DIES_WITH_US, *command],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def start_daemon(self) -> None:
        control = self.folder / "vs.ctl"
        self.daemon = self.start(
            "ovs-vswitchd", self._database, "--enable-dummy", "--disable-system", f"--unixctl={control}"
        )
        eventually(control.exists, "ovs-vswitchd did not start")
        for bridge in self.vsctl("list-br").split():
            eventually((self.folder / f"{bridge}.mgmt").exists, f"{bridge} cannot be asked yet")

    def stop_daemon(self) -> None:
        if self.daemon is not None:
            end(self.daemon)
            (self.folder / "vs.ctl").unlink(missing_ok=True)
            self.daemon = None

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stderr}"
        return done.stdout

    def vsctl(self, *words: str) -> str:
        return self.run("ovs-vsctl", f"--db={self._database}", *words)

    def appctl(self, *words: str) -> str:
        return self.run("ovs-appctl", "-t", str(self.folder / "vs.ctl"), *words)

    def ofctl(self, command: str, bridge: str, *words: str) -> str:
        target = f"unix:{self.folder}/{bridge}.mgmt"
        return self.run("ovs-ofctl", "-O", "OpenFlow13", command, target, *words)

    def add_bridge(self, name: str, dpid: str, controller: int, ports: tuple[str, ...]) -> None:
        words = ["add-br", name, "--", "set", "Bridge", name, "datapath_type=dummy", "fail_mode=secure"]
        words += ["protocols=OpenFlow13", f"other-config:datapath-id={dpid}"]
        for number, port in enumerate(ports, 1):
            words += ["--", "add-port", name, port]
            words += ["--", "set", "Interface", port, "type=dummy", f"ofport_request={number}"]
        self.vsctl(*words)
        self.connect(name, controller)
        self.ofctl("add-flow", name, "priority=0,actions=NORMAL")

    def connect(self, bridge: str, *ports: int) -> None:
        """Name a bridge's controllers, by their ports on loopback."""
        self.vsctl("set-controller", bridge, *(f"tcp:127.0.0.1:{port}" for port in ports))
        for found in self.vsctl("get", "Bridge", bridge, "controller").strip("[] \n").split(", "):
            self.vsctl("set", "Controller", found, "connection_mode=out-of-band")

    def hurry(self) -> None:
        """Let the bridges, which are connected now, look for a lost controller every second.

        Open vSwitch 3.1 takes ``max_backoff`` to heart only when it changes while the controller is
        connected; set before, it stays at 8 seconds.
        """
        for bridge in BRIDGES:
            self.vsctl("set", "Controller", bridge, "max_backoff=1000")

    def rules(self, bridge: str, *, ours: bool = True) -> list[str]:
        """What ``ovs-ofctl dump-flows`` shows, a line per rule."""
        words = ("cookie=0xad00000000000000/0xff00000000000000",) if ours else ()
        return [
            line.strip()
            for line in self.ofctl("dump-flows", bridge, *words).splitlines()
            if "cookie=" in line
        ]


def end(process: subprocess.Popen[Any]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def write_configuration(folder: Path, port: int, **policy: object) -> Path:
    """The example network, listening on this port, with a policy that does not wait."""
    document = yaml.safe_load(NETWORK.read_text())
    document["controller"] = {"openflow_host": "127.0.0.1", "openflow_port": port, "web_port": free_port()}
    for point in document["measurements"]["points"].values():
        point["url"] = "http://127.0.0.1:9/pscheduler"  # nobody there: nothing leaves this machine
    document["policy"] |= {
        "counters_period": "500 ms",
        "consistency_period": "1 s",
        "drain": "50 ms",
        **policy,
    }
    path = folder / "network.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


class PatientClient(LinkClient):
    """A client whose calls wait as long as a controller on a busy machine needs."""

    def call(self, kind: str, payload: Mapping[str, Any], timeout: float = PATIENCE_S) -> dict[str, Any]:
        return super().call(kind, payload, timeout)


class Controller:
    """The real process: ``python -m apps.campus_edge``."""

    def __init__(self, folder: Path, **policy: object) -> None:
        self.folder = folder
        self.port = free_port()
        self.config = write_configuration(folder, self.port, **policy)
        self.log = folder / "controller.log"
        self.url = f"sqlite:///{folder / 'state.db'}"
        make_database(self.url)
        self.process: subprocess.Popen[bytes] | None = None
        self._number = 0

    def start(self, *, program: tuple[str, ...] = ("-m", "apps.campus_edge")) -> subprocess.Popen[bytes]:
        command = [sys.executable, *program, "--config", str(self.config), "--data", str(self.folder)]
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [*DIES_WITH_US, *command], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
        return self.process

    def stop(self) -> None:
        if self.process is not None:
            end(self.process)
            self.process = None

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        self.process = None

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def said(self, text: str) -> int:
        """How many lines of the log hold this text."""
        return sum(text in line for line in self.log.read_text().splitlines()) if self.log.exists() else 0

    @contextmanager
    def client(self, role: str = "web") -> Iterator[LinkClient]:
        client = PatientClient(self.folder / "controller.sock", role)
        eventually(lambda: client.connected, "the controller does not serve its socket")
        try:
            yield client
        finally:
            client.close()


def measured(path: str, mbps: float, at: float | None = None) -> Mapping[str, Any]:
    """A throughput result that has just come in, mu to osu, as the collector sends it."""
    now = time.time() if at is None else at
    value = make_measurement(
        key=PathKey(path, "mu", "osu"), value=mbps * 1e6, observed_at=now, source=f"run-{now}"
    )
    return to_json(value)


@contextmanager
def both_edges(folder: Path, controller: int) -> Iterator[Switches]:
    """Open vSwitch with the bridges of the example network, which look for their controller."""
    ovs = folder / "ovs"
    ovs.mkdir()
    switches = Switches(ovs)
    with switches.running():
        for name, dpid in BRIDGES.items():
            switches.add_bridge(name, dpid, controller, tuple(f"{name}-{link}" for link in LINKS))
        yield switches


LEASE = "5 s"
"""What a machine that is busy with other tests may hold a process up for is less."""


class Member(Controller):
    """One of several controllers: a folder and a port of its own, a database for all."""

    def __init__(self, folder: Path, name: str, url: str | None) -> None:  # not the base's: no SQLite
        self.folder = folder / name
        self.folder.mkdir()
        self.name, self.port = name, free_port()
        self.config = write_configuration(self.folder, self.port)
        self.log = self.folder / "controller.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.url = f"sqlite:///{self.folder / 'state.db'}" if url is None else url
        if url is None:
            make_database(self.url)
        else:
            self.configure(ha={"name": name, "lease": LEASE})

    def configure(self, **controller: Any) -> None:
        document = yaml.safe_load(self.config.read_text())
        document["controller"] |= controller
        self.config.write_text(yaml.safe_dump(document))

    def start(self, *, program: tuple[str, ...] = ("-m", "apps.campus_edge")) -> subprocess.Popen[bytes]:
        command = [sys.executable, *program, "--config", str(self.config), "--data", str(self.folder)]
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [*DIES_WITH_US, *command, "--store", self.url],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
        return self.process

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def ended(self) -> int:
        assert self.process is not None
        return self.process.wait(60)

    def active(self) -> None:
        eventually(lambda: self.said("event=ready"), f"{self.name} did not become active")

    def uses_both(self) -> None:
        eventually(lambda: self.said("code=switch-connected") == 2, f"{self.name} does not use the switches")


class SourceAddress(HTTPAdapter):
    """Asks from another address of this machine."""

    def __init__(self, address: str) -> None:
        self._address = address
        super().__init__()

    def init_poolmanager(self, *args: Any, **more: Any) -> None:
        super().init_poolmanager(*args, **more, source_address=(self._address, 0))
