"""The real decision core decides: :class:`adon.broker.broker.Broker`, fed as in a running controller.

Nothing in the core knows of the simulation.  It is told by the same events (requests, results, ports,
counters, barriers, ticks) and wants the same effects; switches answer a batch after :data:`BARRIER_S`.  A
transfer begins when its flow is active, takes the path that the rules say, and waits while it is queued.
Detectors of alarms and the collector's own plan are not part of it: tests run as the workload's plan says,
less those on the paths that the core wants quiet, plus those that it asks for.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from adon.broker.broker import Broker
from adon.broker.counters import by_flows
from adon.broker.decision import Decision, Outcome
from adon.broker.effects import (
    Answer,
    Effect,
    QuietPaths,
    ReadCounters,
    ReadRules,
    RequestMeasurement,
    SaveDecision,
    SaveFlow,
    SendBatch,
    WakeAt,
)
from adon.broker.events import (
    BatchConfirmed,
    CountersReported,
    Event,
    FlowSubmitted,
    MeasurementArrived,
    PortChanged,
    RulesReported,
    SwitchUp,
    Tick,
    TransferReported,
)
from adon.broker.flow import Flow, FlowRequest, FlowState
from adon.config import Configuration
from adon.errors import AdonError
from adon.flowvisor.port import PortState
from adon.simulation.network import Network
from adon.simulation.policy import (
    Finished,
    Happening,
    Measure,
    Measured,
    Order,
    Pause,
    PortsSeen,
    Refuse,
    Submitted,
    Take,
    View,
    Woken,
)
from adon.simulation.switches import Carried, Switches, Wiring
from adon.simulation.workload import Transfer, Workload
from adon.templates_catalog.catalog import Catalog
from measurement.model import Measurement

EPOCH = 1_000_000.0
"""The core's time at the beginning: its times are seconds since 1970."""

BARRIER_S = 0.01
"""From a batch to the barrier reply behind it (docs/benchmarks.md: a few milliseconds)."""

AT_ONCE = 100
"""So many flows' counters are reported at a time, as the controller's switchboard does."""

FIRST_PORT = 1024


class Brokered:
    """The broker as a :class:`~adon.simulation.policy.Policy`; for one run.

    :param policy: settings of the configuration's policy that are not the defaults.
    """

    def __init__(
        self,
        workload: Workload,
        name: str = "ours",
        policy: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.quiet: frozenset[str] = frozenset()
        self.decisions: list[Decision] = []
        self._wiring = Wiring.of(workload.network)
        self._switches = Switches(self._wiring)
        self.broker = Broker(
            configuration(workload.network, policy or {}), Catalog.of(workload.templates.values())
        )
        self._ids = count(1)
        self._due: list[tuple[float, int, SendBatch]] = []
        self._wake: float | None = 0.0
        self._greeted = False
        self._asked: dict[int, Transfer] = {}
        self._flows: dict[int, Flow] = {}  # by the transfer's number
        self._numbers: dict[int, int] = {}  # flow number to transfer number
        self._waiting: list[Order] = []

    @property
    def wake(self) -> float | None:
        """As :attr:`Policy.wake`."""
        times = [at for at in (self._wake, self._due[0][0] if self._due else None) if at is not None]
        return min(times, default=None)

    def happened(self, what: Happening, view: View) -> Sequence[Order]:
        """As :meth:`Policy.happened`."""
        self._waiting = []
        self._count(view)
        for event in self._events(what, view):
            self._feed(event, view)
        return self._waiting

    # -- events ---------------------------------------------------------------------------------------

    def _stamp(self, view: View) -> tuple[str, float]:
        return f"e{next(self._ids)}", EPOCH + view.now

    def _events(self, what: Happening, view: View) -> Iterator[Event]:
        if not self._greeted:
            self._greeted = True
            self._wake = None
            yield from self._greetings(view)
        match what:
            case Submitted(transfer):
                self._asked[transfer.number] = transfer
                asked = request(transfer)
                yield FlowSubmitted(*self._stamp(view), str(transfer.number), asked, "somebody")
            case Finished(transfer):
                flow = self._flows[transfer.number]
                stamp = self._stamp(view)
                yield TransferReported(
                    *stamp, f"end-{transfer.number}", flow.number, "finished", transfer.size
                )
            case Measured(measurement):
                yield MeasurementArrived(*self._stamp(view), _shifted(measurement))
            case PortsSeen(path, live):
                for site in path.ends:
                    number = self._wiring.ports[site][path.name]
                    dpid, state = self._wiring.dpids[site], PortState(number, live)
                    yield PortChanged(*self._stamp(view), dpid, _port(site, path.name), state)
            case Woken():
                yield from self._woken(view)

    def _greetings(self, view: View) -> Iterator[Event]:
        for site, dpid in self._wiring.dpids.items():
            ports = {_port(site, path): PortState(n, True) for path, n in self._wiring.ports[site].items()}
            yield SwitchUp(*self._stamp(view), dpid, {_port(site, "dtn"): PortState(1, True), **ports})

    def _woken(self, view: View) -> Iterator[Event]:
        while self._due and self._due[0][0] <= view.now:
            batch = heapq.heappop(self._due)[2]
            touched = self._switches.apply(batch.changes)
            yield BatchConfirmed(*self._stamp(view), batch.dpid, batch.batch)
            for number in sorted(touched):
                self._steer(number)
        if self._wake is not None and self._wake <= view.now:
            self._wake = None
            yield Tick(*self._stamp(view))

    # -- effects --------------------------------------------------------------------------------------

    def _feed(self, event: Event, view: View) -> None:
        """Feed one event, and what switches answer at once."""
        waiting = [event]
        while waiting:
            for effect in self.broker.handle(waiting.pop(0)):
                waiting += self._carry_out(effect, view)

    def _carry_out(self, effect: Effect, view: View) -> Sequence[Event]:
        match effect:
            case SendBatch():
                heapq.heappush(self._due, (view.now + BARRIER_S, next(self._ids), effect))
            case WakeAt(at=at):
                self._wake = _ours(at) if self._wake is None else min(self._wake, _ours(at))
            case ReadRules(dpid=dpid):
                return (RulesReported(*self._stamp(view), dpid, self._switches.rules(dpid)),)
            case ReadCounters(dpid=dpid):
                parts = by_flows(self._switches.flow_rules(dpid), AT_ONCE)
                return [CountersReported(*self._stamp(view), dpid, part) for part in parts]
            case QuietPaths(paths=paths):
                self.quiet = paths
            case RequestMeasurement(key=key, metric=metric):
                self._waiting.append(Measure(key, metric))
            case SaveFlow(flow=flow):
                self._saved(flow)
            case SaveDecision(decision=decision):
                if decision.outcome in (Outcome.ADMIT, Outcome.MOVE):
                    self.decisions.append(decision)
            case Answer(command=command, value=value) if isinstance(value, AdonError):
                if not command.isdecimal():
                    raise value
                self._waiting.append(Refuse(int(command), str(value)))
            case _:
                pass  # what is saved or said changes nothing here
        return ()

    def _saved(self, flow: Flow) -> None:
        """A flow's new state: who waits again stops, who is given up never ends."""
        number = int(flow.request.label)
        if number not in self._flows:
            self._numbers[flow.number] = number
            self._switches.carried[flow.number] = Carried(self._asked[number])
        self._flows[number] = flow
        carried = self._switches.carried[flow.number]
        if flow.state.final:
            self._waiting.append(Refuse(number, flow.reason))
        elif not flow.state.holds_rules and carried.path is not None:
            carried.path = None
            self._waiting.append(Pause(number))
        elif flow.state.holds_rules:
            self._steer(flow.number)

    def _steer(self, flow_number: int) -> None:
        """Let a transfer take the path that its rules say, once it may."""
        number = self._numbers.get(flow_number)
        flow = None if number is None else self._flows[number]
        path = self._switches.path_of(flow_number)
        if number is None or flow is None or flow.state is not FlowState.ACTIVE or path is None:
            return
        carried = self._switches.carried[flow_number]
        if carried.path != path:
            carried.path = path
            self._waiting.append(Take(number, path))

    def _count(self, view: View) -> None:
        for number, carried in self._switches.carried.items():
            transfer = self._numbers[number]
            carried.note(view.sent(transfer), view.stalled(transfer))


def _ours(at: float) -> float:
    """A time of the core's as one of the simulation's, rounded up: a tick must not come too early."""
    return at - EPOCH + 1e-9


def _shifted(measurement: Measurement) -> Measurement:
    return replace(
        measurement,
        started_at=EPOCH + measurement.started_at,
        observed_at=EPOCH + measurement.observed_at,
    )


def _port(site: str, toward: str) -> str:
    return f"{site}-edge-{toward}"


def request(transfer: Transfer) -> FlowRequest:
    """What a researcher would ask for."""
    return FlowRequest(
        source=f"{transfer.source}-dtn",
        destination=f"{transfer.destination}-dtn",
        size=f"{transfer.size} B",
        template=transfer.template,
        ports=(FIRST_PORT + transfer.number,),
        priority=transfer.priority,
        streams=transfer.streams,
        label=str(transfer.number),
    )


def configuration(network: Network, policy: Mapping[str, Any]) -> Configuration:
    """The network as a configuration file would say it: what is advertised, not what is true."""
    wiring = Wiring.of(network)
    switches = {f"{site}-edge": {"dpid": f"{dpid:016x}"} for site, dpid in wiring.dpids.items()}
    sites = {site: _site(site, place, wiring) for place, site in enumerate(network.sites, 1)}
    paths: dict[str, Any] = {}
    for place, path in enumerate(network.paths, 1):
        ends: dict[str, Any] = {site: {"port": _port(site, path.name)} for site in path.ends}
        if path.layer == 3:
            for number, end in enumerate(ends.values()):
                end["next_hop_mac"] = f"02:00:00:{place:02x}:{number:02x}:01"
        tagged = {"vlan": 1000 + place} if path.layer == 2 else {}
        capacity = f"{path.advertised!r} bps"
        paths[path.name] = {"layer": path.layer, "capacity": capacity, "ends": ends, **tagged}
    body = {"network": "simulated", "switches": switches, "sites": sites, "paths": paths}
    return Configuration.model_validate({**body, "policy": dict(policy)})


def _site(site: str, place: int, wiring: Wiring) -> dict[str, Any]:
    host = {
        "address": wiring.addresses[site],
        "mac": f"02:00:00:ff:{place:02x}:0a",
        "port": _port(site, "dtn"),
    }
    return {
        "edge": f"{site}-edge",
        "gateway_mac": f"02:00:00:ff:{place:02x}:01",
        "hosts": {f"{site}-dtn": host},
    }
