"""Signals are taken by a thread that waits for them, and never by a handler.

Python runs a handler in the main thread, between two of its instructions.  A signal that comes when that
thread is about to wait for something, or that the kernel gives to another thread, is handled when the wait
is over: for a controller without events that is never, and SIGTERM or SIGHUP would be as good as lost.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Mapping

from apps.campus_edge.loop import die

TAKEN = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})


def hold() -> None:
    """Let signals wait until :func:`heed`; to be called before any other thread is started."""
    signal.pthread_sigmask(signal.SIG_BLOCK, TAKEN)


def install_handlers(actions: Mapping[int, Callable[[], None]]) -> None:
    """Call an action for each signal from now on, and for those that have waited, in a thread of its own."""

    def take() -> None:
        while True:
            number = signal.sigwait(TAKEN)
            try:
                actions[number]()
            except Exception:  # noqa: BLE001 - whatever it is, nobody would hear of a signal any more
                die(f"signal {number}")

    threading.Thread(target=take, name="signals", daemon=True).start()
