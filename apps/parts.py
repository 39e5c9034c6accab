"""The processes of ``adon serve``: started, started again when they die, and ended together.

One that dies is started again after a pause that grows; one that refuses its input (exit status 2) would
refuse it again, so that status is handed up.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import os
import signal
import subprocess
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from adon.errors import EXIT_INPUT
from apps.service_manager import environment_of_parts

log = logging.getLogger("adon.serve")

STOP_WITHIN_S = 8.0
PAUSES_S = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
STEADY_S = 60.0
"""A process that ran for so long starts again without a pause that past failures lengthened."""
EXIT_STEPPED_DOWN = 75
"""Of a controller that is not the active one any more: it starts again as standby, and that is no failure."""
PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


@dataclass(slots=True)
class Part:
    """One of the processes: how it is started, and how often it had to be."""

    name: str
    command: Sequence[str]
    sockets: tuple[int, ...] = ()
    watched: bool = False
    """Whether it says to systemd that it is alive."""
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    failures: int = 0
    start_after: float = 0.0
    stop_by: float | None = None
    """When a process that is to be started anew is killed; None if it is to run on."""

    def start(self, now: float) -> None:
        """Start the process; it dies with this one, even if this one is killed."""
        dies_too = functools.partial(_die_with_parent, os.getpid())
        self.process = subprocess.Popen(
            self.command,
            pass_fds=self.sockets,
            preexec_fn=dies_too,
            env=environment_of_parts(os.environ, watched=self.watched),
        )
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


def restart(parts: Sequence[Part], names: Collection[str], now: float) -> None:
    """Let the processes of these names end, to be started anew."""
    for part in parts:
        if part.name in names:
            part.restart(now)


def keep_running(parts: Sequence[Part], now: float) -> int:
    """Start what is to run and does not; 2 if a process refused its input, else 0."""
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
        if code == EXIT_INPUT:
            log.error("event=refused part=%s", part.name)
            return EXIT_INPUT
        if code == EXIT_STEPPED_DOWN:
            log.warning("event=stepped-down part=%s", part.name)
            part.process, part.start_after = None, now + PAUSES_S[0]
            continue
        part.failures = 1 if now - part.started_at > STEADY_S else part.failures + 1
        pause = PAUSES_S[min(part.failures, len(PAUSES_S)) - 1]
        log.error("event=died part=%s status=%d again_in_s=%g", part.name, code, pause)
        part.process, part.start_after = None, now + pause
    return 0


def stop(parts: Sequence[Part]) -> None:
    """End all of them, by force those that take too long."""
    running = [(part.name, part.process) for part in parts if part.process is not None]
    for _, process in running:
        process.terminate()
    deadline = time.monotonic() + STOP_WITHIN_S
    for name, process in running:
        try:
            process.wait(timeout=max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            log.warning("event=killed part=%s after_s=%g", name, STOP_WITHIN_S)
            process.kill()
            process.wait()
