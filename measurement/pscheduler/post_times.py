"""How long it takes to post a test at each point, learned from the posts.

A server checks a task with every participant before it answers: some seconds on a small one, and more for
tasks that are posted together.  Few are therefore posted at once, and the others wait for their turn, which
counts as posting, too.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict

LOG = logging.getLogger(__name__)
AT_ONCE = 2
"""Posts under way at one point."""
KEPT = 0.9
"""Per post, so much of a longest time is kept: it falls to a third in ten quicker posts."""
LOGGED_FROM_S = 1.0
LONGEST_S = 45.0
"""More is not learned: a process that was suspended has not posted all the time."""


class PostingTimes:
    """The longest recent posting time of each point.  Threads may share it."""

    def __init__(self) -> None:
        self._learned: dict[str, float] = {}
        self._turns: defaultdict[str, threading.Semaphore] = defaultdict(lambda: threading.Semaphore(AT_ONCE))
        self._lock = threading.Lock()

    def turn(self, host: str) -> threading.Semaphore:
        """The semaphore of a point, to be held during a post."""
        with self._lock:
            return self._turns[host]

    def note(self, host: str, seconds: float) -> None:
        """Learn from one post; ``seconds`` include its wait for a turn."""
        seconds = min(seconds, LONGEST_S)
        with self._lock:
            before = self._learned.get(host, 0.0)
            self._learned[host] = max(seconds, KEPT * before + (1 - KEPT) * seconds)
        if seconds > before + LOGGED_FROM_S:
            LOG.info("event=posting_slow point=%s seconds=%.1f", host, seconds)

    @property
    def longest(self) -> float:
        """Seconds at the slowest point; 0 before anything was posted."""
        with self._lock:
            return max(self._learned.values(), default=0.0)
