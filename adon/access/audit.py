"""The audit log: what a line holds, how lines are chained, and how a flood of refusals stays a few lines.

Each line's digest is SHA-256 over the digest before it and all of its own values: a line that is changed,
removed or put in between does not fit any more (:func:`verify`).  Somebody who can write the database could
work out the whole chain anew; against that helps a digest noted elsewhere (``expected``).  Pure.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

LONGEST = 300
"""Characters of a text that are kept."""
FIRST = ""
"""What stands where the first line has no digest before it."""


class Outcome(StrEnum):
    """How a request ended."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that somebody did, or was refused.

    :param at: when, in seconds since the epoch; of several the last.
    :param actor: whose name was proven; empty if none was.
    :param via: how, with the id of the token or session.
    :param address: where the request came from.
    :param action: of :class:`adon.access.policy.Action`, or what it is called where that has no word.
    :param object: the address of what it was about.
    :param status: the HTTP status of the answer; 0 where there was none.
    :param detail: why it was refused or failed, or what exactly was changed.
    :param times: how many this line stands for.
    """

    at: float
    actor: str
    via: str
    address: str
    action: str
    method: str
    object: str
    outcome: Outcome
    status: int
    detail: str = ""
    times: int = 1

    def cleaned(self) -> Entry:
        """The entry as it can be kept and read: texts bounded, on one line, nothing invisible.

        The time is to the millisecond, as the API writes it: who reads lines there can compute digests.
        """
        return replace(
            self,
            at=round(self.at, 3),
            actor=clean(self.actor, 200),
            via=clean(self.via),
            address=clean(self.address),
            action=clean(self.action, 64),
            method=clean(self.method, 16),
            object=clean(self.object),
            detail=clean(self.detail),
        )


COLUMNS = (
    "number",
    "at",
    "actor",
    "via",
    "address",
    "action",
    "method",
    "object",
    "outcome",
    "status",
    "detail",
    "times",
    "digest",
)
"""A line's plain values in order, as they are kept and exported; ``at`` in seconds since the epoch."""
Values = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Line:
    """An entry in its place in the chain."""

    number: int
    entry: Entry
    digest: str

    @classmethod
    def of(cls, values: Values) -> Line:
        """The line with these values.

        :raises ValueError: for an outcome that there is not.
        """
        number, at, actor, via, address, action, method, about, outcome, status, detail, times, digest = (
            values
        )
        entry = Entry(at, actor, via, address, action, method, about, Outcome(outcome), status, detail, times)
        return cls(number, entry, digest)

    @property
    def values(self) -> Values:
        """As :data:`COLUMNS` says."""
        return (self.number, *_values(self.entry), self.digest)


@dataclass(frozen=True, slots=True)
class Verified:
    """What became of checking the log.

    :param lines: how many were good, from the first on.
    :param head: the digest of the last of them.
    :param problem: what is wrong with the next; None if the log is whole.
    """

    lines: int
    head: str
    problem: str | None = None


def clean(text: str, most: int = LONGEST) -> str:
    """A text with what cannot be seen written out, and cut."""
    shown = "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1] + "…"


_encoded = json.JSONEncoder(ensure_ascii=True, allow_nan=False).encode


def _digest(previous: str, values: Iterable[Any]) -> str:
    """The digest of a line, of its values without it, after the line with this digest."""
    return hashlib.sha256(_encoded([previous, *values]).encode()).hexdigest()


def chained(previous: Line | None, entries: Iterable[Entry]) -> list[Line]:
    """Entries as the lines that follow a line; None for the first ones."""
    number, digest = (0, FIRST) if previous is None else (previous.number, previous.digest)
    lines = []
    for entry in entries:
        number += 1
        digest = _digest(digest, (number, *_values(entry)))
        lines.append(Line(number, entry, digest))
    return lines


def verify(
    lines: Iterable[Values], head: tuple[int, str] | None, expected: Mapping[int, str] | None = None
) -> Verified:
    """Whether a log is whole.

    :param lines: the values of all of them, in order: there may be millions, so nothing is made of them.
    :param head: number and digest of the last line, as the database keeps them apart; None if it is gone.
    :param expected: digests by number that were noted elsewhere.
    """
    number, digest = 0, FIRST
    wanted = dict(expected or {})
    for line in lines:
        its_number, its_digest = line[0], line[-1]
        if its_number != number + 1:
            return Verified(number, digest, f"line {number + 1} is missing: {its_number} comes next")
        if _digest(digest, line[:-1]) != its_digest:
            return Verified(number, digest, f"line {its_number}, or the one before it, was changed")
        number, digest = its_number, its_digest
        if wanted.pop(number, digest) != digest:
            return Verified(number - 1, digest, f"line {number} is not the one that was noted")
    if wanted:
        return Verified(number, digest, f"line {max(wanted)} was noted, and the log ends at {number}")
    if head is None or head != (number, digest):
        ends = "nothing says where it ends" if head is None else f"line {head[0]} was the last"
        return Verified(number, digest, f"the log ends at {number}, and {ends}")
    return Verified(number, digest)


@dataclass(slots=True)
class _Counted:
    entry: Entry
    since: float
    times: int = 0


@dataclass(slots=True)
class Flood:
    """Counts what repeats: of identical entries the first is written at once, the rest as one per window.

    What is different each time is bounded too: beyond so many kinds of one address, and of all, entries are
    counted together.

    :param window: seconds.
    """

    window: float = 60.0
    per_address: int = 60
    total: int = 600
    _kinds: dict[tuple[Any, ...], _Counted] = field(default_factory=dict)
    _by_address: dict[str, int] = field(default_factory=dict)

    def take(self, entry: Entry, now: float) -> list[Entry]:
        """What is to be written now that this has happened."""
        due = self.due(now)
        kind = _kind(entry)
        known = self._kinds.get(kind)
        if known is None and self._has_room(entry.address):
            self._kinds[kind] = _Counted(entry, now)
            self._by_address[entry.address] = self._by_address.get(entry.address, 0) + 1
            return [*due, entry]
        if known is None:
            known = self._together(entry, now)
        known.times += 1
        known.entry = replace(known.entry, at=entry.at)
        return due

    def due(self, now: float, *, everything: bool = False) -> list[Entry]:
        """The counts whose window is over."""
        over = [kind for kind, one in self._kinds.items() if everything or now - one.since >= self.window]
        found = []
        for kind in over:
            one = self._kinds.pop(kind)
            left = self._by_address.get(one.entry.address, 0) - 1
            if left > 0:
                self._by_address[one.entry.address] = left
            else:
                self._by_address.pop(one.entry.address, None)
            if one.times:
                found.append(replace(one.entry, times=one.times))
        return found

    def _has_room(self, address: str) -> bool:
        return len(self._kinds) < self.total and self._by_address.get(address, 0) < self.per_address

    def _together(self, entry: Entry, now: float) -> _Counted:
        """The count of what is too various: of one address, or once there are too many, of all."""
        of_all = len(self._kinds) >= self.total
        various = replace(
            entry, actor="", via="", action="various", object="", detail="too various to be told apart"
        )
        if of_all:
            various = replace(various, address="", method="", status=0, outcome=Outcome.REFUSED)
        else:
            various = replace(various, method="", status=0)
        return self._kinds.setdefault(_kind(various), _Counted(various, now))


def _kind(entry: Entry) -> tuple[Any, ...]:
    return _values(replace(entry, at=0.0, times=1))


def _values(entry: Entry) -> tuple[Any, ...]:
    return (
        entry.at,
        entry.actor,
        entry.via,
        entry.address,
        entry.action,
        entry.method,
        entry.object,
        entry.outcome.value,
        entry.status,
        entry.detail,
        entry.times,
    )
