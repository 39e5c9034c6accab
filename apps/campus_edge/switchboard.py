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
from os_ken.ofproto import ofproto_v1_3, ofproto_v1_4

from adon.broker.counters import by_flows
from adon.broker.effects import (
    AdmitConnections,
    DropConnections,
    ReadCounters,
    ReadFeatures,
    ReadRules,
    SendBatch,
    SendPacket,
)
from adon.broker.events import (
    BatchConfirmed,
    BatchFailed,
    ConnectionsRefused,
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
    UnannouncedPackets,
)
from adon.config.network import CookieRange
from adon.flowvisor.controller_roles import ControllerRole, RequestRole, RoleLost, SwitchArrived, SwitchLeft
from adon.flowvisor.openflow import capabilities, decode, encode, messages, packets
from adon.flowvisor.openflow.wire import version_text, with_xid
from adon.flowvisor.rules.action import Output
from adon.flowvisor.rules.connections import merge_connections
from adon.flowvisor.rules.rule import Change, Op
from adon.flowvisor.topology.path import dpid_text
from apps.campus_edge import limits, probes
from apps.campus_edge.batches import BARRIER_TIMEOUT_S, FIRST_XID, LAST_XID, Batch, Batches
from apps.campus_edge.connections import Connection
from apps.campus_edge.loop import Stamps, die
from apps.campus_edge.probes import Probe, Probes
from apps.campus_edge.reports import REPORT_TIMEOUT_S, Report, Reports
from apps.campus_edge.roles import RoleDesk
from apps.campus_edge.tally import Tally

log = logging.getLogger(__name__)

ERROR_LINE_EVERY_S = 10.0
REFUSAL_LINE_EVERY_S = 600.0
"""The same error of the same switch, and the same refusal, is logged once in so long."""
FLOWS_AT_ONCE = 100
"""Counters come to the decision thread in parts of so many flows: what else happens need not wait for all."""
FIRST_ADMISSION, ADMISSIONS = 0x2000_0000, 0x1000_0000
"""The transaction ids of connections' rules: an error says by it whose it was."""

WHAT_A_REPORT_ASKS: tuple[encode.Request, ...] = ("rules", "groups", "meters")
REPORTS = [
    ofp_event.EventOFPFlowStatsReply,
    ofp_event.EventOFPGroupDescStatsReply,
    ofp_event.EventOFPMeterConfigStatsReply,
]
"""The parts of a report."""

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


def end_process_on_error(handler: Handler) -> Handler:
    """Let an exception in a handler end the process, not just the thread."""

    @functools.wraps(handler)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return handler(*args, **kwargs)
        except Exception:  # noqa: BLE001 - whatever it is, the state behind it is unknown
            die(f"handler {handler.__name__}")

    return run  # type: ignore[return-value]


class Switchboard(OSKenApp):  # type: ignore[misc]
    """The campus edge's switches; see the module's text.

    :param known: the configured datapath ids; others are refused.
    :param put: hands an event to the decision thread.
    :param ignored: cookies of rules that count as foreign whatever their prefix says (R2).
    :param offer: hands over an event that may be lost when too many wait; by default ``put`` does it.
    :param roles: which switches are ours to write to; without it all are.
    """

    # What os-ken may parse; which of them is spoken is agreed on in connections.py.
    OFP_VERSIONS = (ofproto_v1_3.OFP_VERSION, ofproto_v1_4.OFP_VERSION)

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
        self._batches = Batches()
        self._reports = Reports()
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
        batch = Batch(effect.batch, effect.dpid, tuple(xids), deadline, time.monotonic())
        self._batches.begin(batch)
        self.tally.count_sent(len(effect.changes))
        try:
            # What cannot be sent is answered by the end of the connection, or by the deadline.
            last = b""
            for piece in encode.encode_batch(effect.changes, connection.ofproto.OFP_VERSION, xids):
                if last:
                    connection.send(last)
                last = piece
        except ValueError as error:
            self._abandon(batch, str(error))
            return
        connection.send(last, sent=lambda: self._record_sent(batch))

    def _record_sent(self, batch: Batch) -> None:
        """The last byte of a batch left: the switch's time runs from here."""
        batch.sent_at = self._stamps.clock()

    def _abandon(self, batch: Batch, error: str) -> None:
        """A batch that cannot be packed has failed, unless it failed by itself meanwhile."""
        if self._batches.abandon(batch):
            self._fail(batch.dpid, batch.name, error)

    def read_rules(self, effect: ReadRules) -> None:
        """Ask a switch for all it holds; a switch that is away is asked when it comes back."""
        connection = self._connections.get(effect.dpid)
        if connection is None:
            return
        version = connection.ofproto.OFP_VERSION
        requests = [encode.encode_request(wanted, version) for wanted in WHAT_A_REPORT_ASKS]
        xids = [next(self._xids) for _ in requests]
        self._reports.begin(connection, xids, self._stamps.clock())
        connection.send(b"".join(map(with_xid, requests, xids)))

    def read_counters(self, effect: ReadCounters) -> None:
        """Ask a switch for the counters of its flows, unless it still owes them."""
        connection = self._connections.get(effect.dpid)
        if connection is None:
            return
        xid = next(self._xids)
        if self._reports.begin_counters(connection, xid, self._stamps.clock()):
            version = connection.ofproto.OFP_VERSION
            connection.send(with_xid(encode.encode_request("flow counters", version), xid))

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
                with_xid(encode.encode_request(request, version), x)
                for request, x in zip(requests, xids, strict=True)
            )
            connection.send(b"".join(packed))

    def _features(self, probe: Probe | None) -> list[Event]:
        """What a switch said that it can do, if that is all that it was asked."""
        if probe is None or not self._is_connected(probe.connection):
            return []
        switch = probe.connection
        try:
            found = capabilities.read_features(switch.ofproto.OFP_VERSION, switch.n_tables, probe.replies)
        except ValueError as error:
            self.tally.count_malformed()
            log.warning("event=of.malformed dpid=%s error=%r", dpid_text(switch.id), str(error))
            return []
        return [FeaturesReported(*self._stamps(), switch.id, found, probe.whole)]

    def send_packet(self, effect: SendPacket) -> None:
        """Send a frame out of a port; to a switch that is away nothing is sent."""
        connection = self._connections.get(effect.dpid)
        if connection is not None:
            version = connection.ofproto.OFP_VERSION
            message = encode.encode_packet_out((Output(effect.port),), effect.data, version)
            connection.send(with_xid(message, next(self._xids)))

    def admit_connections(self, effect: AdmitConnections) -> None:
        """Send the rules of new connections, and the packets that brought them; errors come as events."""
        connection = self._connections.get(effect.dpid)
        if connection is None or (self._roles is not None and not self._roles.may_send(effect.dpid)):
            return
        xid = FIRST_ADMISSION + effect.number % ADMISSIONS
        self.tally.count_admitted(sum(new for _, _, new in effect.packets), len(effect.packets))
        connection.send(
            encode.encode_admission(effect.rule, effect.packets, connection.ofproto.OFP_VERSION, xid)
        )

    def drop_connections(self, effect: DropConnections) -> None:
        """Have a switch drop refused packets for a while; if it does not, they are refused here again."""
        connection = self._connections.get(effect.rule.dpid)
        if connection is None or (self._roles is not None and not self._roles.may_send(effect.rule.dpid)):
            return
        self.tally.count_sent(1)
        change = Change(Op.ADD, effect.rule)
        connection.send(encode.encode_change(change, connection.ofproto.OFP_VERSION, next(self._xids)))

    def handle_packets(self, connection: Connection, packets: tuple[tuple[int, bytes], ...]) -> None:
        """Packets that a reactive rule shows, by the connection's thread (R18)."""
        if not self._is_current(connection):
            return
        event = UnannouncedPackets(*self._stamps(), connection.id, packets)
        if self._offer is None:
            self._put(event)
        elif not self._offer(event):
            self.tally.packet_in("inbox", len(packets))
            return
        self.tally.packet_in("taken", len(packets))

    def overdue(self, now: float) -> tuple[list[Event], float | None]:
        """The batches whose barrier was not answered in time, and when to ask again.

        Switches that owe a report for too long are disconnected on the way.
        """
        late, deadlines = self._batches.overdue(now)
        mute, reports_due = self._reports.overdue(now)
        deadlines += reports_due
        for connection in mute:
            self._drop(connection, f"no report of its rules within {REPORT_TIMEOUT_S:g} s")
        if self._roles is not None:
            deadlines += self._roles.overdue(now)
        failed: list[Event] = [BatchFailed(*self._stamps(), b.dpid, b.name, b.why_late()) for b in late]
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
    @end_process_on_error
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
        self._batches.forget(connection.id)
        self._reports.forget(connection)
        self._probes.forget_connection(connection)
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

    def ask_role(self, ask: RequestRole) -> int | None:
        """Send a role request; its transaction id, or None if the switch is gone."""
        connection = self._connections.get(ask.dpid)
        if connection is None:
            return None
        xid = next(self._xids)
        version = connection.ofproto.OFP_VERSION
        request = encode.encode_role_request(ask.role.value, ask.generation, version)
        connection.send(with_xid(request, xid))
        return xid

    def use(self, dpid: int) -> None:
        """Let the broker know of a switch that takes our rules."""
        connection = self._connections.get(dpid)
        if connection is None:
            return
        with self._lock:
            self._used.add(dpid)
            self._left.discard(dpid)
        self._put(SwitchUp(*self._stamps(), dpid, messages.ports(tuple(connection.ports.values()))))

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
    @end_process_on_error
    def on_role(self, event: Any) -> None:
        """A switch granted a role."""
        connection, role = event.msg.datapath, messages.read_granted_role(event.msg)
        if self._roles is not None and role is not None and self._is_connected(connection):
            self._roles.handle_role_reply(connection.id, event.msg.xid, role)

    @set_ev_cls(ofp_event.EventOFPExperimenter, MAIN_DISPATCHER)
    @end_process_on_error
    def on_experimenter(self, event: Any) -> None:
        """Perhaps: another controller became the switch's master."""
        connection = event.msg.datapath
        if self._roles is not None and self._is_connected(connection) and messages.is_role_taken(event.msg):
            self._roles.feed(RoleLost(connection.id))

    @set_ev_cls(ofp_event.EventOFPRoleStatus, MAIN_DISPATCHER)
    @end_process_on_error
    def on_role_status(self, event: Any) -> None:
        """The same, in OpenFlow 1.4's own words."""
        connection, role = event.msg.datapath, messages.read_granted_role(event.msg)
        lost = role is ControllerRole.SLAVE
        if self._roles is not None and self._is_connected(connection) and lost:
            self._roles.feed(RoleLost(connection.id))

    @set_ev_cls(ofp_event.EventOFPPortStatus, MAIN_DISPATCHER)
    @end_process_on_error
    def on_port(self, event: Any) -> None:
        """A port appeared, changed or went away."""
        message = event.msg
        if not self._is_current(message.datapath):
            return
        gone = message.reason == message.datapath.ofproto.OFPPR_DELETE
        for name, state in messages.ports([message.desc]).items():
            self._put(PortChanged(*self._stamps(), message.datapath.id, name, None if gone else state))

    @set_ev_cls(REPORTS, MAIN_DISPATCHER)
    @end_process_on_error
    def on_rules(self, event: Any) -> None:
        """A part of a switch's rules, groups or meters; the last part completes the report."""
        message = event.msg
        report = self._reports.of(message.xid, message.datapath)
        if report is None:
            return
        try:
            part = decode.read_part(message.datapath.id, message.buf, self._ignored)
        except ValueError as error:
            self._drop(message.datapath, f"its report makes no sense: {error}")
            return
        report.add(part)
        if not part.more:
            self._settle(report, message.xid)

    def _settle(self, report: Report, xid: int) -> None:
        """One of the requests of a report is answered; with the last one, tell."""
        if not self._reports.record_answer(report, xid):
            return
        dpid = report.connection.id
        if report.counters:
            for rules in by_flows(report.rules, FLOWS_AT_ONCE):
                self._put(CountersReported(*self._stamps(), dpid, rules))
            return
        found, foreign = merge_connections(report.rules), frozenset(report.foreign)
        equipment = tuple(report.equipment)
        self._put(RulesReported(*self._stamps(), dpid, found.rules, foreign, equipment, found.connections))

    @set_ev_cls(FEATURES, MAIN_DISPATCHER)
    @end_process_on_error
    def on_features(self, event: Any) -> None:
        """A part of what a switch says that it can do; the last part completes it."""
        message = event.msg
        more = bool(message.flags & ofproto_v1_3.OFPMPF_REPLY_MORE)
        for told in self._features(
            self._probes.add_answer(message.datapath, message.xid, bytes(message.buf), more=more)
        ):
            self._put(told)

    @set_ev_cls(ofp_event.EventOFPBarrierReply, MAIN_DISPATCHER)
    @end_process_on_error
    def on_barrier(self, event: Any) -> None:
        """Everything before this barrier is done, or was refused by an error that came earlier."""
        batch = self._batches.pop_answered(event.msg.xid, event.msg.datapath.id)
        if batch is None:
            return
        self.tally.barrier(time.monotonic() - batch.handed_at)
        if batch.refused:
            refused = tuple(batch.refused.items())
            self._put(BatchFailed(*self._stamps(), batch.dpid, batch.name, refused[0][1], refused))
        else:
            self._put(BatchConfirmed(*self._stamps(), batch.dpid, batch.name))

    @set_ev_cls(ofp_event.EventOFPErrorMsg, [HANDSHAKE_DISPATCHER, CONFIG_DISPATCHER, MAIN_DISPATCHER])
    @end_process_on_error
    def on_error(self, event: Any) -> None:
        """A switch refused something; what of a batch, is told when its barrier is answered."""
        message = event.msg
        text = messages.error_text(message)
        self.tally.count_refusal(text)
        connection = message.datapath
        where = "unknown" if connection.id is None else dpid_text(connection.id)
        left_out = self._errors.due((where, text), time.monotonic())
        if left_out is not None:
            line = "event=of.error dpid=%s xid=%s error=%r repeated=%d"
            log.warning(line, where, message.xid, text, left_out)
        batch = self._batches.record_refusal(message.xid, connection.id, text)
        report = self._reports.of(message.xid, connection)
        if FIRST_ADMISSION <= message.xid < FIRST_ADMISSION + ADMISSIONS and self._is_current(connection):
            self._put(ConnectionsRefused(*self._stamps(), connection.id, message.xid - FIRST_ADMISSION, text))
        if self._roles is not None and self._is_connected(connection):
            self._roles.handle_role_error(connection.id, message, text)
        if batch is not None:
            self._fail(batch.dpid, batch.name, text)
        for told in self._features(self._probes.add_answer(connection, message.xid, None)):
            self._put(told)
        if report is None:
            return
        if message.xid == report.rules_xid:
            self._drop(connection, f"it does not report its rules: {text}")
        else:
            self._settle(report, message.xid)  # it has no groups, or no meters

    @set_ev_cls(ofp_event.EventOFPFlowRemoved, MAIN_DISPATCHER)
    @end_process_on_error
    def on_removed(self, event: Any) -> None:
        """A rule of ours left the switch."""
        message = event.msg
        if not self._is_current(message.datapath):
            return
        try:
            gone = decode.parse_flow_removed(message.datapath.id, message.buf)
        except ValueError as error:
            self._drop(message.datapath, f"it tells of a removed rule, and it makes no sense: {error}")
            return
        if gone is not None:
            dpid = message.datapath.id
            self._put(RuleRemoved(*self._stamps(), dpid, gone.rule, gone.reason, gone.packets, gone.bytes))

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    @end_process_on_error
    def on_packet(self, event: Any) -> None:
        """A learning or discovery rule saw a packet; anything else is not asked for, and dropped (R18)."""
        packet = packets.read_packet_in(event.msg.buf)
        heard = packets.lldp_frame(packet)
        if heard is not None and self._is_current(event.msg.datapath):
            self.tally.packet_in()
            self._put(LldpReceived(*self._stamps(), event.msg.datapath.id, *heard))
            return
        found = packets.first_packet(packet)
        if found is None or not self._is_current(event.msg.datapath):
            self.tally.packet_in("unwanted")
            return
        connection, source, destination = found
        first = FirstPacket(
            *self._stamps(), event.msg.datapath.id, packet.cookie, source, destination, connection
        )
        if self._offer is None:
            self._put(first)
        elif not self._offer(first):
            self.tally.packet_in("inbox")
            return
        self.tally.packet_in()

    def _fail(self, dpid: int, batch: str, error: str) -> None:
        self._put(BatchFailed(*self._stamps(), dpid, batch, error))
