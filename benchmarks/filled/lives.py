"""Some hundred flows that the real broker decides on, kept by the real store: the pattern of a month.

Events in, effects out; every batch is answered at once by its barrier, as a switch would.  Between the
requests measurements arrive, so that flows move; most transfers finish, some fail, are cancelled, wait, or
are given up waiting.  All of them have ended when the time is over.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import count

from adon.access.users import name_problem
from adon.broker.broker import Broker
from adon.broker.effects import (
    Answer,
    Effect,
    SaveDecision,
    SaveFlow,
    SaveOutcome,
    SaveSnapshot,
    SendBatch,
    WakeAt,
)
from adon.broker.events import (
    BatchConfirmed,
    Event,
    FlowCancelled,
    FlowSubmitted,
    MeasurementArrived,
    RulesReported,
    SwitchUp,
    Tick,
    TransferReported,
)
from adon.broker.flow import Flow, FlowRequest, FlowState
from adon.broker.recompute.codec import Encoder
from adon.code_version import code_version
from adon.config import Configuration
from adon.flowvisor.topology.network_graph import PortState
from adon.store.store import Store
from adon.templates_catalog.catalog import Catalog
from benchmarks.filled import campus
from measurement.model import Measurement, Metric

EVENT = "tpattern"
"""What the ids of events begin with; decisions are named after their event."""
REQUESTERS = tuple(f"researcher{number:02}" for number in range(60))
KINDS = ("genomics-transfer", "climate-transfer", "imaging-stream", "physics-backup", "archive-sync")
ENDS = (("finished", 0.86), ("failed", 0.06), ("cancelled", 0.08))
TOO_MUCH = 0.04
"""The share of requests for more than any path has: they wait, and are given up."""
assert all(name_problem(name) is None for name in REQUESTERS)


class Lives:
    """See the module's text.

    :param began: seconds since the epoch at the first event.
    """

    def __init__(self, read: Configuration, catalog: Catalog, store: Store, began: float, seed: int) -> None:
        self.now = began
        self._broker = Broker(read, catalog)
        self._store = store
        self._chance = random.Random(seed)
        self._encoder = Encoder()
        self._numbers = count(1)
        self._wake: float | None = None
        self._answered: list[Answer] = []
        for _, (dpid, names) in sorted(campus.bridges().items()):
            live = {name: PortState(number, True) for number, name in enumerate(names, 1)}
            self._happen(SwitchUp(*self._stamp(), int(dpid, 16), live))
            self._happen(RulesReported(*self._stamp(), int(dpid, 16), ()))

    def live(self, flows: int, every_s: float) -> None:
        """So many flows, one asked for every so many seconds on average; all have ended on return."""
        self._measure()
        open_ones: list[tuple[float, int, str]] = []
        for number in range(flows):
            self._pass(every_s * self._chance.uniform(0.5, 1.5))
            if number % 5 == 0:
                self._measure()
            if (flow := self._submit()).state.holds_rules:
                ending = self._chance.choices([end for end, _ in ENDS], [share for _, share in ENDS])[0]
                open_ones.append((self.now + every_s * self._chance.uniform(0.5, 6.0), flow.number, ending))
            self._end([one for one in open_ones if one[0] <= self.now])
            open_ones = [one for one in open_ones if one[0] > self.now]
        self._end(open_ones)
        for flow in [one for one in self._broker.flows if not one.state.final]:
            self._happen(FlowCancelled(*self._stamp(), "c", flow.number, flow.requester))

    def _submit(self) -> Flow:
        source, destination = self._chance.sample(campus.SITES, 2)
        host = f"dtn{self._chance.randint(1, campus.HOSTS_EACH)}"
        wish = {
            "source": f"{source}-{host}",
            "destination": f"{destination}-{host}",
            "size": f"{self._chance.choice((5, 20, 80, 250, 900))} GB",
            "template": self._chance.choice(KINDS),
            "ports": [self._chance.randint(20000, 29999)],
            "label": f"run {self._chance.randint(100, 999)}",
        }
        if self._chance.random() < TOO_MUCH:
            wish |= {"qspec": {"throughput": {"min": "9.9 Gbps"}}, "queue_patience": "20 min"}
        requester = self._chance.choice(REQUESTERS)
        self._happen(FlowSubmitted(*self._stamp(), "c", FlowRequest.model_validate(wish), requester))
        (answer,) = (one.value for one in self._answered if isinstance(one.value, Flow))
        found = self._broker.flows.get(answer.number)
        return answer if found is None else found

    def _end(self, due: Iterable[tuple[float, int, str]]) -> None:
        for _, number, ending in due:
            flow = self._broker.flows.get(number)
            if flow is None or flow.state.final:
                continue
            if ending == "cancelled" or flow.state is FlowState.QUEUED:
                self._happen(FlowCancelled(*self._stamp(), "c", number, flow.requester))
                continue
            size = flow.transfer_size or flow.request.size
            self._happen(TransferReported(*self._stamp(), "c", number, "started", 0))
            self._happen(TransferReported(*self._stamp(), "c", number, "progress", size // 2))
            moved, why = (
                (size, "") if ending == "finished" else (size // 2, "the far end closed the connection")
            )
            self._happen(TransferReported(*self._stamp(), "c", number, ending, moved, why))  # type: ignore[arg-type]

    def _measure(self) -> None:
        for key in campus.directions():
            rate = campus.CAPACITY_BPS * self._chance.uniform(0.2, 0.9)
            values = {Metric.THROUGHPUT: rate, Metric.RTT: self._chance.uniform(0.01, 0.06), Metric.LOSS: 0.0}
            for metric, value in values.items():
                identity, at = self._stamp()
                found = Measurement(
                    key, metric, value, at - 10, at, f"run-{identity}", "iperf3", {"streams": 1}
                )
                self._happen(MeasurementArrived(identity, at, found))

    def _pass(self, seconds: float) -> None:
        end = self.now + seconds
        while self._wake is not None and self._wake <= end:
            self.now, self._wake = max(self.now, self._wake), None
            self._happen(Tick(*self._stamp()))
        self.now = end

    def _stamp(self) -> tuple[str, float]:
        self.now += 0.01
        return f"{EVENT}-{next(self._numbers)}", self.now

    def _happen(self, event: Event) -> None:
        self._answered = []
        waiting: list[Event] = [event]
        while waiting:
            cause = waiting.pop(0)
            for effect in self._broker.handle(cause):
                if isinstance(effect, SendBatch):
                    waiting.append(BatchConfirmed(*self._stamp(), effect.dpid, effect.batch))
                self._keep(effect, cause)

    def _keep(self, effect: Effect, cause: Event) -> None:
        match effect:
            case SaveFlow(flow=flow):
                self._store.save_flow(flow, effect.cause, cause.at)
            case SaveDecision(decision=decision):
                self._store.save_decision(decision)
            case SaveOutcome(outcome=outcome):
                self._store.save_outcome(outcome)
            case SaveSnapshot(snapshot=snapshot):
                self._store.save_snapshots([self._encoder.encode(snapshot)], code_version())
            case WakeAt(at=at):
                self._wake = at if self._wake is None else min(at, self._wake)
            case Answer():
                self._answered.append(effect)
            case _:
                pass  # rules are the controller's to find out; what is told to others nobody hears
