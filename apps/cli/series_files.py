"""Files of series: what ``adon archive export`` wrote, or numbers that somebody else collected."""

from __future__ import annotations

import csv
import json
import math
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
    text = file.read_text("utf-8-sig")
    rows = _of_json(file, text, name) if file.suffix.lower() == ".json" else _of_csv(file, text, name)
    if not rows:
        raise ValueError(f"{file}: has no {name}")
    found = []
    for place, value in rows:
        try:
            number = float(value) if isinstance(value, str | int | float) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        if isinstance(value, bool) or not (math.isfinite(number) and number >= 0):
            raise ValueError(f"{file}:{place}: {name}: {str(value)[:40]!r} is no finite number from 0 on")
        found.append(number)
    return found


def _of_json(file: Path, text: str, name: str) -> list[tuple[str, object]]:
    try:
        document = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{file}: {error}") from None
    values = document.get(name) if isinstance(document, dict) else None
    if not isinstance(values, list):
        raise ValueError(f'{file}: is no object such as {{"{name}": [1, 2]}}')
    # A number in quotes is text.
    return [(f" {name}[{at}]", None if isinstance(value, str) else value) for at, value in enumerate(values)]


def _of_csv(file: Path, text: str, name: str) -> list[tuple[str, object]]:
    reader = csv.DictReader(text.splitlines(), strict=True)
    try:
        if name not in (reader.fieldnames or ()):
            raise ValueError(f"{file}:1: has no column {name}")
        return [(str(reader.line_num), row[name]) for row in reader]
    except csv.Error as error:
        raise ValueError(f"{file}:{reader.line_num}: {error}") from None
