"""Configurations for tests: the example network, many paths, slices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from adon.config import Configuration, load
from adon.config.policy import LadderPolicy
from adon.config.slices import Slice
from adon.values import FrozenMap

NETWORK = Path(__file__).parents[1] / "data" / "network.yaml"
EDGES = {"mu": 0xA01, "osu": 0xA02}
"""The datapath ids of the edges, by site."""


def make_configuration(**policy: Any) -> Configuration:
    """Return the example network with these parts of its policy changed."""
    read = load(NETWORK)
    return read.model_copy(update={"policy": read.policy.model_copy(update=policy)})


def make_many_paths(paths: int, **policy: object) -> dict[str, Any]:
    """Return the example network with so many layer-2 paths between its sites, as in its file."""
    document: dict[str, Any] = yaml.safe_load(NETWORK.read_text())
    document["paths"] = {
        f"path-{index:02}": {
            "layer": 2,
            "vlan": 1000 + index,
            "capacity": "100 Gbps",
            "ends": {site: {"port": f"{site}-edge-{index}"} for site in EDGES},
        }
        for index in range(paths)
    }
    document["measurements"]["tests"] = []
    document["compute"] = {}
    document["policy"] |= policy
    return document


def port_names(site: str, paths: int) -> list[str]:
    """Return the names of an edge's ports in a network of many paths, by number from 1."""
    return [f"{site}-edge-dtn", *(f"{site}-edge-{index}" for index in range(paths))]


def make_slice(number: int, *ports: int | str, who: str = "ann", **fields: Any) -> Slice:
    """Return a slice of one member, for connections to these ports."""
    body: dict[str, Any] = {
        "number": number,
        "members": {"who": [who]},
        "flowspace": [{"protocols": ["tcp"], "ports": list(ports)}],
        "share": 0.5,
    }
    return Slice.model_validate({**body, **fields})


def make_sliced_configuration(
    slices: dict[str, Slice] | None = None,
    ladder: dict[str, Any] | None = None,
    budgets: dict[str, int] | None = None,
    **policy: Any,
) -> Configuration:
    """Return the example network with slices, a queue ladder and rule budgets of switches."""
    if ladder is not None:
        policy["ladder"] = LadderPolicy.model_validate(ladder)
    read = make_configuration(**policy)
    switches = {
        name: switch.model_copy(update={"rule_budget": (budgets or {}).get(name)})
        for name, switch in read.switches.items()
    }
    return read.model_copy(update={"slices": FrozenMap(slices or {}), "switches": FrozenMap(switches)})


MACHINES = """
health:
  key_file: probes.key
  every: 5 min
  verified: 2
  renew: 1 h
  throughput: true
  between_zones: 1
  instances:
    - {name: mu-1, address: 10.1.0.21, zone: mu, site: mu, path: al2s}
    - {name: mu-2, address: 10.1.0.22, zone: mu, site: mu, path: internet}
    - {name: osu-1, address: 10.2.0.21, zone: osu, site: osu, path: al2s, cores: 4, memory: 16 GiB}
    - {name: osu-2, address: 10.2.0.22, zone: osu, site: osu, path: al2s}
    - {name: elsewhere, address: 192.0.2.9}
"""
