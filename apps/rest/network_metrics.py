"""Prometheus metrics of the network: tables, links, slices, failures, windows, controllers (R25).

From the controller's read-out, the store and the supervisor (docs/monitoring-and-troubleshooting.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from adon.broker.maintenance import Stage
from adon.errors import Unavailable
from adon.flowvisor.discovery.link import LinkState
from adon.store.lease import CONTROLLER
from apps.rest.services import Services

FOREIGN = "foreign"
"""The state of a port that leads to somebody else's switch, in the read-out of links."""


def of_snapshot(snapshot: Mapping[str, Any]) -> Iterable[Metric]:
    """What is known by the controller's read-out."""
    yield from _tables(snapshot["switches"])
    counts = Counter(link["state"] for link in snapshot["links"])
    links = GaugeMetricFamily("adon_links", "Links between switches, by state.", labels=["state"])
    for state in (*LinkState, FOREIGN):
        links.add_metric([str(state)], counts[str(state)])
    yield links
    yield from _slices(snapshot["slices"])
    failed = snapshot["failover"]
    text = "Time from a failure to the last confirmed reroute that it caused."
    failover = HistogramMetricFamily("adon_failover_seconds", text)
    failover.add_metric([], [(bound, count) for bound, count in failed["buckets"]], failed["seconds"])
    yield failover
    yield GaugeMetricFamily(
        "adon_failovers_open", "Failures with reroutes that are not confirmed.", failed["open"]
    )


def _tables(switches: Iterable[Mapping[str, Any]]) -> Iterable[Metric]:
    labels = ["dpid", "table"]
    active = GaugeMetricFamily("adon_table_active", "Rules in a table, as its switch reports.", labels=labels)
    most = GaugeMetricFamily("adon_table_max", "Size of a table, as its switch reports.", labels=labels)
    lacks = GaugeMetricFamily("adon_switch_lacks", "Missing features of a switch.", labels=["dpid"])
    for switch in switches:
        lacks.add_metric([switch["dpid"]], len(switch["lacks"]))
        for number, table in switch["tables"].items():
            active.add_metric([switch["dpid"], number], table["active"])
            if table["maximum"] is not None:
                most.add_metric([switch["dpid"], number], table["maximum"])
    yield from (active, most, lacks)


def _slices(slices: Iterable[Mapping[str, Any]]) -> Iterable[Metric]:
    rules = GaugeMetricFamily("adon_slice_rules", "Rules of a slice in a switch.", labels=["slice", "dpid"])
    labels = ["slice", "path", "source", "destination"]
    text = "Throughput bounds of the flows of a slice on a path, in bit/s."
    reserved = GaugeMetricFamily("adon_slice_reserved_bps", text, labels=labels)
    for tenant in slices:
        for dpid, count in tenant["rules"].items():
            rules.add_metric([tenant["name"], dpid], count)
        for one in tenant["paths"]:
            ends = [tenant["name"], one["path"], one["source"], one["destination"]]
            reserved.add_metric(ends, one["reserved"])
    yield from (rules, reserved)


def of_store(parts: Services) -> Iterable[Metric]:
    """Maintenance windows and the active controller, by the database."""
    now = parts.clock()
    stages = Counter(window.stage(now) for window in parts.store.windows(since=now))
    windows = GaugeMetricFamily("adon_maintenance_windows", "Maintenance windows by stage.", labels=["stage"])
    for stage in (Stage.ANNOUNCED, Stage.DRAINING, Stage.ACTIVE):
        windows.add_metric([stage.value], stages[stage])
    yield windows
    held = parts.store.lease(CONTROLLER)
    if held is None:
        return
    alive = held.seconds > 0 if parts.leased else parts.controller.connected
    active = GaugeMetricFamily("adon_controller_active", "Whether a controller is active.", labels=["name"])
    active.add_metric([held.holder], float(alive))
    yield active
    text = "Number that grows with each change of the active controller."
    yield GaugeMetricFamily("adon_controller_generation", text, held.generation)


def of_supervisor(parts: Services) -> Iterable[Metric]:
    """Which configuration runs, and how reloads went; nothing where there is no ``adon serve``."""
    if parts.supervisor is None or not parts.supervisor.connected:
        return
    try:
        standing = parts.supervisor.call("standing", {}, timeout=5.0)
    except Unavailable:
        return
    running = GaugeMetricFamily(
        "adon_config_hash_info", "Hash of the running configuration.", labels=["hash"]
    )
    running.add_metric([standing["hash"]], 1)
    yield running
    reloads = CounterMetricFamily(
        "adon_config_reloads", "Reloads of the configuration, by result.", labels=["result"]
    )
    for result, count in standing["reloads"].items():
        reloads.add_metric([result], count)
    yield reloads
    text = "Time of the last accepted configuration, in seconds since the epoch."
    yield GaugeMetricFamily("adon_config_last_success_timestamp_seconds", text, standing["succeeded_at"])
