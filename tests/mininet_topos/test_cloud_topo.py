from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.zones import Zones
from mininet_topos.topologies.cloud_topo import CloudTopo
from tests.mininet_topos.isolated import start


def cloud(describe: Callable[[CloudTopo], None]) -> CloudTopo:
    return type("Declared", (CloudTopo,), {"describe": describe})()


def test_instances_have_addresses_in_the_order_of_declaration():
    def describe(topo: CloudTopo) -> None:
        topo.router("right")
        topo.router("left", "right")
        for name, router in (("s1", "left"), ("s2", "left"), ("r1", "right"), ("r2", "right")):
            topo.instance(name, router)

    topo = cloud(describe)
    assert [(one.name, one.address, one.management) for one in topo.instances.values()] == [
        ("s1", "10.64.0.6", "172.31.1.1"),
        ("s2", "10.64.0.10", "172.31.1.2"),
        ("r1", "10.64.0.14", "172.31.1.3"),
        ("r2", "10.64.0.18", "172.31.1.4"),
    ]


def test_zones_have_their_shares_and_the_same_seed_draws_the_same():
    one, again, other = Zones(7), Zones(7), Zones(8)
    zones = [instance.zone for instance in one.instances.values()]
    assert {zone: zones.count(zone) for zone in "abc"} == Zones.shares
    assert one.instances == again.instances != other.instances
    assert all(12.5 / 4 <= instance.egress / 1e6 <= 1000 for instance in one.instances.values())


@pytest.mark.parametrize(
    ("describe", "named"),
    [
        (lambda topo: topo.instance("vm1", "rack1"), "vm1"),
        (lambda topo: (topo.router("rack1"), topo.router("rack2")), "rack2"),
        (lambda topo: topo.router("rack1", "core"), "rack1"),
        (lambda topo: (topo.router("rack1"), topo.router("rack1", "rack1")), "rack1"),
        (lambda topo: topo.router("a-long-name"), "a-long-name"),
        (lambda topo: (topo.router("rack1"), topo.instance("vm1", "rack1", egress=1e6)), "vm1.rate"),
        (lambda topo: (topo.router("rack1"), topo.instance("vm1", "rack1", delay=0.1)), "vm1"),
    ],
)
def test_cloud_that_cannot_be_built_is_refused_with_the_name(describe, named):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - the name is compared below
        cloud(describe)
    assert str(refusal.value).partition(":")[0] == named


@pytest.mark.testbed
def test_instances_reach_each_other_within_their_hoses():
    with tempfile.TemporaryDirectory(prefix="adon-", dir="/tmp") as short:
        answer = Path(short) / "answer.json"
        argv = [sys.executable, "-m", "tests.mininet_topos.measured", "in_a_cloud", str(answer)]
        process = start("host", Path(short), argv)
        output, _ = process.communicate()
        assert process.returncode == 0, output
        found = json.loads(answer.read_text())
    assert found["ttl"] == 64 - 3  # rack, aggregation switch, rack
    assert 0.6 * 4e6 < found["goodput"] < 4e6
    assert found["agents"] == ["event=ready"] * 2
