"""The folder of a run: the document, the live log, and what is made of them at the end.

::

    document.yaml   what was run, word for word
    log.jsonl       the live log (measurement.evaluation.log)
    run.json        the whole run, written when it is over or stopped
    report.html     likewise
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path as File

from adon.errors import Conflict, InvalidInput, NotFound
from measurement.evaluation import log
from measurement.evaluation.run import Note, Run, Sample

DOCUMENT, LOG, RUN, REPORT = "document.yaml", "log.jsonl", "run.json", "report.html"


class LogFile:
    """An open log; each line is on the disk when the call returns."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def sample(self, sample: Sample) -> None:
        """Write what came of a test."""
        self._write(log.sample_line(sample))

    def note(self, at: float, text: str) -> None:
        """Write what else happened."""
        self._write(log.note_line(Note(at, text)))

    def end(self, at: float) -> None:
        """Write that all was done."""
        self._write(log.ending(at))

    def _write(self, line: str) -> None:
        left = line.encode()
        while left:
            left = left[os.write(self._descriptor, left) :]
        os.fsync(self._descriptor)


def refuse_taken(folder: File) -> None:
    """So that it is said before anything is asked of the machines.

    :raises Conflict: if there is a run in the folder.
    """
    if (folder / LOG).exists():
        raise Conflict("--out", f"there is a run in {folder}; --resume goes on with it")


@contextmanager
def started(folder: File, document: str, run: Run) -> Iterator[LogFile]:
    """A new run's folder with its log.

    :param document: its text.
    :raises Conflict: if there is a run in the folder.
    :raises InvalidInput: if it cannot be written.
    """
    refuse_taken(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
    except OSError as error:
        raise InvalidInput.of("--out", f"{folder}: {error.strerror}") from error
    with _locked(descriptor, folder):
        (folder / DOCUMENT).write_text(document, "utf-8")
        os.write(descriptor, log.opening(run).encode())
        yield LogFile(descriptor)


@contextmanager
def resumed(folder: File) -> Iterator[LogFile]:
    """The log of a run that goes on; half a line at its end is cut off.

    :raises NotFound: if there is none.
    :raises Conflict: if somebody is writing it.
    """
    try:
        descriptor = os.open(folder / LOG, os.O_RDWR | os.O_APPEND)
    except FileNotFoundError:
        raise NotFound("run", str(folder)) from None
    with _locked(descriptor, folder):
        text = (folder / LOG).read_bytes()
        os.ftruncate(descriptor, text.rfind(b"\n") + 1)
        yield LogFile(descriptor)


def read(folder: File) -> Run:
    """The run in a folder, as far as its log tells.

    :raises NotFound: if there is none.
    :raises InvalidInput: if the log is damaged; it names the line.
    """
    try:
        return log.read((folder / LOG).read_text("utf-8"))
    except FileNotFoundError:
        raise NotFound("run", str(folder)) from None
    except (ValueError, OSError) as error:
        raise InvalidInput.of(str(folder / LOG), str(error)) from error


@contextmanager
def _locked(descriptor: int, folder: File) -> Iterator[None]:
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Conflict("--out", f"the run in {folder} is going on") from None
        yield
    finally:
        os.close(descriptor)
