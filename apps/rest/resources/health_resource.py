"""For machines that watch: health, readiness, metrics (Prometheus), and the API's own description."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from flask import Response, current_app, g
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from adon.api import routes
from adon.api.status import Health
from adon.broker.effects import RuleState
from adon.broker.flow import FlowState
from adon.errors import Unavailable
from apps.rest import network_metrics, site_metrics
from apps.rest.dispatch import handles
from apps.rest.measurement_metrics import Measuring
from apps.rest.responses import answer, content_of
from apps.rest.services import DESCRIPTION, WRITTEN, Services, services

log = logging.getLogger(__name__)


@handles(routes.HEALTHZ)
def healthz() -> Health:
    """Answer if the web process is alive."""
    return Health(status="ok")


@handles(routes.READYZ)
def readyz() -> Health:
    """Answer if web process, database and controller are ready; flows need no collector.

    The answer needs no identity, so a failure names only the part that is not ready; the log has the reason.
    """
    parts = services()
    with _named("store"):
        parts.store.flows(limit=1)
    with _named("controller"):
        if not parts.controller.connected:
            raise Unavailable("the controller is not running")
        parts.controller.call("tally", {}, timeout=5.0)  # a standby refuses
    collector = "ok" if parts.collector.connected else "not running: no tests run now"
    checks = {"store": "ok", "controller": "ok", "collector": collector}
    return Health(status="ok", checks=checks)


@contextmanager
def _named(part: str) -> Iterator[None]:
    """Keep the reason of an error from a client without an identity.

    :raises Unavailable: code ``not-ready``, with the name of the part.
    """
    try:
        yield
    except Unavailable as error:
        log.warning("event=rest.not-ready part=%s error=%r", part, str(error))
        raise Unavailable(f"the {part} is not ready", code="not-ready") from None


@handles(routes.OPENAPI)
def openapi() -> Response:
    """Return this description (OpenAPI 3.1)."""
    known = current_app.extensions
    if WRITTEN not in known:
        known[WRITTEN] = content_of(known[DESCRIPTION])
    return answer(known[WRITTEN])


@handles(routes.METRICS)
def metrics() -> Response:
    """Return the metrics of flows, rules, switches, alarms and measurements for Prometheus."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_State(services()))
    registry.register(Measuring(services(), g.actor))
    return Response(generate_latest(registry), content_type=CONTENT_TYPE_LATEST)


class _State(Collector):
    """Reads the figures when it is asked for them."""

    def __init__(self, parts: Services) -> None:
        self._parts = parts

    def collect(self) -> Iterable[Metric]:
        store = self._parts.store
        flows, rules = store.flow_states(), store.rule_states()
        running = [state.value for state in FlowState if not state.final]
        yield _by_state("adon_flows", "Flows that have not ended, by state.", running, flows)
        yield CounterMetricFamily("adon_flows_submitted", "Submitted flows.", store.last_flow_number())
        yield _by_state("adon_rules", "Rules by state.", [state.value for state in RuleState], rules)
        yield from network_metrics.of_store(self._parts)
        yield from site_metrics.of_store(self._parts)
        yield from network_metrics.of_supervisor(self._parts)
        reachable = float(self._parts.controller.connected)
        yield GaugeMetricFamily("adon_controller_up", "Whether the controller is reachable.", reachable)
        try:
            tally = self._parts.controller.call("tally", {})
            snapshot = self._parts.snapshots.get()
        except Unavailable:
            return  # adon_controller_up says it; no number is better than an old one
        yield from _openflow(tally)
        yield from _network(snapshot)
        yield from network_metrics.of_snapshot(snapshot)
        yield from site_metrics.of_snapshot(snapshot)


def _openflow(tally: Mapping[str, Any]) -> Iterable[Metric]:
    """What the controller counted of its messages with the switches (R25)."""
    yield CounterMetricFamily("adon_of_flowmods_sent", "Flow-mods sent.", tally["flow_mods"])
    yield CounterMetricFamily("adon_of_malformed", "Invalid messages of switches.", tally["malformed"])
    yield _counted("adon_of_packet_in", "Packet-ins by result.", "result", tally["packet_ins"])
    unannounced = {
        "connection_admitted": tally["connections_admitted"],
        "packet_released": tally["packets_released"],
        "packet_refused": tally["unannounced_refused"],
    }
    yield _counted(
        "adon_unannounced", "Unregistered connections and packets of policy.reactive.", "result", unannounced
    )
    yield _counted(
        "adon_of_connections_refused",
        "Refused connections of switches.",
        "reason",
        tally["connections_refused"],
    )
    errors = CounterMetricFamily("adon_of_errors", "Errors that switches sent.", labels=["type", "code"])
    for error, count in tally["errors"].items():
        kind, _, code = error.partition(" ")
        errors.add_metric([kind, code], count)
    yield errors
    barriers = HistogramMetricFamily(
        "adon_of_barrier_seconds", "Time from a sent batch to its barrier reply."
    )
    barriers.add_metric([], [(bound, count) for bound, count in tally["barriers"]], tally["barrier_seconds"])
    yield barriers
    echoes = HistogramMetricFamily("adon_of_echo_seconds", "Time from an echo request to its reply.")
    echoes.add_metric([], [(bound, count) for bound, count in tally["echoes"]], tally["echo_seconds"])
    yield echoes


def _counted(name: str, text: str, label: str, counts: Mapping[str, int]) -> Metric:
    family = CounterMetricFamily(name, text, labels=[label])
    for value, count in counts.items():
        family.add_metric([value], count)
    return family


def _network(snapshot: Mapping[str, Any]) -> Iterable[Metric]:
    """Which switches are connected, and what comparing their rules has found so far."""
    connected = GaugeMetricFamily("adon_of_connected", "Whether a switch is connected.", labels=["dpid"])
    for switch in snapshot["switches"]:
        connected.add_metric([switch["dpid"]], float(switch["connected"]))
    yield connected
    for name, count in snapshot["reconcile"].items():
        yield CounterMetricFamily(f"adon_reconcile_{name}", f"Rules found {name} by a comparison.", count)


def _by_state(name: str, text: str, states: Iterable[str], counts: Mapping[str, int]) -> Metric:
    family = GaugeMetricFamily(name, text, labels=["state"])
    for state in states:
        family.add_metric([state], counts.get(state, 0))
    return family
