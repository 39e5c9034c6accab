"""The prepared read-out: paths, switches, queue and resources as plain JSON values.

Prepared on the decision thread from what the broker holds, so that no page or poll touches a switch, a
database or a measurement archive to show the present.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from adon.flowvisor.path import Known
from adon.flowvisor.rule import dpid_text, rule_text
from adon.flowvisor.topology import Candidate
from measurement.model import Metric

if TYPE_CHECKING:
    from adon.broker.broker import Broker


def snapshot(broker: Broker, now: float) -> Mapping[str, object]:
    """Everything a page needs about the present; times in seconds since the epoch, SI units."""
    return {
        "at": now,
        "network": broker.configuration.network,
        "paths": [_path(broker, candidate, now) for candidate in broker.network.topology.directions()],
        "switches": _switches(broker),
        "queue": broker.queue(now),
        "quiet": sorted(broker.quiet),
        "reconcile": dict(broker.network.reconcile_totals),
    }


def differences(broker: Broker, now: float) -> Mapping[str, object]:
    """Per switch what is missing, wrong, too much or blocked, each rule as ``ovs-ofctl`` prints it."""
    return {
        "at": now,
        "items": [_difference(broker, n, s.dpid) for n, s in broker.configuration.switches.items()],
    }


def _difference(broker: Broker, name: str, dpid: int) -> dict[str, object]:
    found = broker.network.compare(dpid)
    return {
        "name": name,
        "dpid": dpid_text(dpid),
        "connected": dpid in broker.network.topology.connected,
        "missing": [rule_text(rule) for rule in found.missing],
        "wrong": [rule_text(wanted) for wanted, _ in found.wrong],
        "extra": [rule_text(rule) for rule in found.extra],
        "blocked": [rule_text(rule) for rule in found.blocked],
    }


def _path(broker: Broker, candidate: Candidate, now: float) -> dict[str, object]:
    configured = broker.configuration.paths[candidate.key.path]
    metrics = {}
    for metric in Metric:
        known = broker.performance.knowledge(candidate.key, metric, now, float("inf"))
        if isinstance(known, Known):
            metrics[metric.value] = {
                "value": known.value,
                "observed_at": known.observed_at,
                "age": max(0.0, now - known.observed_at),
                "source": known.source,
            }
    return {
        "path": candidate.key.path,
        "source": candidate.key.source,
        "destination": candidate.key.destination,
        "layer": candidate.layer.value,
        "capacity": configured.capacity,
        "mtu": configured.mtu,
        "usable": candidate.usable,
        "reason": candidate.reason,
        "metrics": metrics,
        "flows": broker.flows.on(candidate.key),
    }


def _switches(broker: Broker) -> list[dict[str, object]]:
    topology = broker.network.topology
    return [
        {
            "name": name,
            "dpid": dpid_text(switch.dpid),
            "connected": switch.dpid in topology.connected,
            "rules": len(broker.network.desired(switch.dpid)),
            "foreign_rules": broker.network.foreign_rules(switch.dpid),
            "ports": {
                port: {"number": state.number, "live": state.live}
                for port, state in topology.ports.get(switch.dpid, {}).items()
            },
        }
        for name, switch in broker.configuration.switches.items()
    ]
