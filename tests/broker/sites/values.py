"""Sites, reports and jobs for the tests of this package."""

from __future__ import annotations

from typing import Any

from adon.broker.sites.jobs import SiteJob
from adon.config import Configuration
from adon.config.compute import ComputeSite
from measurement.custom.batch.model import Capacity, JobState, JobStatus
from measurement.sites.model import JobNews, Shape, SiteReport, SiteState, Wait
from tests.support.network_factories import make_configuration

SLURM: dict[str, Any] = {
    "kind": "slurm",
    "period": "30 s",
    "timeout": "10 s",
    "jobs": {
        "align": {
            "run": ["/opt/soykb/align", "--data", "{flow}"],
            "arguments": 1,
            "nodes": 2,
            "cores": 8,
            "memory": "16 GB",
            "time_limit": "2 h",
        },
        "private": {"run": ["/opt/private"], "templates": ["neuroblastoma"]},
    },
}
CAPACITY = Capacity(64, 32, 4, 3, 1, 2, 4 * 2**30, 2**30, 8, 2)


def compute_site(adapter: dict[str, Any] | None = SLURM, **changes: Any) -> ComputeSite:
    body: dict[str, Any] = {
        "site": "osu",
        "worker_nodes": 16,
        "throughput_per_node": "8 Mbps",
        "queue_wait": "5 s",
    }
    return ComputeSite.model_validate({**body, "adapter": adapter, **changes})


def with_adapter(**adapters: dict[str, Any]) -> Configuration:
    """The example network, some of whose compute sites have an adapter."""
    read = make_configuration()
    sites = dict(read.compute)
    for name, adapter in adapters.items():
        plain = sites[name.replace("_", "-")].model_dump(mode="json")
        sites[name.replace("_", "-")] = ComputeSite.model_validate({**plain, "adapter": adapter})
    return read.model_copy(update={"compute": sites})


def report(
    site: str = "osu-hpc", *waits: Wait, at: float = 1000.0, capacity: Capacity = CAPACITY
) -> SiteReport:
    return SiteReport(site, at, SiteState(capacity, waits))


def wait(seconds: float | None, nodes: int = 1, cores: int | None = None, why: str = "") -> Wait:
    return Wait(Shape(nodes, nodes if cores is None else cores), seconds, why)


def silent(site: str = "osu-hpc", error: str = "sinfo did not end within 10 s") -> SiteReport:
    return SiteReport(site, 1000.0, None, error)


def news(number: int, state: JobState, predicted: float | None = None, **status: Any) -> JobNews:
    return JobNews(number, 1000.0, JobStatus("77", state, **status), predicted)


def job(number: int = 1, **changes: Any) -> SiteJob:
    fields: dict[str, Any] = {
        "nonce": "e1",
        "site": "osu-hpc",
        "program": "align",
        "requester": "ann",
        "asked_at": 1000.0,
    }
    return SiteJob(number, **{**fields, **changes})
