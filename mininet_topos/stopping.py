"""A program that sends, or counts, is told by SIGTERM to do so no more; what it has to say then, it says."""

from __future__ import annotations

import signal
import threading
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


def stop_by_sigterm() -> threading.Event:
    """An event that SIGTERM sets: for who counts what it does, and may end only between two of them.

    A second one ends the program (in the main thread only).
    """
    stop = threading.Event()

    def told(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        stop.set()

    signal.signal(signal.SIGTERM, told)
    return stop
