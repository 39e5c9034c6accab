"""Prometheus metrics of compute sites and jobs (docs/compute-sites.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from prometheus_client.core import GaugeMetricFamily, Metric

from adon.broker.sites.jobs import JobState
from apps.rest.services import Services

NEWEST = 500
"""The jobs that are counted by state; of older ones hardly any is open."""


def of_snapshot(snapshot: Mapping[str, Any]) -> Iterable[Metric]:
    """How the sites stand; of one that is silent only that."""
    one, two = ["site"], ["site", "resource"]
    up = GaugeMetricFamily("adon_site_up", "Whether a compute site answers.", labels=one)
    there = GaugeMetricFamily(
        "adon_site_capacity", "Resources of a compute site: nodes, cores, bytes of memory, GPUs.", labels=two
    )
    free = GaugeMetricFamily("adon_site_free", "Free resources of a compute site.", labels=two)
    waiting = GaugeMetricFamily(
        "adon_site_jobs", "Jobs of all users at a compute site, by state.", labels=["site", "state"]
    )
    shaped = ["site", "nodes", "cores", "memory"]
    said = GaugeMetricFamily(
        "adon_site_queue_wait_said_seconds", "T_q as the site predicts it.", labels=shaped
    )
    counted = GaugeMetricFamily(
        "adon_site_queue_wait_seconds", "T_q as the cost model uses it.", labels=shaped
    )
    factor = GaugeMetricFamily(
        "adon_site_stretch_ratio", "Ratio of the used to the predicted T_q.", labels=one
    )
    for site in snapshot["compute"]:
        name = site["name"]
        if site["state"] == "configured":
            continue
        up.add_metric([name], float(site["state"] == "answers"))
        factor.add_metric([name], site["honesty"]["factor"])
        if site["state"] != "answers" or site["capacity"] is None:
            continue
        for resource in ("nodes", "cores", "memory", "gpus"):
            for family, key in ((there, resource), (free, f"{resource}_free")):
                if site["capacity"][key] is not None:
                    family.add_metric([name, resource], site["capacity"][key])
        for state in ("running", "waiting"):
            waiting.add_metric([name, state], site["capacity"][f"jobs_{state}"])
        for wait in site["waits"]:
            labels = [name, *(str(wait[key]) for key in ("nodes", "cores", "memory"))]
            if wait["said"] is not None:
                said.add_metric(labels, wait["said"])
                counted.add_metric(labels, wait["counted"])
    yield from (up, there, free, waiting, said, counted, factor)


def of_store(parts: Services) -> Iterable[Metric]:
    """The newest jobs of ours, by state."""
    counts = parts.store.job_states(NEWEST)
    jobs = GaugeMetricFamily(
        "adon_jobs", f"The newest {NEWEST} jobs at compute sites, by state.", labels=["state"]
    )
    for state in JobState:
        jobs.add_metric([state.value], counts.get(state.value, 0))
    yield jobs
