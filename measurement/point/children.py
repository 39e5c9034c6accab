"""Child processes that cannot outlive us: started, waited for, and ended by their own id.

``setpriv --pdeathsig`` (util-linux) lets the kernel end a child when the *thread* that started it ends, so
each child is started by the thread that waits for it.  It execs the tool, so the process id is the
tool's.  (``preexec_fn`` could do the same, but is not safe in a program with threads.)
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}


class ToolFailed(Exception):
    """A tool could not measure; its text says why."""


class RunCanceled(Exception):
    """The run was cancelled while its tool was at work."""


@dataclass(frozen=True, slots=True)
class Completed:
    """What a tool left behind."""

    status: int
    stdout: str
    stderr: str


class Children:
    """The children of one run.  Threads may cancel while another waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._living: set[subprocess.Popen[str]] = set()
        self._canceled = threading.Event()

    @property
    def canceled(self) -> bool:
        """True once :meth:`cancel` was called."""
        return self._canceled.is_set()

    def pause(self, seconds: float) -> None:
        """Sleep.

        :raises RunCanceled: when cancelled meanwhile.
        """
        if self._canceled.wait(seconds):
            raise RunCanceled

    def cancel(self) -> None:
        """End the children there are, and let no more be started."""
        with self._lock:
            self._canceled.set()
            for child in self._living:
                child.terminate()

    def execute(
        self, argv: Sequence[str], timeout: float, on_line: Callable[[str], None] | None = None
    ) -> Completed:
        """Run a tool to its end.

        :param timeout: seconds after which it is killed.
        :param on_line: called with each line of output as it comes.
        :raises ToolFailed: when it is not installed or does not end in time.
        :raises RunCanceled: when cancelled.
        """
        # A reader of lines does not read stderr, and a full pipe would block the child.
        child = self._start(argv, subprocess.PIPE if on_line is None else subprocess.STDOUT)
        killer = threading.Timer(timeout, child.kill)
        killer.daemon = True
        killer.start()
        try:
            if on_line is not None and child.stdout is not None:
                lines = []
                for line in child.stdout:
                    lines.append(line)
                    on_line(line)
                child.wait()
                stdout, stderr = "".join(lines), ""
            else:
                stdout, stderr = child.communicate()
        finally:
            expired = not killer.is_alive()
            killer.cancel()
            with self._lock:
                self._living.discard(child)
        if self.canceled:
            raise RunCanceled
        if expired:
            raise ToolFailed(f"{argv[0]} did not end within {timeout:.0f} s")
        return Completed(child.returncode, stdout, stderr)

    def _start(self, argv: Sequence[str], stderr: int) -> subprocess.Popen[str]:
        with self._lock:
            if self.canceled:
                raise RunCanceled
            try:
                child = subprocess.Popen(
                    ["setpriv", "--pdeathsig", "KILL", "--", *argv],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    text=True,
                    errors="replace",
                    env={**os.environ, **_ENVIRONMENT},
                    start_new_session=True,
                )
            except OSError as error:
                raise ToolFailed(f"cannot start {argv[0]}: {error.strerror}") from None
            self._living.add(child)
            return child
