"""Tables of a run as CSV files (RFC 4180) with a header row; an empty cell of an optional column is None."""

from __future__ import annotations

import csv
import types
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

from adon.errors import InvalidInput, Problem
from apps.experiments.atomic import replaced


def write(file: Path, kind: type[Any], rows: Sequence[tuple[Any, ...]]) -> None:
    """Write a table, whole or not at all; its columns are the fields of ``kind``.

    :param kind: a :class:`~typing.NamedTuple` of text, whole and floating-point numbers.  An optional text is
        None or not empty: CSV has one form for both.
    """
    with replaced(file) as partial, partial.open("w", encoding="utf-8", newline="") as output:
        writer = csv.writer(output)
        writer.writerow(get_type_hints(kind))
        writer.writerows(rows)


def read(file: Path, kind: type[Any]) -> list[Any]:
    """Return the rows of a table.

    :raises InvalidInput: if the file is no such table; it names the file, and the line of a wrong value.
    """
    parsers = {name: _parser(annotation) for name, annotation in get_type_hints(kind).items()}
    try:
        with file.open(encoding="utf-8", newline="") as source:
            lines = csv.reader(source, strict=True)
            header = next(lines, [])
            if missing := [name for name in parsers if name not in header]:
                raise _invalid(file, f"has no column {', '.join(missing)}")
            columns = [(header.index(name), parse) for name, parse in parsers.items()]
            rows = []
            for line in lines:
                try:
                    rows.append(kind(*(parse(line[column]) for column, parse in columns)))
                except (ValueError, IndexError) as error:
                    raise _invalid(file, str(error), lines.line_num) from error
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise _invalid(file, f"cannot be read as CSV: {error}") from error
    return rows


def joined(files: Iterable[Path], kind: type[Any]) -> list[Any]:
    """Return the rows of several tables, one after the other."""
    return [row for file in files for row in read(file, kind)]


def _invalid(file: Path, cause: str, line: int | None = None) -> InvalidInput:
    return InvalidInput(Problem("", cause, str(file), line))


def _parser(annotation: Any) -> Callable[[str], Any]:
    if get_origin(annotation) not in (Union, types.UnionType):
        return annotation  # type: ignore[no-any-return]
    kind = next(one for one in get_args(annotation) if one is not types.NoneType)
    return lambda cell: None if cell == "" else kind(cell)
