"""Links and overlays in the configuration: read with their units, and each mistake named."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from adon import yamlfile
from adon.config import Configuration
from adon.config.network import Cost, vlan_ranges
from tests.support.refusals import refused

EXAMPLE = Path(__file__).with_name("data").joinpath("triangle.yaml").read_text()


def parsed(text: str = EXAMPLE) -> Configuration:
    return yamlfile.parse_model(text, Configuration, "net.yaml")


def test_links_and_overlays_are_read() -> None:
    whole = parsed()
    link = whole.links["ab"]
    assert (link.capacity, link.delay, link.loss, link.mtu) == (1e11, 0.005, 1e-4, 9000)
    assert dict(link.ends) == {"a": "to-b", "b": "to-a"}
    assert (whole.links["bc"].nat, whole.links["bc"].families) == (True, (4,))
    core = whole.overlays["core"]
    assert core.vlans == frozenset({*range(100, 200), 250})
    assert (core.paths, core.cost, core.links) == (2, Cost.DELAY, None)
    assert (whole.paths["routed"].firewall, whole.paths["routed"].families) == (True, (4,))
    assert (whole.paths["al2s"].firewall, whole.paths["al2s"].nat, whole.paths["al2s"].families) == (
        False,
        False,
        (4, 6),
    )
    assert parsed(yamlfile.dump(whole)) == whole


def test_vlan_ids_as_people_write_them() -> None:
    assert vlan_ranges({5, 1, 2, 3, 9, 10}) == "1-3, 5, 9-10"


@pytest.mark.parametrize(
    ("old", "new", "code", "field"),
    [
        ("{a: to-c, c: to-a}", "{a: to-c}", "invalid", "links.ac.ends"),
        ("{a: to-c, c: to-a}", "{a: to-c, d: x}", "unknown-name", "links.ac.ends.d"),
        ("{a: to-c, c: to-a}", "{a: to-b, c: to-a}", "shared-port", "links.ac.ends.a"),
        ("{a: to-c, c: to-a}", "{a: dtn, c: to-a}", "shared-port", "links.ac.ends.a"),
        ("{a: to-c, c: to-a}", "{a: rtr, c: to-a}", "shared-port", "links.ac.ends.a"),
        ("capacity: 100 Gbps", "capacity: 0 bps", "out-of-range", "links.ab.capacity"),
        ("loss: 0.01 %", "loss: 100 %", "out-of-range", "links.ab.loss"),
        ("mtu: 9000", "speed: 1", "unknown-key", "links.ab.speed"),
        (", delay: 2 ms}", "}", "invalid", "overlays.core.cost"),
        ("families: [4], nat", "families: [5], nat", "unknown-value", "links.bc.families.0"),
        ('"100-199, 250"', '"199-100"', "invalid", "overlays.core.vlans"),
        ('"100-199, 250"', '"0-5"', "invalid", "overlays.core.vlans"),
        ('"100-199, 250"', '"100-5000"', "invalid", "overlays.core.vlans"),
        ('"100-199, 250"', '"all"', "invalid", "overlays.core.vlans"),
        ('"100-199, 250"', '"300-310"', "duplicate", "overlays.core.vlans"),
        ("paths: 2", "paths: 17", "out-of-range", "overlays.core.paths"),
        ("cost: delay", "cost: money", "unknown-value", "overlays.core.cost"),
        ("links: []", "links: [xy]", "unknown-name", "overlays.spare.links.0"),
        ("links: []", "links: [bc]", "duplicate", "overlays.spare.vlans"),
        ("spare:", "al2s:", "invalid", "overlays.al2s"),
        ("  al2s:", "  core.1:", "invalid", "overlays.core"),
    ],
)
def test_a_mistake_is_named(old: str, new: str, code: str, field: str) -> None:
    assert old in EXAMPLE
    with refused(code, field):
        parsed(EXAMPLE.replace(old, new, 1))


def test_without_links_nothing_changes() -> None:
    body: dict[str, Any] = deepcopy(yamlfile.read_yaml(EXAMPLE)[0])
    del body["links"], body["overlays"]
    assert Configuration.model_validate(body).links == {}
