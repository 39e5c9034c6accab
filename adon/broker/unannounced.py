"""Unregistered connections: admission by a flow, and refusal of the others (R18).

Packets that a reactive rule shows are told apart by their *service*: the two hosts, the protocol and the
port they go to.  All that a slice, a flowspace or a template asks about a connection is the same for all
connections to a service.  So the first packet to a service decides, on the way of every flow: request, slice,
decision, saved rules (:mod:`adon.broker.reactive`, :mod:`adon.broker.flow_placement`).  Packets that come
before the flow is active wait here.  Every further connection to the service is a connection of that flow:
what is asked of it is whether there is room (switch, slice) and whether its entry takes more in this minute,
and what it costs is one rule and its packet sent on.

::

    unknown ──► waiting (its flow is installed, or moves) ◄──► open ──► unknown (its flow ended)
        └─────────────────────┴───────────────────────────────┴──► refused, for a time

Nothing of this is saved but the flow.  After a restart an active flow's services are found by their next
packet.  Memory is bounded.  No clock: events carry the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from adon.broker.desired_rules import find_attachments
from adon.broker.effects import AdmitConnections, Announce, DropConnections, Effect
from adon.broker.events import ConnectionsRefused, Event, RulesReported, UnannouncedPackets
from adon.broker.flow import Flow, FlowState
from adon.broker.flow_placement import Placing
from adon.broker.limits import room_for_connections
from adon.broker.reactive import Packet, Reactive, Refused, Taken
from adon.broker.world import World
from adon.errors import AdonError
from adon.flowspace import Connection
from adon.flowvisor.openflow.packets import read_service
from adon.flowvisor.rules.connections import drop_rule, is_connections
from adon.flowvisor.rules.cookie import Kind, cookie_kind
from adon.flowvisor.rules.rule import Entry, Rule
from adon.flowvisor.topology.path import FiveTuple
from adon.units import format_duration

MAX_SERVICES = 4096
"""Services remembered; with more, the one that was first seen is forgotten and decided about anew."""
MAX_WAITING = 4096
"""Packets that wait for their flow to be active, all together."""
RECENT_S = 1.0
"""The rule of a connection is in the switch by then, or is not: it is sent again when a packet comes."""
MAX_RELEASES = 64
"""Packets of one connection that are sent on within that time: a loop ends."""
MAX_DROPS = 256
"""Rules that drop what was refused, at once in all switches."""
ROOM_S = 0.5
"""How long what is known of the room in a switch is taken for true, less what was let in."""

Waiting = tuple[int, bytes]
"""The port that a packet comes from, and the frame."""
Where = tuple[int, int, Connection]
"""Switch, port and service."""


@dataclass(slots=True)
class _Known:
    """What is known of one service at one port.

    :param number: by which a switch's refusal of a rule is told.
    :param row: of the entry that has it.
    :param credit: connections that the entry has counted already.
    :param rules: the flow's, when ``rule`` was taken from them.
    :param young, old: packets per connection since ``turned_at``, and in the time before.
    """

    where: Where
    number: int
    flow: int
    row: int
    credit: int = 0
    rules: tuple[Entry, ...] | None = None
    rule: Rule | None = None
    waiting: list[Waiting] = field(default_factory=list)
    young: dict[int, int] = field(default_factory=dict)
    old: dict[int, int] = field(default_factory=dict)
    turned_at: float = 0.0
    room: int | None = None
    cramped: str = ""
    room_at: float = float("-inf")


class Unannounced:
    """See the module's text.

    :param submit: makes a flow of a request that has passed; raises what any request may.
    """

    def __init__(
        self, world: World, placing: Placing, submit: Callable[[Taken, Event], tuple[Flow, list[Effect]]]
    ) -> None:
        self._world = world
        self._placing = placing
        self._submit = submit
        self._reactive = Reactive(world.configuration)
        self._known: dict[Where, _Known] = {}
        self._waiting: dict[Where, _Known] = {}
        self._drops: dict[Where, float] = {}
        self._count = 0
        self._held = 0
        self.refused = 0

    def __len__(self) -> int:
        return len(self._known)

    # -- packets -------------------------------------------------------------------------------------------

    def handle_packets(self, event: UnannouncedPackets) -> list[Effect]:
        """Packets came: let them in, keep them, or have them dropped."""
        groups: dict[Where, list[Waiting]] = {}
        dpid = event.dpid
        for in_port, frame in event.packets:
            found = read_service(frame)
            if found is None:
                self.refused += 1  # a rule asks for nothing else: a fragment, or a frame that is cut off
                continue
            where = (dpid, in_port, found[0])
            group = groups.get(where)
            if group is None:
                groups[where] = [(found[1], frame)]
            else:
                group.append((found[1], frame))
        effects: list[Effect] = []
        for where, packets in groups.items():
            effects += self._to_service(where, packets, event)
        return effects

    def _to_service(self, where: Where, packets: list[Waiting], event: Event) -> list[Effect]:
        known = self._known.get(where)
        effects: list[Effect] = []
        if known is None:
            taken = self._decide(where, event)
            if not isinstance(taken, Taken):
                return self._drop(where, taken, len(packets), event)
            effects = self._start_flow(where, taken, event)
            known = self._known.get(where)
            if known is None:
                return effects
        if self._is_open(known):
            return [*effects, *self._admit(known, packets, event)]
        return [*effects, *self._keep_packets(known, packets, event)]

    def _is_open(self, known: _Known) -> bool:
        """Whether its flow is active with rules that are not being changed; the rule is then up to date."""
        world = self._world
        flow = world.flows.get(known.flow)
        if flow is None or flow.state is not FlowState.ACTIVE or flow.advised or world.network.busy(flow.id):
            return False
        rules = world.network.wanted_rules(flow.id)
        if rules is not known.rules:
            known.rules, known.rule = rules, _rule_for(known.where, rules)
        return known.rule is not None

    def _admit(self, known: _Known, packets: Iterable[Waiting], event: Event) -> list[Effect]:
        """Let packets of an open service through, as far as there is room for their connections."""
        if event.at - known.turned_at >= RECENT_S or event.at < known.turned_at:
            # Of the time before the last only what came in it is of use.
            known.old = known.young if event.at - known.turned_at < 2 * RECENT_S else {}
            known.young, known.turned_at = {}, event.at
        limit, why, until = self._limit(known, event)
        young, old = known.young, known.old
        through: list[tuple[int, bytes, bool]] = []
        new = refused = 0
        for port, frame in packets:
            times = young.get(port, 0) or old.get(port, 0)
            if not times:
                if limit is not None and new >= limit:
                    refused += 1
                    continue
                new += 1
            elif times >= MAX_RELEASES:
                self.refused += 1
                continue
            young[port] = times + 1
            through.append((port, frame, not times))
        effects: list[Effect] = []
        if through and known.rule is not None:
            self._count_in(known, new, event)
            dpid = known.where[0]
            effects.append(AdmitConnections(event.id, dpid, known.rule, known.number, tuple(through)))
        if refused:
            reason = Refused(f"{known.where[2]}: {why}", until)
            effects += self._drop(known.where, reason, refused, event)
        return effects

    def _limit(self, known: _Known, event: Event) -> tuple[int | None, str, float]:
        """How many more connections may come, why no more, and until when."""
        flow, dpid, row = self._world.flows.get(known.flow), known.where[0], known.row
        if flow is not None and not 0 <= event.at - known.room_at < ROOM_S:
            known.room, known.cramped = room_for_connections(self._world, flow, dpid, event.at)
            known.room_at = event.at
        left = self._reactive.free_connections(row, event.at) + known.credit
        if known.room is None or left <= known.room:
            why, until = self._reactive.over(row, event.at)
            return left, why, until
        return known.room, known.cramped, event.at + self._reactive.refuse_for(row)

    def _count_in(self, known: _Known, new: int, event: Event) -> None:
        if not new:
            return
        self._reactive.took(known.row, max(0, new - known.credit), event.at)
        known.credit = max(0, known.credit - new)
        if known.room is not None:
            known.room -= new
        self._world.connected.count_admitted(f"f-{known.flow}", known.where[0], new)

    # -- an unknown service ---------------------------------------------------------------------------------

    def _decide(self, where: Where, event: Event) -> Taken | Refused | None:
        """By which entry connections to a service are taken; nothing is changed but what is remembered."""
        world = self._world
        dpid, in_port, asked = where
        packet = Packet(
            dpid, in_port, str(asked.source), str(asked.destination), FiveTuple(asked.protocol, asked.port)
        )
        return self._reactive.decide(packet, world.network.topology, world.catalog, event.at)

    def _start_flow(self, where: Where, taken: Taken, event: Event) -> list[Effect]:
        """Find the flow that a service belongs to, or make it; the service is known from here on."""
        flow = self._same(taken)
        effects: list[Effect] = []
        if flow is None:
            try:
                flow, effects = self._submit(taken, event)
            except AdonError as error:
                return self._refuse(where, taken.row, str(error), 1, event)
        self._count += 1
        known = _Known(where, self._count, flow.number, taken.row, credit=1)
        if len(self._known) >= MAX_SERVICES:
            self._forget(self._known[next(iter(self._known))])
        self._known[where] = known
        if not self._is_open(known):
            self._waiting[where] = known
        return [*effects, *self._settle(known, event)]

    def _same(self, taken: Taken) -> Flow | None:
        """The unannounced flow that has these hosts and this port already."""
        rivals = self._world.flows.rivals(taken.request)
        return next((flow for flow in rivals if flow.unannounced and flow.state.holds_rules), None)

    def _keep_packets(self, known: _Known, packets: list[Waiting], event: Event) -> list[Effect]:
        """Packets wait until their flow's rules are in the switches, as far as there is room for them."""
        room = MAX_WAITING - self._held
        known.waiting += packets[:room]
        self._held += len(packets[:room])
        self.refused += len(packets[room:])
        self._waiting[known.where] = known
        return self._settle(known, event)

    def settle(self, event: Event) -> list[Effect]:
        """After any event: let in who waited for a flow that is active now, refuse who waits in vain."""
        effects: list[Effect] = []
        for known in tuple(self._waiting.values()):
            effects += self._settle(known, event)
        return effects

    def _settle(self, known: _Known, event: Event) -> list[Effect]:
        flow = self._world.flows.get(known.flow)
        if self._is_open(known):
            self._waiting.pop(known.where, None)
            packets, known.waiting = known.waiting, []
            self._held -= len(packets)
            return self._admit(known, packets, event) if packets else []
        if flow is not None and flow.state.holds_rules and not flow.advised:
            return []
        effects: list[Effect] = []
        reason = "its flow has ended"
        if flow is not None and not flow.state.final:
            # An unregistered flow is not queued: it would end before its turn.
            reason = "it is in dry-run mode" if flow.advised else flow.reason
            _, effects = self._placing.end(flow, FlowState.CANCELLED, f"unregistered, and {reason}", event)
        packets = known.waiting
        self._forget(known)
        if packets or effects:
            effects += self._refuse(known.where, known.row, reason, len(packets), event)
        return effects

    def _forget(self, known: _Known) -> None:
        self._known.pop(known.where, None)
        if self._waiting.pop(known.where, None) is not None:
            self._held -= len(known.waiting)
        self._reactive.forget(known.where[2])

    # -- refused --------------------------------------------------------------------------------------------

    def _refuse(self, where: Where, row: int, why: str, packets: int, event: Event) -> list[Effect]:
        until = event.at + self._reactive.refuse_for(row)
        return self._drop(where, Refused(f"{where[2]}: {why}", until), packets, event)

    def _drop(self, where: Where, why: Refused | None, packets: int, event: Event) -> list[Effect]:
        """Have the switch drop what is refused, and say so; not again while the rule is there."""
        self.refused += packets
        if why is None or self._drops.get(where, event.at) > event.at:
            return []
        self._reactive.remember(where[2], why.until)
        self._drops = {at: until for at, until in self._drops.items() if until > event.at}
        rule = self._shown_by(where)
        if rule is None or why.until <= event.at or len(self._drops) >= MAX_DROPS:
            return []
        self._drops[where] = why.until
        seconds = why.until - event.at
        text = f"unregistered, refused for {format_duration(seconds)}: {why.reason}"
        port = where[2].port
        return [
            Announce(event.id, "warning", "connections-refused", text),
            DropConnections(event.id, drop_rule(rule, port, seconds), packets),
        ]

    def _shown_by(self, where: Where) -> Rule | None:
        """The rule that shows such packets."""
        dpid, in_port, asked = where
        ends = str(asked.source), str(asked.destination)
        for rule in self._world.network.desired_rules(dpid):
            if not isinstance(rule, Rule) or cookie_kind(rule.cookie) is not Kind.REACTIVE:
                continue
            match = rule.match
            same = (match.in_port, match.ip_src, match.ip_dst, match.ip_proto) == (
                in_port,
                *ends,
                asked.protocol,
            )
            if same and match.tp_dst in (None, asked.port):
                return rule
        return None

    def refused_by_switch(self, event: ConnectionsRefused) -> list[Effect]:
        """A switch did not take the rule of a connection: no new ones for a while."""
        until = self._world.holdoff_end(event.at)
        self._world.room.record_refusal(event.dpid, event.error, until)
        known = next((k for k in self._known.values() if k.number == event.number), None)
        if known is None or known.where[0] != event.dpid:
            return []
        known.room, known.cramped, known.room_at = 0, event.error, event.at
        return self._drop(known.where, Refused(f"{known.where[2]}: {event.error}", until), 0, event)

    # -- ends -----------------------------------------------------------------------------------------------

    def handle_rules_report(self, event: RulesReported) -> list[Effect]:
        """A switch says which connections there are: a flow without any is over after its idle time-out."""
        world = self._world
        world.connected.record_report(event.dpid, event.connections)
        effects: list[Effect] = []
        for flow in world.flows.running():
            if not flow.unannounced or flow.state is not FlowState.ACTIVE or world.network.busy(flow.id):
                continue
            ends = find_attachments(flow, world.network.topology)
            if ends is None or ends[0].dpid != event.dpid or event.connections.get(flow.id):
                continue
            idle = world.flows.need(flow).template.selection.idle_timeout
            mine = [known for known in self._known.values() if known.flow == flow.number]
            last = max((known.turned_at for known in mine), default=flow.state_since)
            if event.at - max(last, flow.state_since) > idle:
                reason = f"no connection for {format_duration(idle)}: the flow has ended"
                effects += self._placing.end(flow, FlowState.FINISHED, reason, event)[1]
                for known in mine:
                    self._forget(known)
        return effects

    def gives_way(self, flows: Iterable[Flow], event: Event) -> list[Effect]:
        """Unannounced flows that have what is asked for now end: announced ones come first."""
        effects: list[Effect] = []
        for flow in flows:
            if flow.unannounced and not flow.state.final:
                why = "a registered flow has the same connections"
                effects += self._placing.end(flow, FlowState.CANCELLED, why, event)[1]
        return effects


def _rule_for(where: Where, rules: Iterable[Entry]) -> Rule | None:
    """What a flow's connections get at the port where packets to this service come in."""
    dpid, in_port, asked = where
    for rule in rules:
        if isinstance(rule, Rule) and is_connections(rule) and rule.dpid == dpid:
            match = rule.match
            if (match.in_port, match.ip_src, match.tp_dst) == (in_port, str(asked.source), asked.port):
                return rule
    return None
