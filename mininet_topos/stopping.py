"""A program that sends, or counts, is told by SIGTERM to do so no more; what it has to say then, it says."""

from __future__ import annotations

import contextlib
import queue
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

LOOK_S = 0.5
"""Seconds between two looks of a program that waits at whether it is to end."""


class Stopped(Exception):
    """SIGTERM came."""


@contextmanager
def until_sigterm() -> Iterator[None]:
    """End the context at SIGTERM, quietly; a second one ends the program (in the main thread only)."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise Stopped

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except Stopped:
        return
    finally:
        signal.signal(signal.SIGTERM, before if callable(before) else signal.SIG_DFL)


class Stop:
    """Whether to stop: as :class:`threading.Event`, but a signal handler may set it.

    That of an event takes a lock, which the very thread may hold in whose :meth:`wait` the signal came: it
    would wait for itself for ever.  A :class:`queue.SimpleQueue` is made for this.
    """

    def __init__(self) -> None:
        self._told: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._set = False

    def set(self) -> None:
        """Stop; any thread, and a signal handler."""
        self._set = True
        self._told.put(None)

    def is_set(self) -> bool:
        """Whether to stop."""
        return self._set

    def wait(self, seconds: float | None = None) -> bool:
        """Whether to stop, after so many seconds at most; None for as long as it takes.  One thread only."""
        if not self._set:
            with contextlib.suppress(queue.Empty):
                self._told.get(timeout=seconds)
        return self._set


def stop_by_sigterm() -> Stop:
    """What SIGTERM sets: for who counts what it does, and may end only between two of them.

    A second one ends the program (in the main thread only).
    """
    stop = Stop()

    def told(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        stop.set()

    signal.signal(signal.SIGTERM, told)
    return stop
