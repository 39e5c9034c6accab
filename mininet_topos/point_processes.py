"""``python -m mininet_topos.point_processes FILE``: many measurement points from one start of Python.

Each is the point of :mod:`measurement.point.main`, unchanged, in a process of its own in its own host.  Only
its modules are read once for all, before the processes are forked: in a guest that takes seconds.

Ends, and ends the points, on SIGTERM, or with status 1 when one says by its own status that it cannot go on.
One that somebody ends by a signal is that somebody's affair: the others stay.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from measurement.point.main import main as point
from mininet_topos.namespaces import Inside
from mininet_topos.points import PointProcess

PR_SET_PDEATHSIG = 1


def main(arguments: Sequence[str]) -> int:
    """Start all, and wait; the exit status, in a point's own process that of the point."""
    (file,) = arguments
    points = [PointProcess(**one) for one in json.loads(Path(file).read_text())]
    signals = {signal.SIGTERM, signal.SIGCHLD}
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    running = set[int]()
    for asked in points:
        pid = os.fork()
        if pid == 0:
            return _be(asked)
        running.add(pid)
    failed = False
    while running and not failed and signal.sigwait(signals) == signal.SIGCHLD:
        failed = any(status > 0 for status in _ended(running))
    for pid in running:
        os.kill(pid, signal.SIGTERM)
    for pid in running:
        os.waitpid(pid, 0)
    return int(failed)


def _ended(running: set[int]) -> list[int]:
    """The statuses of those that have ended by now, which are no longer in the set."""
    found = {pid: os.waitpid(pid, os.WNOHANG) for pid in running}
    ended = {pid: status for pid, (which, status) in found.items() if which == pid}
    running -= set(ended)
    return [os.waitstatus_to_exitcode(status) for status in ended.values()]


def _be(asked: PointProcess) -> int:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    log = os.open(asked.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.setsid()
    Inside(asked.host, asked.pid).move_there()
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    return point(asked.arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
