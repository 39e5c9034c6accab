"""Programs that are run for what they print, one that fails is quoted; waiting for what programs do."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adon.errors import Unavailable

TIMEOUT = 15.0
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Of programs like ``tc``; the PATH of a user often lacks them."""
POLL_INTERVAL = 0.1
MOST_WORDS, LONGEST_COMMAND, LONGEST_ANSWER = 12, 200, 1000


def output(
    argv: Sequence[str],
    text: str = "",
    *,
    told: str | None = None,
    timeout: float | None = TIMEOUT,
    environment: Mapping[str, str] | None = None,
) -> str:
    """What a program prints.

    :param text: its standard input.
    :param environment: None for ours; the folders of the system's programs are searched in each case.
    :param told: what messages call it; None for the beginning of its command line.
    :raises Unavailable: if it fails, with the end of its own words, or takes longer than ``timeout`` seconds.
    """
    name = beginning(argv) if told is None else told
    try:
        done = subprocess.run(
            argv,
            input=text,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
            env=with_system_programs(environment),
        )
    except OSError as error:
        raise Unavailable(f"{name}: {error}") from error
    except subprocess.TimeoutExpired as error:
        raise Unavailable(f"{name}: no answer within {timeout:g} s") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise Unavailable(f"{name}: {said[-LONGEST_ANSWER:]}")
    return done.stdout


def beginning(argv: Sequence[str]) -> str:
    """A command in messages: of one for a hundred switches the beginning."""
    whole = " ".join(argv)
    told = " ".join(argv[:MOST_WORDS])[:LONGEST_COMMAND]
    return told if told == whole else f"{told} ..."


def with_system_programs(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """An environment whose PATH ends with :data:`SYSTEM_FOLDERS`.

    :param environment: None for ours.
    """
    given = os.environ if environment is None else environment
    return {**given, "PATH": os.pathsep.join((given.get("PATH") or os.defpath, *SYSTEM_FOLDERS))}


def wait_until(condition: Callable[[], bool], timeout: float, interval: float = POLL_INTERVAL) -> bool:
    """Ask until the condition holds (True) or ``timeout`` seconds have passed (False).

    :param interval: seconds between two times.
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
    """End a program by a signal; kill it if it still runs after ``timeout`` seconds."""
    process.send_signal(number)
    try:
        process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
