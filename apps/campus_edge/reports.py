"""Reports under way: what switches hold, asked in several requests and told in many parts.

Begun by the decision thread, filled by os-ken's; a lock of their own, held for a few steps.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field

from adon.flowvisor.openflow.decode import ReportPart
from adon.flowvisor.rules.rule import GroupEntry, MeterEntry, ReportedRule, Slot
from apps.campus_edge.connections import Connection

REPORT_TIMEOUT_S = 15.0
"""A switch that has not reported its rules for so long is disconnected."""


@dataclass(slots=True, eq=False)
class Report:
    """A report under way: its parts so far.

    :param owed: of the requests whose last part has not come.
    :param rules_xid: of the request for the rules; groups and meters a switch need not have.
    :param counters: only the flows' rules were asked for, for their counters.
    """

    connection: Connection
    deadline: float
    owed: set[int]
    rules_xid: int
    counters: bool = False
    rules: list[ReportedRule] = field(default_factory=list)
    foreign: set[Slot] = field(default_factory=set)
    equipment: list[GroupEntry | MeterEntry] = field(default_factory=list)

    def add(self, part: ReportPart) -> None:
        """Take one part."""
        self.rules += part.rules
        self.foreign |= part.foreign
        self.equipment += part.equipment


class Reports:
    """See the module's text."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_xid: dict[int, Report] = {}

    def begin(self, connection: Connection, xids: Iterable[int], now: float) -> None:
        """All that a switch holds is asked for: its rules first, then its groups and meters."""
        asked = list(xids)
        report = Report(connection, now + REPORT_TIMEOUT_S, set(asked), asked[0])
        with self._lock:
            self._by_xid.update((xid, report) for xid in asked)

    def begin_counters(self, connection: Connection, xid: int, now: float) -> bool:
        """The counters of flows are asked for; False if the switch still owes them."""
        with self._lock:
            if any(one.counters and one.connection is connection for one in self._by_xid.values()):
                return False
            self._by_xid[xid] = Report(connection, now + REPORT_TIMEOUT_S, {xid}, xid, counters=True)
            return True

    def of(self, xid: int, connection: Connection) -> Report | None:
        """The report that a request of this connection belongs to."""
        with self._lock:
            report = self._by_xid.get(xid)
        return None if report is None or report.connection is not connection else report

    def record_answer(self, report: Report, xid: int) -> bool:
        """One of a report's requests is answered; whether it was the last."""
        with self._lock:
            self._by_xid.pop(xid, None)
            report.owed.discard(xid)
            return not report.owed

    def overdue(self, now: float) -> tuple[set[Connection], list[float]]:
        """The connections that owe a report for too long, and when others would."""
        with self._lock:
            late = [xid for xid, report in self._by_xid.items() if report.deadline <= now]
            mute = {self._by_xid.pop(xid).connection for xid in late}
            return mute, [report.deadline for report in self._by_xid.values()]

    def forget(self, connection: Connection) -> None:
        """A connection is gone, and will not answer."""
        with self._lock:
            for xid in [xid for xid, one in self._by_xid.items() if one.connection is connection]:
                del self._by_xid[xid]
