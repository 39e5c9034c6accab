"""Run programs for their output, start servers, wait for conditions, stop processes."""

from __future__ import annotations

import os
import signal
import subprocess
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from adon.errors import Unavailable

TIMEOUT = 15.0
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Folders of programs such as ``tc``; they are often missing in the PATH of a user."""
POLL_INTERVAL = 0.1
LONGEST_COMMAND, LONGEST_ANSWER = 200, 1000
READY, READY_TIMEOUT, READY_INTERVAL = "event=ready", 120.0, 0.05
"""Text that a server prints when it is ready, and seconds to wait for it."""
STOP_TIMEOUT = 5.0

Popen = Callable[..., "subprocess.Popen[Any]"]
"""Starts a program, with options of :class:`subprocess.Popen`."""


def output(
    argv: Sequence[str],
    text: str = "",
    *,
    name: str | None = None,
    timeout: float | None = TIMEOUT,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Return what a program prints.

    :param text: its standard input.
    :param environment: None for that of this process.
    :param name: of the program in messages; None for the beginning of its command line.
    :raises Unavailable: if it fails, with the end of its message, or takes longer than ``timeout`` seconds.
    """
    name = name or textwrap.shorten(" ".join(argv), LONGEST_COMMAND, placeholder=" ...")
    try:
        return subprocess.run(
            argv, input=text, capture_output=True, text=True, timeout=timeout, check=True, env=environment
        ).stdout
    except OSError as error:
        raise Unavailable(f"{name}: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{name}: no answer within {timeout:g} s") from error
    except subprocess.CalledProcessError as error:
        answer = (error.stderr or error.stdout).strip()
        raise Unavailable(f"{name}: {answer[-LONGEST_ANSWER:]}") from error


def with_system_programs() -> dict[str, str]:
    """Return the environment of this process with a PATH that ends with :data:`SYSTEM_FOLDERS`."""
    path = os.environ.get("PATH") or os.defpath
    return {**os.environ, "PATH": os.pathsep.join((path, *SYSTEM_FOLDERS))}


def wait_until(condition: Callable[[], bool], timeout: float, interval: float = POLL_INTERVAL) -> bool:
    """Return True as soon as the condition holds, False after ``timeout`` seconds.

    :param interval: seconds between two evaluations.
    """
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(interval)
    return True


def stop_process(
    process: subprocess.Popen[Any], timeout: float, number: signal.Signals = signal.SIGTERM
) -> None:
    """Send a signal to a process; kill the process if it still runs after ``timeout`` seconds."""
    process.send_signal(number)
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def start_servers(servers: Mapping[str, Popen], logs: Path) -> Iterator[Mapping[str, int]]:
    """Start servers, yield their PIDs when all are ready, and stop them when the context ends.

    :param servers: by name.
    :param logs: folder for what they print.
    :raises Unavailable: if one ends or is not ready in time, with the end of its log.
    """
    logs.mkdir(exist_ok=True)
    running = dict[str, subprocess.Popen[Any]]()
    with ExitStack() as stack:
        for name, popen in servers.items():
            with (logs / f"{name}.log").open("wb") as log:
                running[name] = popen(stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            stack.callback(stop_process, running[name], STOP_TIMEOUT)
        for name, process in running.items():
            _await_ready(name, process, logs / f"{name}.log")
        yield {name: process.pid for name, process in running.items()}


def _await_ready(name: str, process: subprocess.Popen[Any], log: Path) -> None:
    def is_ready_or_ended() -> bool:
        return READY in log.read_text(errors="replace") or process.poll() is not None

    if not wait_until(is_ready_or_ended, READY_TIMEOUT, READY_INTERVAL) or process.poll() is not None:
        raise Unavailable(f"{name}: its server is not ready: {read_end(log)}")


def read_end(log: Path) -> str:
    """Return the last lines of a log, in one line."""
    return " | ".join(log.read_text(errors="replace").splitlines()[-5:]) if log.exists() else "no log"
