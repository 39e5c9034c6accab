"""``python keeper.py PID_FILE -- PROGRAM...``: a guest's parent, which outlives its owner.

A guest's kernel is several processes of its host; killed, it leaves some of them, and files where its memory
was.  The keeper ends them all and removes what is left, also when the owner was killed and cannot: it reads
its standard input, which ends with the owner.  Should the keeper itself be killed, the kernel is too.

It imports little: one runs beside every guest.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

STOP_TIMEOUT = 2.0
MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of random name is made in it
PREFIX = "adon-guest-"
ROOM = 2 << 30
"""Bytes: all the memory that a guest is given (:data:`mininet_topos.old_guest.machine.MEMORY`)."""


def main(arguments: Sequence[str]) -> int:
    """Until the guest has ended, or its owner; the guest's exit status."""
    pid_file, _, *argv = arguments
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # the owner decides, by closing our input
    memory = tempfile.mkdtemp(prefix=PREFIX, dir=MEMORY if _is_fit(MEMORY) else None)
    try:
        return _kept(argv, memory, Path(pid_file))
    finally:
        shutil.rmtree(memory, ignore_errors=True)


def _is_fit(folder: Path) -> bool:
    """Whether a guest can have its memory there: on a disk all of it would be written.

    A container's is often too small, and some forbid to run what is in it.
    """
    if not os.access(folder, os.W_OK):
        return False
    about = os.statvfs(folder)
    return about.f_bavail * about.f_frsize >= ROOM and not about.f_flag & os.ST_NOEXEC


def _kept(argv: Sequence[str], memory: str, pid_file: Path) -> int:
    pid = _begun(argv, memory)
    try:
        os.closerange(3, 256)  # the line, which is to end with the guest
        pid_file.write_text(f"{pid}\n")
        ended = os.pidfd_open(pid)
        ready, _, _ = select.select([ended, 0], [], [])
        if ended not in ready:
            os.kill(pid, signal.SIGTERM)
            select.select([ended], [], [], STOP_TIMEOUT)
    finally:
        # A guest that hangs, and what is left of one that was killed: all are of its session.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
    return abs(os.waitstatus_to_exitcode(status))


def _begun(argv: Sequence[str], memory: str) -> int:
    # The kernel's own files are in HOME; without one it does not start.
    environment = {"TMPDIR": memory, "HOME": memory, "PATH": os.environ.get("PATH", os.defpath)}
    devnull = os.open(os.devnull, os.O_RDONLY)
    return os.posix_spawnp(
        "setpriv",
        ["setpriv", "--pdeathsig", "KILL", *argv],
        environment,
        file_actions=[(os.POSIX_SPAWN_DUP2, devnull, 0)],
        setsid=True,
        setsigdef=[signal.SIGINT, signal.SIGTERM, signal.SIGHUP],
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
