"""The os-ken application: what switches say becomes events, what the broker wants becomes messages.

On os-ken's native hub the first exception in a handler ends the application's event thread without a
word while the process looks alive.  So every handler here goes through :func:`guarded`, which stops the
process loudly.  Sockets and sending are :mod:`apps.campus_edge.connections`.

What a switch owes us has a deadline: a batch whose barrier is not answered has failed, and a switch that
does not report its rules is disconnected (nothing can be decided about it; it will come back).
"""

from __future__ import annotations

import functools
import itertools
import logging
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from os_ken.base.app_manager import OSKenApp
from os_ken.controller import ofp_event
from os_ken.controller.handler import (
    CONFIG_DISPATCHER,
    DEAD_DISPATCHER,
    HANDSHAKE_DISPATCHER,
    MAIN_DISPATCHER,
    set_ev_cls,
)
from os_ken.ofproto import ofproto_v1_3, ofproto_v1_4, ofproto_v1_5

from adon.broker.counters import by_flows
from adon.broker.effects import ReadCounters, ReadFeatures, ReadRules, SendBatch, SendPacket
from adon.broker.events import (
    BatchConfirmed,
    BatchFailed,
    CountersReported,
    Event,
    FeaturesReported,
    FirstPacket,
    LldpReceived,
    PortChanged,
    RuleRemoved,
    RulesReported,
    SwitchDown,
    SwitchUp,
)
from adon.config import CookieRange
from adon.flowvisor import openflow
from adon.flowvisor.action import Output
from adon.flowvisor.hello import version_text
from adon.flowvisor.openflow import roles as openflow_roles
from adon.flowvisor.roles import AskRole, ControllerRole, RoleTaken, SwitchArrived, SwitchLeft
from adon.flowvisor.rule import GroupEntry, MeterEntry, ReportedRule, Slot, dpid_text
from apps.campus_edge import limits, probes
from apps.campus_edge.connections import Connection
from apps.campus_edge.loop import Stamps, die
from apps.campus_edge.probes import Probe, Probes
from apps.campus_edge.roles import RoleDesk
from apps.campus_edge.tally import Tally

log = logging.getLogger(__name__)

BARRIER_TIMEOUT_S = 5.0
"""A switch that has not answered a barrier for so long has failed the batch."""
REPORT_TIMEOUT_S = 15.0
"""A switch that has not reported its rules for so long is disconnected."""
ERROR_LINE_EVERY_S = 10.0
REFUSAL_LINE_EVERY_S = 600.0
"""The same error of the same switch, and the same refusal, is logged once in so long."""
FLOWS_AT_ONCE = 100
"""Counters come to the decision thread in parts of so many flows: what else happens need not wait for all."""
FIRST_XID, LAST_XID = 0x4000_0000, 0x7FFF_FFFF
"""Our transaction ids, apart from those that os-ken counts up for its own messages."""

REPORTS = [
    ofp_event.EventOFPFlowStatsReply,
    ofp_event.EventOFPFlowDescStatsReply,
    ofp_event.EventOFPGroupDescStatsReply,
    ofp_event.EventOFPMeterConfigStatsReply,
    ofp_event.EventOFPMeterDescStatsReply,
]
"""The parts of a report; OpenFlow 1.5 has other names for two of them."""

FEATURES = [
    ofp_event.EventOFPTableStatsReply,
    ofp_event.EventOFPTableFeaturesStatsReply,
    ofp_event.EventOFPGroupFeaturesStatsReply,
    ofp_event.EventOFPMeterFeaturesStatsReply,
    ofp_event.EventOFPQueueGetConfigReply,
    ofp_event.EventOFPQueueDescStatsReply,
]
"""What a switch says that it can do; queues have a message of their own until 1.3."""

Handler = TypeVar("Handler", bound=Callable[..., Any])


def guarded(handler: Handler) -> Handler:
    """Let an exception in a handler end the process, not just the thread."""

    @functools.wraps(handler)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return handler(*args, **kwargs)
        except Exception:  # noqa: BLE001 - whatever it is, the state behind it is unknown
            die(f"handler {handler.__name__}")

    return run  # type: ignore[return-value]


@dataclass(slots=True)
class _Batch:
    """A batch under way.

    :param handed_at: monotonic, when it was given to the connection.
    :param sent_at: when its last byte left; None while some of it waits for its turn.
    :param refused: the changes that the switch refused so far, by their place, with its words.
    """

    name: str
    dpid: int
    xids: tuple[int, ...]
    barrier: int
    deadline: float
    handed_at: float
    sent_at: float | None = None
    refused: dict[int, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Report:
    """A report under way: its parts so far.

    :param rules_xid: of the request for the rules; groups and meters a switch need not have.
    :param owed: of the requests whose last part has not come.
    :param counters: only the flows' rules were asked for, for their counters.
    """

    connection: Connection
    deadline: float
    rules_xid: int
    owed: set[int]
    rules: list[ReportedRule] = field(default_factory=list)
    foreign: set[Slot] = field(default_factory=set)
    equipment: list[GroupEntry | MeterEntry] = field(default_factory=list)
    counters: bool = False


class Switchboard(OSKenApp):  # type: ignore[misc]
    """The campus edge's switches; see the module's text.

    :param known: the configured datapath ids; others are refused.
    :param put: hands an event to the decision thread.
    :param ignored: cookies of rules that count as foreign whatever their prefix says (R2).
    :param offer: hands over an event that may be lost when too many wait; by default ``put`` does it.
    :param roles: which switches are ours to write to; without it all are.
    """

    # What os-ken may parse; which of them is spoken is agreed on in connections.py.
    OFP_VERSIONS = (ofproto_v1_3.OFP_VERSION, ofproto_v1_4.OFP_VERSION, ofproto_v1_5.OFP_VERSION)

    def __init__(
        self,
        known: frozenset[int],
        put: Callable[[Event], None],
        stamps: Stamps,
        ignored: Iterable[CookieRange] = (),
        offer: Callable[[Event], bool] | None = None,
        roles: RoleDesk | None = None,
    ) -> None:
        super().__init__()
        self._known = known
        self._put = put
        self._stamps = stamps
        self._xids = itertools.cycle(range(FIRST_XID, LAST_XID))
        self._offer = offer
        self._refusals = limits.Repeats(REFUSAL_LINE_EVERY_S)
        self._errors = limits.Repeats(ERROR_LINE_EVERY_S)
        # Shared by the decision thread and os-ken's; guarded by the lock.
        self._lock = threading.Lock()
        self._connections: dict[int, Connection] = {}
        self._used: set[int] = set()
        self._batches: dict[int, _Batch] = {}
        self._by_xid: dict[int, _Batch] = {}
        self._reports: dict[int, _Report] = {}
        self._ignored = tuple((one.value, one.mask) for one in ignored)
        self._roles = roles
        self._left: set[int] = set()
        self._probes = Probes()
        self.tally = Tally()

    # -- what the broker wants (decision thread) ---------------------------------------------------------

    def send_batch(self, effect: SendBatch) -> None:
        """Send the changes of a batch and a barrier; the answer comes as an event."""
        connection = self._connections.get(effect.dpid)
        if connection is None:
            self._fail(effect.dpid, effect.batch, "the switch is not connected")
            return
        if self._roles is not None and not self._roles.may_send(effect.dpid):
            self._fail(effect.dpid, effect.batch, "this controller may not write to the switch")
            return
        xids = [next(self._xids) for _ in range(len(effect.changes) + 1)]
        deadline = self._stamps.clock() + BARRIER_TIMEOUT_S
        batch = _Batch(effect.batch, effect.dpid, tuple(xids), xids[-1], deadline, time.monotonic())
        with self._lock:
            self._batches[batch.barrier] = batch
            self._by_xid.update((xid, batch) for xid in xids)
        self.tally.sent(len(effect.changes))
        try:
            # What cannot be sent is answered by the end of the connection, or by the deadline.
            last = b""
            for piece in openflow.encode.batch(effect.changes, connection.ofproto.OFP_VERSION, xids):
                if last:
                    connection.send(last)
                last = piece
        except ValueError as error:
            self._abandon(batch, str(error))
            return
        connection.send(last, sent=lambda: self._sent(batch))

    def _sent(self, batch: _Batch) -> None:
        """The last byte of a batch left: the switch's time runs from here."""
        batch.sent_at = self._stamps.clock()

    def _abandon(self, batch: _Batch, error: str) -> None:
        """A batch that cannot be packed has failed, unless it failed by itself meanwhile."""
        with self._lock:
            if batch.barrier not in self._batches:
                return
            self._close(batch)
        self._fail(batch.dpid, batch.name, error)

    def read_rules(self, effect: ReadRules) -> None:
        """Ask a switch for all it holds; a switch that is away is asked when it comes back."""
        connection = self._connections.get(effect.dpid)
        if connection is None:
            return
        version = connection.ofproto.OFP_VERSION
        requests = (
            openflow.encode.rules_request(version),
            openflow.encode.groups_request(version),
            openflow.encode.meters_request(version),
        )
        xids = [next(self._xids) for _ in requests]
        report = _Report(connection, self._stamps.clock() + REPORT_TIMEOUT_S, xids[0], set(xids))
        with self._lock:
            self._reports.update((xid, report) for xid in xids)
        connection.send(b"".join(map(openflow.with_xid, requests, xids)))

    def read_counters(self, effect: ReadCounters) -> None:
        """Ask a switch for the counters of its flows, unless it still owes them."""
        connection = self._connections.get(effect.dpid)
        if connection is None:
            return
        xid = next(self._xids)
        report = _Report(connection, self._stamps.clock() + REPORT_TIMEOUT_S, xid, {xid}, counters=True)
        with self._lock:
            if any(one.counters and one.connection is connection for one in self._reports.values()):
                return
            self._reports[xid] = report
        version = connection.ofproto.OFP_VERSION
        connection.send(openflow.with_xid(openflow.encode.counters_request(version), xid))

    def read_features(self, effect: ReadFeatures) -> None:
        """Ask a switch what it can do; a switch that is away is asked when it comes back."""
        connection = self._connections.get(effect.dpid)
        if connection is None:
            return
        requests = probes.WHOLE if effect.whole else probes.CHANGING
        xids = [next(self._xids) for _ in requests]
        if self._probes.begin(connection, xids, self._stamps.clock(), whole=effect.whole):
            version = connection.ofproto.OFP_VERSION
            packed = (
                openflow.with_xid(request(version), x) for request, x in zip(requests, xids, strict=True)
            )
            connection.send(b"".join(packed))

    def _features(self, probe: Probe | None) -> list[Event]:
        """What a switch said that it can do, if that is all that it was asked."""
        if probe is None or not self._is_connected(probe.connection):
            return []
        switch = probe.connection
        try:
            found = openflow.capabilities.read(switch.ofproto.OFP_VERSION, switch.n_tables, probe.replies)
        except ValueError as error:
            self.tally.malformed()
            log.warning("event=of.malformed dpid=%s error=%r", dpid_text(switch.id), str(error))
            return []
        return [FeaturesReported(*self._stamps(), switch.id, found, probe.whole)]

    def send_packet(self, effect: SendPacket) -> None:
        """Send a frame out of a port; to a switch that is away nothing is sent."""
        connection = self._connections.get(effect.dpid)
        if connection is not None:
            version = connection.ofproto.OFP_VERSION
            message = openflow.encode.packet_out((Output(effect.port),), effect.data, version)
            connection.send(openflow.with_xid(message, next(self._xids)))

    def overdue(self, now: float) -> tuple[list[Event], float | None]:
        """The batches whose barrier was not answered in time, and when to ask again.

        Switches that owe a report for too long are disconnected on the way.
        """
        with self._lock:
            late = [batch for batch in self._batches.values() if _is_late(batch, now)]
            for batch in late:
                self._close(batch)
            silent = [xid for xid, report in self._reports.items() if report.deadline <= now]
            mute = {self._reports.pop(xid).connection for xid in silent}
            deadlines = [b.deadline for b in self._batches.values()]
            deadlines += [report.deadline for report in self._reports.values()]
        for connection in mute:
            self._drop(connection, f"no report of its rules within {REPORT_TIMEOUT_S:g} s")
        if self._roles is not None:
            deadlines += self._roles.overdue(now)
        failed: list[Event] = [BatchFailed(*self._stamps(), b.dpid, b.name, _why_late(b)) for b in late]
        unanswered, waiting = self._probes.overdue(now)
        for probe in unanswered:
            failed += self._features(probe)
        deadlines += waiting
        return failed, min(deadlines, default=None)

    @property
    def connected(self) -> tuple[int, ...]:
        """The datapath ids that are connected now."""
        with self._lock:
            return tuple(self._connections)

    # -- what switches say (os-ken's threads) --------------------------------------------------------------

    @set_ev_cls(ofp_event.EventOFPStateChange, [MAIN_DISPATCHER, DEAD_DISPATCHER])
    @guarded
    def on_state(self, event: Any) -> None:
        """A switch completed its handshake, or is gone."""
        connection = event.datapath
        if connection.id is None:
            return
        if event.state == MAIN_DISPATCHER:
            self._connect(connection)
        else:
            self._disconnect(connection)

    def _connect(self, connection: Connection) -> None:
        dpid = connection.id
        if dpid not in self._known:
            self._refuse(connection, "unknown", "this datapath id is not in the configuration")
            return
        older = self._connections.get(dpid)
        if older is not None:
            if not limits.takes_over(older.claim, connection.claim, connection.patience_s):
                cause = (
                    f"it is connected from {older.claim.address}, and nothing proves that this is the switch"
                )
                self._refuse(connection, "duplicate", cause)
                return
            log.warning("event=switch.again dpid=%s reason=%r", dpid_text(dpid), "connected a second time")
            self._disconnect(older)
            older.close()
        with self._lock:
            self._connections[dpid] = connection
        version = version_text(connection.ofproto.OFP_VERSION)
        text = "event=switch.connected dpid=%s address=%s version=%s"
        log.info(text, dpid_text(dpid), connection.address, version)
        if self._roles is None:
            self.use(dpid)
        else:
            self._roles.feed(SwitchArrived(dpid))

    def _refuse(self, connection: Connection, kind: str, cause: str) -> None:
        """End a connection; it comes back every second or so, and one line is enough."""
        self.tally.connection_refused(kind)
        left_out = self._refusals.due((connection.id, connection.address[0], kind), time.monotonic())
        if left_out is not None:
            text = "event=switch.refused dpid=%s address=%s reason=%r repeated=%d"
            log.error(text, dpid_text(connection.id), connection.address[0], cause, left_out)
        connection.close()

    def _disconnect(self, connection: Connection, why: str = "") -> None:
        with self._lock:
            if self._connections.get(connection.id) is not connection:
                return  # a refused switch, or an older connection of one that is back
            del self._connections[connection.id]
            used = connection.id in self._used
            self._used.discard(connection.id)
            for batch in [b for b in self._batches.values() if b.dpid == connection.id]:
                self._close(batch)
            for xid in [x for x, report in self._reports.items() if report.connection is connection]:
                del self._reports[xid]
        self._probes.gone(connection)
        log.info("event=switch.disconnected dpid=%s", dpid_text(connection.id))
        if self._roles is not None:
            self._roles.feed(SwitchLeft(connection.id))
        if used:
            self._put(SwitchDown(*self._stamps(), connection.id, why))

    def _drop(self, connection: Connection, why: str) -> None:
        log.error("event=switch.dropped dpid=%s reason=%r", dpid_text(connection.id), why)
        connection.close()

    def _is_current(self, connection: Connection) -> bool:
        """Whether this is how a switch that we use is connected now."""
        return self._is_connected(connection) and connection.id in self._used

    def _is_connected(self, connection: Connection) -> bool:
        return connection.id is not None and self._connections.get(connection.id) is connection

    # -- roles (:mod:`apps.campus_edge.roles`) -------------------------------------------------------------

    def ask_role(self, ask: AskRole) -> int | None:
        """Send a role request; its transaction id, or None if the switch is gone."""
        connection = self._connections.get(ask.dpid)
        if connection is None:
            return None
        xid = next(self._xids)
        version = connection.ofproto.OFP_VERSION
        request = openflow.encode.role_request(ask.role.value, ask.generation, version)
        connection.send(openflow.with_xid(request, xid))
        return xid

    def use(self, dpid: int) -> None:
        """Let the broker know of a switch that takes our rules."""
        connection = self._connections.get(dpid)
        if connection is None:
            return
        with self._lock:
            self._used.add(dpid)
            self._left.discard(dpid)
        self._put(SwitchUp(*self._stamps(), dpid, openflow.ports(tuple(connection.ports.values()))))

    def leave(self, dpid: int, why: str) -> None:
        """End the connection to a switch that is not ours to write to, and say so the first time."""
        connection = self._connections.get(dpid)
        if connection is None:
            return
        again = dpid in self._left
        log.log(
            logging.DEBUG if again else logging.ERROR,
            "event=switch.left dpid=%s reason=%r",
            dpid_text(dpid),
            why,
        )
        if not again:
            self._left.add(dpid)
            self._used.add(dpid)  # the broker hears of it, whether or not it knew the switch
        self._disconnect(connection, why)
        connection.close()

    @set_ev_cls(ofp_event.EventOFPRoleReply, MAIN_DISPATCHER)
    @guarded
    def on_role(self, event: Any) -> None:
        """A switch granted a role."""
        connection, role = event.msg.datapath, openflow_roles.granted(event.msg)
        if self._roles is not None and role is not None and self._is_connected(connection):
            self._roles.granted(connection.id, event.msg.xid, role)

    @set_ev_cls(ofp_event.EventOFPExperimenter, MAIN_DISPATCHER)
    @guarded
    def on_experimenter(self, event: Any) -> None:
        """Perhaps: another controller became the switch's master."""
        connection = event.msg.datapath
        if self._roles is not None and self._is_connected(connection) and openflow_roles.taken(event.msg):
            self._roles.feed(RoleTaken(connection.id))

    @set_ev_cls(ofp_event.EventOFPRoleStatus, MAIN_DISPATCHER)
    @guarded
    def on_role_status(self, event: Any) -> None:
        """The same, in OpenFlow 1.4's own words."""
        connection, role = event.msg.datapath, openflow_roles.granted(event.msg)
        lost = role is ControllerRole.SLAVE
        if self._roles is not None and self._is_connected(connection) and lost:
            self._roles.feed(RoleTaken(connection.id))

    @set_ev_cls(ofp_event.EventOFPPortStatus, MAIN_DISPATCHER)
    @guarded
    def on_port(self, event: Any) -> None:
        """A port appeared, changed or went away."""
        message = event.msg
        if not self._is_current(message.datapath):
            return
        gone = message.reason == message.datapath.ofproto.OFPPR_DELETE
        for name, state in openflow.ports([message.desc]).items():
            self._put(PortChanged(*self._stamps(), message.datapath.id, name, None if gone else state))

    @set_ev_cls(REPORTS, MAIN_DISPATCHER)
    @guarded
    def on_rules(self, event: Any) -> None:
        """A part of a switch's rules, groups or meters; the last part completes the report."""
        message = event.msg
        with self._lock:
            report = self._reports.get(message.xid)
        if report is None or report.connection is not message.datapath:
            return
        try:
            part = openflow.decode.part(message.datapath.id, message.buf, self._ignored)
        except ValueError as error:
            self._drop(message.datapath, f"its report makes no sense: {error}")
            return
        report.rules += part.rules
        report.foreign |= part.foreign
        report.equipment += part.equipment
        if not part.more:
            self._settle(report, message.xid)

    def _settle(self, report: _Report, xid: int) -> None:
        """One of the requests of a report is answered; with the last one, tell."""
        with self._lock:
            self._reports.pop(xid, None)
            report.owed.discard(xid)
            if report.owed:
                return
        dpid = report.connection.id
        if report.counters:
            for rules in by_flows(report.rules, FLOWS_AT_ONCE):
                self._put(CountersReported(*self._stamps(), dpid, rules))
            return
        rules, equipment = tuple(report.rules), tuple(report.equipment)
        self._put(RulesReported(*self._stamps(), dpid, rules, frozenset(report.foreign), equipment))

    @set_ev_cls(FEATURES, MAIN_DISPATCHER)
    @guarded
    def on_features(self, event: Any) -> None:
        """A part of what a switch says that it can do; the last part completes it."""
        message = event.msg
        more = bool(message.flags & ofproto_v1_3.OFPMPF_REPLY_MORE)
        for told in self._features(
            self._probes.answered(message.datapath, message.xid, bytes(message.buf), more=more)
        ):
            self._put(told)

    @set_ev_cls(ofp_event.EventOFPBarrierReply, MAIN_DISPATCHER)
    @guarded
    def on_barrier(self, event: Any) -> None:
        """Everything before this barrier is done, or was refused by an error that came earlier."""
        with self._lock:
            batch = self._batches.get(event.msg.xid)
            if batch is None or batch.dpid != event.msg.datapath.id:
                return
            self._close(batch)
        self.tally.barrier(time.monotonic() - batch.handed_at)
        if batch.refused:
            refused = tuple(batch.refused.items())
            self._put(BatchFailed(*self._stamps(), batch.dpid, batch.name, refused[0][1], refused))
        else:
            self._put(BatchConfirmed(*self._stamps(), batch.dpid, batch.name))

    @set_ev_cls(ofp_event.EventOFPErrorMsg, [HANDSHAKE_DISPATCHER, CONFIG_DISPATCHER, MAIN_DISPATCHER])
    @guarded
    def on_error(self, event: Any) -> None:
        """A switch refused something; what of a batch, is told when its barrier is answered."""
        message = event.msg
        text = openflow.error_text(message)
        self.tally.refused(text)
        connection = message.datapath
        where = "unknown" if connection.id is None else dpid_text(connection.id)
        left_out = self._errors.due((where, text), time.monotonic())
        if left_out is not None:
            line = "event=of.error dpid=%s xid=%s error=%r repeated=%d"
            log.warning(line, where, message.xid, text, left_out)
        with self._lock:
            batch = self._by_xid.get(message.xid)
            if batch is not None and batch.dpid != connection.id:
                batch = None
            if batch is not None and message.xid == batch.barrier:
                self._close(batch)
            elif batch is not None:
                batch.refused[_place(batch, message.xid)] = text
                batch = None
            report = self._reports.get(message.xid)
        if self._roles is not None and self._is_connected(connection):
            self._roles.refused(connection.id, message, text)
        if batch is not None:
            self._fail(batch.dpid, batch.name, text)
        for told in self._features(self._probes.answered(connection, message.xid, None)):
            self._put(told)
        if report is None or report.connection is not connection:
            return
        if message.xid == report.rules_xid:
            self._drop(connection, f"it does not report its rules: {text}")
        else:
            self._settle(report, message.xid)  # it has no groups, or no meters

    @set_ev_cls(ofp_event.EventOFPFlowRemoved, MAIN_DISPATCHER)
    @guarded
    def on_removed(self, event: Any) -> None:
        """A rule of ours left the switch."""
        message = event.msg
        if not self._is_current(message.datapath):
            return
        try:
            gone = openflow.decode.removed(message.datapath.id, message.buf)
        except ValueError as error:
            self._drop(message.datapath, f"it tells of a removed rule, and it makes no sense: {error}")
            return
        if gone is not None:
            dpid = message.datapath.id
            self._put(RuleRemoved(*self._stamps(), dpid, gone.rule, gone.reason, gone.packets, gone.bytes))

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    @guarded
    def on_packet(self, event: Any) -> None:
        """A learning or discovery rule saw a packet; anything else is not asked for, and dropped (R18)."""
        heard = openflow.lldp_frame(event.msg)
        if heard is not None and self._is_current(event.msg.datapath):
            self.tally.packet_in()
            self._put(LldpReceived(*self._stamps(), event.msg.datapath.id, *heard))
            return
        found = openflow.first_packet(event.msg)
        if found is None or not self._is_current(event.msg.datapath):
            self.tally.packet_in("unwanted")
            return
        connection, source, destination = found
        dpid, cookie = event.msg.datapath.id, event.msg.cookie
        packet = FirstPacket(*self._stamps(), dpid, cookie, source, destination, connection)
        if self._offer is None:
            self._put(packet)
        elif not self._offer(packet):
            self.tally.packet_in("inbox")
            return
        self.tally.packet_in()

    def _fail(self, dpid: int, batch: str, error: str) -> None:
        self._put(BatchFailed(*self._stamps(), dpid, batch, error))

    def _close(self, batch: _Batch) -> None:
        """Forget a batch; called with the lock held."""
        del self._batches[batch.barrier]
        for xid in batch.xids:
            del self._by_xid[xid]


def _place(batch: _Batch, xid: int) -> int:
    """Which of a batch's changes went out with this transaction id: they are counted up."""
    return (xid - batch.xids[0]) % (LAST_XID - FIRST_XID)


def _why_late(batch: _Batch) -> str:
    """Why a batch failed whose barrier was not answered: what came after a refusal is not known."""
    return next(iter(batch.refused.values()), f"no barrier reply within {BARRIER_TIMEOUT_S:g} s")


def _is_late(batch: _Batch, now: float) -> bool:
    """Whether its barrier is overdue, counted from its last byte; what is not yet sent is looked at again."""
    if batch.deadline > now:
        return False
    batch.deadline = (now if batch.sent_at is None else batch.sent_at) + BARRIER_TIMEOUT_S
    return batch.deadline <= now
