"""The real decision core decides: :class:`adon.broker.broker.Broker`, fed as in a running controller.

Nothing in the core knows of the simulation.  It is told by the same events (requests, results, ports,
counters, barriers, ticks) and wants the same effects; switches answer a batch after :data:`BARRIER_S`.  A
transfer begins when its flow is active, takes the path that the rules say, and waits while it is queued.
Detectors of alarms and the collector's own plan are not part of it: tests run as the workload's plan says,
less those on the paths that the core wants quiet, plus those that it asks for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from adon.broker.decision import Decision, Outcome
from adon.broker.effects import Answer, Effect, QuietPaths, RequestMeasurement, SaveFlow, SendBatch
from adon.broker.events import Event, FlowSubmitted, MeasurementArrived, PortChanged, TransferReported
from adon.broker.flow import Flow, FlowRequest, FlowState
from adon.config import Configuration
from adon.errors import AdonError
from adon.explain.event_player import EventPlayer
from adon.flowvisor.cookie import Kind, cookie_owner
from adon.flowvisor.port import PortState
from adon.flowvisor.rule import Rule
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
from adon.simulation.switches import Carried, CountingSwitch, Wiring
from adon.simulation.workload import Transfer, Workload
from adon.templates_catalog.catalog import Catalog
from measurement.model import Measurement

EPOCH = 1_000_000.0
"""The core's time at the beginning: its times are seconds since 1970."""

BARRIER_S = 0.01
"""From a batch to the barrier reply behind it (docs/benchmarks.md: a few milliseconds)."""

FIRST_PORT = 1024


class Brokered(EventPlayer):
    """The broker as a :class:`~adon.simulation.policy.Policy`; for one run.

    :param policy: settings of the configuration's policy that are not the defaults.
    """

    switches: Mapping[int, CountingSwitch]

    def __init__(
        self,
        workload: Workload,
        name: str = "ours",
        policy: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.quiet: frozenset[str] = frozenset()
        self._wiring = Wiring.of(workload.network)
        self._carried: dict[int, Carried] = {}  # by flow number
        self._flows: dict[int, Flow] = {}  # by the transfer's number
        self._asked: dict[int, Transfer] = {}
        self._orders: list[Order] = []
        super().__init__(
            configuration(workload.network, policy or {}),
            Catalog.of(workload.templates.values()),
            now=EPOCH,
            switches=lambda dpid: CountingSwitch(dpid, self._wiring, self._carried),
        )
        self.connect()

    @property
    def wake(self) -> float | None:
        """As :attr:`Policy.wake`."""
        at = self.next_time()
        return None if math.isinf(at) else _ours(at)

    @property
    def decisions(self) -> list[Decision]:
        """The decisions that gave a flow a path, in their order."""
        return [one for one in self.saved.decisions if one.outcome in (Outcome.ADMIT, Outcome.MOVE)]

    def happened(self, what: Happening, view: View) -> Sequence[Order]:
        """As :meth:`Policy.happened`."""
        self.now = EPOCH + view.now
        for carried in self._carried.values():
            carried.note(view.sent(carried.transfer.number), view.stalled(carried.transfer.number))
        if isinstance(what, Woken):
            self.advance(self.now)
        for event in self._events(what):
            self.feed(event)
        orders, self._orders = self._orders, []
        return orders

    def _events(self, what: Happening) -> Iterator[Event]:
        match what:
            case Submitted(transfer):
                self._asked[transfer.number] = transfer
                yield FlowSubmitted(*self.stamp(), str(transfer.number), request(transfer), "somebody")
            case Finished(transfer):
                command, flow = f"end-{transfer.number}", self._flows[transfer.number]
                yield TransferReported(*self.stamp(), command, flow.number, "finished", transfer.size)
            case Measured(measurement):
                yield MeasurementArrived(*self.stamp(), _shifted(measurement))
            case PortsSeen(path, live):
                for site in path.ends:
                    state = PortState(self._wiring.ports[site][path.name], live)
                    dpid = self._wiring.dpids[site]
                    yield PortChanged(*self.stamp(), dpid, _port(site, path.name), state)

    # -- effects --------------------------------------------------------------------------------------

    def send(self, batch: SendBatch) -> Iterable[Event]:
        """Send a batch to its switch; the answer comes later."""
        self.schedule(self.now + BARRIER_S, partial(self._answer, batch))
        return ()

    def _answer(self, batch: SendBatch) -> None:
        self.feed(self.apply(batch))
        rules = (change.rule for change in batch.changes)
        owners = [cookie_owner(rule.cookie) for rule in rules if isinstance(rule, Rule)]
        for number in sorted({number for kind, number in owners if kind is Kind.FLOW_INGRESS}):
            self._steer(number)

    def carry_out(self, effect: Effect) -> Iterable[Event]:
        """Carry out one effect; what concerns transfers and tests becomes an order."""
        match effect:
            case QuietPaths(paths=paths):
                self.quiet = paths
            case RequestMeasurement(key=key, metric=metric):
                self._orders.append(Measure(key, metric))
            case SaveFlow(flow=flow):
                self._follow(flow)
            case Answer(command=command, value=value) if isinstance(value, AdonError):
                if not command.isdecimal():
                    raise value
                self._orders.append(Refuse(int(command), str(value)))
        return super().carry_out(effect)

    def _follow(self, flow: Flow) -> None:
        """A flow's new state: who waits again stops, who is given up never ends."""
        number = int(flow.request.label)
        self._flows[number] = flow
        carried = self._carried.setdefault(flow.number, Carried(self._asked[number]))
        if flow.state.final:
            self._orders.append(Refuse(number, flow.reason))
        elif not flow.state.holds_rules and carried.path is not None:
            carried.path = None
            self._orders.append(Pause(number))
        elif flow.state.holds_rules:
            self._steer(flow.number)

    def _steer(self, flow_number: int) -> None:
        """Let a transfer take the path that its rules say, once it may."""
        carried = self._carried[flow_number]
        transfer = carried.transfer
        if self._flows[transfer.number].state is not FlowState.ACTIVE:
            return
        path = self.switches[self._wiring.dpids[transfer.source]].path_of(flow_number)
        if path is not None and path != carried.path:
            carried.path = path
            self._orders.append(Take(transfer.number, path))


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
