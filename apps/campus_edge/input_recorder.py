"""What decisions saw, encoded and saved when the decision thread has nothing else to do.

No switch and nobody who asked waits for it, nor does the next event: some are done at a time, and only while
no event is waiting.  A controller that is killed before that leaves decisions whose snapshot is missing;
recomputing them says so (docs/explain-and-replay.md).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from adon.broker.recompute.codec import Encoder
from adon.broker.recompute.seen import Snapshot
from adon.store.store import Store

AT_ONCE = 8
"""So many are saved between two looks at what is waiting: a few milliseconds."""
MOST = 2000
"""With so many put off, some are saved at once: memory has an end."""


class Remembering:
    """See the module's text.

    :param code: the version of the code that decides.
    """

    def __init__(self, store: Store, code: str) -> None:
        self._store = store
        self._code = code
        self._encoder = Encoder()
        self._put_off: deque[Snapshot] = deque()

    @property
    def pending(self) -> bool:
        """Whether anything is put off."""
        return bool(self._put_off)

    def keep(self, snapshots: Iterable[Snapshot]) -> None:
        """Take what some decisions saw, to be saved later."""
        self._put_off.extend(snapshots)
        while len(self._put_off) > MOST:
            self.do_some()

    def do_some(self) -> None:
        """Save the oldest of what is put off.

        :raises Unavailable: if the database does not answer.
        """
        some = [self._put_off.popleft() for _ in range(min(AT_ONCE, len(self._put_off)))]
        encoded = [self._encoder.encode(snapshot) for snapshot in some]
        if encoded:
            with self._store.transaction(durable=False):
                self._store.save_snapshots(encoded, self._code)
