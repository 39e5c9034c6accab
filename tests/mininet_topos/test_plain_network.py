from __future__ import annotations

from collections.abc import Callable

import pytest
from mininet.topo import LinearTopo, Topo
from mininet.topolib import TreeTopo

from adon.config import Configuration
from adon.yamlfile import parse_model
from mininet_topos.plain_network import plain_configuration


def plain(build: Callable[[Topo], object]) -> Topo:
    return type("Declared", (Topo,), {"build": build})()


def configured(topo: Topo) -> Configuration:
    return parse_model(plain_configuration(topo, name="plain"), Configuration)


def test_addresses_and_ports_are_those_of_mininet():
    network = configured(LinearTopo(k=2, n=2))
    assert [str(site.hosts[name].address) for site in network.sites.values() for name in site.hosts] == [
        "10.0.0.1",
        "10.0.0.3",
        "10.0.0.2",
        "10.0.0.4",
    ]
    host = network.sites["s2"].hosts["h1s2"]
    assert (host.mac, host.port) == ("00:00:00:00:00:02", "s2-eth1")
    assert {switch.table_miss for switch in network.switches.values()} == {"normal"}


def test_every_two_switches_with_hosts_have_a_path_through_the_tree():
    network = configured(TreeTopo(depth=2, fanout=3))
    assert [*network.paths] == ["s2-s3", "s2-s4", "s3-s4"]
    assert {end.port for path in network.paths.values() for end in path.ends.values()} == {
        "s2-eth4",
        "s3-eth4",
        "s4-eth4",
    }
    assert len({path.vlan for path in network.paths.values()}) == 3


def test_path_has_the_bandwidth_of_its_narrowest_link():
    def build(topo: Topo) -> None:
        switches = [topo.addSwitch(f"s{number}", dpid=f"{number}0") for number in (1, 2, 3)]
        for one, other, bandwidth in ((0, 1, 50), (1, 2, 20)):
            topo.addLink(switches[one], switches[other], bw=bandwidth)
        for end in (0, 2):
            topo.addLink(topo.addHost(f"h{end}", ip=f"10.9.0.{end + 1}/24"), switches[end])

    network = configured(plain(build))
    assert network.paths["s1-s3"].capacity == 20e6
    assert str(network.sites["s3"].hosts["h2"].address) == "10.9.0.3"
    assert network.switches["s2"].dpid == 0x20


def two(topo: Topo) -> tuple[str, str]:
    """Two switches with a host each."""
    one, other = topo.addSwitch("s1"), topo.addSwitch("s2")
    topo.addLink(topo.addHost("h1"), one)
    topo.addLink(topo.addHost("h2"), other)
    return one, other


def looped(topo: Topo) -> None:
    one, other = two(topo)
    topo.addLink(one, other)
    topo.addLink(one, topo.addSwitch("s3"))
    topo.addLink(other, "s3")


def doubled(topo: Topo) -> None:
    ends = two(topo)
    topo.addLink(*ends)
    topo.addLink(*ends)


def homed_twice(topo: Topo) -> None:
    one, other = two(topo)
    topo.addLink(one, other)
    topo.addLink("h1", other)


def unnumbered(topo: Topo) -> None:
    topo.addLink(two(topo)[0], topo.addSwitch("core"))


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (two, "s2"),
        (looped, {"s1", "s2", "s3"}),
        (doubled, {"s1", "s2"}),
        (homed_twice, "h1"),
        (unnumbered, "core"),
        (lambda topo: topo.addLink(topo.addHost("h1"), topo.addSwitch("s1")), "switches"),
    ],
)
def test_network_that_adon_cannot_control_is_refused_with_a_name(build, named):
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - the name is compared below
        configured(plain(build))
    assert str(refusal.value).partition(":")[0] in ({named} if isinstance(named, str) else named)
