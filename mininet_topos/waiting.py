"""Wait for a condition that something outside this process makes true."""

from __future__ import annotations

import time
from collections.abc import Callable

POLL_INTERVAL = 0.1


def wait_until(condition: Callable[[], bool], timeout: float, interval: float = POLL_INTERVAL) -> bool:
    """Ask until the condition holds (True) or ``timeout`` seconds have passed (False).

    :param interval: seconds between two times.
    """
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(interval)
    return True
