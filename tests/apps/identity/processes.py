"""Servers that a test starts: known by their process, ended by it, their words kept for when one fails."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import requests

PATIENCE = 120.0


def answers(url: str) -> Callable[[], bool]:
    """Whether something speaks HTTP there."""

    def ask() -> bool:
        try:
            return requests.get(url, timeout=20, allow_redirects=False).status_code < 500
        except requests.RequestException:
            return False

    return ask


def listens(port: int) -> Callable[[], bool]:
    """Whether somebody listens there."""

    def ask() -> bool:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            return False
        return True

    return ask


@contextmanager
def running(
    command: Sequence[str],
    log: Path,
    ready: Callable[[], bool],
    environment: Mapping[str, str] | None = None,
    said: Path | None = None,
) -> Iterator[int]:
    """A process, and what it starts, until the end of the context; its process id.

    :param said: the file that it reads from standard input.
    """
    with log.open("wb") as words, (said or Path(os.devnull)).open("rb") as spoken:
        process = subprocess.Popen(
            command,
            stdin=spoken,
            stdout=words,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while not ready():
            over = process.poll() is not None or time.monotonic() > deadline
            assert not over, f"{command[0]} did not start: {log.read_text(errors='replace')[-3000:]}"
            time.sleep(0.05)
        yield process.pid
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    # The first ends its own; what is left of the group, made by us and started by that first one, is ended by
    # force.
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(10)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)
