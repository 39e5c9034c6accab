"""A blueprint carried out: turn by turn, each result written down as it comes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from types import FrameType

from measurement.evaluation.blueprint import Blueprint, Test
from measurement.evaluation.run import Sample

Make = Callable[[Test], Sample]
Record = Callable[[Sample], None]


def carry_out(
    blueprint: Blueprint, make: Make, record: Record, done: Collection[int], stop: threading.Event
) -> bool:
    """Make the tests that are not done.

    :param record: called from one thread, with each result as it comes.
    :param done: numbers of tests.
    :param stop: when set, the tests that run are waited for and nothing else is begun.
    :return: whether all are done.
    """
    known = frozenset(done)
    # A program is ended with the thread that started it: the threads stay until all is over.
    with ThreadPoolExecutor(blueprint.widest, thread_name_prefix="test") as crew:
        for number, turn in enumerate(blueprint.turns, start=1):
            left = [test for test in turn if test.number not in known]
            if not left:
                continue
            if stop.is_set():
                return False
            for finished in as_completed([crew.submit(make, test) for test in left]):
                record(finished.result())
            if number < len(blueprint.turns):
                stop.wait(blueprint.pause)
    return True


@contextmanager
def stopping(stop: threading.Event, tell: Callable[[], None]) -> Iterator[None]:
    """Within, Ctrl-C and SIGTERM set an event, once; a second one interrupts as ever.

    :param tell: called when it was set.
    """

    def handle(_number: int, _frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()
        tell()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
