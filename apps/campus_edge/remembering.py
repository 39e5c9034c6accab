"""What decisions saw, encoded and saved when all else that an event asked for is done.

No switch and nobody who asked waits for it.  A controller that is killed in that instant leaves decisions
whose snapshot is missing; recomputing them says so (docs/recompute.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from adon.broker.recompute.codec import Encoder
from adon.broker.recompute.seen import Snapshot
from adon.store.store import Store


class Remembering:
    """See the module's text.

    :param code: the version of the code that decides.
    """

    def __init__(self, store: Store, code: str) -> None:
        self._store = store
        self._code = code
        self._encoder = Encoder()

    def keep(self, snapshots: Sequence[Snapshot]) -> None:
        """Save what some decisions saw.

        :raises Unavailable: if the database does not answer.
        """
        encoded = [self._encoder.encode(snapshot) for snapshot in snapshots]
        with self._store.transaction(durable=False):
            for one in encoded:
                self._store.save_snapshot(one, self._code)
