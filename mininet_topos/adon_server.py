"""``adon serve`` in a testbed: start, stop, kill, and a new start with the same data.

On the host, browsers outside reach its dashboard through a relay: a socket belongs to the network namespace
in which it was opened, so :func:`~mininet_topos.isolation.run_isolated` opens one outside and passes it on.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from mininet.topo import Topo

from adon.client import Client
from adon.errors import Unavailable
from mininet_topos.commands import stop_process, wait_until
from mininet_topos.isolation import WEB_SOCKET
from mininet_topos.plain_network import read_sites
from mininet_topos.testbed import Testbed
from mininet_topos.topologies.campus_topo import CampusTopo

READY_TIMEOUT = 120.0
STOP_TIMEOUT = 15.0
FIRST_PING_TIMEOUT = 60.0
PING_INTERVAL = 0.2
LOCALHOST, WEB_PORT = "127.0.0.1", 8080
URL = f"http://{LOCALHOST}:{WEB_PORT}"
"""Of the REST API and the dashboard, inside."""
ADMIN_TOKEN, LOG = "admin.token", "adon.log"
USERS: Mapping[str, str] = {
    "researcher": "researcher",
    "engineer": "performance_engineer",
    "operator": "operator",
    "auditor": "auditor",
}
"""Users with their roles: one per role, to see the dashboard as each of them sees it."""
_RULE_OF_ADON = re.compile(r"cookie=0x(?!0,)")


@dataclass(frozen=True, slots=True)
class Ping:
    """A ping that a rule of ADON forwards.

    :param path: name of the path, or of what the rule does.
    :param match: words of the rule.
    :param rule: the rule in the edge, as ``ovs-ofctl`` prints it; empty before the ping.
    :param rtt: seconds; 0 before the ping.
    """

    path: str
    host: str
    source: str
    destination: str
    edge: str
    match: frozenset[str]
    rule: str = ""
    rtt: float = 0.0


@dataclass
class AdonServer:
    """One ADON that controls the edges of a testbed.

    :param folder: its configuration, data, tokens and log.
    :param dashboard: URL of the dashboard outside; None in a guest.
    """

    testbed: Testbed
    folder: Path
    dashboard: str | None
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def is_running(self) -> bool:
        """Return whether its process runs."""
        return self.process is not None and self.process.poll() is None

    @property
    def last_words(self) -> str:
        """The end of its log, in one line."""
        log = self.folder / LOG
        return " | ".join(log.read_text(errors="replace").splitlines()[-3:]) if log.exists() else "no log"

    def require_running(self) -> None:
        """Refuse to continue without its process.

        :raises Unavailable: with the end of its log.
        """
        if not self.is_running:
            raise Unavailable(f"adon serve ended by itself: {self.last_words}", code="not-running")

    def start(self) -> None:
        """Start it without waiting for it."""
        serve = [sys.executable, "-m", "apps.cli.main", "serve"]
        serve += ["--config", str(self.folder / "network.yaml"), "--data", str(self.folder / "data")]
        serve += ["--admin-token-file", str(self.folder / ADMIN_TOKEN)]
        with (self.folder / LOG).open("ab") as log:
            # In a session of its own: a Ctrl-C is for the program that starts it.
            self.process = subprocess.Popen(
                serve, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def wait_ready(self) -> Client:
        """Wait until it answers and return its administrator's client.

        :raises Unavailable: if it ends or does not answer, with the end of its log.
        """
        anonymous = Client.at(URL, None)
        wait_until(lambda: not self.is_running or anonymous.ready(), READY_TIMEOUT)
        if not anonymous.ready():
            raise Unavailable(f"adon serve is not ready: {self.last_words}", code="not-ready")
        return self.client()

    def client(self, user: str = "admin") -> Client:
        """Return a client with the token of a user (:data:`USERS`)."""
        return Client.at(URL, (self.folder / f"{user}.token").read_text().strip())

    def add_users(self) -> None:
        """Add one user per role, each with a token in ``USER.token`` of the folder.

        :raises AdonError: if ADON refuses one.
        """
        administrator = self.client()
        for name, role in USERS.items():
            file = self.folder / f"{name}.token"
            if not file.exists():
                administrator.add_user(name, [role])
                made = administrator.add_token({"owner": name, "label": "testbed", "expires": "30 days"})
                file.touch(0o600, exist_ok=False)
                file.write_text(f"{made.secret}\n")

    def first_ping(self) -> Ping:
        """Ping over a path, as soon as ADON has installed the rule that forwards it.

        :raises Unavailable: if no ping is answered in time, or no path is measured.
        """
        ping = plan_ping(self.testbed.topo)
        deadline = time.monotonic() + FIRST_PING_TIMEOUT
        while time.monotonic() < deadline:
            rule = _find_rule(self.testbed.dump_flows(ping.edge), ping.match)
            rtt = self._measure_rtt(ping) if rule else None
            if rtt is not None:
                return replace(ping, rule=rule, rtt=rtt)
            time.sleep(PING_INTERVAL)
        raise Unavailable(f"no ping went through a rule of ADON's within {FIRST_PING_TIMEOUT:g} s")

    def _measure_rtt(self, ping: Ping) -> float | None:
        argv = ["ping", "-n", "-c", "1", "-W", "2", "-I", ping.source, ping.destination]
        with self.testbed.popen(ping.host, argv, stdout=subprocess.PIPE, text=True) as process:
            output, _ = process.communicate()
        answered = re.search(r"time=([\d.]+) ms", output)
        return None if answered is None else float(answered[1]) / 1e3

    def stop(self) -> None:
        """Ask it to end, and wait until it has ended."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash does."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        if self.process is not None:
            stop_process(self.process, STOP_TIMEOUT, number)
        self.process = None


def plan_ping(topo: Topo) -> Ping:
    """Return the ping to try: over the first measured path, or between two switches of a plain network.

    :raises Unavailable: if no path of campuses is measured.
    """
    if isinstance(topo, CampusTopo):
        path = next((path for path in topo.paths.values() if path.addresses), None)
        if path is None:
            raise Unavailable("no path of this topology is measured, so ADON installs no rule by itself")
        campus = topo.campuses[path.campuses[0]]
        source, destination = (path.addresses[name] for name in path.campuses)
        match = frozenset({f"nw_src={source}", f"nw_dst={destination}"})
        return Ping(path.name, campus.measuring, source, destination, campus.edge, match)
    near, far, *_ = read_sites(topo).values()
    source, its = next(iter(near["hosts"].items()))
    destination = next(iter(far["hosts"].values()))["address"]
    match = frozenset({"actions=NORMAL"})
    return Ping("normal forwarding", source, its["address"], destination, near["edge"], match)


def _find_rule(flows: str, match: frozenset[str]) -> str:
    """Return the rule of ADON with these words among the rules of a switch; empty if there is none."""
    ours = (line.strip() for line in flows.splitlines() if _RULE_OF_ADON.search(line))
    return next((line for line in ours if match <= {*re.split(r"[\s,]+", line)}), "")


@contextmanager
def prepare_server(testbed: Testbed, configuration: str, folder: Path) -> Iterator[AdonServer]:
    """Prepare an ADON with this configuration, not started yet; it is stopped when the context ends.

    :param configuration: the text of its file.
    :param folder: made if it is not there; an ADON that was there before continues with its data.
    """
    folder.mkdir(exist_ok=True)
    (folder / "network.yaml").write_text(configuration)
    server = AdonServer(testbed, folder, start_relay())
    try:
        yield server
    finally:
        server.stop()


@cache
def start_relay() -> str | None:
    """Relay connections of the socket from outside to ADON until this process ends; start once.

    :return: the URL outside; None without a socket.
    """
    if WEB_SOCKET not in os.environ:
        return None
    outside = socket.socket(fileno=int(os.environ[WEB_SOCKET]))
    threading.Thread(target=_relay, args=[outside], name="web relay", daemon=True).start()
    return f"http://{LOCALHOST}:{outside.getsockname()[1]}"


def _relay(outside: socket.socket) -> None:
    while True:
        browser, _ = outside.accept()
        threading.Thread(target=_forward, args=[browser], daemon=True).start()


def _forward(browser: socket.socket) -> None:
    """Copy both ways until both sides have ended; ADON may not run now."""
    with browser, suppress(OSError), socket.create_connection((LOCALHOST, WEB_PORT)) as server:
        back = threading.Thread(target=_copy, args=[server, browser], daemon=True)
        back.start()
        _copy(browser, server)
        back.join()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            sink.sendall(data)
    with suppress(OSError):  # the other way has ended
        sink.shutdown(socket.SHUT_WR)
