"""The prepared read-out: paths, switches, queue and resources as plain JSON values.

Prepared on the decision thread from what the broker holds, so that no page or poll touches a switch, a
database or a measurement archive to show the present.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from adon.broker.limits import occupancy
from adon.broker.link_report import links
from adon.broker.network_report import circuits, sites, wires
from adon.broker.resources.resource_report import site_json
from adon.broker.room import count
from adon.broker.world import World
from adon.flowvisor.rules.pipeline import pipelines_of
from adon.flowvisor.rules.rule import rule_text
from adon.flowvisor.topology.path import KnownValue, dpid_text
from adon.flowvisor.topology.topology import Candidate
from measurement.anomaly.alarm import Alarm
from measurement.model import Metric

SHOWN = 1_000
"""Waiting flows that are read out by name."""


def snapshot(world: World, now: float) -> Mapping[str, object]:
    """Everything a page needs about the present; times in seconds since the epoch, SI units."""
    return {
        "at": now,
        "network": world.configuration.network,
        "paths": [_path(world, candidate, now) for candidate in world.network.topology.directions()],
        "switches": _switches(world, now),
        "links": links(world.configuration, world.links, now),
        "sites": sites(world.configuration),
        "wires": wires(world.network.topology),
        "circuits": circuits(world.network.topology),
        "standby_paths": world.configuration.policy.standby_paths,
        "queue": [f"f-{number}" for number in world.line.first(SHOWN)],
        "queued": len(world.line),
        "quiet": sorted(world.quiet),
        "estimates": _estimates(world),
        "reconcile": dict(world.network.reconcile_totals),
        "slices": [_slice(world, name) for name in world.configuration.slices],
        "failover": world.failovers.reading(),
        "compute": world.standings.reading(now),
        "resources": [
            site_json(offer, world.ledger.book(offer.name), now) for offer in world.offers.values()
        ],
    }


def differences(world: World, now: float) -> Mapping[str, object]:
    """Per switch what is missing, wrong, too much or blocked, each rule as ``ovs-ofctl`` prints it."""
    return {
        "at": now,
        "items": [_difference(world, n, s.dpid) for n, s in world.configuration.switches.items()],
    }


def _difference(world: World, name: str, dpid: int) -> dict[str, object]:
    found = world.network.compare(dpid)
    return {
        "name": name,
        "dpid": dpid_text(dpid),
        "connected": dpid in world.network.topology.connected,
        "missing": [rule_text(rule) for rule in found.missing],
        "wrong": [rule_text(wanted) for wanted, _ in found.wrong],
        "extra": [rule_text(rule) for rule in found.extra],
        "blocked": [rule_text(rule) for rule in found.blocked],
    }


def _path(world: World, candidate: Candidate, now: float) -> dict[str, object]:
    configured = world.configuration.paths.get(candidate.key.path)
    path = candidate.path
    metrics = {}
    for metric in Metric:
        known = world.performance.knowledge(candidate.key, metric, now, float("inf"))
        if isinstance(known, KnownValue):
            metrics[metric.value] = {
                "value": known.value,
                "observed_at": known.observed_at,
                "age": max(0.0, now - known.observed_at),
                "source": known.source,
                "basis": known.basis,
            }
    return {
        "path": candidate.key.path,
        "source": candidate.key.source,
        "destination": candidate.key.destination,
        "layer": candidate.layer.value,
        "capacity": world.network.topology.capacity_of(candidate.key.path),
        "mtu": configured.mtu if configured is not None else None if path is None else path.attributes.mtu,
        "vlan": None if path is None else path.vlan,
        "hops": [dpid_text(hop.dpid) for hop in path.hops] if path is not None else [],
        "ports_known": path is not None,
        "usable": candidate.usable,
        "reason": "" if candidate.reason is None else candidate.reason.text,
        "metrics": metrics,
        "flows": world.flows.on(candidate.key),
        "alarms": [_alarm(world, alarm) for alarm in world.alarms.on(candidate.key)],
    }


def _alarm(world: World, alarm: Alarm) -> dict[str, object]:
    return {
        "id": alarm.id,
        "metric": alarm.series.metric,
        "kind": alarm.kind.value,
        "direction": None if alarm.direction is None else alarm.direction.value,
        "bad": alarm.bad,
        "severity": alarm.severity.value,
        "raised_at": alarm.raised_at,
        "text": alarm.text,
        "acted_on": world.alarms.acted_on(alarm),
    }


def _estimates(world: World) -> list[dict[str, object]]:
    """How far off the estimates for new flows were, per directed path and basis (relative errors)."""
    return [
        {
            "path": key.path,
            "source": key.source,
            "destination": key.destination,
            "basis": basis,
            "count": found.count,
            "median": found.median,
            "spread": found.spread,
        }
        for (key, basis), found in world.estimates.summaries().items()
    ]


def _table(world: World, dpid: int, now: float) -> dict[str, object]:
    """How full a switch is, and why it gets nothing new if so (R9)."""
    found = occupancy(world, dpid)
    return {
        "active": found.ours + found.others,
        "maximum": found.maximum,
        "budget": found.budget,
        "full": world.room.why_full(dpid, now),
    }


def _slice(world: World, name: str) -> dict[str, object]:
    """What a slice's flows use: rules per switch, and bits/s reserved per directed path."""
    rules: Counter[str] = Counter()
    reserved: dict[tuple[str, str, str], float] = {}
    for flow in world.flows.running():
        if flow.slice == name:
            rules.update({dpid_text(d): n for d, n in count(world.network.intended_rules(flow.id)).items()})
            key = (str(flow.path), *world.flows.ends(flow))
            reserved[key] = reserved.get(key, 0.0) + world.flows.bound(flow)
    paths = [
        {"path": path, "source": source, "destination": destination, "reserved": bits}
        for (path, source, destination), bits in reserved.items()
    ]
    return {"name": name, "rules": dict(rules), "paths": paths}


def _tables(world: World, dpid: int) -> dict[str, object]:
    """Per table of ours how many rules it holds and may hold, as the switch says itself."""
    features = world.abilities.features.get(dpid)
    known = {} if features is None else features.tables
    ours = pipelines_of(world.network.topology.configuration)[dpid].tables
    return {
        str(number): {"active": known[number].active, "maximum": known[number].most}
        for number in ours
        if number in known
    }


def _switches(world: World, now: float) -> list[dict[str, object]]:
    topology = world.network.topology
    return [
        {
            "name": name,
            "dpid": dpid_text(switch.dpid),
            "connected": switch.dpid in topology.connected,
            "mode": world.configuration.mode_of(name),
            "pipeline": switch.pipeline,
            "control": switch.control,
            "drift": switch.drift,
            "rules": world.network.rules(switch.dpid),
            "foreign_rules": world.network.foreign_rules(switch.dpid),
            "table": _table(world, switch.dpid, now),
            "tables": _tables(world, switch.dpid),
            "lacks": list(world.abilities.lacks.get(switch.dpid, ())),
            "ports": {
                port: {"number": state.number, "live": state.live}
                for port, state in topology.ports.get(switch.dpid, {}).items()
            },
        }
        for name, switch in world.configuration.switches.items()
    ]
