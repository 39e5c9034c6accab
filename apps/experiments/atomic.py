"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replaced(file: Path) -> Iterator[Path]:
    """A name beside a file to write to; it takes the file's place when all is written and on the disk."""
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        yield partial
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def write_text(file: Path, text: str) -> None:
    """Write a text, whole or not at all."""
    with replaced(file) as partial:
        partial.write_text(text, encoding="utf-8")
