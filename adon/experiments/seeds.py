"""Seeds for everything that is left to chance, of the one that a file says."""

from __future__ import annotations

import hashlib


def seed_of(seed: int, *words: object) -> int:
    """A seed of 63 bits for something that these words name, the same on every machine."""
    text = "\x1f".join([str(seed), *map(str, words)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) >> 1
