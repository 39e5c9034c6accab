"""``adon serve`` as systemd starts it: told where to notify, passed a socket that outlives a restart."""

from __future__ import annotations

import os
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.apps.edge import DIES_WITH_US, ROOT, end, write_configuration
from tests.ports import free_port
from tests.support.serve_process import SERVE_PROGRAM

pytestmark = pytest.mark.integration

CREDENTIALS = struct.Struct("3i")
"""pid, uid, gid (unix(7), SCM_CREDENTIALS)."""
PATIENCE_S = 90.0


class Systemd:
    """The manager's end: what it is told and by whom, and the socket that it holds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = write_configuration(folder, free_port())
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self.listener.getsockname()[1])
        self.notified = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notified.bind(str(folder / "notify"))
        self.notified.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.notified.settimeout(PATIENCE_S)

    @contextmanager
    def started(self) -> Iterator[subprocess.Popen[bytes]]:
        told = {"NOTIFY_SOCKET": str(self.folder / "notify"), "WATCHDOG_USEC": "6000000", "LISTEN_FDS": "1"}
        serve = [sys.executable, "-c", SERVE_PROGRAM, str(self.config), str(self.folder / "data")]
        passing = ["bash", "-c", f'exec "$@" 3<&{self.listener.fileno()}', "bash"]
        with (self.folder / "serve.log").open("ab") as log:
            process = subprocess.Popen(
                [*DIES_WITH_US, *passing, *serve],
                env={**os.environ, **told, "NO_PROXY": "*"},
                pass_fds=(self.listener.fileno(),),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            yield process
        finally:
            end(process)

    def hears(self, message: str) -> int:
        """Wait for a message; the process that sent it."""
        while True:
            said, more, _, _ = self.notified.recvmsg(4096, socket.CMSG_SPACE(CREDENTIALS.size))
            if message in said.decode().splitlines():
                return int(CREDENTIALS.unpack(more[0][2])[0])

    def asks(self) -> socket.socket:
        """A request, sent whether or not anybody takes it yet."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        connection.sendall(b"GET /api/v1/readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return connection

    def close(self) -> None:
        self.listener.close()
        self.notified.close()


def status(connection: socket.socket) -> int:
    with connection, connection.makefile("rb") as answer:
        return int(answer.readline().split()[1])


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Systemd]:
    made = Systemd(tmp_path)
    yield made
    made.close()


def test_ready_alive_stopping_and_no_connection_refused_between_two_runs(systemd: Systemd) -> None:
    with systemd.started() as process:
        assert systemd.hears("READY=1") == process.pid
        assert status(systemd.asks()) == 200, "ready was said too early"
        controller = systemd.hears("WATCHDOG=1")
        while controller == process.pid:  # the supervisor's own, while the controller was only starting
            controller = systemd.hears("WATCHDOG=1")
        assert "apps.campus_edge" in Path(f"/proc/{controller}/cmdline").read_text()
        process.terminate()
        assert systemd.hears("STOPPING=1") == process.pid
        assert process.wait(60) == 0
    waiting = systemd.asks()
    with systemd.started():
        # 503: the web side is there a moment before the controller.
        assert status(waiting) in (200, 503), "asked while nobody ran"
