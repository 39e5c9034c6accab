"""What is known of a trial while it runs, and the rows that it becomes; deciders look at it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from adon.errors import AdonError
from adon.experiments import rows
from adon.experiments.events import Event
from adon.experiments.parts import What
from adon.experiments.planned import Trial
from adon.experiments.results import DecisionRow, EventRow, FlowState, Tables, ThroughputRow
from adon.experiments.timeline import Heard, Occurrence
from apps.experiments.deciding import Decider
from apps.experiments.lives import Carried, FlowLife
from apps.experiments.seen_tests import SeenTests
from mininet_topos.networks import Network

PORTS = range(20_000, 30_000)

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a trial.

    :param why: why it is partial; empty if it is complete.
    """

    tables: Tables
    why: str = ""


@dataclass(slots=True)
class Record:
    """See the module's text; it is a :class:`apps.experiments.deciding.Sight`.

    :param clock: seconds since 1970.
    :ivar heard: what the timeline has not been told yet.
    :ivar ports: of flows and loads, by name: drawn by the trial's seed.
    """

    trial: Trial
    network: Network
    tests: SeenTests
    tell: Tell
    clock: Callable[[], float] = time.time
    began_at: float = 0.0
    flows: dict[str, FlowLife] = field(default_factory=dict)
    loads: dict[str, Carried] = field(default_factory=dict)
    events: list[EventRow] = field(default_factory=list)
    ports: dict[str, int] = field(default_factory=dict)
    heard: list[Occurrence] = field(default_factory=list)

    def __post_init__(self) -> None:
        chance = random.Random(self.trial.seed)  # noqa: S311 - a reproducible choice, no secret
        names = [*(flow.name for flow in self.trial.flows), *(event.name for event in self.trial.events)]
        self.ports = dict(zip(names, chance.sample(PORTS, len(names)), strict=True))
        self.flows = {flow.name: FlowLife(flow, self.ports[flow.name]) for flow in self.trial.flows}

    # -- what deciders look at ------------------------------------------------------------------------------

    @property
    def now(self) -> float:
        """Seconds since 1970."""
        return self.clock()

    def received(self, flow: str) -> int:
        """Bytes of a flow that have arrived so far."""
        return self.flows[flow].carried.received

    def stalled(self, flow: str) -> float:
        """Seconds in which a flow sent and nothing of it arrived."""
        return self.flows[flow].carried.stalled

    # -- what happens ---------------------------------------------------------------------------------------

    def hear(self, of: str, what: What, at: float | None = None) -> None:
        """A moment has come, now or at another time."""
        self.heard.append(Heard(of, what, (self.now if at is None else at) - self.began_at))

    def note(
        self, event: str, kind: str, phase: str, about: str, trouble: str, at: float | None = None
    ) -> None:
        """Something of the events happened, as the table of events has it; it is told, too."""
        since = (self.now if at is None else at) - self.began_at
        self.events.append(EventRow(self.trial.number, since, event, kind, phase, about, trouble))
        self.tell(f"{event} {phase}: {about}" + (f": {trouble}" if trouble else ""))

    # -- what is known --------------------------------------------------------------------------------------

    def event(self, name: str) -> Event:
        """An event of the trial."""
        return next(event for event in self.trial.events if event.name == name)

    def carried(self, name: str) -> Carried | None:
        """What is under way of a flow or a load; None of other events, and of a load before it begins."""
        return self.flows[name].carried if name in self.flows else self.loads.get(name)

    def paths_of(self, name: str) -> list[str]:
        """The paths between a flow's ends; that of a load; all of them for other events."""
        if name in self.flows:
            flow = self.flows[name].flow
            ends = [self.network.site_of(host).name for host in (flow.source, flow.destination)]
            return [path.name for path in self.network.between(*ends)]
        load = self.event(name).load
        return [path.name for path in self.network.paths] if load is None else [load.path]

    def tested_paths_of(self, name: str) -> list[str]:
        """The paths that must all be tested for it to be: those between a flow's ends; for a load, all."""
        return self.paths_of(name) if name in self.flows else [path.name for path in self.network.paths]

    def missing(self) -> str:
        """Which flows are not over, in words."""
        states = {FlowState.WAITING: "waits", FlowState.RUNNING: "sends"}
        open_flows = [
            f"{name} {states[life.state]}" for name, life in self.flows.items() if life.state in states
        ]
        return ", ".join(open_flows) or "a moment that is waited for does not come"

    # -- the end --------------------------------------------------------------------------------------------

    def outcome(self, decider: Decider, why: str, silent: str = "") -> Outcome:
        """All of it as rows; partial where ``why`` says so, or the decisions cannot be read.

        :param silent: why who decides is not asked any more; empty if it is.
        """
        number, began = self.trial.number, self.began_at
        decisions: Sequence[DecisionRow] = ()
        if not silent:
            try:
                decisions = decider.decisions(number)
            except AdonError as error:
                silent = str(error)
        if silent:
            decisions = decider.remembered(number)
            why = why or f"the last decisions cannot be read: {silent}"
        throughput = [row for life in self.flows.values() for row in life.throughput(number, began)]
        throughput += [row for name, carried in self.loads.items() for row in self._load(name, carried)]
        flows = [life.row(number, began) for life in self.flows.values()]
        found = rows.measurements(number, began, self.tests.found)
        return Outcome(Tables(flows, throughput, found, decisions, self.events), why)

    def _load(self, name: str, carried: Carried) -> Iterable[ThroughputRow]:
        begun, counted = carried.seconds()
        (path,) = self.paths_of(name)
        return (
            ThroughputRow(self.trial.number, at - self.began_at, name, path, count)
            for at, count in rows.seconds(begun, counted)
        )
