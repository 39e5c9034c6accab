"""Questions wait for their turn, so that what happens in the network never waits behind many of them.

Of each kind one is with the decision thread; the next follows when it is answered, behind all that has
happened meanwhile.  However many people, or one broken process, ask: before a measurement or a switch's word
there is one question of each kind at most.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable

from adon.broker.events import Event


class Turns:
    """See the module; called by any thread.

    :param put: hands an event to the decision thread.
    :param most: of one kind so many wait, the one that is with the decision thread included.
    """

    def __init__(self, put: Callable[[Event], None], most: int) -> None:
        self._put = put
        self._most = most
        self._lines: defaultdict[str, deque[Event]] = defaultdict(deque)
        self._lock = threading.Lock()

    def ask(self, kind: str, event: Event) -> bool:
        """Have a question asked in its turn; False if too many of this kind wait."""
        with self._lock:
            line = self._lines[kind]
            if len(line) >= self._most:
                return False
            line.append(event)
            first = len(line) == 1
        if first:
            self._put(event)
        return True

    def end_turn(self, kind: str) -> None:
        """The question of this kind that was with the decision thread is answered: the next one's turn."""
        with self._lock:
            line = self._lines[kind]
            line.popleft()
            following = line[0] if line else None
        if following is not None:
            self._put(following)
