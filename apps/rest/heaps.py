"""How many heaps the C library keeps."""

from __future__ import annotations

import ctypes

_M_ARENA_MAX = -8
"""Of mallopt(3)."""


def at_most(many: int) -> None:
    """Have all threads share so many heaps; to be called before there are any.

    glibc gives each thread one of its own, up to eight per processor, and memory that is free in one is of no
    use to another: with sixteen threads that each make a large answer now and then, the process grows and
    grows.  Python's threads seldom wait for a heap, since only one of them runs at a time.  A C library
    without this choice does not have these heaps either.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, many)
