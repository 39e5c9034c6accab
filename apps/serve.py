"""``adon serve``: starts the processes, watches them, and ends them together.

The parent decides nothing.  It makes the databases where they are missing, prints the first admin token
once, opens the web side's socket (so that a port that is taken is said at once, and so that it may lie
in another network namespace than the rest), and starts controller, collector and web as processes of
their own.  One that dies is started again after a pause that grows; one that refuses its input (exit
status 2) ends the service, because it would refuse it again, unless that input came by a reload, which is
then taken back (:mod:`apps.configuration_reload`).  A database that does not answer is not input: the parent
and each process wait for it (:mod:`apps.database_wait`).
"""

from __future__ import annotations

import errno
import logging
import os
import queue
import signal
import socket
import stat
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adon.config import Configuration, load
from adon.errors import (
    EXIT_INPUT,
    AdonError,
    InvalidInput,
    Problem,
    Unavailable,
)
from adon.store.access.access import access_url
from adon.store.access.access_tables import ACCESS
from adon.store.lease import check_shared
from adon.store.schema import make_database
from apps import link
from apps.configuration_reload import Reloading
from apps.database_wait import wait_for
from apps.first_token import first_token
from apps.link import SUPERVISOR, LinkServer, Peer
from apps.parts import Part, keep_running, restart, stop
from apps.readiness import Readiness
from apps.service_manager import ServiceManager

log = logging.getLogger("adon.serve")

PYTHON = (sys.executable, "-P", "-m")
"""Runs a module of ADON; a folder ``apps`` where ADON was started does not take its place."""
FIRST_PASSED_FD = 3
"""SD_LISTEN_FDS_START of sd_listen_fds(3)."""


Inbox = queue.SimpleQueue[tuple[Peer | None, str, dict[str, Any]]]
"""What the supervisor is asked: by whom, what, and the rest of the message."""
RELOAD: tuple[None, str, dict[str, Any]] = (None, "reload", {})
"""What SIGHUP asks; what becomes of it is in the log."""


def run(config: Path, data: Path, admin_token_file: Path | None = None, store: str | None = None) -> int:
    """Serve until SIGTERM or SIGINT; the exit status.

    :param data: the folder of databases and sockets; made if it is not there, readable by us only.
    :param admin_token_file: where to write the first admin token instead of printing it.
    :param store: database URL; SQLite in the data folder if None.
    :raises InvalidInput: for a configuration or a folder that cannot be used.
    :raises Unavailable: if the web port is taken, or a database cannot be opened, or is of another version.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    configuration = load(config)
    web = web_socket(configuration)
    url = store or f"sqlite:///{data.resolve() / 'state.db'}"
    if configuration.controller.ha is not None:
        check_shared(url)
    _prepare(data)
    access = access_url(data, store)

    def make_databases() -> None:
        make_database(access, ACCESS)
        make_database(url)
        first_token(access, admin_token_file, _pages(configuration, web))

    manager = ServiceManager(os.environ)

    def pause(seconds: float) -> None:
        manager.status("waiting for the database")
        time.sleep(seconds)

    wait_for("state and access", make_databases, pause)
    reloading = Reloading(config, data.resolve(), configuration, time.time)
    parts = _parts(reloading.accepted, config.resolve().parent, data.resolve(), url, web)
    inbox: Inbox = queue.SimpleQueue()
    asked = LinkServer(data.resolve() / SUPERVISOR, lambda *message: inbox.put(message))
    readiness = Readiness(parts, manager)
    try:
        return _watch(parts, reloading, inbox, readiness)
    finally:
        manager.stopping()
        stop(parts)
        asked.close()


def _prepare(data: Path) -> None:
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput.of("data", f"{data} cannot be used: {error.strerror}") from error
    mode = stat.S_IMODE(data.stat().st_mode)
    if mode & 0o077:
        cause = f"other users can read {data} (mode {mode:04o}); run: chmod 700 {data}"
        raise InvalidInput(Problem("data", cause, code="folder-readable"))


def web_socket(configuration: Configuration) -> socket.socket:
    """The listening socket of the web side: systemd's, if it passed one, else one of our own.

    :raises Unavailable: if the configured port cannot be listened on.
    """
    if os.environ.get("LISTEN_FDS") == "1" and os.environ.get("LISTEN_PID") in (None, str(os.getpid())):
        return _passed_socket()
    host, port = configuration.controller.web_host, configuration.controller.web_port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)  # its own text says the address again
        also = "; is ADON, or something else, running there? Else name another port in the configuration"
        raise Unavailable(
            f"controller.web_port: cannot listen on {host} port {port}: {why}"
            + (also if error.errno == errno.EADDRINUSE else "")
        ) from error


def _pages(configuration: Configuration, web: socket.socket) -> str:
    """Where a browser finds the pages: as the configuration says, else from this machine."""
    if configuration.access.public_url is not None:
        return configuration.access.public_url.rstrip("/")
    host, port = web.getsockname()[:2]
    host = "localhost" if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host  # noqa: S104
    return f"http://{host}:{port}"


def _passed_socket() -> socket.socket:
    try:
        passed = socket.socket(fileno=FIRST_PASSED_FD)
        listens = passed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    except OSError as error:
        raise InvalidInput.of("LISTEN_FDS", f"descriptor 3 is no socket: {error.strerror}") from error
    if not listens:
        raise InvalidInput.of("LISTEN_FDS", "the socket passed as descriptor 3 does not listen")
    return passed


def _parts(config: Path, folder: Path, data: Path, url: str, web: socket.socket) -> list[Part]:
    """The processes.

    :param config: what they read.
    :param folder: where the files are that it names.
    """
    common = ("--config", str(config), "--data", str(data))
    return [
        Part(
            "controller",
            (*PYTHON, "apps.campus_edge", *common, "--store", url),
            watched=True,
        ),
        Part(
            "collector",
            (*PYTHON, "apps.collector", *common, "--store", url, "--folder", str(folder)),
        ),
        Part(
            "web",
            (*PYTHON, "apps.rest", *common, "--store", url, "--listen-fd", str(web.fileno())),
            sockets=(web.fileno(),),
        ),
    ]


def _watch(parts: Sequence[Part], reloading: Reloading, inbox: Inbox, readiness: Readiness) -> int:
    """Keep the processes running; the exit status, when they are to be ended."""
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda got, _: stopping.append(got))
    signal.signal(signal.SIGHUP, lambda *_: inbox.put(RELOAD))
    status = 0
    while not stopping and status == 0:
        now = time.monotonic()
        status = keep_running(parts, now)
        if status == EXIT_INPUT and _took_back(parts, reloading, now):
            status = 0
        if all(part.steady(now) for part in parts):
            reloading.proven()
        readiness.look(now)
        _answer_one(parts, reloading, inbox, readiness)
    return status


def _took_back(parts: Sequence[Part], reloading: Reloading, now: float) -> bool:
    """Whether a refused input came by a reload; then what it changed is as before, and starts anew."""
    done = reloading.take_back()
    if done is None:
        return False
    restart(parts, done.restarted, now)
    return True


def _answer_one(parts: Sequence[Part], reloading: Reloading, inbox: Inbox, readiness: Readiness) -> None:
    """Take one message, if one comes soon."""
    try:
        peer, kind, payload = inbox.get(timeout=0.1)
    except queue.Empty:
        return
    readiness.record_message(kind)
    answer = _handle_request(parts, reloading, kind)
    if peer is not None and answer is not None:
        peer.answer(str(payload.get("command")), answer)


def _handle_request(
    parts: Sequence[Part], reloading: Reloading, kind: str
) -> dict[str, Any] | AdonError | None:
    match kind:
        case "reload":
            try:
                done = reloading.reload()
            except AdonError as error:
                return error
            restart(parts, done.restarted, time.monotonic())
            return done.to_json()
        case "standing":
            return reloading.standing()
        case "hello" | link.REACHED:
            return None
        case _:
            return InvalidInput.of("kind", f"{kind[:40]!r} is not a command")
