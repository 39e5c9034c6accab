"""What switches were asked about themselves, and what they have answered so far (R12).

A question is several requests at once, each with a transaction id; it is answered when all of them are, by a
reply or by an error, or when its time is over: then what was answered counts.  Called by the decision thread
and os-ken's.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from adon.flowvisor.openflow.encode import Request

TIMEOUT_S = 15.0
"""A switch that has not answered for so long is taken to have said all that it will."""

CHANGING: tuple[Request, ...] = ("tables", "queues")
"""What may change while a switch is connected."""
WHOLE: tuple[Request, ...] = (*CHANGING, "group features", "meter features", "table features")


@dataclass(slots=True)
class Probe:
    """One question to one switch, with the whole replies that came.

    :param connection: to the switch; its ``id`` is the datapath's.
    """

    connection: Any
    whole: bool
    deadline: float
    owed: set[int]
    replies: list[bytes] = field(default_factory=list)


class Probes:
    """The questions that are open."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: dict[int, Probe] = {}

    def begin(self, connection: Any, xids: Sequence[int], now: float, *, whole: bool) -> bool:
        """Note a question that is about to be asked; False if this switch still owes an answer to one."""
        probe = Probe(connection, whole, now + TIMEOUT_S, set(xids))
        with self._lock:
            if not whole and any(one.connection is connection for one in self._open.values()):
                return False
            self._open.update((xid, probe) for xid in xids)
        return True

    def add_answer(
        self, connection: Any, xid: int, data: bytes | None, *, more: bool = False
    ) -> Probe | None:
        """Take a part of an answer; the question, if that was its last.

        :param data: the whole message; None for an error: the switch does not know what was asked.
        :param more: whether more parts follow.
        """
        with self._lock:
            probe = self._open.get(xid)
            if probe is None or probe.connection is not connection:
                return None
            if data is not None:
                probe.replies.append(data)
            if more:
                return None
            del self._open[xid]
            probe.owed.discard(xid)
            return None if probe.owed else probe

    def overdue(self, now: float) -> tuple[list[Probe], Iterable[float]]:
        """The questions whose time is over, and until when the others have time."""
        with self._lock:
            late = {id(probe): probe for probe in self._open.values() if probe.deadline <= now}
            self._open = {xid: probe for xid, probe in self._open.items() if probe.deadline > now}
            return list(late.values()), {probe.deadline for probe in self._open.values()}

    def forget_connection(self, connection: Any) -> None:
        """A connection is over: nobody answers any more."""
        with self._lock:
            self._open = {x: probe for x, probe in self._open.items() if probe.connection is not connection}
