"""Values out of an archive into a file, and back; exact both ways.

What is exported are values; roll-ups are made anew from values.  A file is read twice: once
to check every row, so that a bad one is found before anything is imported, and once to import.  Import
appends, hence a file imported twice changes nothing, and an import that was interrupted can be repeated.
An export is written beside its name and renamed when it is whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from measurement.archive import csvfile
from measurement.archive.archive import Archive
from measurement.archive.records import Record, record, value_of
from measurement.archive.rows import Value
from measurement.archive.values import Appended
from measurement.errors import ExchangeError, shorten

BATCH = 5000
"""Values of one transaction."""

SHOWN = 1000
"""Bad rows that are remembered one by one; the others are counted."""

Progress = Callable[[str, int, int], None]
"""Called often: what is being done (``checking``, ``importing``, ``exporting``), how much of how much."""


class BadRow(NamedTuple):
    """A row that is no value, and why."""

    line: int
    cause: str

    def __str__(self) -> str:
        return f"line {self.line}: {shorten(self.cause)}"


class BadRows(ExchangeError):
    """A file has rows that are no values; nothing of it was imported.

    :ivar rows: the first of them.
    :ivar count: how many there are.
    """

    code = "bad-rows"

    def __init__(self, file: Path, rows: Sequence[BadRow], count: int) -> None:
        self.rows = tuple(rows)
        self.count = count
        super().__init__(f"{file}: {count} bad rows, the first: {rows[0]}")


@dataclass(frozen=True, slots=True)
class Checked:
    """What a file holds.

    :param good: rows that are values.
    :param bad: the first of those that are not.
    :param bad_count: how many are not.
    """

    good: int
    bad: tuple[BadRow, ...]
    bad_count: int


def _nothing(_what: str, _done: int, _of: int) -> None:
    """Nobody watches."""


def _check_name(file: Path) -> None:
    if file.suffix.lower() != ".csv":
        raise ExchangeError(f"{file}: the name must end in .csv", code="unknown-value")


def export_file(archive: Archive, file: Path, progress: Progress = _nothing) -> int:
    """Write all values into a file; how many.

    :raises ExchangeError: if the file cannot be written; then none is left there.
    """
    _check_name(file)
    part, total, done = file.with_name(file.name + ".part"), archive.size(), 0

    def batches() -> Iterator[list[Record]]:
        nonlocal done
        for values in archive.contents(BATCH):
            yield [record(value) for value in values]
            done += len(values)
            progress("exporting", done, max(done, total))

    try:
        csvfile.write(part, batches())
        part.replace(file)
    except OSError as error:
        raise ExchangeError(f"{file}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)
    return done


def check_file(file: Path, progress: Progress = _nothing) -> Checked:
    """Read a whole file and say what it holds.

    :raises ExchangeError: if it is not such a file.
    """
    good, bad, count = 0, list[BadRow](), 0
    for found in _values(file, partial(progress, "checking")):
        if not isinstance(found, BadRow):
            good += 1
            continue
        count += 1
        if len(bad) < SHOWN:
            bad.append(found)
    return Checked(good, tuple(bad), count)


def import_file(
    archive: Archive, file: Path, progress: Progress = _nothing, *, skip_bad: bool = False
) -> Appended:
    """Append the values of a file.

    :param skip_bad: leave rows out that are no values.
    :raises BadRows: if there are any and they are not to be skipped.
    :raises ExchangeError: if it is not such a file.
    """
    checked = check_file(file, progress)
    if checked.bad and not skip_bad:
        raise BadRows(file, checked.bad, checked.bad_count)
    values = (one for one in _values(file, partial(progress, "importing")) if not isinstance(one, BadRow))
    appended = Appended()
    while batch := list(islice(values, BATCH)):
        appended += archive.append(batch)
    return appended


def _values(file: Path, progress: Callable[[int, int], None]) -> Iterator[Value | BadRow]:
    _check_name(file)
    try:
        total = csvfile.size(file)
        for line, found in csvfile.read(file, lambda done: progress(done, total)):
            yield _value(line, found)
    except OSError as error:
        raise ExchangeError(f"{file}: {error.strerror or error}", code="unreadable") from error


def _value(line: int, found: Record | ValueError) -> Value | BadRow:
    if isinstance(found, ValueError):
        return BadRow(line, str(found))
    try:
        return value_of(found)
    except ValueError as error:
        return BadRow(line, str(error))
