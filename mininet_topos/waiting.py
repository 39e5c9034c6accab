"""Wait for a condition that something outside this process makes true."""

from __future__ import annotations

import time
from collections.abc import Callable

POLL_INTERVAL = 0.1


def wait_until(condition: Callable[[], bool], timeout: float) -> bool:
    """Ask until the condition holds (True) or ``timeout`` seconds have passed (False)."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_INTERVAL)
    return True
