"""The audit log: the values of a line, the chain of digests, bounded refusals, and the log as a file.

The digest of a line is SHA-256 over the digest of the line before and all of its own values: a line that is
changed, removed or inserted does not fit any more (:func:`verify`).  A writer of the database could compute
the whole chain again; a digest that is kept elsewhere (``expected``) protects against that.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any

LONGEST = 300
"""Characters of a text that are kept."""
FIRST = ""
"""The digest before the first line."""


class Outcome(StrEnum):
    """How a request ended."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Entry:
    """A request that was carried out, refused or failed.

    :param at: time in seconds since the epoch; of several requests the last.
    :param actor: the proven name; empty if there was none.
    :param via: how it was proven, with the id of the token or session.
    :param address: where the request came from.
    :param action: of :class:`adon.access.policy.Action`, or another name for what has none there.
    :param object: the address of what the request was about.
    :param status: the HTTP status of the answer; 0 without an answer.
    :param detail: the reason of a refusal or failure, or what was changed.
    :param times: the number of requests that the entry counts.
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
        """Return the entry as it is kept: texts bounded, on one line, without invisible characters.

        The time is to the millisecond, as in the API, so that readers there can compute digests.
        """
        texts = {name: clean(getattr(self, name), most) for name, most in _LENGTHS.items()}
        return replace(self, at=round(self.at, 3), **texts)  # type: ignore[arg-type]


_LENGTHS = dict.fromkeys(("via", "address", "object", "detail"), LONGEST)
_LENGTHS |= {"actor": 200, "action": 64, "method": 16}
_FIELDS = tuple(one.name for one in fields(Entry))
_values = attrgetter(*("outcome.value" if name == "outcome" else name for name in _FIELDS))
COLUMNS = ("number", *_FIELDS, "digest")
"""The names of a line's values in order, as they are kept and exported; ``at`` in seconds since the epoch."""
Values = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Line:
    """An entry in its place in the chain."""

    number: int
    entry: Entry
    digest: str

    @classmethod
    def of(cls, values: Values) -> Line:
        """Return the line with these values.

        :raises ValueError: for an unknown outcome.
        """
        number, *rest, digest = values
        entry = Entry(*rest)
        return cls(number, replace(entry, outcome=Outcome(entry.outcome)), digest)

    @property
    def values(self) -> Values:
        """As :data:`COLUMNS` says."""
        return (self.number, *_values(self.entry), self.digest)


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of checking the log.

    :param lines: the number of good lines, from the first one.
    :param head: the digest of the last of them.
    :param problem: what is wrong with the next line; None if the log is complete.
    """

    lines: int
    head: str
    problem: str | None = None


def clean(text: str, most: int = LONGEST) -> str:
    """Return a text with its invisible characters written out, and cut."""
    shown = "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1] + "…"


_encoded = json.JSONEncoder(ensure_ascii=True, allow_nan=False).encode


def _digest(previous: str, values: Iterable[Any]) -> str:
    """Return the digest of a line's other values, after the line with this digest."""
    return hashlib.sha256(_encoded([previous, *values]).encode()).hexdigest()


def chained(previous: Line | None, entries: Iterable[Entry]) -> list[Line]:
    """Return entries as the lines that follow a line; None for the first ones."""
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
    """Check whether a log is complete and unchanged.

    :param lines: the values of all lines in order; there may be millions, so no objects are made of them.
    :param head: number and digest of the last line, as the database keeps them separately; None if missing.
    :param expected: digests by number that were kept elsewhere.
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
class Flood:
    """Counts repeated entries: the first is written at once, the others as one entry per window.

    Different entries are bounded, too: above a number of kinds of one address, or of all addresses, further
    kinds are counted together.

    :param window: seconds.
    """

    window: float = 60.0
    per_address: int = 60
    total: int = 600
    _kinds: dict[Entry, tuple[float, int, float]] = field(default_factory=dict)
    """Of each kind the start of its window, the number of entries and the time of the last one."""

    def take(self, entry: Entry, now: float) -> list[Entry]:
        """Return the entries to write after this one."""
        due = self.due(now)
        kind = replace(entry, at=0.0)
        if kind not in self._kinds:
            of_address = sum(one.address == entry.address for one in self._kinds)
            if len(self._kinds) < self.total and of_address < self.per_address:
                self._kinds[kind] = (now, 0, entry.at)
                return [*due, entry]
            kind = self._various(kind)
        since, times, _ = self._kinds.get(kind, (now, 0, 0.0))
        self._kinds[kind] = (since, times + 1, entry.at)
        return due

    def due(self, now: float, *, everything: bool = False) -> list[Entry]:
        """Return the counts whose window is over."""
        over = [kind for kind, one in self._kinds.items() if everything or now - one[0] >= self.window]
        counted = [(kind, *self._kinds.pop(kind)) for kind in over]
        return [replace(kind, at=at, times=times) for kind, _, times, at in counted if times]

    def _various(self, kind: Entry) -> Entry:
        """Return the kind of all further entries of an address, or of all addresses if there are too many."""
        various = replace(kind, actor="", via="", action="various", method="", object="", status=0)
        various = replace(various, detail="too various to be told apart")
        if len(self._kinds) < self.total:
            return various
        return replace(various, address="", outcome=Outcome.REFUSED)


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class _Echo:
    """A file that returns each text that is written to it."""

    def write(self, text: str) -> str:
        return text


def json_lines(lines: Iterable[Values]) -> Iterator[str]:
    """Yield a JSON object per line."""
    return (json.dumps(dict(zip(COLUMNS, line, strict=True))) + "\n" for line in lines)


def csv_rows(lines: Iterable[Values]) -> Iterator[str]:
    """Yield RFC 4180 with a header; times are RFC 3339 in UTC, and no cell is a formula."""
    write = csv.writer(_Echo()).writerow
    yield write(COLUMNS)
    for number, at, *rest in lines:
        cells = [defused(cell) if isinstance(cell, str) else cell for cell in rest]
        yield write((number, datetime.fromtimestamp(at, UTC).isoformat(), *cells))


def defused(cell: str) -> str:
    """Return a cell that a spreadsheet reads as text: an apostrophe precedes what begins like a formula."""
    return "'" + cell if cell.startswith(_FORMULA) else cell
