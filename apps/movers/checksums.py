"""Checksums as iRODS writes them: SHA-256 in base64 after ``sha2:``, or MD5 in plain hexadecimal."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from pathlib import Path

CHUNK = 1 << 20
_MD5 = re.compile(r"[0-9a-f]{32}")


def matches(theirs: str, path: Path, piece: Callable[[], None] = lambda: None) -> bool:
    """Whether a file here has a checksum that iRODS told; False also for a kind that is not known here.

    :param piece: called after each piece that was read; what it raises ends it.
    :raises OSError: if the file cannot be read.
    """
    if theirs.startswith("sha2:"):
        return theirs == "sha2:" + base64.b64encode(_digest("sha256", path, piece)).decode()
    return bool(_MD5.fullmatch(theirs)) and theirs == _digest("md5", path, piece).hex()


def _digest(kind: str, path: Path, piece: Callable[[], None]) -> bytes:
    # Against what lines and disks do by mistake: nobody is kept out by it.
    digest = hashlib.new(kind, usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            piece()
    return digest.digest()
