"""The keeper of a guest, with another program in the place of the guest: whatever ends, nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mininet_topos import guest_keeper as keeper
from mininet_topos.commands import wait_until

pytestmark = pytest.mark.integration
PATIENCE = 60.0
# It writes where its memory would be, and has a child, as a kernel has several.
KERNEL = 'echo "$HOME" >"$1/home"; touch "$HOME/memory"; echo $$ >"$1/pid"; sleep 60 & echo $! >"$1/child"; '


class Kept:
    """A keeper that runs this script."""

    def __init__(self, folder: Path, script: str) -> None:
        self.folder = folder
        argv = [sys.executable, "-I", "-S", str(keeper.__file__)]
        self.process = subprocess.Popen(
            [*argv, "sh", "-c", KERNEL + script, "sh", str(folder)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        assert wait_until(lambda: (folder / "child").exists() and (folder / "child").read_text(), PATIENCE)
        self.pids = [int((folder / name).read_text()) for name in ("pid", "child")]
        self.memory = Path((folder / "home").read_text().strip())
        assert self.memory.name.startswith(keeper.PREFIX)

    def end_of_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def is_gone(self) -> bool:
        return not self.memory.exists() and not any(map(runs, self.pids))


def runs(pid: int) -> bool:
    """Whether a process runs and is no zombie."""
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[list[Kept]]:
    made = list[Kept]()
    yield made
    for one in made:
        one.end_of_input()
        one.process.wait(PATIENCE)


@pytest.mark.parametrize(
    "script", ["exec sleep 60", "trap '' TERM; while :; do sleep 1; done"], ids=["heeds", "hangs"]
)
def test_end_of_input_ends_all_processes(tmp_path: Path, kept: list[Kept], script: str) -> None:
    kept.append(one := Kept(tmp_path, script))
    one.end_of_input()
    one.process.wait(PATIENCE)
    assert wait_until(one.is_gone, PATIENCE)


def test_status_of_a_guest_that_ends_is_returned(tmp_path: Path, kept: list[Kept]) -> None:
    kept.append(one := Kept(tmp_path, "exit 5"))
    assert one.process.wait(PATIENCE) == 5
    assert wait_until(one.is_gone, PATIENCE)


def test_killed_guest_leaves_nothing(tmp_path: Path, kept: list[Kept]) -> None:
    kept.append(one := Kept(tmp_path, "exec sleep 60"))
    os.kill(one.pids[0], signal.SIGKILL)
    assert one.process.wait(PATIENCE) == signal.SIGKILL
    assert wait_until(one.is_gone, PATIENCE)


def test_signals_of_a_terminal_are_ignored(tmp_path: Path, kept: list[Kept]) -> None:
    kept.append(one := Kept(tmp_path, "exec sleep 60"))
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        one.process.send_signal(number)
    assert one.process.poll() is None
    assert all(map(runs, one.pids))
