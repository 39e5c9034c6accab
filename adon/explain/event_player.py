"""Execution of the broker's effects on switches in memory.

Effects have two executors: the campus edge (``apps/campus_edge``) for a real network, and
:class:`EventPlayer` for backtests, the simulator and tests.  A player feeds events to a broker, applies
batches to one :class:`IdealSwitch` per datapath, feeds the answers back, and folds every ``Save*`` effect
into a :class:`SavedState`, from which :meth:`EventPlayer.restart` makes the next broker.

No clock is read.  Time passes in :meth:`EventPlayer.advance` only.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from adon.broker.broker import Broker
from adon.broker.counters import by_flows
from adon.broker.decision import Decision
from adon.broker.effects import (
    AdmitConnections,
    Announce,
    Answer,
    DropConnections,
    Effect,
    EstimateScored,
    MonitoringChanged,
    NeedsChanged,
    OrderJob,
    QuietPaths,
    ReadCounters,
    ReadFeatures,
    ReadRules,
    RequestMeasurement,
    RuleState,
    SaveCircuits,
    SaveDecision,
    SaveFlow,
    SaveJob,
    SaveMaintenance,
    SaveOutcome,
    SaveReservation,
    SaveRules,
    SaveSnapshot,
    SaveTemplate,
    SendBatch,
    SendFirefly,
    SendPacket,
    ShapesChanged,
    WakeAt,
)
from adon.broker.events import (
    BatchConfirmed,
    BatchFailed,
    CountersReported,
    Event,
    RuleRemoved,
    RulesReported,
    SwitchDown,
    SwitchUp,
    Tick,
)
from adon.broker.flow import Flow
from adon.broker.maintenance import Window
from adon.broker.outcomes import FlowOutcome
from adon.broker.resources.reservation import Reservation
from adon.broker.sites.jobs import SiteJob
from adon.config import Configuration
from adon.flowvisor.rules.connections import merge_connections
from adon.flowvisor.rules.cookie import FLOWS_MASK, FLOWS_PREFIX
from adon.flowvisor.rules.pipeline import is_ours
from adon.flowvisor.rules.rule import Change, Entry, GroupEntry, MeterEntry, Op, ReportedRule, Rule, Slot
from adon.flowvisor.topology.network_graph import PortState
from adon.flowvisor.topology.overlay import OverlayPaths
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import Template

SAVES = (
    SaveCircuits,
    SaveDecision,
    SaveFlow,
    SaveJob,
    SaveMaintenance,
    SaveOutcome,
    SaveReservation,
    SaveRules,
    SaveTemplate,
)
NOTIFICATIONS = (
    Announce,
    EstimateScored,
    MonitoringChanged,
    NeedsChanged,
    OrderJob,
    QuietPaths,
    ReadFeatures,
    RequestMeasurement,
    SaveSnapshot,
    SendFirefly,
    SendPacket,
    ShapesChanged,
)
"""Effects on people, collectors and hosts: a player has none, its observers see these effects."""

MOST_TICKS = 20
"""More ticks at one instant are a loop without end."""


@dataclass(slots=True)
class TableEntry:
    """An entry in a switch with its counters; times in seconds since the epoch."""

    rule: Entry
    packets: int = 0
    bytes: int = 0
    installed: float = 0.0
    used: float = 0.0


class IdealSwitch:
    """A switch that carries out each change at once, refuses none, and keeps rules without traffic."""

    def __init__(self, dpid: int) -> None:
        self.dpid = dpid
        self.table: dict[Slot, TableEntry] = {}

    def apply(self, change: Change, now: float) -> str:
        """Carry out a change; return the error that the switch answers with, or nothing."""
        held = self.table.pop(change.rule.slot, None)
        if change.op is not Op.DELETE:
            entry = self.table[change.rule.slot] = TableEntry(change.rule, installed=now, used=now)
            if held is not None and change.op is Op.MODIFY:
                entry.packets, entry.bytes, entry.installed = held.packets, held.bytes, held.installed
        return ""

    def count(self) -> None:
        """Bring the counters up to date before they are read; here traffic sets them."""

    def report(self, now: float) -> list[ReportedRule]:
        """Return all rules with their counters."""
        self.count()
        return [
            ReportedRule(held.rule, held.packets, held.bytes, now - held.installed)
            for held in self.table.values()
            if isinstance(held.rule, Rule)
        ]

    def equipment(self) -> tuple[GroupEntry | MeterEntry, ...]:
        """Return groups and meters."""
        entries = (held.rule for held in self.table.values())
        return tuple(entry for entry in entries if not isinstance(entry, Rule))

    def next_expiry(self) -> float:
        """Return when the next rule times out."""
        return math.inf

    def expire(self, now: float) -> list[Rule]:  # noqa: ARG002 - for switches whose rules time out
        """Remove the rules that have timed out; return those that the controller hears of."""
        return []


@dataclass(slots=True)
class SavedState:
    """The fold of the ``Save*`` effects: what a restarted controller finds in its store."""

    flows: dict[int, Flow] = field(default_factory=dict)
    rules: dict[Slot, tuple[Entry, RuleState]] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    outcomes: dict[int, FlowOutcome] = field(default_factory=dict)
    windows: dict[int, Window] = field(default_factory=dict)
    reservations: dict[int, Reservation] = field(default_factory=dict)
    jobs: dict[int, SiteJob] = field(default_factory=dict)
    templates: list[Template] = field(default_factory=list)
    circuits: OverlayPaths = field(default_factory=OverlayPaths)

    def save(self, effect: Effect) -> None:
        """Add what one effect saves."""
        match effect:
            case SaveFlow(flow=flow):
                self.flows[flow.number] = flow
            case SaveRules(rules=rules, state=state):
                self.rules.update({rule.slot: (rule, state) for rule in rules})
            case SaveDecision(decision=decision):
                self.decisions.append(decision)
            case SaveOutcome(outcome=outcome):
                self.outcomes[outcome.flow] = outcome
            case SaveMaintenance(window=window):
                self.windows[window.number] = window
            case SaveReservation(reservation=reservation):
                self.reservations[reservation.number] = reservation
            case SaveJob(job=job):
                self.jobs[job.number] = job
            case SaveTemplate(template=template):
                self.templates.append(template)
            case SaveCircuits(paths=paths):
                self.circuits = paths

    def extend(self, catalog: Catalog) -> Catalog:
        """Return a catalog with the saved templates in addition to its own."""
        for template in self.templates:
            catalog, _ = catalog.add(template)
        return catalog


class EventPlayer:
    """A broker, its switches and its saved state; see the module's text.

    :param now: seconds since the epoch.
    :param switches: makes the switch of a datapath id.
    :param saved: what earlier runs saved.
    :ivar ports: per datapath id the ports that a switch reports when it connects.
    :ivar connected: the datapath ids of connected switches.
    :ivar tick_at: when the broker wants the next tick.
    :ivar answers: by command.
    :ivar observers: called with each effect and the event that led to it, before the effects are carried out.
    """

    FLOWS_PER_REPORT = 100
    """Counters are reported for this number of flows at a time, as the campus edge does."""
    make_broker: Callable[..., Broker] = Broker

    def __init__(
        self,
        configuration: Configuration,
        catalog: Catalog,
        *,
        now: float,
        switches: Callable[[int], IdealSwitch] = IdealSwitch,
        saved: SavedState | None = None,
    ) -> None:
        self.configuration, self.catalog, self.now = configuration, catalog, now
        self.saved = SavedState() if saved is None else saved
        self.ports = ports_of(configuration)
        self.switches: Mapping[int, IdealSwitch] = {dpid: switches(dpid) for dpid in self.ports}
        self.connected: set[int] = set()
        self.answers: dict[str, object] = {}
        self.observers: list[Callable[[Event, Effect], None]] = []
        self.tick_at = self._ticked_at = math.inf
        self._ticks = 0
        self._due: list[tuple[float, int, int, Callable[[], object]]] = []
        self._event_numbers, self._action_numbers = count(1), count()
        self.broker = self.start_broker()

    # -- events -----------------------------------------------------------------------------------------

    def stamp(self) -> tuple[str, float]:
        """Return the id and the time of the next event."""
        return f"e{next(self._event_numbers)}", self.now

    def feed(self, event: Event) -> list[Effect]:
        """Feed one event and all that follow from it; return the effects."""
        waiting, effects = deque([event]), list[Effect]()
        while waiting:
            current = waiting.popleft()
            following = self.handle(current)
            for effect in following:
                for observe in self.observers:
                    observe(current, effect)
            effects += following
            waiting.extend(self.play(following))
        return effects

    def handle(self, event: Event) -> list[Effect]:
        """Let the broker handle one event."""
        return self.broker.handle(event)

    def play(self, effects: Iterable[Effect]) -> list[Event]:
        """Carry out the effects of one event; return the events that follow at once."""
        return [event for effect in effects for event in self.carry_out(effect)]

    def connect(self, *dpids: int) -> None:
        """Let switches connect, by default all of them."""
        for dpid in dpids or tuple(self.ports):
            self.connected.add(dpid)
            self.feed(SwitchUp(*self.stamp(), dpid, self.ports[dpid]))

    def disconnect(self, dpid: int) -> None:
        """End the connection to a switch; its rules stay."""
        self.connected.discard(dpid)
        self.feed(SwitchDown(*self.stamp(), dpid))

    def restart(self) -> None:
        """Replace the broker by a new one that knows what was saved; switches keep their entries."""
        connected, self.connected = self.connected, set()
        self._due.clear()
        self.tick_at = math.inf
        self.broker = self.start_broker()
        for dpid in self.ports:
            if dpid in connected:
                self.connect(dpid)

    def start_broker(self, **more: Any) -> Broker:
        """Return a broker with the saved state."""
        saved = self.saved
        return self.make_broker(
            self.configuration,
            saved.extend(self.catalog),
            flows=[flow for flow in saved.flows.values() if not flow.state.final],
            rules=[rule for rule, state in saved.rules.values() if state is not RuleState.REMOVED],
            windows=saved.windows.values(),
            reservations=saved.reservations.values(),
            last_number=max(saved.flows, default=0),
            circuits=saved.circuits,
            jobs=saved.jobs.values(),
            last_job=max(saved.jobs, default=0),
            **more,
        )

    # -- time -------------------------------------------------------------------------------------------

    def schedule(self, at: float, action: Callable[[], object], rank: int = 0) -> None:
        """Do something at a time; of equal times the lower rank comes first."""
        heapq.heappush(self._due, (at, rank, next(self._action_numbers), action))

    def next_time(self) -> float:
        """Return when the next thing is due."""
        expiry = min((switch.next_expiry() for switch in self.switches.values()), default=math.inf)
        return min(self._due[0][0] if self._due else math.inf, self.tick_at, expiry)

    def act(self) -> None:
        """Do the first thing that is due now: what was scheduled, a tick, or the time-out of rules."""
        if self._due and self._due[0][0] <= self.now:
            heapq.heappop(self._due)[-1]()
        elif self.tick_at <= self.now:
            self._tick()
        else:
            self.expire()

    def _tick(self) -> None:
        self._ticks = self._ticks + 1 if self._ticked_at == self.now else 1
        if self._ticks > MOST_TICKS:
            raise RuntimeError(f"the broker wants more than {MOST_TICKS} ticks at {self.now:g}")
        self._ticked_at, self.tick_at = self.now, math.inf
        self.feed(Tick(*self.stamp()))

    def expire(self) -> None:
        """Let rules that have timed out go; connected switches report them."""
        for dpid, switch in self.switches.items():
            for rule in switch.expire(self.now):
                if dpid in self.connected:
                    self.feed(RuleRemoved(*self.stamp(), dpid, rule, "idle", 0, 0))

    def advance(self, until: float) -> None:
        """Let time pass; everything that is due by then happens, in order of time."""
        while (at := self.next_time()) <= until:
            self.now = max(self.now, at)
            self.act()
        self.now = max(self.now, until)

    # -- effects ----------------------------------------------------------------------------------------

    def carry_out(self, effect: Effect) -> Iterable[Event]:
        """Carry out one effect; return the events that follow at once."""
        match effect:
            case SendBatch():
                return self.send(effect)
            case ReadRules(dpid=dpid):
                return self.read_rules(dpid)
            case ReadCounters(dpid=dpid):
                return self.read_counters(dpid)
            case AdmitConnections(dpid=dpid, rule=rule, packets=packets):
                for port in (port for port, _, new in packets if new):
                    match = replace(rule.match, tp_src=port)
                    self.switches[dpid].apply(Change(Op.ADD, replace(rule, match=match)), self.now)
            case DropConnections(rule=rule):
                self.switches[rule.dpid].apply(Change(Op.ADD, rule), self.now)
            case Answer(command=command, value=value):
                self.answers[command] = value
            case WakeAt(at=at):
                self.tick_at = min(self.tick_at, at)
            case _ if isinstance(effect, SAVES):
                self.saved.save(effect)
            case _ if not isinstance(effect, NOTIFICATIONS):
                raise TypeError(f"unknown effect {effect}")
        return ()

    def send(self, batch: SendBatch) -> Iterable[Event]:
        """Send a batch to its switch; the answer follows at once unless a subclass delays it."""
        return (self.apply(batch),)

    def apply(self, batch: SendBatch) -> Event:
        """Carry out the changes of a batch; return the switch's answer."""
        about = (batch.dpid, batch.batch)
        if batch.dpid not in self.connected:
            return BatchFailed(*self.stamp(), *about, "the switch is not connected")
        answers = [self.switches[batch.dpid].apply(change, self.now) for change in batch.changes]
        refused = tuple((place, error) for place, error in enumerate(answers) if error)
        if refused:
            return BatchFailed(*self.stamp(), *about, refused[0][1], refused)
        return BatchConfirmed(*self.stamp(), *about)

    def read_rules(self, dpid: int) -> Iterable[Event]:
        """Return a connected switch's report of everything in it."""
        if dpid not in self.connected:
            return ()
        reports = self.switches[dpid].report(self.now)
        ours = merge_connections(report for report in reports if is_ours(report.rule))
        foreign = frozenset(report.rule.slot for report in reports if not is_ours(report.rule))
        equipment = self.switches[dpid].equipment()
        return (RulesReported(*self.stamp(), dpid, ours.rules, foreign, equipment, ours.connections),)

    def read_counters(self, dpid: int) -> Iterable[Event]:
        """Return a connected switch's counters of the flows' rules, some flows at a time."""
        if dpid not in self.connected:
            return ()
        reports = self.switches[dpid].report(self.now)
        flows = [report for report in reports if report.rule.cookie & FLOWS_MASK == FLOWS_PREFIX]
        parts = by_flows(flows, self.FLOWS_PER_REPORT)
        return [CountersReported(*self.stamp(), dpid, part) for part in parts]


def ports_of(configuration: Configuration) -> dict[int, dict[str, PortState]]:
    """Return every port that a configuration names, per datapath id, live and numbered from 1."""
    named: dict[str, dict[str, None]] = {name: {} for name in configuration.switches}
    for site in configuration.sites.values():
        named[site.edge].update(dict.fromkeys(host.port for host in site.hosts.values()))
    for path in configuration.paths.values():
        for site_name, end in path.ends.items():
            named[configuration.sites[site_name].edge][end.port] = None
    for link in configuration.links.values():
        for switch, port in link.ends.items():
            named[switch][port] = None
    return {
        configuration.switches[switch].dpid: {
            port: PortState(number, True) for number, port in enumerate(ports, 1)
        }
        for switch, ports in named.items()
    }
