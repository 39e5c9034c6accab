"""Folder of a run and its log ([CEEM] IV-J).

::

    document.yaml   the template, word for word
    log.jsonl       the log, a JSON object a line
    run.json        the run, written at its end
    report.html     its report, likewise

Lines of the log::

    {"run": {...}}                 the run without results; the first line
    {"sample": {...}}              result of a test
    {"note": {"at", "text"}}       remark
    {"ended": {"at", "text": ""}}  end of an uninterrupted run; the last line

Lines are never changed.  A killed process leaves an incomplete line, which is ignored, and removed on resume.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from measurement.ceem.run import EvaluationRun, Note, Sample
from measurement.errors import InvalidValue, locate
from measurement.model import from_json, to_json

TEMPLATE_FILE, LOG_FILE, RUN_FILE, REPORT_FILE = "document.yaml", "log.jsonl", "run.json", "report.html"
KINDS: dict[str, type] = {"run": EvaluationRun, "sample": Sample, "note": Note, "ended": Note}


def format_entry(kind: str, entry: EvaluationRun | Sample | Note) -> str:
    """Return the line of an entry."""
    return json.dumps({kind: to_json(entry)}, ensure_ascii=False) + "\n"


class RunLog:
    """Open log; each written line is on the disk when the call returns."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, kind: str, entry: EvaluationRun | Sample | Note) -> None:
        """Append an entry of a kind of :data:`KINDS`."""
        remaining = format_entry(kind, entry).encode()
        while remaining:
            remaining = remaining[os.write(self._descriptor, remaining) :]
        os.fsync(self._descriptor)


def check_unused(folder: Path) -> None:
    """Check that a folder holds no run.

    :raises FileExistsError: if it holds one.
    """
    if (folder / LOG_FILE).exists():
        raise FileExistsError(f"{folder} holds a run")


@contextmanager
def create_log(folder: Path, text: str, run: EvaluationRun) -> Iterator[RunLog]:
    """Create the folder of a run with its log, and hold the log open.

    :param text: text of the template.
    :raises OSError: if the folder holds a run (``FileExistsError``) or cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / LOG_FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
    with _lock(descriptor):
        (folder / TEMPLATE_FILE).write_text(text, "utf-8")
        log = RunLog(descriptor)
        log.write("run", replace(run, paths=(), samples=(), notes=(), ended=None))
        yield log


@contextmanager
def resume_log(folder: Path) -> Iterator[RunLog]:
    """Open the log of a run to append entries, and remove an incomplete line at its end.

    :raises OSError: without a log (``FileNotFoundError``), or while another process writes it
        (``BlockingIOError``).
    """
    descriptor = os.open(folder / LOG_FILE, os.O_RDWR | os.O_APPEND)
    with _lock(descriptor):
        os.ftruncate(descriptor, (folder / LOG_FILE).read_bytes().rfind(b"\n") + 1)
        yield RunLog(descriptor)


def read_log(folder: Path) -> EvaluationRun:
    """Return the run in a folder as far as its log goes.

    :raises OSError: if it cannot be read.
    :raises InvalidValue: for a damaged log; it names the line.
    """
    return parse_log((folder / LOG_FILE).read_text("utf-8"))


def parse_log(text: str) -> EvaluationRun:
    """Return the run of the complete lines of a log.

    :raises InvalidValue: for a text that is no log; it names the line.
    """
    *complete, _ = text.split("\n")
    entries: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    for number, line in enumerate(complete, start=1):
        try:
            kind, data = _parse_line(line)
            if (kind == "run") != (number == 1):
                raise InvalidValue("the first line, and no other, is the run", "unknown-key")
            entries[kind].append(from_json(KINDS[kind], data))
        except ValueError as error:
            raise locate(f"line {number}", error) from None
    if not entries["run"]:
        raise InvalidValue("line 1: is missing", "missing")
    ended = entries["ended"][-1].at if entries["ended"] else None
    run: EvaluationRun = entries["run"][0]
    return replace(run, samples=tuple(entries["sample"]), notes=tuple(entries["note"]), ended=ended)


def _parse_line(line: str) -> tuple[str, Any]:
    try:
        entry = json.loads(line)
    except json.JSONDecodeError as error:
        raise InvalidValue(f"is not JSON: {error.msg}", "malformed") from None
    if not isinstance(entry, dict) or len(entry) != 1 or not {*entry} <= {*KINDS}:
        raise InvalidValue(f"is no entry of {', '.join(KINDS)}", "unknown-key")
    return next(iter(entry.items()))


@contextmanager
def _lock(descriptor: int) -> Iterator[None]:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)
