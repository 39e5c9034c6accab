"""Findings kept until something they rest on has changed, or a value of theirs has grown too old.

A finding that is forgotten costs time, and changes no outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

MOST = 10_000
"""Findings kept; with more, all are forgotten."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, eq=False)
class _Found(Generic[Value]):
    rests_on: tuple[object, ...]
    until: float
    value: Value


class Lasting(Generic[Value]):
    """See the module's text."""

    def __init__(self) -> None:
        self._found: dict[Hashable, _Found[Value]] = {}

    def get(
        self,
        key: Hashable,
        rests_on: tuple[object, ...],
        now: float,
        find: Callable[[], tuple[Value, float]],
    ) -> Value:
        """What was found under this key, or is found now.

        :param rests_on: all but time that it follows from; what was found with something else is not used.
        :param find: finds it, and until when it stays true if nothing changes (s).
        """
        held = self._found.get(key)
        if held is None or now >= held.until or held.rests_on != rests_on:
            value, until = find()
            held = _Found(rests_on, until, value)
            if len(self._found) >= MOST:
                self._found.clear()
            self._found[key] = held
        return held.value
