"""Signals that are waited for; each case in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from apps.campus_edge.loop import EXIT_BUG

PROGRAM = """
import os, signal, sys, threading
from apps.campus_edge import signals

signals.hold()
ended, told = threading.Event(), []
{before}
actions = {{
    signal.SIGTERM: ended.set,
    signal.SIGINT: ended.set,
    signal.SIGHUP: lambda: print("hup", flush=True),
}}
{between}
signals.install_handlers(actions)
{after}
assert ended.wait(60), "no signal ended it"
print("end", flush=True)
"""


def run(before: str = "", between: str = "", after: str = "") -> subprocess.CompletedProcess[str]:
    program = PROGRAM.format(before=before, between=between, after=after)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=90, check=False
    )


def kill(name: str) -> str:
    return f"os.kill(os.getpid(), signal.{name})"


@pytest.mark.integration
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_what_ends_it(name: str) -> None:
    done = run(after=f"threading.Timer(0.05, lambda: {kill(name)}).start()")
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


@pytest.mark.integration
def test_one_that_came_before_anybody_listened_has_waited() -> None:
    done = run(before=kill("SIGHUP"), after=f"threading.Timer(0.2, lambda: {kill('SIGTERM')}).start()")
    assert (done.returncode, done.stdout) == (0, "hup\nend\n"), done.stderr


@pytest.mark.integration
def test_an_action_that_fails_ends_the_process() -> None:
    done = run(between="actions[signal.SIGHUP] = lambda: 1 / 0", after=kill("SIGHUP"))
    assert done.returncode == EXIT_BUG
    assert "ZeroDivisionError" in done.stderr
