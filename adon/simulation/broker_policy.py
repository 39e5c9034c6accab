"""ADON's decision core as a policy of the simulator.

:class:`~adon.broker.broker.Broker` receives the events of a running controller (requests, results, ports,
counters, barriers, ticks); :class:`~adon.explain.event_player.EventPlayer` carries out its effects.  Switches
confirm a batch after :data:`BARRIER_S`, and its rules are in force from then on.  A transfer starts when its
flow is active, takes the path of its ingress rule, and waits while its flow is queued.  Alarm detectors and
the collector's schedule are not part of the simulation: tests run as the workload says, except on the paths
that the core wants quiet, in addition to those that it requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from adon.broker import effects, events
from adon.broker.flow import Flow, FlowRequest, FlowState
from adon.config import Configuration
from adon.errors import AdonError
from adon.explain.event_player import EventPlayer
from adon.flowvisor.rules.action import Output
from adon.flowvisor.rules.cookie import Kind, cookie_owner
from adon.flowvisor.rules.rule import Op, Rule
from adon.flowvisor.topology.network_graph import PortState
from adon.simulation import policies
from adon.simulation.simulated_network import FRAME, TCP_PAYLOAD, SimulatedNetwork
from adon.simulation.workload import Transfer, Workload
from adon.templates_catalog.catalog import Catalog

EPOCH = 1_000_000.0
"""The core's time at the start: its times are seconds since 1970."""

BARRIER_S = 0.01
"""Seconds from a batch to its barrier reply (docs/benchmarks.md: a few milliseconds)."""

FIRST_PORT = 1024


@dataclass(slots=True)
class _Traffic:
    """The packets of a flow.

    :param address: of its source.
    :param path: the path that they take; ``route``: the path of the ingress rule.
    :param entered, arrived: frame bytes that the switches have counted at the near and the far edge.
    """

    transfer: Transfer
    address: str
    path: str | None = None
    route: str | None = None
    entered: int = 0
    arrived: int = 0

    def count(self, view: policies.PolicyView) -> tuple[int, int]:
        """Return the frame bytes since the last count at the near and the far edge.

        While nothing arrives, TCP retransmits: one frame per stream and second enters the near edge.
        """
        number, entered, arrived = self.transfer.number, self.entered, self.arrived
        self.arrived = round(view.sent(number) * FRAME / TCP_PAYLOAD)
        self.entered = self.arrived + round(view.stalled(number) * FRAME * self.transfer.streams)
        return self.entered - entered, self.arrived - arrived


class BrokerPolicy(EventPlayer):
    """The decision core as a :class:`~adon.simulation.policies.Policy`, for one run.

    :param policy: settings of the configuration's ``policy`` section that differ from the defaults.
    """

    def __init__(
        self, workload: Workload, name: str = "ADON", policy: Mapping[str, Any] | None = None
    ) -> None:
        self.name = name
        self.quiet: frozenset[str] = frozenset()
        self._traffic: dict[int, _Traffic] = {}  # by flow number
        self._flows: dict[int, Flow] = {}  # by transfer number
        self._transfers = {one.number: one for one in workload.transfers}
        self._orders: list[policies.Order] = []
        self._view: policies.PolicyView
        configuration = simulated_configuration(workload.network, policy or {})
        super().__init__(configuration, Catalog.of(workload.templates.values()), now=EPOCH)
        self._paths = {
            (site, self._port(site, path.name)): path.name
            for path in workload.network.paths
            for site in path.ends
        }
        self.connect()

    @property
    def wake_at(self) -> float | None:
        """As :attr:`Policy.wake_at`; rounded up, as a tick must not come early."""
        at = self.next_time()
        return None if math.isinf(at) else at - EPOCH + 1e-9

    def decide(self, event: policies.PolicyEvent, view: policies.PolicyView) -> Sequence[policies.Order]:
        """As :meth:`Policy.decide`."""
        self._view, self.now = view, EPOCH + view.now
        if isinstance(event, policies.WakeUp):
            self.advance(self.now)
        for each in self._events(event):
            self.feed(each)
        orders, self._orders = self._orders, []
        return orders

    def _events(self, event: policies.PolicyEvent) -> Iterator[events.Event]:
        match event:
            case policies.TransferSubmitted(transfer):
                yield events.FlowSubmitted(
                    *self.stamp(), str(transfer.number), flow_request(transfer), "researcher"
                )
            case policies.TransferEnded(transfer):
                command, flow = f"end-{transfer.number}", self._flows[transfer.number]
                yield events.TransferReported(*self.stamp(), command, flow.number, "finished", transfer.size)
            case policies.ResultArrived(result):
                times = (EPOCH + result.started_at, EPOCH + result.observed_at)
                yield events.MeasurementArrived(
                    *self.stamp(), replace(result, started_at=times[0], observed_at=times[1])
                )
            case policies.PathPortsChanged(path, live):
                for site in path.ends:
                    state = PortState(self._port(site, path.name), live)
                    yield events.PortChanged(*self.stamp(), self._dpid(site), path.name, state)

    def _dpid(self, site: str) -> int:
        return self.configuration.switches[self.configuration.sites[site].edge].dpid

    def _port(self, site: str, path: str) -> int:
        return self.ports[self._dpid(site)][path].number

    # -- effects --------------------------------------------------------------------------------------

    def send(self, batch: effects.SendBatch) -> Iterable[events.Event]:
        """Send a batch to its switch; the answer comes later."""
        self.schedule(self.now + BARRIER_S, partial(self._confirm, batch))
        return ()

    def _confirm(self, batch: effects.SendBatch) -> None:
        self._count()
        answer = self.apply(batch)
        flows = sorted(set(self._set_routes(batch)))
        self.feed(answer)
        for number in flows:
            self._steer(number)

    def _set_routes(self, batch: effects.SendBatch) -> Iterator[int]:
        """Read the paths of flows from the ingress rules of a batch; yield the numbers of the flows."""
        for change in batch.changes:
            if not isinstance(change.rule, Rule):
                continue
            kind, number = cookie_owner(change.rule.cookie)
            if kind is Kind.FLOW_INGRESS:
                traffic, match = self._traffic[number], change.rule.match
                if match.ip_src == traffic.address:
                    port = next(one.port for one in change.rule.actions if isinstance(one, Output))
                    path = self._paths[traffic.transfer.source, port]
                    traffic.route = None if change.op is Op.DELETE else path
                yield number

    def carry_out(self, effect: effects.Effect) -> Iterable[events.Event]:
        """Carry out one effect; effects on transfers and tests become orders."""
        match effect:
            case effects.QuietPaths(paths=paths):
                self.quiet = paths
            case effects.RequestMeasurement(key=key, metric=metric):
                self._orders.append(policies.RunTest(key, metric))
            case effects.SaveFlow(flow=flow):
                self._follow(flow)
            case effects.ReadCounters() | effects.ReadRules():
                self._count()
            case effects.Answer(command=command, value=value) if isinstance(value, AdonError):
                if not command.isdecimal():
                    raise value
                self._orders.append(policies.RejectTransfer(int(command), str(value)))
        return super().carry_out(effect)

    def _follow(self, flow: Flow) -> None:
        """Stop a transfer whose flow waits again, and reject one whose flow has ended."""
        number = int(flow.request.label)
        self._flows[number] = flow
        transfer = self._transfers[number]
        host = self.configuration.sites[transfer.source].hosts[flow.request.source]
        traffic = self._traffic.setdefault(flow.number, _Traffic(transfer, str(host.address)))
        if flow.state.final:
            self._orders.append(policies.RejectTransfer(number, flow.reason))
        elif flow.state.holds_rules:
            self._steer(flow.number)
        elif traffic.path is not None:
            self._count()
            traffic.path = None
            self._orders.append(policies.PauseTransfer(number))

    def _steer(self, flow_number: int) -> None:
        """Let a transfer take the path of its rules once its flow is active."""
        traffic = self._traffic[flow_number]
        number, path = traffic.transfer.number, traffic.route
        if self._flows[number].state is FlowState.ACTIVE and path not in (None, traffic.path):
            traffic.path = path
            self._orders.append(policies.UsePath(number, path))

    def _count(self) -> None:
        """Add the frames since the last count to the rules that they match."""
        new = {number: one.count(self._view) for number, one in self._traffic.items() if one.path is not None}
        for held in (held for switch in self.switches.values() for held in switch.table.values()):
            if not isinstance(held.rule, Rule):
                continue
            (kind, number), match = cookie_owner(held.rule.cookie), held.rule.match
            traffic = self._traffic.get(number)
            if traffic is None or number not in new or match.ip_src != traffic.address:
                continue
            if kind is Kind.FLOW_INGRESS:
                held.bytes += new[number][0]
            elif (
                kind is Kind.FLOW_DELIVERY
                and self._paths.get((traffic.transfer.destination, match.in_port or 0)) == traffic.path
            ):
                held.bytes += new[number][1]
            held.packets = -(-held.bytes // FRAME)


def flow_request(transfer: Transfer) -> FlowRequest:
    """Return the request of a researcher for a transfer."""
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


def simulated_configuration(network: SimulatedNetwork, policy: Mapping[str, Any]) -> Configuration:
    """Return the configuration of a network: one edge and one host per site, paths as advertised."""
    places = dict(enumerate(network.sites, 1))
    switches = {f"{site}-edge": {"dpid": f"{0xA00 + place:016x}"} for place, site in places.items()}
    sites = {site: _site(site, place) for place, site in places.items()}
    paths: dict[str, Any] = {}
    for place, path in enumerate(network.paths, 1):
        ends: dict[str, Any] = {site: {"port": path.name} for site in path.ends}
        if path.layer == 3:
            for number, end in enumerate(ends.values()):
                end["next_hop_mac"] = f"02:00:00:{place:02x}:{number:02x}:01"
        tagged = {"vlan": 1000 + place} if path.layer == 2 else {}
        capacity = f"{path.advertised!r} bps"
        paths[path.name] = {"layer": path.layer, "capacity": capacity, "ends": ends, **tagged}
    body = {"network": "simulated", "switches": switches, "sites": sites, "paths": paths}
    return Configuration.model_validate({**body, "policy": dict(policy)})


def _site(site: str, place: int) -> dict[str, Any]:
    host = {
        "address": f"10.{place}.0.10",
        "mac": f"02:00:00:ff:{place:02x}:0a",
        "port": "dtn",
    }
    return {
        "edge": f"{site}-edge",
        "gateway_mac": f"02:00:00:ff:{place:02x}:01",
        "hosts": {f"{site}-dtn": host},
    }
