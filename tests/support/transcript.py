"""Transcripts of the decision core: what happens and what is decided, without a name of the core.

A history is a list of lines.  The first one names the history and its network.  Each other line is a step:
``at`` (seconds since the start), ``do`` (a verb), the verb's fields, and what the core did: ``decided``
([flow, outcome, path] and the compute site if there is one) and ``states`` ([flow, state, path] of each flow
that changed).  A step that the core refuses has ``refused``.  ``look`` shows flows, queue and tables.

:class:`StageCore` and its :data:`VERBS` are the only part that knows today's core.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import yaml

from adon.broker.events import MaintenanceAsked, MaintenanceCancelled, MeasurementArrived, ReservationReleased
from adon.broker.flow import Flow, FlowState
from adon.broker.maintenance import WindowRequest
from adon.config import load
from adon.errors import AdonError
from adon.flowvisor.rules.rule import rule_text
from adon.flowvisor.topology.network_graph import PortState
from adon.templates_catalog.builtin_templates import builtin_templates
from adon.templates_catalog.catalog import Catalog
from measurement.anomaly.alarm import Alarm
from measurement.model import Measurement, Metric, PathKey
from tests.support.datapath import Packet, best
from tests.support.factories import clear_alarm, make_alarm
from tests.support.stage import Stage

FOLDER = Path(__file__).parents[1] / "data" / "transcripts"
Line = dict[str, Any]
BEAT_S = 5
"""Packets of a flow are counted at this interval."""
ACK_SHARE = 0.02
METRICS = {"loss": Metric.LOSS, "rtt": Metric.RTT, "delay": Metric.ONE_WAY_DELAY, "jitter": Metric.JITTER}


class Core(Protocol):
    """A decision core with its switches, as a transcript sees it."""

    def do(self, verb: str, fields: Mapping[str, Any]) -> None:
        """Carry out a step; raise AdonError if the core refuses it."""

    def now(self) -> float:
        """Return the seconds since the start."""

    def decided(self) -> list[list[str | None]]:
        """Return the decisions since the last call."""

    def flows(self) -> dict[str, tuple[str, str | None]]:
        """Return state and path of each flow."""

    def queue(self) -> list[str]:
        """Return the queued flows in their order."""

    def tables(self) -> dict[str, list[str]]:
        """Return the entries of each switch as ovs-ofctl prints them, without counters."""


@dataclass
class Player:
    """Plays steps on a core and writes their lines."""

    core: Core
    flows: dict[str, tuple[str, str | None]] = field(default_factory=dict)

    def play(self, verb: str, fields: Mapping[str, Any]) -> Line:
        """Carry out one step; return its line."""
        line: Line = {"at": round(self.core.now(), 6), "do": verb, **fields}
        if verb == "look":
            flows = [[name, *about] for name, about in self.core.flows().items()]
            return line | {"flows": flows, "queue": self.core.queue(), "tables": self.core.tables()}
        try:
            self.core.do(verb, fields)
        except AdonError:
            line["refused"] = True
        before, self.flows = self.flows, self.core.flows()
        changed = [[name, *about] for name, about in self.flows.items() if before.get(name) != about]
        return line | {"decided": self.core.decided(), "states": changed}


OUTPUTS = ("refused", "decided", "states", "flows", "queue", "tables")


def replay(core: Core, name: str, lines: Iterable[Line], reviewed: Mapping[int, Line]) -> Iterator[str]:
    """Play the steps of a history again; yield the first difference that nobody has reviewed.

    :param reviewed: per line the reviewed difference: ``was``, ``is`` and ``why``.
    """
    player = Player(core)
    for number, recorded in enumerate(lines, 2):
        expected = recorded
        if number in reviewed:
            was = reviewed[number]["was"]
            if not reviewed[number]["why"] or {key: recorded.get(key) for key in was} != was:
                yield f"{name}, line {number}: the reviewed difference is not about {recorded}"
            expected = {**recorded, **reviewed[number]["is"]}
        fields = {key: value for key, value in recorded.items() if key not in ("at", "do", *OUTPUTS)}
        try:
            got = player.play(recorded["do"], fields)
        except Exception as error:
            error.add_note(f"{name}, line {number}: {recorded}")
            raise
        if got != expected:
            yield f"{name}, line {number}: {recorded['do']} at {recorded['at']}{_difference(expected, got)}"
            return


def _difference(expected: Line, got: Line) -> str:
    """Return what differs in two lines; of tables only the entries that the other one has not."""
    parts = {name: (expected.get(name), got.get(name)) for name in {**expected, **got}}
    for name, (one, other) in parts.items():
        if name == "tables" and one is not None and other is not None:
            parts[name] = tuple(
                {n: sorted({*a[n]} - {*b[n]}) for n in a} for a, b in ((one, other), (other, one))
            )  # type: ignore[assignment]
    return "".join(f"\n  {name}: expected {a}\n  {name}: got {b}" for name, (a, b) in parts.items() if a != b)


def read_histories(file: Path) -> Iterator[tuple[Line, list[Line]]]:
    """Yield the first line and the steps of each history of a file."""
    lines = [json.loads(text) for text in gzip.decompress(file.read_bytes()).splitlines()]
    starts = [place for place, line in enumerate(lines) if "history" in line]
    for begin, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield lines[begin], lines[begin + 1 : end]


def write_histories(file: Path, histories: Iterable[list[Line]]) -> None:
    """Write histories into one file, the same bytes for the same histories."""
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for lines in histories for line in lines)
    file.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def read_differences(file: Path) -> dict[str, dict[int, Line]]:
    """Return the reviewed differences: per history and line ``was``, ``is`` and ``why``."""
    found: dict[str, dict[int, Line]] = {}
    for entry in yaml.safe_load(file.read_text("utf-8")) or ():
        found.setdefault(entry["history"], {})[entry["line"]] = entry
    return found


class StageCore:
    """Today's core behind a stage."""

    def __init__(self, network: str) -> None:
        configuration = load(FOLDER / "networks" / f"{network}.yaml")
        self.stage = Stage(configuration, Catalog.of(builtin_templates()))
        self.start, self.seen = self.stage.now, 0
        self.alarms: dict[str, Alarm] = {}

    def do(self, verb: str, fields: Mapping[str, Any]) -> None:
        renamed = {{"from": "source", "to": "destination"}.get(key, key): v for key, v in fields.items()}
        VERBS[verb](self, **renamed)

    def now(self) -> float:
        return self.stage.now - self.start

    def decided(self) -> list[list[str | None]]:
        new = self.stage.saved.decisions[self.seen :]
        self.seen += len(new)
        return [
            [one.flow, one.outcome.value, one.path, *([one.compute_site] if one.compute_site else [])]
            for one in new
        ]

    def flows(self) -> dict[str, tuple[str, str | None]]:
        return {flow.id: (flow.state.value, flow.path) for flow in self.stage.saved.flows.values()}

    def queue(self) -> list[str]:
        return [f"f-{number}" for number in self.stage.queue_order()]

    def tables(self) -> dict[str, list[str]]:
        return {
            name: sorted(rule_text(entry) for entry in self.stage.switches[switch.dpid].entries())
            for name, switch in self.stage.configuration.switches.items()
        }

    def dpid(self, switch: str) -> int:
        return self.stage.configuration.switches[switch].dpid

    def flow(self, name: str) -> Flow:
        return self.stage.flow(int(name[2:]))

    # -- verbs ------------------------------------------------------------------------------------------

    def measure(
        self, path: str, source: str, destination: str, mbps: float, streams: int, **values: float
    ) -> None:
        key, found = PathKey(path, source, destination), {METRICS[name]: one for name, one in values.items()}
        for metric, value in (found | {Metric.THROUGHPUT: mbps * 1e6}).items():
            event, at = self.stage.stamp()
            about = {"streams": streams} if metric is Metric.THROUGHPUT else {}
            result = Measurement(key, metric, value, at - 5.0, at, f"t-{event}", "tool", about)
            self.stage.feed(MeasurementArrived(event, at, result))

    def carry(self, seconds: int, mbps: Mapping[str, float]) -> None:
        """Let flows send at these rates while time passes; the others send nothing."""
        for _ in range(seconds // BEAT_S):
            self.stage.pass_time(BEAT_S)
            for name, rate in mbps.items():
                if self.flow(name).state is FlowState.ACTIVE:
                    self.send(name, int(rate * 1e6 * BEAT_S / 8))
                    self.send(name, int(rate * 1e6 * BEAT_S / 8 * ACK_SHARE), back=True)

    def send(self, flow: str, octets: int, *, back: bool = False) -> None:
        """Send packets of a flow by the switches' tables."""
        site, in_port, packet = self._packet(flow, octets, back=back)
        for port, sent in self.stage.switches[self.stage.edge(site)].forward(in_port, packet, self.stage.now):
            self._arrive(site, port, sent)

    def _packet(self, name: str, octets: int, *, back: bool) -> tuple[str, int, Packet]:
        """Return a packet of a flow, and the site and the port where it enters."""
        flow, sites = self.flow(name), self.stage.configuration.sites
        hosts = {host: (site, about) for site in sites for host, about in sites[site].hosts.items()}
        ends = [hosts[flow.request.source], hosts[flow.request.destination]]
        (site, near), (_, far) = reversed(ends) if back else ends
        protocol, port = flow.tuples[0].protocol, flow.tuples[0].destination_port
        ports = (port, 40_000) if back else (40_000, port)
        addresses = (near.mac, far.mac, str(near.address), str(far.address))
        in_port = self.stage.ports[self.stage.edge(site)][near.port].number
        return site, in_port, Packet(*addresses, protocol, *ports, size=octets)

    def _arrive(self, site: str, port: int, packet: Packet) -> None:
        """Let a packet that left an edge by a path arrive at the other edge."""
        for path in self.stage.configuration.paths.values():
            ends = {name: (self.stage.edge(name), end.port) for name, end in path.ends.items()}
            numbers = {name: self.stage.ports[dpid][name_of].number for name, (dpid, name_of) in ends.items()}
            if numbers[site] == port and not any(
                numbers[name] in self.stage.switches[dpid].dead for name, (dpid, _) in ends.items()
            ):
                (far,) = set(ends) - {site}
                self.stage.switches[ends[far][0]].forward(numbers[far], packet, self.stage.now)

    def alarm(self, name: str, source: str, destination: str, age: float, **about: Any) -> None:
        at = self.stage.now
        self.alarms[name] = make_alarm(at, name, since=at - age, ends=(source, destination), **about)
        self.stage.alarm(self.alarms[name])

    def change_port(self, switch: str, port: str, *, live: bool) -> None:
        dpid = self.dpid(switch)
        number, dead = self.stage.ports[dpid][port].number, self.stage.switches[dpid].dead
        (dead.discard if live else dead.add)(number)
        self.stage.change_port(dpid, port, PortState(number, live))

    def maintenance(self, scope: str, name: str, after: float, lasts: float, lead: float) -> None:
        begins = self.stage.now + after
        body = {"scope": scope, "name": name, "begins": begins, "ends": begins + lasts, "lead": f"{lead} s"}
        self.stage.command(MaintenanceAsked, WindowRequest.model_validate(body), "pat")

    def restart(self) -> None:
        """Restart the controller; switches connect again by ``switch_up``."""
        self.stage.connected.clear()
        self.stage.restart()

    def delete_rule(self, flow: str, back: bool, reported: bool) -> None:
        """Delete the rule by hand that takes a flow's packets where they come from a host."""
        site, in_port, packet = self._packet(flow, 1500, back=back)
        rules = [entry for entry in self.stage.rules_in(self.stage.edge(site)) if entry.table == 0]
        if (rule := best(rules, in_port, packet)) is not None:
            self.stage.delete_by_hand(rule, reported=reported)


VERBS: Mapping[str, Callable[..., Any]] = {
    "pass_time": lambda core, seconds: core.stage.pass_time(seconds),
    "carry": StageCore.carry,
    "measure": StageCore.measure,
    "submit": lambda core, by, request: core.stage.submit(by=by, **request),
    "cancel": lambda core, flow, by: core.stage.cancel(core.flow(flow), by),
    "report": lambda core, flow, status, size: core.stage.report(core.flow(flow), status, size),
    "alarm": StageCore.alarm,
    "alarm_over": lambda core, name: core.stage.alarm(clear_alarm(core.alarms[name], core.stage.now)),
    "port_down": lambda core, switch, port: core.change_port(switch, port, live=False),
    "port_up": lambda core, switch, port: core.change_port(switch, port, live=True),
    "switch_down": lambda core, switch: core.stage.disconnect(core.dpid(switch)),
    "switch_up": lambda core, switch: core.stage.connect(core.dpid(switch)),
    "switch_emptied": lambda core, switch: core.stage.wipe(core.dpid(switch)),
    "refuse_rules": lambda core, switch: core.stage.refuse(core.dpid(switch), "table full"),
    "accept_rules": lambda core, switch: core.stage.refuse(core.dpid(switch), ""),
    "maintenance": StageCore.maintenance,
    "maintenance_over": lambda core, number: core.stage.command(MaintenanceCancelled, number, "pat"),
    "reserve": lambda core, by, lasts, **fields: core.stage.reserve(by, lasts, **fields),
    "release": lambda core, by, number: core.stage.command(ReservationReleased, number, by),
    "delete_rule": StageCore.delete_rule,
    "read_switches": lambda core: core.stage.sync(),
    "restart": StageCore.restart,
}
