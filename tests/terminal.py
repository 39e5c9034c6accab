"""A command that a user has started in a terminal, what it has printed, and what it leaves behind."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from mininet_topos.commands import wait_until


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
                stdin=subprocess.PIPE,
                start_new_session=True,
                preexec_fn=listening_to_ctrl_c,
            )

    @property
    def text(self) -> str:
        """All that it has printed."""
        return self.log.read_text(errors="replace")

    def types(self, text: str) -> None:
        """Type something at its prompt."""
        assert self.process.stdin is not None
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def says(self, line: str, within: float = 240) -> None:
        """Wait until it has said something."""
        assert wait_until(lambda: line in self.text or self.process.poll() is not None, within), self.text
        assert line in self.text, self.text


def command_lines() -> Iterator[tuple[int, list[str]]]:
    """Of every process."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            yield int(process.name), (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # it has just ended


def left_of(folder: Path) -> list[list[str]]:
    """Command lines that name a folder."""
    return [words for _pid, words in command_lines() if any(str(folder) in word for word in words)]
