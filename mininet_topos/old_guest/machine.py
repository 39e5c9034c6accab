"""Start a guest, have it run one program, and end it.

The guest sees the host's files, read-only; what it writes goes to one folder of the host's.  It runs with the
rights of whoever starts it, whatever its own root may do.  When its owner ends, even by ``kill -9``, so does
the guest, and nothing of it is left (:mod:`mininet_topos.guest_keeper`).
"""

from __future__ import annotations

import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from adon.errors import Unavailable
from mininet_topos.old_guest.kernel import Kernel

INIT = Path(__file__).with_name("init.sh")
PACKAGES = Path(__file__).parents[2]
"""Where our packages are: the folder from which their programs run."""
KEEPER = Path(__file__).parents[1] / "guest_keeper.py"
MEMORY = "2G"
PID = "pid"
"""The file that holds the PID of the guest's kernel."""
MISSING = "missing"
"""The file in which a guest names modules of its kernel that do not load (``init.sh``)."""


def command_line(kernel: Kernel, share: Path, line: tuple[int, int]) -> list[str]:
    """What starts a guest.

    :param share: the host's folder that the guest writes to.
    :param line: two descriptors of the serial line, ``/dev/tty1`` in the guest: with one for both directions
        the kernel stops reading when writing once had to wait.
    """
    return [
        str(kernel.image),
        f"mem={MEMORY}",
        "root=/dev/root",
        "rootfstype=hostfs",
        "rootflags=/",
        "ro",
        "init=/bin/sh",
        "con=null",
        "con0=null,fd:1",
        f"con1=fd:{line[0]},fd:{line[1]}",
        f"ADON_FOLDER={PACKAGES}",
        f"ADON_SHARE={share}",
        f"ADON_MODULES={kernel.modules}",
        "quiet",
        "--",
        str(INIT),
    ]


@dataclass(frozen=True, slots=True)
class Guest:
    """A guest that runs.

    :param process: the guest's parent (:mod:`mininet_topos.guest_keeper`), which ends with it.
    :param share: where it writes: ``stdout``, ``stderr`` and ``status`` of its program, ``console`` of its
        kernel, and what the program puts there; it has the same path inside.
    :param line: our end of its serial line.
    """

    process: subprocess.Popen[bytes]
    share: Path
    line: socket.socket

    def end(self) -> None:
        """Have it end; who waits for that waits for the process."""
        assert self.process.stdin is not None  # noqa: S101 - it was asked for
        self.process.stdin.close()  # which comes also if we are killed

    @property
    def modules_missing(self) -> list[str]:
        """Its kernel's modules that it could not load; known when its program runs."""
        missing = self.share / MISSING
        return missing.read_text().split() if missing.exists() else []

    def wait(self, timeout: float | None = None) -> int:
        """Until its program has ended; its exit status.

        :raises Unavailable: if the guest ends without, with what its kernel said.
        :raises subprocess.TimeoutExpired: if it takes longer.
        """
        self.process.wait(timeout)
        try:
            return int((self.share / "status").read_text())
        except (OSError, ValueError):
            said = (self.share / "console").read_text(errors="replace").splitlines()[-5:]
            raise Unavailable(f"the guest ended before its program: {' | '.join(said)}") from None


@contextmanager
def started(
    kernel: Kernel, argv: Sequence[str], share: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Guest]:
    """A guest that runs this program, from where our packages are; it is gone when the context ends.

    :param share: a folder, given by its absolute path; what is in it is there in the guest, too.  None of it
        may have the name of a file that a guest writes (:class:`Guest`).
    :param environment: of the program, beside the guest's own.
    :raises Unavailable: if its kernel does not start.
    """
    given = [f"export {name}={shlex.quote(value)}" for name, value in (environment or {}).items()]
    program = [f"cd {shlex.quote(str(PACKAGES))}", *given, f"exec {shlex.join(argv)}", ""]
    (share / "program").write_text("\n".join(program))
    ours, theirs = socket.socketpair()
    again = theirs.dup()
    ours.setblocking(False)
    with ours:
        with theirs, again:
            line = (theirs.fileno(), again.fileno())
            keeper = _kept(command_line(kernel, share, line), line, share)
        guest = Guest(keeper, share, ours)
        try:
            yield guest
        finally:
            guest.end()
            keeper.wait()


def _kept(argv: Sequence[str], line: tuple[int, int], share: Path) -> subprocess.Popen[bytes]:
    # By itself: it needs nothing but the standard library, and so starts the sooner.
    keeper = [sys.executable, "-I", "-S", str(KEEPER), str(share / PID), "--"]
    try:
        with (share / "console").open("wb") as said:
            return subprocess.Popen(
                [*keeper, *argv],
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=subprocess.STDOUT,
                pass_fds=line,
                start_new_session=True,
            )
    except OSError as error:
        raise Unavailable(f"the guest's kernel does not start: {error}") from error
