"""The live log of a run: a file of lines, each a JSON object, written as things happen ([CEEM] IV-J).

::

    {"run": {...}}                 the first: the run without results, as it is kept
    {"sample": {...}}              what came of one test
    {"note": {"at", "text"}}       what else happened
    {"ended": {"at", "text": ""}}  the last, if it was not interrupted

What was written is never changed.  A program that is killed while it writes leaves half a line: it is not
read, and cut off by who goes on.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from measurement.errors import InvalidValue, locate
from measurement.evaluation.run import Note, Run, Sample
from measurement.model import from_json, to_json


def opening(run: Run) -> str:
    """The first line."""
    return _line("run", to_json(replace(run, paths=(), samples=(), notes=(), ended=None)))


def sample_line(sample: Sample) -> str:
    """The line of a test."""
    return _line("sample", to_json(sample))


def note_line(note: Note) -> str:
    """The line of a note."""
    return _line("note", to_json(note))


def ending(at: float) -> str:
    """The last line."""
    return _line("ended", to_json(Note(at, "")))


def whole_lines(text: str) -> str:
    """What of it is written to the end."""
    return text[: text.rfind("\n") + 1]


def read(text: str) -> Run:
    """The run as far as the log tells.

    :raises ValueError: for what is no log; it names the line.
    """
    lines = whole_lines(text).splitlines()
    if not lines:
        raise InvalidValue("line 1: is missing", "missing")
    with _in_line(1):
        run = from_json(Run, _entry(lines[0], "run")[1])
    samples: list[Sample] = []
    notes: list[Note] = []
    ended = None
    for number, line in enumerate(lines[1:], start=2):
        with _in_line(number):
            kind, data = _entry(line, "sample", "note", "ended")
            match kind:
                case "sample":
                    samples.append(from_json(Sample, data))
                case "note":
                    notes.append(from_json(Note, data))
                case _:
                    ended = from_json(Note, data).at
    return replace(run, samples=tuple(samples), notes=tuple(notes), ended=ended)


@contextmanager
def _in_line(number: int) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise locate(f"line {number}", error) from None


def _line(kind: str, data: dict[str, Any]) -> str:
    return json.dumps({kind: data}, ensure_ascii=False) + "\n"


def _entry(line: str, *kinds: str) -> tuple[str, Any]:
    try:
        found = json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidValue(f"is not JSON: {error.msg}", "malformed") from None
    if not isinstance(found, dict) or len(found) != 1 or not {*found} <= {*kinds}:
        raise InvalidValue(f"is no entry of {' or '.join(kinds)}", "unknown-key")
    return next(iter(found.items()))
