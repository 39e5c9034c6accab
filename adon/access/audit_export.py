"""The audit log as a file: CSV for a spreadsheet, JSON lines for a program.  Pure."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from adon.access.audit import COLUMNS, Values

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_BATCH = 200


def json_lines(lines: Iterable[Values]) -> Iterator[str]:
    """One JSON object per line."""
    return (json.dumps(dict(zip(COLUMNS, line, strict=True))) + "\n" for line in lines)


def csv_rows(lines: Iterable[Values]) -> Iterator[str]:
    """RFC 4180 with a header; times are RFC 3339 in UTC; no cell is taken for a formula."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(COLUMNS)
    for count, (number, at, *rest) in enumerate(lines, start=1):
        cells = [defused(cell) if isinstance(cell, str) else cell for cell in rest]
        writer.writerow((number, datetime.fromtimestamp(at, UTC).isoformat(), *cells))
        if count % _BATCH == 0:
            yield out.getvalue()
            out.seek(0)
            out.truncate()
    yield out.getvalue()


def defused(cell: str) -> str:
    """A cell that a spreadsheet takes for text: what begins like a formula gets an apostrophe before it."""
    return "'" + cell if cell.startswith(_FORMULA) else cell
