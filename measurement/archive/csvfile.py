"""Rows as CSV (RFC 4180, UTF-8, a header line); numbers as the shortest text that reads back equal."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from measurement.archive.records import NUMBERS, Record, number
from measurement.errors import ExchangeError

Position = Callable[[int], None]
"""Told, now and then, how far the reading has come."""


def write(file: Path, batches: Iterable[Sequence[Record]]) -> None:
    """Write all rows."""
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, strict=True)
        writer.writerow(Record._fields)
        for batch in batches:
            writer.writerows(batch)


def size(file: Path) -> int:
    """What the position counts up to: bytes."""
    return file.stat().st_size


def read(file: Path, position: Position) -> Iterator[tuple[int, Record | ValueError]]:
    """Each row with the number of the line it begins on; or what is wrong with it.

    :raises ExchangeError: if the header is not ours.
    """
    with file.open("rb") as binary:
        # Bytes that are not UTF-8 become halves of surrogate pairs, which no row may hold: they are
        # refused with their line, and the rest of the file is read.
        stream = io.TextIOWrapper(binary, "utf-8-sig", errors="surrogateescape", newline="")
        reader = csv.reader(stream, strict=True)
        _check_header(file, reader)
        while True:
            line = reader.line_num + 1
            position(binary.tell())
            try:
                yield line, _record(next(reader))
            except StopIteration:
                return
            except (csv.Error, ValueError) as error:
                yield line, ValueError(str(error))


def _check_header(file: Path, reader: Iterator[list[str]]) -> None:
    try:
        header = next(reader, [])
    except csv.Error as error:
        raise ExchangeError(f"{file}: line 1: {error}") from None
    if tuple(header) != Record._fields:
        raise ExchangeError(f"{file}: line 1: the header is not {','.join(Record._fields)}", code="malformed")


def _record(cells: Sequence[str]) -> Record:
    if len(cells) != len(Record._fields):
        raise ValueError(f"{len(cells)} fields instead of {len(Record._fields)}")
    found = dict(zip(Record._fields, cells, strict=True))
    numbers = {name: number(name, found[name]) for name in NUMBERS}
    return Record(**{**found, **numbers})  # type: ignore[arg-type]  # the names decide what is a number
