"""The flows that have not ended, and what follows from all of them taken together.

Which flows run, which wait, what each needs, who loads a path and by how much: everything that asks
*all flows* is here, so that what such a question costs can be seen in one place.  What a flow needs
(its template version joined with its request) and between which sites it goes never change and are
worked out once per flow.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from adon.broker.choice import Need
from adon.broker.counters import FlowCounters
from adon.broker.flow import Flow, FlowRequest, FlowState
from adon.broker.load import PathLoad
from adon.broker.scheduler import deadline
from adon.templates_catalog.model import Template
from measurement.model import PathKey

Ends = tuple[str, str]
"""The sites that flows go from and to."""

NO_LOADS: Mapping[str, PathLoad] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Kind:
    """Flows that need the same between the same hosts: what is found of a path is found for all of them."""

    need: Need
    source: str
    destination: str
    ends: Ends


@dataclass(slots=True, eq=False, weakref_slot=True)
class Group:
    """The running flows of one kind on one path.

    :param unseen: those among them that came, or changed, since somebody looked at the group.
    """

    kind: Kind
    path: str
    numbers: set[int] = field(default_factory=set)
    unseen: set[int] = field(default_factory=set)


_Claim = tuple[str, str, int | None]
"""Two hosts, and the destination's port that a flow between them has; None for a flow without ports."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a running flow counts: its direction, its path there, and since when."""

    ends: Ends
    path: str | None
    since: float | None


class Register:
    """See the module's text.

    :ivar moved: counts up whenever a flow comes to a path, leaves one or is forgotten.
    :param resolve: the template version of a reference (``soykb@3``).
    :param site_of: the site of a host.
    :param listen: told of each flow that begins or ceases to wait, or waits for something else.
    """

    def __init__(
        self,
        flows: Iterable[Flow],
        resolve: Callable[[str], Template],
        site_of: Callable[[str], str],
        listen: Callable[[Flow], None] = lambda _: None,
    ) -> None:
        self._flows: dict[int, Flow] = {}
        self._resolve = resolve
        self._site_of = site_of
        self._listen = listen
        self._kinds: dict[int, Kind] = {}
        self._alike: dict[tuple[object, ...], tuple[Kind, set[int]]] = {}
        self._counters: dict[int, FlowCounters] = {}
        self._places: dict[int, _Place] = {}
        self._directions: dict[Ends, set[int]] = {}
        self._loads: dict[Ends, dict[str, PathLoad]] = {}
        self._groups: dict[Ends, dict[tuple[Kind, str], Group]] = {}
        self._queued: set[int] = set()
        self._deadlines: list[tuple[float, int]] = []  # a heap; who does not wait any more is a stale entry
        self.moved = 0
        self._versions: dict[Ends, int] = {}
        self._priorities: dict[Ends, Counter[int]] = {}
        self._claims: dict[_Claim, set[int]] = {}
        self._claimed: dict[int, frozenset[_Claim]] = {}
        for flow in flows:
            self.put(flow)

    def __len__(self) -> int:
        return len(self._flows)

    def __iter__(self) -> Iterator[Flow]:
        return iter(tuple(self._flows.values()))

    def get(self, number: int) -> Flow | None:
        """A flow by number; None if it never was, or is forgotten."""
        return self._flows.get(number)

    def owner(self, owner: str) -> Flow | None:
        """The flow that owns rules by this name (``f-17``); None for any other owner of rules."""
        return self.get(int(owner[2:])) if owner.startswith("f-") else None

    def put(self, flow: Flow) -> Flow:
        """Take a flow's new state, and give it back."""
        before = self._flows.get(flow.number)
        self._flows[flow.number] = flow
        news = before is None or _waits_for(before) != _waits_for(flow)
        if news:
            self._sort(flow)
        self._locate(flow, before)
        if news:
            self._listen(flow)
        return flow

    def forget(self, number: int) -> None:
        """Drop a flow that has ended and left nothing behind."""
        kind = self._kinds.pop(number, None)
        if kind is not None:
            key = _key(kind)
            self._alike[key][1].discard(number)
            if not self._alike[key][1]:
                del self._alike[key]
        self._flows.pop(number, None)
        self._counters.pop(number, None)
        self.moved += 1

    # -- one flow -------------------------------------------------------------------------------------

    def kind(self, flow: Flow) -> Kind:
        """What a flow needs, and between which hosts; one object for all that are alike."""
        kind = self._kinds.get(flow.number)
        if kind is None:
            request = flow.request
            ends = self._site_of(request.source), self._site_of(request.destination)
            need = Need.of(self._resolve(flow.template), request)
            kind = Kind(need, request.source, request.destination, ends)
            kind, numbers = self._alike.setdefault(_key(kind), (kind, set()))
            numbers.add(flow.number)
            self._kinds[flow.number] = kind
        return kind

    def need(self, flow: Flow) -> Need:
        """What a flow needs."""
        return self.kind(flow).need

    def ends(self, flow: Flow) -> Ends:
        """The sites a flow goes from and to."""
        return self.kind(flow).ends

    def priority(self, flow: Flow) -> int:
        """A flow's priority now; 0..999."""
        return flow.priority(self.need(flow).template.priority)

    def bound(self, flow: Flow) -> float:
        """Its QSpec's throughput bound in bits/s, 0 without one."""
        throughput = self.need(flow).qspec.throughput
        return 0.0 if throughput is None else throughput.min

    def patience(self, flow: Flow) -> float:
        """How many seconds the flow may wait."""
        asked = flow.request.queue_patience
        return self.need(flow).template.selection.queue_patience if asked is None else asked

    def counters(self, flow: Flow) -> FlowCounters:
        """What its rules have counted."""
        counters = self._counters.get(flow.number)
        if counters is None:
            number = flow.number
            counters = self._counters[number] = FlowCounters(lambda: self._record_rate_change(number))
        return counters

    # -- all flows ------------------------------------------------------------------------------------

    def running(self) -> list[Flow]:
        """The flows that hold rules, installing or active."""
        return [self._flows[number] for number in sorted(self._places)]

    def moving(self) -> bool:
        """Whether any flow holds rules."""
        return bool(self._places)

    def queued_flows(self) -> list[Flow]:
        """The flows that wait, by number."""
        return [self._flows[number] for number in sorted(self._queued)]

    def next_deadline(self) -> float | None:
        """When the next waiting flow's patience is over; None for an empty queue."""
        while self._deadlines:
            at, number = self._deadlines[0]
            if number in self._queued and deadline(self._flows[number], self.patience) == at:
                return at
            heapq.heappop(self._deadlines)
        return None

    def overdue(self, now: float) -> list[Flow]:
        """Take those whose wait is over, the first first; the caller ends them."""
        found: dict[int, Flow] = {}
        while self._deadlines and self._deadlines[0][0] <= now:
            at, number = heapq.heappop(self._deadlines)
            if number in self._queued and deadline(self._flows[number], self.patience) == at:
                found[number] = self._flows[number]
        return list(found.values())

    def version(self, ends: Ends) -> int:
        """Counts up when a flow between these sites comes to a path, leaves one, or runs in another state."""
        return self._versions.get(ends, 0)

    def rivals(self, request: FlowRequest) -> list[Flow]:
        """The flows that have not ended and may be hard to tell from one that is asked for.

        Those between the same hosts that have one of its ports; for a request without ports, those
        without ports in either direction.
        """
        there = (request.source, request.destination)
        claims: list[_Claim] = [(*there, port) for port in request.ports]
        if not request.ports:
            claims = [(*there, None), (*there[::-1], None)]
        numbers = {number for claim in claims for number in self._claims.get(claim, ())}
        return [self._flows[number] for number in sorted(numbers)]

    def on(self, key: PathKey) -> list[str]:
        """The ids of the flows that hold rules on one directed path."""
        load = self.loads((key.source, key.destination)).get(key.path)
        return [] if load is None else [f"f-{number}" for number in sorted(load.numbers)]

    def going(self, ends: Ends) -> list[Flow]:
        """The flows that hold rules and go between these sites, this way."""
        return [self._flows[number] for number in sorted(self._directions.get(ends, ()))]

    def alongside(self, flow: Flow) -> list[Flow]:
        """The flows that hold rules and go between the same sites, the same way."""
        return self.going(self.ends(flow))

    def lowest(self, ends: Ends) -> int | None:
        """The lowest priority of a flow that holds rules between these sites, this way."""
        return min(self._priorities.get(ends, ()), default=None)

    def loads(self, ends: Ends) -> Mapping[str, PathLoad]:
        """Per path name, what flows in this direction put on it."""
        return self._loads.get(ends, NO_LOADS)

    def directions(self) -> list[Ends]:
        """Between which sites flows go that hold rules."""
        return [ends for ends, numbers in self._directions.items() if numbers]

    def groups(self, ends: Ends) -> list[Group]:
        """The flows that run in this direction, those alike on one path together."""
        return list(self._groups.get(ends, {}).values())

    def reserved_bandwidth(self) -> dict[str, float]:
        """Per path name, the sum of the throughput bounds admitted, in bits/s, in the fuller direction."""
        fuller: dict[str, float] = {}
        for loads in self._loads.values():
            for path, load in loads.items():
                if load.numbers:
                    fuller[path] = max(load.reserved, fuller.get(path, 0.0))
        return fuller

    # -- the indexes ----------------------------------------------------------------------------------

    def _sort(self, flow: Flow) -> None:
        """Whether it waits, and which ports are taken by it."""
        number, request = flow.number, flow.request
        self._queued.discard(number)
        if flow.state is FlowState.QUEUED:
            self._queued.add(number)
            heapq.heappush(self._deadlines, (deadline(flow, self.patience), number))
        claims: set[_Claim] = set()
        if not flow.state.final:
            there = (request.source, request.destination)
            claims = {(*there, connection.destination_port) for connection in flow.tuples}
            if not request.ports:
                claims.add((*there, None))
        for claim in self._claimed.pop(number, frozenset()):
            self._claims[claim].discard(number)
            if not self._claims[claim]:
                del self._claims[claim]
        if claims:
            self._claimed[number] = frozenset(claims)
        for claim in claims:
            self._claims.setdefault(claim, set()).add(number)

    def _locate(self, flow: Flow, before: Flow | None) -> None:
        """Where it counts as load, and with whom it is looked at."""
        number, was = flow.number, self._places.get(flow.number)
        place = _Place(self.ends(flow), flow.path, flow.path_since) if flow.state.holds_rules else None
        if place != was or (place is not None and before is not None and before.state is not flow.state):
            self._versions[self.ends(flow)] = self.version(self.ends(flow)) + 1
        if place != was:
            if was is not None:
                self._leave(flow, was)
            if place is not None:
                self._enter(flow, place)
        elif place is not None and place.path is not None and _looks_different(flow, before):
            self._groups[place.ends][self.kind(flow), place.path].unseen.add(number)

    def _enter(self, flow: Flow, place: _Place) -> None:
        number, kind = flow.number, self.kind(flow)
        self.moved += 1
        self._places[number] = place
        self._directions.setdefault(place.ends, set()).add(number)
        self._priorities.setdefault(place.ends, Counter())[self.priority(flow)] += 1
        if place.path is None:
            return
        loads = self._loads.setdefault(place.ends, {})
        if place.path not in loads:
            loads[place.path] = PathLoad(self._rate)
        loads[place.path].put(number, kind.need.streams, place.since, self.bound(flow))
        groups = self._groups.setdefault(place.ends, {})
        group = groups.setdefault((kind, place.path), Group(kind, place.path))
        group.numbers.add(number)
        group.unseen.add(number)

    def _leave(self, flow: Flow, was: _Place) -> None:
        number = flow.number
        self.moved += 1
        del self._places[number]
        self._directions[was.ends].discard(number)
        self._priorities[was.ends] -= Counter({self.priority(self._flows[number]): 1})
        if was.path is None:
            return
        self._loads[was.ends][was.path].drop(number, was.since, max(flow.state_since, flow.path_since or 0.0))
        place = (self._kinds[number], was.path)
        group = self._groups[was.ends][place]
        group.numbers.discard(number)
        group.unseen.discard(number)
        if not group.numbers:
            del self._groups[was.ends][place]

    def _rate(self, number: int) -> tuple[float, float] | None:
        counters = self._counters.get(number)
        return None if counters is None else counters.latest()

    def _record_rate_change(self, number: int) -> None:
        """A flow's rate is another one: so is the use of its path."""
        place = self._places.get(number)
        if place is not None and place.path is not None:
            self._loads[place.ends][place.path].record_rate_change()
            self._groups[place.ends][self._kinds[number], place.path].unseen.add(number)


def _key(kind: Kind) -> tuple[object, ...]:
    """What tells two kinds apart."""
    need = kind.need
    weights = tuple(sorted(need.weights.items()))
    same = (need.template.reference, need.qspec, weights, need.streams)
    return (*same, kind.source, kind.destination)


def _looks_different(flow: Flow, before: Flow | None) -> bool:
    """Whether something has changed that decides if a flow stays as it is."""
    return before is None or (
        (before.state, before.quality, before.misses) != (flow.state, flow.quality, flow.misses)
    )


def _waits_for(flow: Flow) -> tuple[object, ...]:
    """What decides whether a flow waits, and whom it may be mistaken for."""
    return (flow.state, flow.tuples, flow.booking)
