"""What is wrong with a description, by its place there; who read the file knows the line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wrong:
    """One thing that is wrong.

    :param place: the keys that lead to it, the outermost first.
    """

    place: tuple[str, ...]
    cause: str


class WrongDescription(Exception):
    """A description of which no network can be made, with everything that was found at once."""

    def __init__(self, found: Iterable[Wrong]) -> None:
        self.found = tuple(found)
        super().__init__("; ".join(f"{'.'.join(wrong.place)}: {wrong.cause}" for wrong in self.found))


def refuse(found: Iterable[Wrong]) -> None:
    """Refuse if anything was found.

    :raises WrongDescription: with all of it.
    """
    if listed := tuple(found):
        raise WrongDescription(listed)
