"""A command that a user has started in a terminal, what it has printed, and what it leaves behind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mininet_topos.old_isolation import run_folders
from mininet_topos.waiting import wait_until


def listening_to_ctrl_c() -> None:
    """As in a terminal: whoever is started in the background by a shell inherits that it is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Command:
    """A command that leads a session of its own, as a terminal's does."""

    def __init__(self, argv: Sequence[str], log: Path) -> None:
        self.log = log
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
        """All that it has printed."""
        return self.log.read_text(errors="replace")

    def says(self, line: str, within: float = 240) -> None:
        """Wait until it has said something."""
        assert wait_until(lambda: line in self.text or self.process.poll() is not None, within), self.text
        assert line in self.text, self.text

    def ends(self, within: float = 60) -> int:
        """Wait until it has ended; its exit status."""
        return self.process.wait(within)

    def pid_of(self, *words: str) -> int:
        """The first process of its session whose command line has all these words."""
        found = [
            pid for pid, argv in self._session() if all(any(word in one for one in argv) for word in words)
        ]
        assert found, f"no process with {words}"
        return min(found)

    def run_folder(self, name: str) -> Path:
        """The run folder of its test network: the one that a process of its session names."""
        pattern = re.compile(rf"{re.escape(str(run_folders()))}/{name}-[0-9]+-[0-9a-f]+")

        def named() -> set[Path]:
            return {
                Path(match[0])
                for _, argv in self._session()
                for word in argv
                if (match := pattern.match(word))
            }

        assert wait_until(lambda: named() != set() or self.process.poll() is not None, 30), self.text
        (found,) = named()
        return found

    def _session(self) -> list[tuple[int, list[str]]]:
        return [(pid, argv) for pid, argv in command_lines() if session_of(pid) == self.process.pid]


@contextmanager
def in_terminal(argv: Sequence[str], log: Path) -> Iterator[Command]:
    """A command that is killed if it has not ended when the context does."""
    command = Command(argv, log)
    try:
        yield command
    finally:
        if command.process.poll() is None:
            command.process.kill()
        command.process.wait()


def command_lines() -> Iterator[tuple[int, list[str]]]:
    """Of every process."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            yield int(process.name), (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # it has just ended


def session_of(pid: int) -> int | None:
    """The process that leads a process's session; None if it has just ended."""
    try:
        return os.getsid(pid)
    except OSError:
        return None


def left_of(folder: Path) -> list[list[str]]:
    """Command lines that name a folder."""
    return [words for _pid, words in command_lines() if any(str(folder) in word for word in words)]
