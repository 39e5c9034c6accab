"""``adon serve`` in a testbed: start, stop, kill, and restart with the same data.

On the host, browsers outside reach its dashboard through a relay: a socket belongs to the network namespace
in which it was opened, so :func:`~mininet_topos.isolation.run_isolated` opens it outside and passes it on.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from mininet.topo import Topo

from adon.client import Client
from adon.errors import Unavailable
from mininet_topos.commands import read_end, stop_process, wait_until
from mininet_topos.isolation import WEB_SOCKET
from mininet_topos.plain_network import read_sites
from mininet_topos.testbed import Testbed
from mininet_topos.topologies.campus_topo import CampusTopo

READY_TIMEOUT = 120.0
STOP_TIMEOUT = 15.0
FIRST_PING_TIMEOUT = 60
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


@dataclass(frozen=True, slots=True)
class Ping:
    """A ping that a rule of ADON forwards.

    :param path: name of the path, or of what the rule does.
    :param rule: regular expression for the rule in the edge, as ``ovs-ofctl`` prints it.
    """

    path: str
    host: str
    source: str
    destination: str
    edge: str
    rule: str


@dataclass
class AdonServer:
    """``adon serve``, which controls the edges of a testbed.

    :param folder: its configuration, data, tokens and log.
    :param dashboard: URL of the dashboard outside; None in a guest.
    """

    testbed: Testbed
    folder: Path
    dashboard: str | None
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    @property
    def is_running(self) -> bool:
        """Return whether the process runs."""
        return self.process is not None and self.process.poll() is None

    @property
    def last_words(self) -> str:
        """Return the last lines of the log, in one line."""
        return read_end(self.folder / LOG)

    def require_running(self) -> None:
        """Check that the process runs.

        :raises Unavailable: if it has ended, with the last lines of the log.
        """
        if not self.is_running:
            raise Unavailable(f"adon serve ended by itself: {self.last_words}", code="not-running")

    def start(self) -> None:
        """Start the process; :meth:`wait_ready` waits for it."""
        serve = [sys.executable, "-m", "apps.cli.main", "serve"]
        serve += ["--config", str(self.folder / "network.yaml"), "--data", str(self.folder / "data")]
        serve += ["--admin-token-file", str(self.folder / ADMIN_TOKEN)]
        with (self.folder / LOG).open("ab") as log:
            # It has its own session, so that a Ctrl-C reaches only the program that starts it.
            self.process = subprocess.Popen(
                serve, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def wait_ready(self) -> Client:
        """Wait until ADON answers and return the administrator's client.

        :raises Unavailable: if ADON ends or does not answer, with the last lines of the log.
        """
        anonymous = Client.at(URL, None)
        wait_until(lambda: not self.is_running or anonymous.ready(), READY_TIMEOUT)
        if not anonymous.ready():
            raise Unavailable(f"adon serve is not ready: {self.last_words}", code="not-ready")
        return self.client()

    def client(self) -> Client:
        """Return the client of the administrator."""
        return Client.at(URL, (self.folder / ADMIN_TOKEN).read_text().strip())

    def add_users(self) -> None:
        """Add one user per role, each with a token in ``USER.token`` of the folder.

        :raises AdonError: if ADON refuses one.
        """
        administrator = self.client()
        for name, role in USERS.items():
            administrator.add_user(name, [role])
            made = administrator.add_token({"owner": name, "label": "testbed", "expires": "30 days"})
            file = self.folder / f"{name}.token"
            file.touch(0o600, exist_ok=False)
            file.write_text(f"{made.secret}\n")

    def kill(self) -> None:
        """Kill the process, as a crash does."""
        self.stop(signal.SIGKILL)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the process by a signal, and wait until it has ended."""
        if self.process is not None:
            stop_process(self.process, STOP_TIMEOUT, number)
        self.process = None


def first_ping(testbed: Testbed) -> tuple[str, str]:
    """Ping as soon as ADON has installed the rule that forwards it; return the ping and the rule in words.

    :raises Unavailable: if there is no rule or no answer in time, or the topology has no path.
    """
    ping = plan_ping(testbed.topo)

    def find_rules() -> list[str]:
        return re.findall(rf"cookie=0x(?!0,).*{ping.rule}.*", testbed.switches.ofctl("dump-flows", ping.edge))

    if not wait_until(lambda: bool(find_rules()), FIRST_PING_TIMEOUT):
        raise Unavailable(f"ADON installed no rule for {ping.path} within {FIRST_PING_TIMEOUT} s")
    argv = ["ping", "-n", "-c", "1", "-i", "0.2", "-w", str(FIRST_PING_TIMEOUT)]  # until the first answer
    answer = testbed.run(
        ping.host, *argv, "-I", ping.source, ping.destination, timeout=2 * FIRST_PING_TIMEOUT
    )
    times = re.findall(r"time=(.+ ms)", answer)
    words = f"{ping.host} {ping.source} > {ping.destination} over {ping.path}: {times[0]}"
    return words, f"{ping.edge}: {find_rules()[0]}"


def plan_ping(topo: Topo) -> Ping:
    """Return the ping to try: over the first path, or between two switches of a plain network.

    :raises Unavailable: if campuses have no path.
    """
    if isinstance(topo, CampusTopo):
        path = next(iter(topo.paths.values()), None)
        if path is None:
            raise Unavailable("this topology has no path, so ADON installs no rule by itself")
        campus = topo.campuses[path.campuses[0]]
        source, destination = (path.addresses[name] for name in path.campuses)
        rule = f"nw_src={source},nw_dst={destination}[ ,]"
        return Ping(path.name, campus.measuring, source, destination, campus.edge, rule)
    near, far, *_ = read_sites(topo).values()
    host, its = next(iter(near["hosts"].items()))
    destination = next(iter(far["hosts"].values()))["address"]
    return Ping("normal forwarding", host, its["address"], destination, near["edge"], "actions=NORMAL")


@contextmanager
def prepare_server(testbed: Testbed, configuration: str, folder: Path) -> Iterator[AdonServer]:
    """Yield an ADON with this configuration, to be started; stop it when the context ends.

    :param configuration: the text of its file.
    :param folder: created if it is missing; ADON continues with the data in it.
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
    """Start the relay from the socket outside to ADON; it runs once and until this process ends.

    :return: the URL outside; None without a socket.
    """
    if WEB_SOCKET not in os.environ:
        return None
    outside = socket.socket(fileno=int(os.environ[WEB_SOCKET]))
    threading.Thread(target=asyncio.run, args=[_relay(outside)], name="web relay", daemon=True).start()
    return f"http://{LOCALHOST}:{outside.getsockname()[1]}"


async def _relay(outside: socket.socket) -> None:
    server = await asyncio.start_server(_forward, sock=outside)
    await server.serve_forever()


async def _forward(requests: StreamReader, to_browser: StreamWriter) -> None:
    """Copy both ways until both sides have ended; close the connection if ADON does not run."""
    with closing(to_browser), suppress(OSError):
        answers, to_server = await asyncio.open_connection(LOCALHOST, WEB_PORT)
        with closing(to_server):
            await asyncio.gather(_copy(requests, to_server), _copy(answers, to_browser))


async def _copy(source: StreamReader, sink: StreamWriter) -> None:
    while data := await source.read(1 << 16):
        sink.write(data)
        await sink.drain()
    sink.write_eof()
