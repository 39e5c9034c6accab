"""How long this machine takes to make one small write durable: what a commit costs at least."""

from __future__ import annotations

import os
import time
from pathlib import Path

from benchmarks.summary import Summary

SAMPLES = 200
WRITE = bytes(4096)


def run(folder: Path) -> Summary:
    """Milliseconds for a 4 KiB append and fdatasync."""
    descriptor = os.open(folder / "durable", os.O_CREAT | os.O_WRONLY, 0o600)
    samples = []
    try:
        for _ in range(SAMPLES):
            begun = time.monotonic()
            os.write(descriptor, WRITE)
            os.fdatasync(descriptor)
            samples.append((time.monotonic() - begun) * 1e3)
    finally:
        os.close(descriptor)
    return Summary.of([samples])
