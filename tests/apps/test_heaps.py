"""All threads share few heaps; looked at in a process of its own, since it cannot be taken back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import ctypes, os, sys, threading
from apps.rest import heaps

if sys.argv[1] != "-":
    heaps.at_most(int(sys.argv[1]))
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
together = threading.Barrier(8)

def take():
    together.wait()
    for _ in range(2000):
        libc.malloc(ctypes.c_size_t(2000))
    together.wait()

threads = [threading.Thread(target=take) for _ in range(8)]
[one.start() for one in threads]
[one.join() for one in threads]
libc.fdopen.restype = ctypes.c_void_p
out = libc.fdopen(1, b"w")
libc.malloc_info(0, ctypes.c_void_p(out))
libc.fflush(ctypes.c_void_p(out))
"""


def many(limit: str) -> int:
    root = Path(__file__).parents[2]
    told = subprocess.run(
        [sys.executable, "-c", PROGRAM, limit],
        cwd=root,
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    return told.stdout.count("<heap nr=")


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's heaps")
def test_threads_share_as_few_heaps_as_they_are_told() -> None:
    assert many("2") <= 2 < many("-")
