"""An ``adon experiment run`` that a user has started in a terminal, and what it leaves behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mininet_topos.isolation import run_folders
from mininet_topos.waiting import wait_until

ADON = (sys.executable, "-m", "apps.cli")


def listening_to_ctrl_c() -> None:
    """As in a terminal: whoever is started in the background by a shell inherits that it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Run:
    """What it has printed, and the processes of its session."""

    def __init__(self, file: Path, results: Path, log: Path, *options: str) -> None:
        self.log = log
        argv = [*ADON, "experiment", "run", str(file), "--results", str(results), *options]
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                argv,
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=listening_to_ctrl_c,
            )

    @property
    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def says(self, line: str, within: float = 240) -> None:
        """Wait until it has said something."""
        assert wait_until(lambda: line in self.text or self.process.poll() is not None, within), self.text
        assert line in self.text, self.text

    def pid_of(self, *words: str) -> int:
        """The first process of its session whose command line has all these words."""
        found = [
            pid
            for pid, argv in command_lines()
            if session_of(pid) == self.process.pid and all(any(word in one for one in argv) for word in words)
        ]
        assert found, f"no process with {words}"
        return min(found)

    def folder(self) -> Path:
        """The run folder of its network."""
        pattern = re.compile(rf"{re.escape(str(run_folders()))}/experiment-[0-9]+-[0-9a-f]+")
        found = {
            Path(match[0])
            for pid, argv in command_lines()
            if session_of(pid) == self.process.pid
            for word in argv
            if (match := pattern.match(word))
        }
        assert found, self.text
        return found.pop()

    def ends(self, within: float = 60) -> int:
        return self.process.wait(within)


@contextmanager
def started(file: Path, results: Path, log: Path, *options: str) -> Iterator[Run]:
    run = Run(file, results, log, *options)
    try:
        yield run
    finally:
        if run.process.poll() is None:
            run.process.kill()
        run.process.wait()


def command_lines() -> Iterator[tuple[int, list[str]]]:
    for process in Path("/proc").glob("[0-9]*"):
        try:
            yield int(process.name), (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # it has just ended


def session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def left_of(folder: Path) -> list[list[str]]:
    """Command lines that name a folder."""
    return [words for _pid, words in command_lines() if any(str(folder) in word for word in words)]
