"""The network of the filled store: a campus, three sites that it works with, three paths between any two.

Each site has one edge, two data transfer nodes, a measurement point and a compute site.  Edges are bridges of
a private Open vSwitch when a controller is measured on it (:func:`bridges`).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, permutations
from typing import Any

from adon.templates_catalog.model import Template
from measurement.model import PathKey

SITES = ("mu", "osu", "ncsa", "ornl")
HOSTS_EACH = 2
PATHS_EACH = 3
CAPACITY_BPS = 10e9
"""Of each path.  Measured values lie around a fraction of it (:mod:`benchmarks.filled.archive`)."""

NIMBLE = "nimble"
"""The template of the one flow that moves whenever another path of its pair is better."""
WATCHED = "mu-osu-0", "mu-osu-1"
"""The two paths between which it is made to move."""


def document(openflow_port: int, web_port: int, **policy: object) -> dict[str, Any]:
    """The configuration file, as YAML would read it; nothing of it leaves this machine."""
    names = {frozenset(pair): [f"{pair[0]}-{pair[1]}-{n}" for n in range(PATHS_EACH)] for pair in _pairs()}
    return {
        "network": "campus",
        "controller": {
            "openflow_host": "127.0.0.1",
            "openflow_port": openflow_port,
            "web_host": "127.0.0.1",
            "web_port": web_port,
        },
        "switches": {f"{site}-edge": {"dpid": dpid(site)} for site in SITES},
        "sites": {site: _site(number, site) for number, site in enumerate(SITES, 1)},
        "paths": {
            path: {
                "layer": 2,
                "vlan": 1000 + 10 * place + number,
                "capacity": f"{CAPACITY_BPS:.0f} bps",
                "ends": {one: {"port": port_of(one, path)} for one in pair},
            }
            for place, pair in enumerate(_pairs())
            for number, path in enumerate(names[frozenset(pair)])
        },
        "measurements": {
            "window": "7 d",
            "publish_psconfig": True,
            # Nobody is there: what comes of a run is told by the benchmark.
            "points": {site: {"url": "http://127.0.0.1:9/pscheduler"} for site in SITES},
            "tests": [_test(key, number) for number, key in enumerate(directions())],
        },
        "compute": {
            f"{site}-hpc": {
                "site": site,
                "worker_nodes": 64,
                "cores": 1024,
                "throughput_per_node": "100 Mbps",
                "queue_wait": "60 s",
                "price_per_node_hour": 0.5,
            }
            for site in SITES
        },
        "policy": {"counters_period": "10 s", "consistency_period": "60 s", "reserve_nodes": 1, **policy},
    }


def _pairs() -> list[tuple[str, str]]:
    return list(combinations(SITES, 2))


def _site(number: int, site: str) -> dict[str, Any]:
    hosts = {
        f"{site}-dtn{n}": {
            "address": f"10.{number}.0.{9 + n}",
            "mac": f"02:00:00:00:{number:02x}:{9 + n:02x}",
            "port": f"{site}-edge-dtn{n}",
        }
        for n in range(1, HOSTS_EACH + 1)
    }
    return {"edge": f"{site}-edge", "gateway_mac": f"02:00:00:00:{number:02x}:01", "hosts": hosts}


def _test(key: PathKey, number: int) -> dict[str, Any]:
    ends = {site: f"10.{place}.0.{100 + number}" for place, site in enumerate(SITES, 1)}
    return {
        "path": key.path,
        "from": key.source,
        "to": key.destination,
        "source": ends[key.source],
        "destination": ends[key.destination],
        "throughput_period": "21600 s",
        "throughput_duration": "10 s",
        "rtt_period": "600 s",
        "latency_period": "600 s",
    }


def directions() -> list[PathKey]:
    """Every path in both directions."""
    found = []
    for first, second in permutations(SITES, 2):
        pair = (first, second) if (first, second) in _pairs() else (second, first)
        found += [PathKey(f"{pair[0]}-{pair[1]}-{n}", first, second) for n in range(PATHS_EACH)]
    return found


def dpid(site: str) -> str:
    """The datapath id of a site's edge."""
    return f"{0xB00 + SITES.index(site) + 1:016x}"


def port_of(site: str, path: str) -> str:
    """The port of a site's edge to a path; OpenFlow tells 15 characters of a port's name."""
    return f"{SITES.index(site) + 1}-{path}"


def ports(site: str) -> list[str]:
    """The names of an edge's ports, by number from 1."""
    hosts = [f"{site}-edge-dtn{n}" for n in range(1, HOSTS_EACH + 1)]
    return hosts + sorted({port_of(site, key.path) for key in directions() if key.source == site})


def bridges() -> Mapping[str, tuple[str, list[str]]]:
    """Each edge's datapath id and ports, by its name."""
    return {f"{site}-edge": (dpid(site), ports(site)) for site in SITES}


def templates() -> list[Template]:
    """Thirty applications besides those that come with ADON; flows are of five of them."""
    kinds = ("transfer", "stream", "backup", "render", "assembly", "sync")
    fields = ("genomics", "climate", "imaging", "physics", "archive")
    usual = [
        _template(f"{field}-{kind}", f"{field.capitalize()} {kind}", "200 Mbps", 5, "15 min")
        for field in fields
        for kind in kinds
    ]
    return [*usual, _template(NIMBLE, "Moves at once", "1 Mbps", 1, "0 s")]


def _template(name: str, title: str, least: str, patience: int, dwell: str) -> Template:
    body = {
        "name": name,
        "title": title,
        "description": f"{title} between data transfer nodes.",
        "qspec": {"throughput": {"min": least}, "rtt": {"max": "200 ms"}, "loss": {"max": "1 %"}},
        "weights": {"throughput": 3, "rtt": 1, "loss": 1},
        "tables": {"throughput": {"points": [["1 Mbps", 1], ["10 Gbps", 10]]}},
        "priority": 500,
        "cost": {"function": "total_time"},
        "selection": {
            "patience": patience,
            "min_dwell": dwell,
            "switch_margin": 0 if name == NIMBLE else 1,
            "idle_timeout": "1 h",
            "max_age": "12 h",
        },
    }
    return Template.model_validate(body)
