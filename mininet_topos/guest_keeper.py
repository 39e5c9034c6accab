"""``python guest_keeper.py PROGRAM...``: parent of a guest, which outlives the guest's owner.

The kernel of a guest is several processes of its host; when it is killed, some of them and files of its
memory remain.  The keeper ends these processes and removes the files, also when the owner was killed: it
reads its standard input, which ends with the owner.  When the keeper is killed, so is the kernel.

It imports few modules, because a keeper runs with every guest.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

STOP_TIMEOUT = 2.0
MEMORY = Path("/dev/shm")  # noqa: S108 - a folder of random name is made in it
PREFIX = "adon-guest-"
ROOM = 2 << 30
"""Bytes: the memory of a guest (:data:`mininet_topos.guest.MEMORY`)."""


def main(argv: Sequence[str]) -> int:
    """Run until the guest or its owner ends; return the guest's exit status."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # the owner decides, by closing our input
    memory = tempfile.mkdtemp(prefix=PREFIX, dir=MEMORY if _has_room(MEMORY) else None)
    try:
        return _keep(argv, memory)
    finally:
        shutil.rmtree(memory, ignore_errors=True)


def _has_room(folder: Path) -> bool:
    """Return whether the memory of a guest fits into a folder in memory.

    In a container this folder is often too small or mounted with noexec.
    """
    if not os.access(folder, os.W_OK):
        return False
    about = os.statvfs(folder)
    return about.f_bavail * about.f_frsize >= ROOM and not about.f_flag & os.ST_NOEXEC


def _keep(argv: Sequence[str], memory: str) -> int:
    process = _start(argv, memory)
    try:
        os.closerange(3, 256)  # the line must end with the guest
        ended = os.pidfd_open(process.pid)
        ready, _, _ = select.select([ended, 0], [], [])
        if ended not in ready:
            os.kill(process.pid, signal.SIGTERM)  # it is not reaped before its group is killed
            select.select([ended], [], [], STOP_TIMEOUT)
    finally:
        # All processes of the guest are of its session: one that hangs, and the rest of one that was killed.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        status = process.wait()
    return abs(status)


def _start(argv: Sequence[str], memory: str) -> subprocess.Popen[bytes]:
    # The kernel's own files are in HOME; without one it does not start.
    environment = {"TMPDIR": memory, "HOME": memory, "PATH": os.environ.get("PATH", os.defpath)}
    command = ["setpriv", "--pdeathsig", "KILL", *argv]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, env=environment, close_fds=False, start_new_session=True
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
