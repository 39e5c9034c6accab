"""Files of series: what ``adon archive export`` wrote, or numbers that somebody else collected."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from measurement.snapshot.staleness import Value

Way = tuple[str, str, str]
"""Path, source and destination."""
MOST_BYTES = 64 * 1024 * 1024


def is_archive(file: Path) -> bool:
    """Whether it begins as an export of the archive does.

    :raises OSError: if it cannot be read.
    """
    from measurement.archive.records import Record

    with file.open("rb") as stream:
        return stream.readline(1000).decode("utf-8-sig", "replace").strip() == ",".join(Record._fields)


def archived(file: Path, metric: str) -> dict[Way, list[Value]]:
    """A metric's values by path and direction, in order of time.

    :raises ValueError: for a file or a row that is none; it names the line.
    """
    from measurement.archive import csvfile
    from measurement.errors import ExchangeError
    from measurement.snapshot.staleness import Value

    found: dict[Way, dict[float, float]] = {}
    try:
        for line, row in csvfile.read(file, lambda _: None):
            if isinstance(row, ValueError):
                raise ValueError(f"{file}:{line}: {row}")
            if row.metric == metric and row.value is not None and row.observed_at is not None:
                series = found.setdefault((row.path, row.source, row.destination), {})
                series[row.observed_at] = row.value
    except ExchangeError as error:
        raise ValueError(str(error)) from error
    return {way: [Value(*each) for each in sorted(series.items())] for way, series in found.items()}


def numbers(file: Path, name: str) -> list[float]:
    """Finite numbers from 0 on, the oldest first: a column of a CSV file, or a list in a JSON object.

    :param name: of the column, or the key; it says the unit.
    :raises ValueError: if there are none, or something else is among them; it names the line, or the place.
    """
    if file.stat().st_size > MOST_BYTES:
        raise ValueError(f"{file}: is larger than {MOST_BYTES // 2**20} MiB")
    try:
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{file}: is not UTF-8 text") from None
    rows = _of_json(file, text, name) if file.suffix.lower() == ".json" else _of_csv(file, text, name)
    found = []
    for place, written, number in rows:
        if number is None or not (math.isfinite(number) and number >= 0):
            raise ValueError(f"{file}:{place}: {name}: {written[:40]} is no finite number from 0 on")
        found.append(number)
    if not found:
        raise ValueError(f"{file}: has no {name}")
    return found


Row = tuple[str, str, float | None]
"""Where it is in the file, as it is written, and the number, if it is one."""


def _of_json(file: Path, text: str, name: str) -> Iterator[Row]:
    import json

    try:
        document = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{file}: {error}") from None
    values = document.get(name) if isinstance(document, dict) else None
    if not isinstance(values, list):
        raise ValueError(f'{file}: is no object such as {{"{name}": [1, 2]}}')
    for at, value in enumerate(values):
        # A number in quotes is text, and true is none.
        its = _number(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
        yield f" [{at}]", json.dumps(value), its


def _of_csv(file: Path, text: str, name: str) -> Iterator[Row]:
    import csv

    reader = csv.DictReader(text.splitlines(), strict=True)
    try:
        if name not in (reader.fieldnames or ()):
            raise ValueError(f"{file}:1: has no column {name}")
        for row in reader:
            written = row[name]
            yield str(reader.line_num), repr(written or ""), _number(written or "")
    except csv.Error as error:
        raise ValueError(f"{file}:{reader.line_num}: {error}") from None


def _number(written: str | float) -> float | None:
    try:
        return float(written)
    except (ValueError, OverflowError):
        return None
