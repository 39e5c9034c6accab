"""A network of many paths between two sites, and a broker before two switches that do as they are told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from adon.templates_catalog.model import Template

NETWORK = Path(__file__).parents[1] / "data" / "network.yaml"
EDGES = {"mu": 0xA01, "osu": 0xA02}


def network(paths: int, **policy: object) -> dict[str, Any]:
    """The example network with so many layer-2 paths between its two sites, as its file would say it."""
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


def ports(site: str, paths: int) -> list[str]:
    """The names of an edge's ports, by number from 1."""
    return [f"{site}-edge-dtn", *(f"{site}-edge-{index}" for index in range(paths))]


def template(name: str, selection: Mapping[str, Any], **fields: Any) -> Template:
    """A bulk transfer; ``selection`` says how eager it is to move."""
    body = {
        "name": name,
        "title": name,
        "qspec": {"throughput": {"min": "1 bps"}},
        "weights": {"throughput": 1.0},
        "tables": {"throughput": {"points": [["1 bps", 1], ["100 Gbps", 10]]}},
        "selection": selection,
    }
    return Template.model_validate({**body, **fields})
