"""``adon serve`` on a running test network: started, stopped, killed, started again with what it knew.

Only its web side listens on this machine, on a loopback port, so that programs and browsers reach it; its
socket is opened here and handed down (a socket belongs to the network namespace it was opened in).
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import adon.config
from adon.client import Client
from adon.errors import Unavailable
from adon.measurement_plan import plan_measurements
from measurement.scheduling import Task
from mininet_topos.waiting import wait_until

SERVE_S = 60.0
STOP_S = 15.0
PR_SET_PDEATHSIG = 1
LOCALHOST = "127.0.0.1"
DIED = re.compile(rb"event=died (part=\S+ status=-?\d+)")
"""What the log says of a part that has ended by itself (:mod:`apps.parts`)."""
_LIBC = ctypes.CDLL(None)


class Serving(Protocol):
    """What of a test network is used here."""

    def serving(self, argv: Sequence[str]) -> list[str]:
        """The command that runs a controller where the switches reach it."""

    def controlled(self) -> bool:
        """Whether anything listens where the switches look for their controller."""


@dataclass(slots=True)
class Adon:
    """One ``adon serve``.

    :param folder: where its files are: configuration, data, tokens, log.
    :param url: where its web side is, for as long as it is :func:`prepared`.
    """

    bed: Serving
    folder: Path
    url: str
    web: socket.socket
    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _read: int = field(default=0, init=False)
    _died: str = field(default="", init=False)

    @property
    def log(self) -> Path:
        """What it says."""
        return self.folder / "adon.log"

    @property
    def running(self) -> bool:
        """Whether its process runs."""
        return self.process is not None and self.process.poll() is None

    @property
    def died(self) -> str:
        """The first part of it that has died since :meth:`overlook`, as its log has it; empty if none has.

        Such a part is started again after a moment, so that nobody sees it who looks at the process alone.
        """
        if self._died or not self.log.exists():
            return self._died
        with self.log.open("rb") as log:
            log.seek(self._read)
            new = log.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._read += len(whole)
        found = DIED.search(whole)
        self._died = "" if found is None else found[1].decode(errors="replace")
        return self._died

    def overlook(self) -> None:
        """What of it has died by now does not count any more."""
        self._read, self._died = self.log.stat().st_size, ""

    def require_running(self) -> None:
        """Look whether it runs.

        :raises Unavailable: if it does not, with the end of its log.
        """
        if not self.running:
            raise Unavailable(f"adon serve has ended by itself: {self.last_words}", code="not-running")

    @property
    def _token(self) -> Path:
        return self.folder / "admin.token"

    @property
    def last_words(self) -> str:
        """The end of its log, in one line."""
        if not self.log.exists():
            return "it wrote no log"
        return " | ".join(self.log.read_text(errors="replace").splitlines()[-3:])

    @property
    def tasks(self) -> Mapping[str, Task]:
        """The tests that it plans, by name."""
        return plan_measurements(adon.config.load(self.folder / "network.yaml")).schedule.tasks

    def start(self) -> Client:
        """Start it, and wait until it answers; its administrator's client.

        :raises Unavailable: if it does not come up, with the end of its log.
        """
        self.launch()
        return self.answering()

    def launch(self) -> None:
        """Start it, and do not wait.

        :raises OSError: if there is no such program.
        """
        config, token = self.folder / "network.yaml", self._token
        serve = [sys.executable, "-m", "apps.cli.main", "serve", "--config", str(config)]
        serve += ["--data", str(self.folder / "data"), "--admin-token-file", str(token)]
        # systemd's protocol (sd_listen_fds(3)): the listening socket is descriptor 3.
        handed = ["bash", "-c", f'exec "$@" 3<&{self.web.fileno()}', "bash"]
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [*handed, *self.bed.serving(serve)],
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                pass_fds=(self.web.fileno(),),
                env={**os.environ, "LISTEN_FDS": "1"},
                preexec_fn=functools.partial(_die_with_parent, os.getpid()),
                process_group=0,  # a Ctrl-C is for whoever started it, who may have to ask it first
            )

    def answering(self) -> Client:
        """Wait until it answers; its administrator's client.

        :raises Unavailable: if it does not come up, with the end of its log.
        """
        token = self._token
        wait_until(lambda: token.exists() or not self.running, SERVE_S)
        if not token.exists():
            raise Unavailable(f"adon serve does not come up: {self.last_words}")
        client = Client.at(self.url, token.read_text().strip())
        wait_until(lambda: client.ready() or not self.running, SERVE_S)
        if not self.running or not client.ready():
            raise Unavailable(f"adon serve is not ready: {self.last_words}")
        return client

    def listening(self) -> None:
        """Wait until the switches find it.

        :raises Unavailable: if it does not come up, with the end of its log.
        """
        wait_until(lambda: self.bed.controlled() or not self.running, SERVE_S)
        if not self.bed.controlled():
            raise Unavailable(f"adon serve does not come up: {self.last_words}")

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a crash would: it has no time to say good-bye to anybody."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(number)
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def prepared(bed: Serving, configuration: str, folder: Path) -> Iterator[Adon]:
    """An ADON with this configuration, not started yet; it is stopped, if need be, when the context ends.

    :param configuration: the text of its file.
    :param folder: made if it is not there; one that was there before goes on with what it stored.
    """
    folder.mkdir(exist_ok=True)
    (folder / "network.yaml").write_text(configuration)
    with socket.create_server((LOCALHOST, 0), backlog=128) as web:
        made = Adon(bed, folder, f"http://{LOCALHOST}:{web.getsockname()[1]}", web)
        try:
            yield made
        finally:
            made.stop()


def _die_with_parent(parent: int) -> None:
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)  # it ended before we asked
