"""The key that agents and those who ask them share: 64 hexadecimal digits in a file for its owner only."""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

BYTES = 32


def write_key(path: Path) -> None:
    """Make a new key.

    :raises FileExistsError: rather than replace one.
    """
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(f"{secrets.token_hex(BYTES)}\n")


def read_key(path: Path) -> bytes:
    """The key in a file.

    :raises ValueError: if others may read it, or it is none; the key itself is in no message.
    :raises OSError: if it cannot be read.
    """
    with path.open(encoding="ascii", errors="replace") as file:
        mode = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise ValueError(f"key: {path} is not a file")
        if mode & 0o077:
            raise ValueError(f"key: {path} has mode {stat.S_IMODE(mode):o}, others may not use it: chmod 600")
        text = file.read(4 * BYTES).strip()
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != BYTES:
        raise ValueError(f"key: {path} does not hold {2 * BYTES} hexadecimal digits")
    return key
