"""Ctrl-C and SIGTERM at any moment: the first one interrupts, once, and never in the middle of cleaning up.

Whoever is interrupted leaves its contexts, which removes what they built.  A signal that comes while
something is being removed waits until that is done; a second one changes nothing, it only says so.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


class Interruption:
    """What the signals of this process do, while it is :meth:`watched`.

    :param tell: says one line to whoever interrupts again.
    """

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._deferred = 0
        self._came = False
        self._raised = False

    @property
    def came(self) -> bool:
        """Whether a signal has come."""
        return self._came

    def _signalled(self, _number: int, _frame: FrameType | None) -> None:
        if self._came:
            self._tell("what was built is being removed already")
            return
        self._came = True
        self._raise()

    def _raise(self) -> None:
        if self._came and not self._raised and not self._deferred:
            self._raised = True
            raise KeyboardInterrupt

    @contextmanager
    def watched(self) -> Iterator[None]:
        """SIGINT and SIGTERM come to us (in the main thread)."""
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(number, self._signalled) for number in numbers]
        try:
            yield
        finally:
            for number, handler in zip(numbers, before, strict=True):
                signal.signal(number, handler)

    def close(self) -> None:
        """From now on nothing is interrupted: what is left is to keep what there is."""
        self._raised = True

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """A signal that comes in here interrupts when this is over."""
        self._deferred += 1
        try:
            yield
        finally:
            self._deferred -= 1
            self._raise()

    @contextmanager
    def left_whole(self, context: AbstractContextManager[T]) -> Iterator[T]:
        """A context that is entered as any other, and whose leaving no signal interrupts."""
        value = context.__enter__()
        try:
            yield value
        except BaseException as error:
            with self.deferred():
                if not context.__exit__(type(error), error, error.__traceback__):
                    raise
        else:
            with self.deferred():
                context.__exit__(None, None, None)
