"""What waits to be written to one switch, in its order and at its pace (R19).

Putting never waits: the decision thread does it.  One thread per connection takes, so a slow switch delays
nobody but itself.  Where nothing waits, whoever has something to send may :meth:`~Outbox.claim` the writing
and do it at once: waking a thread takes longer than a small write, and a move waits for it.

For a switch with a pace, flow-mods leave in small pieces, and what must not wait behind a long batch (echo
requests and replies, packet-outs) passes them by; everything else keeps its order, so a barrier or a request
for rules is answered after the flow-mods before it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from adon.flowvisor.send_pacing import Bucket, split_messages

OFPT_ECHO_REQUEST, OFPT_ECHO_REPLY, OFPT_PACKET_OUT = 2, 3, 13
_URGENT = frozenset({OFPT_ECHO_REQUEST, OFPT_ECHO_REPLY, OFPT_PACKET_OUT})

MESSAGES_LIMIT = 10_000
BYTES_LIMIT = 64 << 20
"""More than this waiting for one switch, and it counts as gone."""
PIECE_LIMIT = 50
"""Flow-mods in one piece, at most; a slower switch gets a tenth of a second's worth."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Bytes to write.

    :param flow_mods: among them, for a paced switch.
    :param last: the connection ends after it.
    :param sent: called when its last byte was handed to the transport.
    """

    data: bytes
    flow_mods: int = 0
    last: bool = False
    sent: Callable[[], None] | None = None


class Outbox:
    """See the module's text.

    :param clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._changed = threading.Condition()
        self._urgent: deque[Entry] = deque()
        self._ordered: deque[Entry] = deque()
        self._bytes = 0
        self._ended = False
        self._pace: Bucket | None = None
        self._ready_at: float | None = None
        # Who writes at present: the thread that takes, or somebody else who claimed it.
        self._taken = self._claimed = False

    def pace(self, flow_mods_per_second: float) -> None:
        """From now on, no more flow-mods per second than this."""
        most = max(1.0, min(float(PIECE_LIMIT), flow_mods_per_second / 10))
        with self._changed:
            self._pace = Bucket.full(flow_mods_per_second, most, self._clock())

    def put(self, data: bytes, *, last: bool = False, sent: Callable[[], None] | None = None) -> bool:
        """Let bytes wait for their turn; False if too much is waiting already."""
        with self._changed:
            if len(self._ordered) + len(self._urgent) >= MESSAGES_LIMIT or self._bytes >= BYTES_LIMIT:
                return False
            self._bytes += len(data)
            if self._pace is None:
                self._ordered.append(Entry(data, 0, last, sent))
            elif data[1] in _URGENT:
                self._urgent.append(Entry(data, 0, last, sent))
            else:
                cut = [
                    Entry(piece.data, piece.flow_mods)
                    for piece in split_messages(data, int(self._pace.burst))
                ]
                self._ordered.extend(cut[:-1])
                self._ordered.append(Entry(cut[-1].data, cut[-1].flow_mods, last, sent))
            self._changed.notify()
            return True

    def claim(self) -> bool:
        """Whether the caller may write past this queue now, and must :meth:`release` it after.

        Only where nothing waits, nobody else writes, and there is no pace to keep.
        """
        with self._changed:
            busy = self._taken or self._claimed or bool(self._ordered or self._urgent)
            free = not (busy or self._ended) and self._pace is None
            self._claimed = self._claimed or free
            return free

    def release(self) -> None:
        """Give the writing back."""
        with self._changed:
            self._claimed = False
            self._changed.notify()

    def end(self) -> None:
        """Let :meth:`take` return None from now on; what waits is not written any more."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def take(self) -> Entry | None:
        """The next to write, when its time has come; None at the end.  What it gave before is written now."""
        with self._changed:
            self._taken = False
            # A claim is waited for at the end, too: then nobody uses the socket any more.
            while self._claimed or not self._ended:
                entry, wait = (None, None) if self._claimed else self._next()
                if entry is not None:
                    self._bytes -= len(entry.data)
                    self._taken = True
                    return entry
                self._changed.wait(wait)
            return None

    def _next(self) -> tuple[Entry | None, float | None]:
        """What may be written now, or how long to wait for it; called with the lock held."""
        if self._urgent:
            return self._urgent.popleft(), None
        if not self._ordered:
            return None, None
        now = self._clock()
        if self._pace is not None and self._ready_at is None:
            self._pace, wait = self._pace.borrow(now, self._ordered[0].flow_mods)
            self._ready_at = now + wait
        if self._ready_at is not None and self._ready_at > now:
            return None, self._ready_at - now
        self._ready_at = None
        return self._ordered.popleft(), None
