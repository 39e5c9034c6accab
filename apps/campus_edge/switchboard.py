"""The os-ken application: what switches say becomes events, what the broker wants becomes messages.

On os-ken's native hub the first exception in a handler ends the application's event thread without a
word while the process looks alive.  So every handler here goes through :func:`guarded`, which stops the
process loudly.  Messages to a switch go through a thread of that switch's own: os-ken's send queue
blocks when it is full, and a slow switch must never hold up a decision.
"""

from __future__ import annotations

import functools
import itertools
import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from os_ken.base.app_manager import OSKenApp
from os_ken.controller import ofp_event
from os_ken.controller.controller import Datapath
from os_ken.controller.handler import (
    CONFIG_DISPATCHER,
    DEAD_DISPATCHER,
    HANDSHAKE_DISPATCHER,
    MAIN_DISPATCHER,
    set_ev_cls,
)
from os_ken.ofproto import ofproto_v1_3

from adon.broker.effects import ReadRules, SendBatch
from adon.broker.events import (
    BatchConfirmed,
    BatchFailed,
    Event,
    FirstPacket,
    PortChanged,
    RuleRemoved,
    RulesReported,
    SwitchDown,
    SwitchUp,
)
from adon.flowvisor import openflow
from adon.flowvisor.rule import ReportedRule, Slot, dpid_text
from apps.campus_edge.loop import Stamps, die

log = logging.getLogger(__name__)

BARRIER_TIMEOUT_S = 5.0
"""A switch that has not answered a barrier for so long has failed the batch."""
OUTBOX_LIMIT = 10_000
"""Messages that may wait for one switch before it counts as gone."""
FIRST_XID, LAST_XID = 0x4000_0000, 0x7FFF_FFFF
"""Our transaction ids, apart from those that os-ken counts up for its own messages."""

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
    name: str
    dpid: int
    xids: tuple[int, ...]
    barrier: int
    deadline: float


@dataclass(slots=True)
class _Line:
    """The connection to one switch, with what is under way on it."""

    datapath: Datapath
    outbox: queue.SimpleQueue[list[bytes] | None] = field(default_factory=queue.SimpleQueue)
    rules: list[ReportedRule] = field(default_factory=list)
    foreign: set[Slot] = field(default_factory=set)

    def drain(self) -> None:
        """Send what is queued, in order: the body of the switch's own thread."""
        while (messages := self.outbox.get()) is not None:
            if not self.datapath.send(b"".join(messages)):
                return


class Switchboard(OSKenApp):  # type: ignore[misc]
    """The campus edge's switches; see the module's text.

    :param known: the configured datapath ids; others are refused.
    :param put: hands an event to the decision thread.
    """

    OFP_VERSIONS = (ofproto_v1_3.OFP_VERSION,)

    def __init__(self, known: frozenset[int], put: Callable[[Event], None], stamps: Stamps) -> None:
        super().__init__()
        self._known = known
        self._put = put
        self._stamps = stamps
        self._lines: dict[int, _Line] = {}
        self._lock = threading.Lock()
        self._xids = itertools.cycle(range(FIRST_XID, LAST_XID))
        self._batches: dict[int, _Batch] = {}
        self._by_xid: dict[int, _Batch] = {}
        self.errors_total: dict[tuple[int, int], int] = {}
        self.flow_mods_total = 0

    # -- what the broker wants (decision thread) ---------------------------------------------------------

    def send_batch(self, effect: SendBatch) -> None:
        """Send the changes of a batch and a barrier; the answer comes as an event."""
        line = self._lines.get(effect.dpid)
        if line is None or line.outbox.qsize() > OUTBOX_LIMIT:
            state = "is not connected" if line is None else "does not take its messages"
            self._fail(effect.dpid, effect.batch, f"the switch {state}")
            return
        messages = [openflow.flow_mod(line.datapath, change) for change in effect.changes]
        messages.append(line.datapath.ofproto_parser.OFPBarrierRequest(line.datapath))
        xids = [next(self._xids) for _ in messages]
        deadline = self._stamps.clock() + BARRIER_TIMEOUT_S
        batch = _Batch(effect.batch, effect.dpid, tuple(xids), xids[-1], deadline)
        with self._lock:
            self._batches[batch.barrier] = batch
            self._by_xid.update((xid, batch) for xid in xids)
        self.flow_mods_total += len(effect.changes)
        line.outbox.put([_bytes(message, xid) for message, xid in zip(messages, xids, strict=True)])

    def read_rules(self, effect: ReadRules) -> None:
        """Ask a switch for all its rules; a switch that is away is asked when it comes back."""
        line = self._lines.get(effect.dpid)
        if line is not None:
            line.outbox.put([_bytes(openflow.stats_request(line.datapath), next(self._xids))])

    def overdue(self, now: float) -> tuple[list[Event], float | None]:
        """The batches whose barrier was not answered in time, and when to ask again."""
        with self._lock:
            late = [batch for batch in self._batches.values() if batch.deadline <= now]
            for batch in late:
                self._close(batch)
            next_deadline = min((batch.deadline for batch in self._batches.values()), default=None)
        text = f"no barrier reply within {BARRIER_TIMEOUT_S:g} s"
        return [BatchFailed(*self._stamps(), b.dpid, b.name, text) for b in late], next_deadline

    @property
    def connected(self) -> tuple[int, ...]:
        """The datapath ids that are connected now."""
        return tuple(self._lines)

    # -- what switches say (os-ken's threads) --------------------------------------------------------------

    @set_ev_cls(ofp_event.EventOFPStateChange, [MAIN_DISPATCHER, DEAD_DISPATCHER])
    @guarded
    def on_state(self, event: Any) -> None:
        """A switch completed its handshake, or is gone."""
        datapath = event.datapath
        if datapath.id is None:
            return
        if event.state == MAIN_DISPATCHER:
            self._connect(datapath)
        else:
            self._disconnect(datapath)

    def _connect(self, datapath: Datapath) -> None:
        dpid = datapath.id
        if dpid not in self._known:
            log.error("event=switch.refused dpid=%s reason=%r", dpid_text(dpid), "not in the configuration")
            datapath.close()
            return
        line = _Line(datapath)
        older, self._lines[dpid] = self._lines.get(dpid), line
        if older is not None:
            log.warning("event=switch.again dpid=%s reason=%r", dpid_text(dpid), "connected a second time")
            older.outbox.put(None)
            self._put(SwitchDown(*self._stamps(), dpid))
        threading.Thread(target=line.drain, name=f"switch-{dpid:x}", daemon=True).start()
        self._put(SwitchUp(*self._stamps(), dpid, openflow.ports(datapath.ports.values())))

    def _disconnect(self, datapath: Datapath) -> None:
        line = self._lines.get(datapath.id)
        if line is None or line.datapath is not datapath:
            return  # a refused switch, or an older connection of one that is back
        del self._lines[datapath.id]
        line.outbox.put(None)
        with self._lock:
            for batch in [b for b in self._batches.values() if b.dpid == datapath.id]:
                self._close(batch)
        self._put(SwitchDown(*self._stamps(), datapath.id))

    @set_ev_cls(ofp_event.EventOFPPortStatus, MAIN_DISPATCHER)
    @guarded
    def on_port(self, event: Any) -> None:
        """A port appeared, changed or went away."""
        message = event.msg
        gone = message.reason == message.datapath.ofproto.OFPPR_DELETE
        for name, state in openflow.ports([message.desc]).items():
            self._put(PortChanged(*self._stamps(), message.datapath.id, name, None if gone else state))

    @set_ev_cls(ofp_event.EventOFPFlowStatsReply, MAIN_DISPATCHER)
    @guarded
    def on_rules(self, event: Any) -> None:
        """A part of a switch's rules; the last part completes the report."""
        message = event.msg
        dpid = message.datapath.id
        line = self._lines.get(dpid)
        if line is None:
            return
        for stat in message.body:
            found = openflow.reported(dpid, stat)
            if isinstance(found, ReportedRule):
                line.rules.append(found)
            else:
                line.foreign.add(found)
        if message.flags & message.datapath.ofproto.OFPMPF_REPLY_MORE:
            return
        self._put(RulesReported(*self._stamps(), dpid, tuple(line.rules), frozenset(line.foreign)))
        line.rules, line.foreign = [], set()

    @set_ev_cls(ofp_event.EventOFPBarrierReply, MAIN_DISPATCHER)
    @guarded
    def on_barrier(self, event: Any) -> None:
        """Everything before this barrier is done, or was refused by an error that came earlier."""
        with self._lock:
            batch = self._batches.get(event.msg.xid)
            if batch is not None:
                self._close(batch)
        if batch is not None:
            self._put(BatchConfirmed(*self._stamps(), batch.dpid, batch.name))

    @set_ev_cls(ofp_event.EventOFPErrorMsg, [HANDSHAKE_DISPATCHER, CONFIG_DISPATCHER, MAIN_DISPATCHER])
    @guarded
    def on_error(self, event: Any) -> None:
        """A switch refused something; if it was of a batch, the batch has failed."""
        message = event.msg
        kind = (message.type, message.code)
        self.errors_total[kind] = self.errors_total.get(kind, 0) + 1
        text = openflow.error_text(message)
        with self._lock:
            batch = self._by_xid.get(message.xid)
            if batch is not None:
                self._close(batch)
        dpid = message.datapath.id
        where = "unknown" if dpid is None else dpid_text(dpid)
        log.warning("event=of.error dpid=%s xid=%s error=%r", where, message.xid, text)
        if batch is not None:
            self._fail(batch.dpid, batch.name, text)

    @set_ev_cls(ofp_event.EventOFPFlowRemoved, MAIN_DISPATCHER)
    @guarded
    def on_removed(self, event: Any) -> None:
        """A rule of ours left the switch."""
        message = event.msg
        rule = openflow.removed_rule(message.datapath.id, message)
        if rule is not None:
            reason = openflow.removed_reason(message)
            counts = (message.packet_count, message.byte_count)
            self._put(RuleRemoved(*self._stamps(), message.datapath.id, rule, reason, *counts))

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    @guarded
    def on_packet(self, event: Any) -> None:
        """A learning rule saw a packet; anything else that reaches us is not asked for, and dropped."""
        found = openflow.first_packet(event.msg)
        if found is not None:
            connection, source, destination = found
            dpid, cookie = event.msg.datapath.id, event.msg.cookie
            self._put(FirstPacket(*self._stamps(), dpid, cookie, source, destination, connection))

    def _fail(self, dpid: int, batch: str, error: str) -> None:
        self._put(BatchFailed(*self._stamps(), dpid, batch, error))

    def _close(self, batch: _Batch) -> None:
        """Forget a batch; called with the lock held."""
        del self._batches[batch.barrier]
        for xid in batch.xids:
            del self._by_xid[xid]


def _bytes(message: Any, xid: int) -> bytes:
    message.set_xid(xid)
    message.serialize()
    return bytes(message.buf)
