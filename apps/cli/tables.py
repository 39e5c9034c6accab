"""Rows as text: a table if it fits, else one block per row; never wider than the window."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

GAP = 2
"""Spaces between two columns."""
NOTHING = ("", "-")
LEAST = 20
"""Narrower than that a column of words is not readable any more."""


def laid_out(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """The lines.

    :param width: characters of the window; None for as wide as it needs, one line per row.
    """
    cells = [[_clean(cell) for cell in row] for row in rows]
    needed = [max(columns_of(text) for text in texts) for texts in zip(columns, *cells, strict=True)]
    if width is None or _total(needed) <= width:
        return _table(columns, cells, needed)
    widest = max(range(len(needed)), key=needed.__getitem__)
    rest = width - (_total(needed) - needed[widest])
    if rest >= LEAST:
        return _table(columns, cells, [*needed[:widest], rest, *needed[widest + 1 :]])
    return _blocks(columns, cells, width)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _clean(text: str) -> str:
    """Replace the characters that move the cursor or break the line; cells contain text of users."""
    return "".join(one if one.isprintable() else " " for one in text)


def columns_of(text: str) -> int:
    """How many characters of a terminal a text takes (East Asian wide ones take two; UAX 11)."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(one) in "WF" for one in text)
    return len(text) + wide - sum(unicodedata.combining(one) > 0 for one in text)


def _table(columns: Sequence[str], cells: Sequence[Sequence[str]], widths: Sequence[int]) -> list[str]:
    head = [*_row(columns, widths), (" " * GAP).join("─" * size for size in widths)]
    return [*head, *(line for row in cells for line in _row(row, widths))]


def _row(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    parts = [folded(cell, size) for cell, size in zip(row, widths, strict=True)]
    height = max(map(len, parts))
    lines = (
        (" " * GAP).join(
            padded(part[number] if number < len(part) else "", size)
            for part, size in zip(parts, widths, strict=True)
        )
        for number in range(height)
    )
    return [line.rstrip() for line in lines]


def padded(text: str, size: int) -> str:
    """A text with spaces up to so many characters of a terminal."""
    return text + " " * max(0, size - columns_of(text))


def folded(text: str, size: int) -> list[str]:
    """A text in lines of at most so many characters of a terminal."""
    if columns_of(text) <= size:
        return [text]
    if columns_of(text) == len(text):
        return textwrap.wrap(text, size) or [""]
    lines, line = [], ""
    for one in text:  # wide characters are few here: broken where the line ends
        if line and columns_of(line + one) > size:
            lines.append(line)
            line = ""
        line += one
    return [*lines, line]


def _blocks(columns: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> list[str]:
    """Each row under its first cell, a line per column that has something to say."""
    name = max(columns_of(column) for column in columns[1:])
    room = max(1, width - name - 2 * GAP)
    lines: list[str] = []
    for row in cells:
        lines += [""] if lines else []
        lines += folded(row[0], width)
        for column, cell in zip(columns[1:], row[1:], strict=True):
            if cell in NOTHING:
                continue
            labels = [column, *[""] * len(cell)]
            for label, part in zip(labels, folded(cell, room), strict=False):
                lines.append(f"{' ' * GAP}{padded(label, name)}{' ' * GAP}{part}".rstrip())
    return lines
