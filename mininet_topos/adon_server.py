"""``adon serve`` in a testbed: started, stopped, killed, and started again with its data.

On the host, browsers outside reach its dashboard through :func:`relay`: a socket belongs to the network
namespace in which it was opened, so one that was opened outside is handed down.
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
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

from mininet.topo import Topo

from adon.client import Client
from adon.errors import Unavailable
from mininet_topos.commands import wait_until
from mininet_topos.isolation import WEB_SOCKET
from mininet_topos.plain_network import read_plain_topo
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
    """The first ping that a rule of ADON's forwarded.

    :param rtt: seconds.
    :param rule: in the edge, as ``ovs-ofctl`` prints it.
    """

    path: str
    host: str
    source: str
    destination: str
    rtt: float
    edge: str
    rule: str


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
        """Whether its process runs."""
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
        serve = [
            sys.executable,
            "-m",
            "apps.cli.main",
            "serve",
            "--config",
            str(self.folder / "network.yaml"),
        ]
        serve += ["--data", str(self.folder / "data"), "--admin-token-file", str(self.folder / ADMIN_TOKEN)]
        with (self.folder / LOG).open("ab") as log:
            self.process = subprocess.Popen(
                serve,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # a Ctrl-C is for the program that started it
            )

    def wait_ready(self) -> Client:
        """Wait until it answers and return its administrator's client.

        :raises Unavailable: if it ends or does not answer, with the end of its log.
        """
        token = self.folder / ADMIN_TOKEN
        wait_until(lambda: token.exists() or not self.is_running, READY_TIMEOUT)
        if token.exists():
            client = self.client()
            wait_until(lambda: client.ready() or not self.is_running, READY_TIMEOUT)
            if client.ready():
                return client
        raise Unavailable(f"adon serve is not ready: {self.last_words}", code="not-ready")

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
                with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
                    out.write(f"{made.secret}\n")

    def first_ping(self) -> Ping:
        """Ping over a path, as soon as ADON has installed the rule that forwards it.

        :raises Unavailable: if no ping is answered in time, or no path is measured.
        """
        way = _way_of(self.testbed.topo)
        deadline = time.monotonic() + FIRST_PING_TIMEOUT
        while time.monotonic() < deadline:
            found = self._ping(way)
            if found is not None:
                return found
            time.sleep(PING_INTERVAL)
        raise Unavailable(f"no ping went through a rule of ADON's within {FIRST_PING_TIMEOUT:g} s")

    def _ping(self, way: _Way) -> Ping | None:
        rule = _find_rule(self.testbed.dump_flows(way.edge), way.rule)
        if rule is None:
            return None
        argv = ["ping", "-n", "-c", "1", "-W", "2", "-I", way.source, way.destination]
        with self.testbed.popen(way.host, argv, stdout=subprocess.PIPE, text=True) as ping:
            output, _ = ping.communicate()
        answered = re.search(r"time=([\d.]+) ms", output)
        if answered is None:
            return None
        return Ping(way.path, way.host, way.source, way.destination, float(answered[1]) / 1e3, way.edge, rule)

    def stop(self) -> None:
        """Ask it to end, and wait until it has ended."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash does."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        process.send_signal(number)
        try:
            process.wait(STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@dataclass(frozen=True, slots=True)
class _Way:
    """Where the first ping goes.

    :param rule: words of the rule that it needs.
    """

    path: str
    host: str
    source: str
    destination: str
    edge: str
    rule: tuple[str, ...]


def _way_of(topo: Topo) -> _Way:
    """The first measured path of campuses; between two switches of a plain network."""
    if isinstance(topo, CampusTopo):
        path = next((path for path in topo.paths.values() if path.addresses), None)
        if path is None:
            raise Unavailable("no path of this topology is measured, so ADON installs no rule by itself")
        campus = topo.campuses[path.campuses[0]]
        source, destination = (path.addresses[name] for name in path.campuses)
        words = (f"nw_src={source}", f"nw_dst={destination}")
        return _Way(path.name, campus.measuring, source, destination, campus.edge, words)
    network = read_plain_topo(topo)
    edge, other = network.edges[:2]
    host, its = next(iter(network.hosts_of(edge).items()))
    far = next(iter(network.hosts_of(other).values()))
    return _Way("normal forwarding", host, its.address, far.address, edge, ("actions=NORMAL",))


def _find_rule(flows: str, wanted: tuple[str, ...]) -> str | None:
    """Return the rule of ADON's with these words among the rules of a switch."""
    for line in flows.splitlines():
        words = re.split(r"[\s,]+", line)
        if _RULE_OF_ADON.search(line) and all(word in words for word in wanted):
            return line.strip()
    return None


@contextmanager
def prepare_server(testbed: Testbed, configuration: str, folder: Path) -> Iterator[AdonServer]:
    """Prepare an ADON with this configuration, not started yet; it is stopped when the context ends.

    :param configuration: the text of its file.
    :param folder: made if it is not there; an ADON that was there before continues with its data.
    """
    folder.mkdir(exist_ok=True)
    (folder / "network.yaml").write_text(configuration)
    outside = os.environ.get(WEB_SOCKET)
    web = None if outside is None else socket.socket(fileno=os.dup(int(outside)))
    with nullcontext() if web is None else web, _relay(web) as dashboard:
        server = AdonServer(testbed, folder, dashboard)
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def _relay(web: socket.socket | None) -> Iterator[str | None]:
    """The URL of the dashboard outside."""
    if web is None:
        yield None
        return
    with relay(web, (LOCALHOST, WEB_PORT)):
        yield f"http://{LOCALHOST}:{web.getsockname()[1]}"


@contextmanager
def relay(outside: socket.socket, inside: tuple[str, int]) -> Iterator[None]:
    """Pass each connection to a socket on to an address, both ways, while the context lasts.

    :param outside: listening; it stays open.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="web relay", daemon=True)
    thread.start()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            onward, back = await asyncio.open_connection(*inside)
        except OSError:  # ADON does not run now
            writer.close()
            return
        await asyncio.gather(_copy(reader, back), _copy(onward, writer))

    async def end() -> None:
        server.close()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    starting = asyncio.start_server(connect, sock=outside.dup())
    server = asyncio.run_coroutine_threadsafe(starting, loop).result()
    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(end(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()
