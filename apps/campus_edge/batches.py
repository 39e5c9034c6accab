"""Batches under way: which transaction ids they have, what of them was refused, when they are late.

Filled by the decision thread, emptied by os-ken's; a lock of their own, held for a few steps.  What follows
from an answer is the switchboard's business.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

BARRIER_TIMEOUT_S = 5.0
"""A switch that has not answered a barrier for so long has failed the batch."""
FIRST_XID, LAST_XID = 0x4000_0000, 0x7FFF_FFFF
"""Our transaction ids, apart from those that os-ken counts up for its own messages."""


@dataclass(slots=True, eq=False)
class Batch:
    """A batch under way.

    :param xids: of its changes, and last of its barrier; they are counted up.
    :param handed_at: monotonic, when it was given to the connection.
    :param sent_at: when its last byte left; None while some of it waits for its turn.
    :param refused: the changes that the switch refused so far, by their place, with its words.
    """

    name: str
    dpid: int
    xids: tuple[int, ...]
    deadline: float
    handed_at: float
    sent_at: float | None = None
    refused: dict[int, str] = field(default_factory=dict)

    @property
    def barrier(self) -> int:
        """The transaction id of the barrier behind it."""
        return self.xids[-1]

    def place(self, xid: int) -> int:
        """Which of its changes went out with this transaction id."""
        return (xid - self.xids[0]) % (LAST_XID - FIRST_XID)

    def why_late(self) -> str:
        """Why it failed if its barrier was not answered: what came after a refusal is not known."""
        return next(iter(self.refused.values()), f"no barrier reply within {BARRIER_TIMEOUT_S:g} s")

    def is_late(self, now: float) -> bool:
        """Whether its barrier is overdue, counted from its last byte; one not yet sent is looked at again."""
        if self.deadline > now:
            return False
        self.deadline = (now if self.sent_at is None else self.sent_at) + BARRIER_TIMEOUT_S
        return self.deadline <= now


class Batches:
    """See the module's text."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_barrier: dict[int, Batch] = {}
        self._by_xid: dict[int, Batch] = {}

    def begin(self, batch: Batch) -> None:
        """A batch is about to be sent."""
        with self._lock:
            self._by_barrier[batch.barrier] = batch
            self._by_xid.update((xid, batch) for xid in batch.xids)

    def abandon(self, batch: Batch) -> bool:
        """Forget a batch that could not be sent; False if it failed by itself meanwhile."""
        with self._lock:
            known = batch.barrier in self._by_barrier
            if known:
                self._close(batch)
            return known

    def pop_answered(self, xid: int, dpid: int) -> Batch | None:
        """The batch whose barrier this switch has answered: it is over."""
        with self._lock:
            batch = self._by_barrier.get(xid)
            if batch is None or batch.dpid != dpid:
                return None
            self._close(batch)
            return batch

    def record_refusal(self, xid: int, dpid: int | None, words: str) -> Batch | None:
        """Note a refused change; the batch itself if it was its barrier that was refused: it is over."""
        with self._lock:
            batch = self._by_xid.get(xid)
            if batch is None or batch.dpid != dpid:
                return None
            if xid == batch.barrier:
                self._close(batch)
                return batch
            batch.refused[batch.place(xid)] = words
            return None

    def overdue(self, now: float) -> tuple[list[Batch], list[float]]:
        """The batches that are late, which are over with that, and when the others would be."""
        with self._lock:
            late = [batch for batch in self._by_barrier.values() if batch.is_late(now)]
            for batch in late:
                self._close(batch)
            return late, [batch.deadline for batch in self._by_barrier.values()]

    def forget(self, dpid: int) -> None:
        """A switch is gone, and will not answer."""
        with self._lock:
            for batch in [batch for batch in self._by_barrier.values() if batch.dpid == dpid]:
                self._close(batch)

    def _close(self, batch: Batch) -> None:
        del self._by_barrier[batch.barrier]
        for xid in batch.xids:
            del self._by_xid[xid]
