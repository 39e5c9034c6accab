"""Audit log: the values of a line, the chain of digests, bounded refusals, and the export.

The digest of a line is SHA-256 over the digest of the previous line and all of its own values: a changed,
removed or inserted line breaks the chain (:func:`verify_chain`).  A writer of the database could compute
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
"""Maximum characters of a stored text."""
FIRST = ""
"""The digest before the first line."""


class Outcome(StrEnum):
    """Outcome of a request."""

    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Entry of the audit log: a request that was carried out, refused or failed.

    :param at: time in seconds since the epoch; of several requests the last.
    :param actor: the proven name; empty without one.
    :param via: the method of proof, with the id of the token or session.
    :param address: the address of the client.
    :param action: of :class:`adon.access.policy.Action`, or another name for other requests.
    :param object: the path of the requested object.
    :param status: the HTTP status of the answer; 0 without an answer.
    :param detail: the reason of a refusal or failure, or the change.
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

    def sanitise(self) -> AuditEntry:
        """Return the entry for storage: texts bounded, on one line, without invisible characters.

        The time has millisecond resolution, as in the API, so that API clients can compute digests.
        """
        texts = {name: clean_text(getattr(self, name), most) for name, most in _LENGTHS.items()}
        return replace(self, at=round(self.at, 3), **texts)  # type: ignore[arg-type]


_LENGTHS = dict.fromkeys(("via", "address", "object", "detail"), LONGEST)
_LENGTHS |= {"actor": 200, "action": 64, "method": 16}
_FIELDS = tuple(one.name for one in fields(AuditEntry))
_values = attrgetter(*("outcome.value" if name == "outcome" else name for name in _FIELDS))
COLUMNS = ("number", *_FIELDS, "digest")
"""Names of a line's values in order, as stored and exported; ``at`` in seconds since the epoch."""
Values = Sequence[Any]


@dataclass(frozen=True, slots=True)
class ChainedEntry:
    """Entry with its number and digests in the chain."""

    number: int
    entry: AuditEntry
    digest: str

    @classmethod
    def of(cls, values: Values) -> ChainedEntry:
        """Return the line with these values.

        :raises ValueError: for an unknown outcome.
        """
        number, *rest, digest = values
        entry = AuditEntry(*rest)
        return cls(number, replace(entry, outcome=Outcome(entry.outcome)), digest)

    @property
    def values(self) -> Values:
        """Values in the order of :data:`COLUMNS`."""
        return (self.number, *_values(self.entry), self.digest)


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of the check of the log.

    :param lines: the number of good lines, from the first one.
    :param head: the digest of the last of them.
    :param problem: the problem of the next line; None if the log is complete.
    """

    lines: int
    head: str
    problem: str | None = None


def clean_text(text: str, most: int = LONGEST) -> str:
    """Return a text with its invisible characters escaped, truncated to a length."""
    shown = "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in text[: most + 1])
    return shown if len(shown) <= most else shown[: most - 1] + "…"


_encoded = json.JSONEncoder(ensure_ascii=True, allow_nan=False).encode


def _digest(previous: str, values: Iterable[Any]) -> str:
    """Return the digest of a line's other values, after the line with this digest."""
    return hashlib.sha256(_encoded([previous, *values]).encode()).hexdigest()


def chain_entries(previous: ChainedEntry | None, entries: Iterable[AuditEntry]) -> list[ChainedEntry]:
    """Return entries as the lines after a line; None for the start of the log."""
    number, digest = (0, FIRST) if previous is None else (previous.number, previous.digest)
    lines = []
    for entry in entries:
        number += 1
        digest = _digest(digest, (number, *_values(entry)))
        lines.append(ChainedEntry(number, entry, digest))
    return lines


def verify_chain(
    lines: Iterable[Values], head: tuple[int, str] | None, expected: Mapping[int, str] | None = None
) -> Verification:
    """Check whether a log is complete and unchanged.

    :param lines: the values of all lines in order, without objects, because a log may have millions.
    :param head: number and digest of the last line, as the database stores them separately; None if missing.
    :param expected: digests by number from an external copy.
    """
    number, digest = 0, FIRST
    wanted = dict(expected or {})
    for line in lines:
        its_number, its_digest = line[0], line[-1]
        if its_number != number + 1:
            return Verification(number, digest, f"line {number + 1} is missing: {its_number} comes next")
        if _digest(digest, line[:-1]) != its_digest:
            return Verification(number, digest, f"line {its_number}, or the one before it, was changed")
        number, digest = its_number, its_digest
        if wanted.pop(number, digest) != digest:
            return Verification(number - 1, digest, f"line {number} does not have the expected digest")
    if wanted:
        return Verification(number, digest, f"line {max(wanted)} was noted, and the log ends at {number}")
    if head is None or head != (number, digest):
        ends = "nothing says where it ends" if head is None else f"line {head[0]} was the last"
        return Verification(number, digest, f"the log ends at {number}, and {ends}")
    return Verification(number, digest)


@dataclass(slots=True)
class RepetitionCounter:
    """Counter of repeated entries: the first is written at once, the others as one entry per window.

    The number of different entries is bounded, too: above a number of kinds of one address, or of all
    addresses, further kinds are counted together.

    :param window: seconds.
    """

    window: float = 60.0
    per_address: int = 60
    total: int = 600
    _kinds: dict[AuditEntry, tuple[float, int, float]] = field(default_factory=dict)
    """Of each kind the start of its window, the number of entries and the time of the last one."""

    def take(self, entry: AuditEntry, now: float) -> list[AuditEntry]:
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

    def due(self, now: float, *, everything: bool = False) -> list[AuditEntry]:
        """Return the counts whose window is over."""
        over = [kind for kind, one in self._kinds.items() if everything or now - one[0] >= self.window]
        counted = [(kind, *self._kinds.pop(kind)) for kind in over]
        return [replace(kind, at=at, times=times) for kind, _, times, at in counted if times]

    def _various(self, kind: AuditEntry) -> AuditEntry:
        """Return the kind of all further entries of an address, or of all addresses if there are too many."""
        various = replace(kind, actor="", via="", action="various", method="", object="", status=0)
        various = replace(various, detail="more kinds of requests than are counted separately")
        if len(self._kinds) < self.total:
            return various
        return replace(various, address="", outcome=Outcome.REFUSED)


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class _Echo:
    """File that returns each text that is written to it."""

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
        cells = [escape_formula(cell) if isinstance(cell, str) else cell for cell in rest]
        yield write((number, datetime.fromtimestamp(at, UTC).isoformat(), *cells))


def escape_formula(cell: str) -> str:
    """Return a cell that a spreadsheet reads as text: an apostrophe precedes a formula."""
    return "'" + cell if cell.startswith(_FORMULA) else cell
