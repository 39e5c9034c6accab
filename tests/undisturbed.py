"""Rates that are measured again where a busy machine took from them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

TRIES = 5
PAUSE_S = 10.0
"""Between two tries: what took from the first may be over then."""


def undisturbed(
    measure: Callable[[], Found], enough: Callable[[Found], bool], pause: float = PAUSE_S
) -> Found:
    """The first of several measurements in which enough was found; the last, if it was in none.

    Who works beside a test takes from what its network carries, and adds nothing.  So too little is measured
    again, and a network that never carries enough still fails; on an idle machine nothing is measured twice.
    Too much is no reason to measure again.
    """
    for _ in range(TRIES - 1):
        found = measure()
        if enough(found):
            return found
        time.sleep(pause)
    return measure()
