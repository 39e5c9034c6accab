"""Small files that must survive a crash: written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

GANTT = "schedule.html"
"""In the data folder: a round of the plan that is being carried out, as a picture, for the web process."""


def write(path: Path, data: bytes) -> None:
    """Put these bytes in place of the file's; durable on return, readable by us only.

    :raises OSError: when they cannot be written; then the file is as it was.
    """
    part = path.with_name(f"{path.name}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read(path: Path) -> bytes | None:
    """The file's bytes; None if there is no such file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
