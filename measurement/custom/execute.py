"""Running a program that is not ours: bounded in time, memory, CPU and output, and ended with all it started.

No shell reads the arguments.  ``setpriv`` lets the kernel end the program when the thread that waits for it
ends; ``prlimit`` sets the limits between fork and exec, which ``preexec_fn`` could not do safely beside
other threads (both are util-linux).  The program leads a process group of its own.  The group is killed
while its leader is not yet reaped, so that the number is certainly still its own.  What leaves the group by
``setsid`` escapes this; a cgroup would be needed to hold it.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_CHUNK = 65536


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may take.

    :param seconds: wall time.
    :param memory: bytes of address space of each of its processes (RLIMIT_AS); None: unlimited.
    :param cpu: seconds of CPU time of each process, whole (RLIMIT_CPU); None: unlimited.
    :param output: bytes of standard output, and as many of standard error.
    :raises ValueError: for a limit that is not positive.
    """

    seconds: float = 3.0
    memory: int | None = 512 * 2**20
    cpu: int | None = None
    output: int = 65536

    def __post_init__(self) -> None:
        for name in ("seconds", "memory", "cpu", "output"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name}: {value!r} is not above 0")


@dataclass(frozen=True, slots=True)
class Finished:
    """A program that ended by itself.

    :param status: its exit status; negative: the signal that ended it.
    """

    status: int
    stdout: str
    stderr: str


@dataclass(frozen=True, slots=True)
class Aborted:
    """A program that could not be started or was ended by us.

    :param cause: one line; it names the program, never its arguments.
    :param code: stable: ``not-started``, ``timeout`` or ``too-large``.
    """

    cause: str
    code: str


def environment(passed: Iterable[str] = (), **fixed: str) -> dict[str, str]:
    """The whole environment of a program: little, and of ours only the variables named in ``passed``."""
    ours = {name: os.environ[name] for name in passed if name in os.environ}
    return {"PATH": _PATH, "LC_ALL": "C", "TZ": "UTC", **ours, **fixed}


def execute(
    argv: Sequence[str], limits: Limits, variables: Mapping[str, str], given: bytes = b""
) -> Finished | Aborted:
    """Run a program to its end, in the root folder.

    :param variables: its environment (:func:`environment`).
    :param given: its standard input.
    """
    name = Path(argv[0]).name
    if shutil.which(argv[0], path=variables.get("PATH", _PATH)) is None:
        return Aborted(f"{name} is not installed or may not be executed", "not-started")
    with tempfile.TemporaryFile() as stdin:  # a pipe that nobody reads would block us
        stdin.write(given)
        stdin.seek(0)
        try:
            child = subprocess.Popen(
                [*_limiting(limits), *argv],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=dict(variables),
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            return Aborted(f"{name} cannot be started: {error.strerror}", "not-started")
    with child, _Pipes(child, limits.output) as pipes:
        cause = _watch(child, pipes, limits)
        _end_group(child)
        pipes.drain()
    if cause is not None:
        return Aborted(f"{name} {cause}", "timeout")
    if pipes.too_long:
        return Aborted(f"{name} wrote more than {limits.output} bytes", "too-large")
    return Finished(child.returncode, pipes.text(0), pipes.text(1))


def ending(finished: Finished, limits: Limits) -> str:
    """In words, how a program ended that should have ended with 0."""
    if finished.status >= 0:
        return f"ended with status {finished.status}"
    if finished.status == -signal.SIGXCPU:
        return f"was ended: more than {limits.cpu} s of CPU time"
    return f"was ended by signal {-finished.status}"


def _limiting(limits: Limits) -> list[str]:
    bounds = ["--core=0"]
    if limits.memory is not None:
        bounds.append(f"--as={limits.memory}")
    if limits.cpu is not None:
        # SIGXCPU, which says why, and SIGKILL a second later for who ignores it.
        bounds.append(f"--cpu={limits.cpu}:{limits.cpu + 1}")
    return ["setpriv", "--pdeathsig", "KILL", "--", "prlimit", *bounds, "--"]


def _watch(child: subprocess.Popen[bytes], pipes: _Pipes, limits: Limits) -> str | None:
    # Until it ended by itself (None), or for what reason it is to be ended.
    until = time.monotonic() + limits.seconds
    ended = os.pidfd_open(child.pid)
    try:
        pipes.selector.register(ended, selectors.EVENT_READ)
        while not pipes.too_long:
            ready = {key.fd for key, _ in pipes.selector.select(max(0.0, until - time.monotonic()))}
            if not ready:
                return f"did not end within {limits.seconds:g} s"
            if ended in ready:
                return None
            for number in ready:
                pipes.read(number)
        return None
    finally:
        pipes.selector.unregister(ended)
        os.close(ended)


def _end_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)


@dataclass
class _Pipes:
    """Both outputs of a child, read without blocking, up to a bound."""

    child: subprocess.Popen[bytes]
    bound: int
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    _held: dict[int, bytearray] = field(default_factory=dict)

    def __enter__(self) -> _Pipes:
        for pipe in (self.child.stdout, self.child.stderr):
            self._open(pipe)
        return self

    def __exit__(self, *_: object) -> None:
        self.selector.close()

    def _open(self, pipe: IO[bytes] | None) -> None:
        if pipe is not None:
            os.set_blocking(pipe.fileno(), False)
            self._held[pipe.fileno()] = bytearray()
            self.selector.register(pipe.fileno(), selectors.EVENT_READ)

    @property
    def too_long(self) -> bool:
        """True when one of them went beyond the bound."""
        return any(len(held) > self.bound for held in self._held.values())

    def read(self, number: int) -> bool:
        """Take what is there now; False at the end of it."""
        try:
            chunk = os.read(number, _CHUNK)
        except BlockingIOError:
            return False
        if not chunk:
            self.selector.unregister(number)
            return False
        self._held[number] += chunk
        return True

    def drain(self) -> None:
        """Take the rest: nobody of the group can write any more."""
        for number in [number for number in self._held if number in self.selector.get_map()]:
            while not self.too_long and self.read(number):
                pass

    def text(self, index: int) -> str:
        """What came through standard output (0) or standard error (1)."""
        return list(self._held.values())[index].decode("utf-8", errors="replace")
