"""Who may hand in results, from the file that says so, and how often: pure.

Senders are recognised as a measurement point recognises who asks it (:mod:`measurement.point.trust`): by
bearer token, of which only the SHA-256 is known, or by TLS client certificate.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from measurement.point.trust import Known

_LINE = re.compile(r"(?P<name>[A-Za-z0-9._-]{1,64})\s+(?P<digest>[0-9A-Fa-f]{64})")


def read_tokens(text: str) -> tuple[Known, ...]:
    """The senders of a file of ``NAME SHA256`` lines; one may have several, so that tokens can be changed.

    :param text: its content; empty lines and those that begin with ``#`` say nothing.
    :raises ValueError: naming the line that is wrong, or the two senders with one token.
    """
    held: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        found = _LINE.fullmatch(stripped)
        if found is None:
            # The line itself is not shown: somebody may have written the token instead of its digest.
            raise ValueError(f"line {number}: expected NAME and the SHA-256 of its token, 64 hex digits")
        name, digest = found["name"], found["digest"].lower()
        if held.setdefault(digest, name) != name:
            raise ValueError(f"line {number}: {name} has the token of {held[digest]}")
    names = dict.fromkeys(held.values())
    return tuple(
        Known(name, frozenset(), frozenset(digest for digest, owner in held.items() if owner == name))
        for name in names
    )


@dataclass(frozen=True, slots=True)
class Bucket:
    """A token bucket: how much somebody may still send at once.

    :param level: requests allowed now.
    :param at: when that was so, seconds of a clock that never steps.
    """

    level: float
    at: float


@dataclass(frozen=True, slots=True)
class Rate:
    """At most ``burst`` requests at once and ``per_second`` in the long run."""

    per_second: float = 50.0
    burst: float = 500.0

    def take(self, bucket: Bucket | None, now: float) -> tuple[Bucket, float]:
        """One request more: the bucket after it, and seconds to wait (0.0 when it is allowed)."""
        level = self.burst
        if bucket is not None:
            level = min(self.burst, bucket.level + max(0.0, now - bucket.at) * self.per_second)
        if level >= 1:
            return Bucket(level - 1, now), 0.0
        return Bucket(level, now), (1 - level) / self.per_second
