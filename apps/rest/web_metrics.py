"""Prometheus metrics of flows, rules, switches, the network, compute sites and measurements (R25).

They come from the store, the controller's counters and its snapshot, the supervisor and the archive
(docs/monitoring-and-troubleshooting.md).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from adon.access.identity import Actor
from adon.broker.effects import RuleState
from adon.broker.flow import FlowState
from adon.broker.maintenance import Stage
from adon.broker.sites.jobs import JobState
from adon.errors import Unavailable
from adon.flowvisor.discovery.link import LinkState
from adon.store.lease import CONTROLLER
from apps.rest.measurement_access import MOST_READ, alarms, executions, overlaps
from apps.rest.runs import LOST, Fate, classify_loss, fate_of
from apps.rest.services import Services
from measurement.anomaly.model import Severity
from measurement.archive import Archive

Json = Mapping[str, Any]
Samples = Iterable[tuple[Any, ...]]

FOREIGN = "foreign"
"""State of a port that leads to a switch of another network, in the snapshot."""
NEWEST_JOBS = 500
"""Jobs that are counted by state; few older ones are open."""
_RESOURCES = ("nodes", "cores", "memory", "gpus")


def gauge(name: str, text: str, labels: str, samples: Samples) -> Metric:
    """Return a gauge.

    :param labels: the names of its labels, separated by spaces.
    :param samples: the values of the labels, then the value.
    """
    family = GaugeMetricFamily(name, text, labels=labels.split())
    for *values, value in samples:
        family.add_metric([str(one) for one in values], float(value))
    return family


def _counter(name: str, text: str, labels: str, samples: Samples) -> Metric:
    family = CounterMetricFamily(name, text, labels=labels.split())
    for *values, value in samples:
        family.add_metric([str(one) for one in values], value)
    return family


def _histogram(name: str, text: str, buckets: Iterable[tuple[str, float]], total: float) -> Metric:
    family = HistogramMetricFamily(name, text)
    family.add_metric([], [(bound, count) for bound, count in buckets], total)
    return family


class StateMetrics(Collector):
    """Metrics of the present state, read when they are requested."""

    def __init__(self, parts: Services) -> None:
        self._parts = parts

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; those of the controller are missing while it does not answer."""
        yield from _of_store(self._parts)
        yield from _of_supervisor(self._parts)
        controller = self._parts.controller
        yield GaugeMetricFamily(
            "adon_controller_up", "Whether the controller is reachable.", float(controller.connected)
        )
        try:
            tally = controller.call("tally", {})
            snapshot = self._parts.snapshots.get()
        except Unavailable:
            return  # adon_controller_up reports it, and old numbers would mislead
        yield from _of_messages(tally)
        yield from _of_switches(snapshot)
        yield from _of_network(snapshot)
        yield from _of_sites(snapshot["compute"])


def _of_store(parts: Services) -> Iterator[Metric]:
    store, now = parts.store, parts.clock()
    flows, rules, jobs = store.flow_states(), store.rule_states(), store.job_states(NEWEST_JOBS)
    stages = Counter(window.stage(now) for window in store.windows(since=now))
    running = [state.value for state in FlowState if not state.final]
    yield gauge("adon_flows", "Flows that have not ended, by state.", "state", _by(running, flows))
    yield CounterMetricFamily("adon_flows_submitted", "Submitted flows.", store.last_flow_number())
    yield gauge("adon_rules", "Rules by state.", "state", _by(RuleState, rules))
    text = f"The newest {NEWEST_JOBS} jobs at compute sites, by state."
    yield gauge("adon_jobs", text, "state", _by(JobState, jobs))
    announced = (Stage.ANNOUNCED, Stage.DRAINING, Stage.ACTIVE)
    yield gauge("adon_maintenance_windows", "Maintenance windows by stage.", "stage", _by(announced, stages))
    held = store.lease(CONTROLLER)
    if held is not None:
        active = held.seconds > 0 if parts.has_standby else parts.controller.connected
        text = "Whether a controller is active."
        yield gauge("adon_controller_active", text, "name", [(held.holder, active)])
        text = "Number that grows with each change of the active controller."
        yield GaugeMetricFamily("adon_controller_generation", text, held.generation)


def _by(states: Iterable[str], counts: Mapping[Any, int]) -> Samples:
    return [(str(state), counts.get(state, 0)) for state in states]


def _of_supervisor(parts: Services) -> Iterator[Metric]:
    """Yield the running configuration and the results of reloads; nothing without a supervisor."""
    if parts.supervisor is None or not parts.supervisor.connected:
        return
    try:
        state = parts.supervisor.call("standing", {}, timeout=5.0)
    except Unavailable:
        return
    text = "Hash of the running configuration."
    yield gauge("adon_config_hash_info", text, "hash", [(state["hash"], 1)])
    text = "Reloads of the configuration, by result."
    yield _counter("adon_config_reloads", text, "result", state["reloads"].items())
    text = "Time of the last accepted configuration, in seconds since the epoch."
    yield GaugeMetricFamily("adon_config_last_success_timestamp_seconds", text, state["succeeded_at"])


def _of_messages(tally: Json) -> Iterator[Metric]:
    """Yield the controller's counts of messages with switches."""
    yield CounterMetricFamily("adon_of_flowmods_sent", "Flow-mods sent.", tally["flow_mods"])
    yield CounterMetricFamily("adon_of_malformed", "Invalid messages of switches.", tally["malformed"])
    yield _counter("adon_of_packet_in", "Packet-ins by result.", "result", tally["packet_ins"].items())
    results = [
        ("connection_admitted", tally["connections_admitted"]),
        ("packet_released", tally["packets_released"]),
        ("packet_refused", tally["unannounced_refused"]),
    ]
    text = "Unregistered connections and packets of policy.reactive."
    yield _counter("adon_unannounced", text, "result", results)
    refused = tally["connections_refused"].items()
    yield _counter("adon_of_connections_refused", "Refused connections of switches.", "reason", refused)
    errors = [(*error.partition(" ")[::2], count) for error, count in tally["errors"].items()]
    yield _counter("adon_of_errors", "Errors that switches sent.", "type code", errors)
    text = "Time from a sent batch to its barrier reply."
    yield _histogram("adon_of_barrier_seconds", text, tally["barriers"], tally["barrier_seconds"])
    text = "Time from an echo request to its reply."
    yield _histogram("adon_of_echo_seconds", text, tally["echoes"], tally["echo_seconds"])


def _of_switches(snapshot: Json) -> Iterator[Metric]:
    switches = snapshot["switches"]
    connected = [(one["dpid"], one["connected"]) for one in switches]
    yield gauge("adon_of_connected", "Whether a switch is connected.", "dpid", connected)
    for name, count in snapshot["reconcile"].items():
        yield CounterMetricFamily(f"adon_reconcile_{name}", f"Rules found {name} by a comparison.", count)
    tables = [(one["dpid"], number, table) for one in switches for number, table in one["tables"].items()]
    active = [(dpid, number, table["active"]) for dpid, number, table in tables]
    yield gauge("adon_table_active", "Rules in a table, as its switch reports.", "dpid table", active)
    sizes = [(*key, table["maximum"]) for *key, table in tables if table["maximum"] is not None]
    yield gauge("adon_table_max", "Size of a table, as its switch reports.", "dpid table", sizes)
    missing = [(one["dpid"], len(one["lacks"])) for one in switches]
    yield gauge("adon_switch_lacks", "Missing features of a switch.", "dpid", missing)


def _of_network(snapshot: Json) -> Iterator[Metric]:
    states = Counter(link["state"] for link in snapshot["links"])
    yield gauge(
        "adon_links", "Links between switches, by state.", "state", _by((*LinkState, FOREIGN), states)
    )
    slices = snapshot["slices"]
    rules = [(one["name"], dpid, count) for one in slices for dpid, count in one["rules"].items()]
    yield gauge("adon_slice_rules", "Rules of a slice in a switch.", "slice dpid", rules)
    reserved = [
        (one["name"], path["path"], path["source"], path["destination"], path["reserved"])
        for one in slices
        for path in one["paths"]
    ]
    text = "Throughput bounds of the flows of a slice on a path, in bit/s."
    yield gauge("adon_slice_reserved_bps", text, "slice path source destination", reserved)
    failed = snapshot["failover"]
    text = "Time from a failure to the last confirmed reroute that it caused."
    yield _histogram("adon_failover_seconds", text, failed["buckets"], failed["seconds"])
    text = "Failures with reroutes that are not confirmed."
    yield GaugeMetricFamily("adon_failovers_open", text, failed["open"])


def _of_sites(compute: Iterable[Json]) -> Iterator[Metric]:
    """Yield the metrics of compute sites; of a silent one only that it is silent."""
    sites = [one for one in compute if one["state"] != "configured"]
    up = [(one["name"], one["state"] == "answers") for one in sites]
    yield gauge("adon_site_up", "Whether a compute site answers.", "site", up)
    factors = [(one["name"], one["honesty"]["factor"]) for one in sites]
    yield gauge("adon_site_stretch_ratio", "Ratio of the used to the predicted T_q.", "site", factors)
    known = [one for one in sites if one["state"] == "answers" and one["capacity"] is not None]
    text = "Resources of a compute site: nodes, cores, bytes of memory, GPUs."
    yield gauge("adon_site_capacity", text, "site resource", _amounts(known, ""))
    yield gauge(
        "adon_site_free", "Free resources of a compute site.", "site resource", _amounts(known, "_free")
    )
    jobs = [
        (one["name"], state, one["capacity"][f"jobs_{state}"])
        for one in known
        for state in ("running", "waiting")
    ]
    yield gauge("adon_site_jobs", "Jobs of all users at a compute site, by state.", "site state", jobs)
    waits = [(one["name"], wait) for one in known for wait in one["waits"] if wait["said"] is not None]
    for name, key, text in (
        ("adon_site_queue_wait_said_seconds", "said", "T_q as the site predicts it."),
        ("adon_site_queue_wait_seconds", "counted", "T_q as the cost model uses it."),
    ):
        found = [(site, wait["nodes"], wait["cores"], wait["memory"], wait[key]) for site, wait in waits]
        yield gauge(name, text, "site nodes cores memory", found)


def _amounts(sites: Iterable[Json], suffix: str) -> Samples:
    amounts = [(one["name"], name, one["capacity"][name + suffix]) for one in sites for name in _RESOURCES]
    return [amount for amount in amounts if amount[-1] is not None]


RECENT_S = 3600.0


class MeasurementMetrics(Collector):
    """Metrics of what an actor may see, read when they are requested."""

    def __init__(self, parts: Services, actor: Actor | None) -> None:
        self._parts = parts
        self._actor = actor

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; those of the archive are missing while it cannot be read."""
        up = float(self._parts.collector.connected)
        yield GaugeMetricFamily("adon_collector_up", "Whether the collector is reachable.", up)
        try:
            yield self._alarms()
            yield from self._runs()
            yield self._ages()
        except Unavailable:
            return

    def _alarms(self) -> Metric:
        found = Counter(one.severity for one in alarms(self._parts, self._actor, open_only=True))
        samples = [(severity.value, found[severity]) for severity in Severity]
        return gauge("adon_alarms", "Alarms in force, by severity.", "severity", samples)

    def _runs(self) -> Iterator[Metric]:
        since = self._parts.clock() - RECENT_S
        found = executions(self._parts, self._actor, since=since, limit=MOST_READ)
        fates = Counter(fate_of(one.outcome) for one in found)
        text = "Planned runs of the last hour, by their result."
        yield gauge("adon_measurement_runs", text, "outcome", [(one.value, fates[one]) for one in Fate])
        lost = Counter(classify_loss(one.outcome) for one in found)
        text = "Planned runs of the last hour without a value, by the reason."
        yield gauge("adon_measurement_runs_lost", text, "reason", [(reason, lost[reason]) for reason in LOST])
        text = "Pairs of conflicting runs of the last hour that ran at the same time."
        number = len(overlaps(self._parts, self._actor, since))
        yield GaugeMetricFamily("adon_measurement_overlaps", text, number)

    def _ages(self) -> Metric:
        now = self._parts.clock()
        latest = self._parts.measurements.ask(Archive.latest)
        seen = self._parts.policy.readable(self._actor, ((one.series, one) for one in latest))
        text = "Seconds since the latest value of a metric of a path was observed."
        labels = "path source destination metric"
        samples = [(*one.series, one.age(now)) for one in seen]
        return gauge("adon_measurement_age_seconds", text, labels, samples)
