"""``adon serve``: starts the processes, watches them, and ends them together.

The parent decides nothing.  It brings the database to the present schema, prints the first admin token
once, opens the web side's socket (so that a port that is taken is said at once, and so that it may lie
in another network namespace than the rest), and starts controller, collector and web as processes of
their own, and a fourth that has tools move data, if any are configured.  One that dies is started again
after a pause that grows; one that refuses its input (exit status 2) ends the service, because it would
refuse it again, unless that input came by a reload, which is then taken back (:mod:`apps.reloading`).
"""

from __future__ import annotations

import ctypes
import functools
import logging
import os
import queue
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from adon.access.audit import Entry, Outcome
from adon.access.identity import create_token
from adon.access.policy import Role
from adon.config import Configuration, load
from adon.errors import AdonError, InvalidInput, Unavailable
from adon.store.access.access import Access
from adon.store.access.database import access_url
from adon.store.lease import check_shared
from apps.backup.upgrading import before_upgrade
from apps.link import SUPERVISOR, LinkServer, Peer
from apps.reloading import Reloading

log = logging.getLogger("adon.serve")

STOP_WITHIN_S = 8.0
PAUSES_S = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
STEADY_S = 60.0
"""A process that ran for so long starts again without a pause that past failures lengthened."""
ADMIN = "admin"
"""The local administrator, who is there from the first start."""
EXIT_BAD_INPUT = 2
EXIT_STEPPED_DOWN = 75
"""Of a controller that is not the active one any more: it starts again as standby, and that is no failure."""
PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)
FIRST_PASSED_FD = 3
"""SD_LISTEN_FDS_START of sd_listen_fds(3)."""


Inbox = queue.SimpleQueue[tuple[Peer | None, str, dict[str, Any]]]
"""What the supervisor is asked: by whom, what, and the rest of the message."""
RELOAD: tuple[None, str, dict[str, Any]] = (None, "reload", {})
"""What SIGHUP asks; what becomes of it is in the log."""


@dataclass(slots=True)
class Part:
    """One of the processes: how it is started, and how often it had to be."""

    name: str
    command: Sequence[str]
    sockets: tuple[int, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    failures: int = 0
    start_after: float = 0.0
    stop_by: float | None = None
    """When a process that is to be started anew is killed; None if it is to run on."""

    def start(self, now: float) -> None:
        """Start the process; it dies with this one, even if this one is killed."""
        dies_too = functools.partial(_die_with_parent, os.getpid())
        self.process = subprocess.Popen(self.command, pass_fds=self.sockets, preexec_fn=dies_too)
        self.started_at = now
        log.info("event=started part=%s pid=%d", self.name, self.process.pid)

    def steady(self, now: float) -> bool:
        """Whether the process has run for a while."""
        return self.process is not None and self.stop_by is None and now - self.started_at > STEADY_S

    def restart(self, now: float) -> None:
        """Let the process end, to be started anew when it has."""
        if self.process is None:
            self.start_after = now
            return
        self.process.terminate()
        self.stop_by = now + STOP_WITHIN_S


def _die_with_parent(parent: int) -> None:
    """Between fork and exec: ask the kernel for SIGTERM when the supervisor ends (prctl(2))."""
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os._exit(1)  # it ended before we asked


def run(config: Path, data: Path, admin_token_file: Path | None = None, store: str | None = None) -> int:
    """Serve until SIGTERM or SIGINT; the exit status.

    :param data: the folder of databases and sockets; made if it is not there, readable by us only.
    :param admin_token_file: where to write the first admin token instead of printing it.
    :param store: database URL; SQLite in the data folder if None.
    :raises InvalidInput: for a configuration or a folder that cannot be used.
    :raises Unavailable: if the web port is taken, or the database does not answer.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    configuration = load(config)
    web = web_socket(configuration)
    url = store or f"sqlite:///{data.resolve() / 'state.db'}"
    if configuration.controller.ha is not None:
        check_shared(url)
    _prepare(data)
    access = access_url(data, store)
    kept = before_upgrade(data, url, access, time.time())
    if kept is not None:
        log.info("event=upgrade backup=%s", kept)
    _upgrade(
        "adon.store.access.upgrade", kept, access, url
    )  # takes the tokens out of an older state database
    _upgrade("adon.store.upgrade", kept, url)
    _first_token(access, admin_token_file)
    reloading = Reloading(config, data.resolve(), configuration, time.time)
    movers = configuration.transfers.configured
    parts = _parts(reloading.accepted, config.resolve().parent, data.resolve(), url, web, movers=movers)
    inbox: Inbox = queue.SimpleQueue()
    asked = LinkServer(data.resolve() / SUPERVISOR, lambda *message: inbox.put(message))
    try:
        return _watch(parts, reloading, inbox)
    finally:
        asked.close()


def _prepare(data: Path) -> None:
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInput.of("data", f"{data} cannot be used: {error.strerror}") from error


def _upgrade(module: str, kept: Path | None, *urls: str) -> None:
    """Migrate in a process of its own: the migration tool stays out of the processes that serve."""
    done = subprocess.run([sys.executable, "-m", module, *urls], check=False)
    if done.returncode != 0:
        how = "" if kept is None else f"; as it was before: adon restore {kept} --data NEW_FOLDER"
        raise Unavailable(f"the database could not be brought to the present schema{how}")


def _first_token(url: str, to_file: Path | None) -> None:
    """Give the local administrator a token at the first start; only its hash is kept."""
    with Access.open(url) as access:
        if access.tokens.count():
            return
        now = time.time()
        access.users.named(ADMIN, (Role.ADMIN,), now)
        text, token = create_token(ADMIN, now, label="made at the first start")
        # Where it goes comes first: a token that is saved and shown to nobody could never be had again.
        if to_file is not None:
            _write_secret(to_file, text)
        access.tokens.save(token)
        detail = f"token {token.id} for {ADMIN}, scope all: the first start"
        first = Entry(
            now, ADMIN, "local", "", "token.create", "", f"/tokens/{token.id}", Outcome.DONE, 0, detail
        )
        access.audit.append([first])
    if to_file is None:
        sys.stderr.write(f"\n  First start.  Admin token (shown only now): {text}\n\n")
        sys.stderr.flush()


def _write_secret(path: Path, text: str) -> None:
    """Write a file that only we can read, from its first moment.

    :raises InvalidInput: if it cannot be written, or is there already.
    """
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise InvalidInput.of("admin_token_file", f"{path}: {error.strerror}") from error
    with os.fdopen(descriptor, "w") as file:
        file.write(text + "\n")


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
        raise Unavailable(
            f"controller.web_port: cannot listen on {host} port {port}: {error.strerror}"
        ) from error


def _passed_socket() -> socket.socket:
    try:
        passed = socket.socket(fileno=FIRST_PASSED_FD)
        listens = passed.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    except OSError as error:
        raise InvalidInput.of("LISTEN_FDS", f"descriptor 3 is no socket: {error.strerror}") from error
    if not listens:
        raise InvalidInput.of("LISTEN_FDS", "the socket passed as descriptor 3 does not listen")
    return passed


def _parts(
    config: Path, folder: Path, data: Path, url: str, web: socket.socket, *, movers: bool
) -> list[Part]:
    """The processes.

    :param config: what they read.
    :param folder: where the files are that it names.
    :param movers: whether one has tools move data.
    """
    common = ("--config", str(config), "--data", str(data))
    parts = [
        Part("controller", (sys.executable, "-m", "apps.campus_edge", *common, "--store", url)),
        Part(
            "collector",
            (sys.executable, "-m", "apps.collector", *common, "--store", url, "--folder", str(folder)),
        ),
        Part(
            "web",
            (sys.executable, "-m", "apps.rest", *common, "--store", url, "--listen-fd", str(web.fileno())),
            sockets=(web.fileno(),),
        ),
    ]
    if movers:
        command = (sys.executable, "-m", "apps.movers", *common, "--store", url, "--folder", str(folder))
        parts.append(Part("movers", command))
    return parts


def _watch(parts: Sequence[Part], reloading: Reloading, inbox: Inbox) -> int:
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda got, _: stopping.append(got))
    signal.signal(signal.SIGHUP, lambda *_: inbox.put(RELOAD))
    status = 0
    try:
        while not stopping and status == 0:
            now = time.monotonic()
            status = _keep_running(parts, now)
            if status == EXIT_BAD_INPUT and _took_back(parts, reloading, now):
                status = 0
            if all(part.steady(now) for part in parts):
                reloading.proven()
            _answer_one(parts, reloading, inbox)
    finally:
        _stop(parts)
    return status


def _took_back(parts: Sequence[Part], reloading: Reloading, now: float) -> bool:
    """Whether a refused input came by a reload; then what it changed is as before, and starts anew."""
    done = reloading.take_back()
    if done is None:
        return False
    _restart(parts, done.restarted, now)
    return True


def _restart(parts: Sequence[Part], names: Collection[str], now: float) -> None:
    for part in parts:
        if part.name in names:
            part.restart(now)


def _answer_one(parts: Sequence[Part], reloading: Reloading, inbox: Inbox) -> None:
    """Take one message, if one comes soon."""
    try:
        peer, kind, payload = inbox.get(timeout=0.1)
    except queue.Empty:
        return
    answer = _asked(parts, reloading, kind)
    if peer is not None and answer is not None:
        peer.answer(str(payload.get("command")), answer)


def _asked(parts: Sequence[Part], reloading: Reloading, kind: str) -> dict[str, Any] | AdonError | None:
    match kind:
        case "reload":
            try:
                done = reloading.reload()
            except AdonError as error:
                return error
            _restart(parts, done.restarted, time.monotonic())
            return done.to_json()
        case "standing":
            return reloading.standing()
        case "hello":
            return None
        case _:
            return InvalidInput.of("kind", f"{kind[:40]!r} is not a command")


def _keep_running(parts: Sequence[Part], now: float) -> int:
    for part in parts:
        if part.process is None:
            if now >= part.start_after:
                part.start(now)
            continue
        code = part.process.poll()
        if code is None:
            if part.stop_by is not None and now >= part.stop_by:
                part.process.kill()
            continue
        if part.stop_by is not None:
            part.stop_by, part.failures = None, 0
            part.start(now)
            continue
        if code == EXIT_BAD_INPUT:
            log.error("event=refused part=%s", part.name)
            return EXIT_BAD_INPUT
        if code == EXIT_STEPPED_DOWN:
            log.warning("event=stepped-down part=%s", part.name)
            part.process, part.start_after = None, now + PAUSES_S[0]
            continue
        part.failures = 1 if now - part.started_at > STEADY_S else part.failures + 1
        pause = PAUSES_S[min(part.failures, len(PAUSES_S)) - 1]
        log.error("event=died part=%s status=%d again_in_s=%g", part.name, code, pause)
        part.process, part.start_after = None, now + pause
    return 0


def _stop(parts: Sequence[Part]) -> None:
    running = [part.process for part in parts if part.process is not None]
    for process in running:
        process.terminate()
    deadline = time.monotonic() + STOP_WITHIN_S
    for process in running:
        try:
            process.wait(timeout=max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
