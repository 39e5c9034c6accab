"""How policies are named in a file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_ALWAYS = re.compile(r"always (?P<path>\S+)")


class Kind(StrEnum):
    """What decides."""

    OURS = "ours"
    """``adon serve`` itself."""
    ALWAYS = "always"
    """One path, whatever happens to it."""
    ECMP = "ecmp"
    """By a hash over the paths that are up."""
    LOWEST_RTT = "lowest rtt"
    BEST_TEST = "best test"


@dataclass(frozen=True, slots=True)
class PolicyName:
    """A policy as a file names it.

    :param argument: the path of ``always``; else empty.
    """

    kind: Kind
    argument: str = ""

    def __str__(self) -> str:
        return f"always {self.argument}" if self.kind is Kind.ALWAYS else self.kind.value


def parse(text: str) -> PolicyName:
    """The policy that a text names.

    :raises ValueError: if it names none.
    """
    found = _ALWAYS.fullmatch(text)
    if found is not None:
        return PolicyName(Kind.ALWAYS, found["path"])
    if text in (Kind.OURS, Kind.ECMP, Kind.LOWEST_RTT, Kind.BEST_TEST):
        return PolicyName(Kind(text))
    raise ValueError(
        f"there is no policy {text[:60]!r}; known are ours, always PATH, ecmp, lowest rtt and best test"
    )
