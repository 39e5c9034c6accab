from __future__ import annotations

from dataclasses import replace

import pytest

from mininet_topos import building
from mininet_topos.emulation import Emulation
from mininet_topos.networks import named
from mininet_topos.topology import Interface, Kind, Link, Shape, Topology

TOPOLOGY = named("mu_osu").topology
PIDS = {host.name: number for number, host in enumerate(TOPOLOGY.hosts, 100)}
USER, KERNEL = Emulation("user", netem=True), Emulation("kernel", netem=True)


def test_a_cable_has_its_ends_where_they_belong():
    lines = list(building.cables(TOPOLOGY, PIDS))
    assert (
        "link add name mu-edge-dtn type veth peer name mu-dtn-data address 02:00:00:00:0a:0a "
        f"netns {PIDS['mu-dtn']}" in lines
    )
    assert "link set dev mu-edge-dtn up" in lines
    between_switches = "link add name mu-edge-al2s type veth peer name t1-mu-edge"
    assert lines[lines.index(between_switches) + 1 :][:2] == [
        "link set dev mu-edge-al2s up",
        "link set dev t1-mu-edge up",
    ]
    assert not any("mu-dtn-data up" in line for line in lines)  # it is up when it has its addresses


def test_the_management_network_is_beside_it():
    lines = list(building.cables(TOPOLOGY, PIDS))
    assert "address add 172.31.0.1/24 dev management" in lines
    assert f"link add name mgmt-mu-dtn type veth peer name mu-dtn-mgmt netns {PIDS['mu-dtn']}" in lines
    assert "link set dev mgmt-mu-dtn master management up" in lines
    assert sum("mgmt" in line and "type veth" in line for line in lines) == 2
    assert "address add 172.31.0.11/24 dev mu-dtn-mgmt" in _plan("mu-dtn").addresses


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [(None, None, None), (1400, None, 1400), (None, 1400, 1400), (1400, 1300, 1300)],
)
def test_both_ends_of_a_cable_have_the_shorter_mtu(one, other, expected):
    ends = [
        Interface("t1", name, shape=None if mtu is None else Shape(1e6, 40, mtu=mtu))
        for name, mtu in (("one", one), ("other", other))
    ]
    assert building.mtu(Link(*ends)) == expected


def test_a_switchs_port_has_the_mtu_of_its_cable():
    links = tuple(
        replace(link, one=link.one, other=replace(link.other, shape=replace(link.other.shape, mtu=1400)))
        if link.other.name == "line-t1" and link.other.shape is not None
        else link
        for link in TOPOLOGY.links
    )
    lines = list(building.cables(replace(TOPOLOGY, links=links), PIDS))
    assert (
        f"link add name t1-line mtu 1400 type veth peer name line-t1 mtu 1400 netns {PIDS['line']}" in lines
    )


def test_a_host_is_set_up_in_one_go():
    plan = _plan("mu-dtn")
    assert plan.interfaces == ("mu-dtn-data",)
    assert plan.addresses[:5] == (
        "link set dev lo up",
        "address add 10.1.0.10/24 dev mu-dtn-data",
        "address add 10.1.0.11/24 dev mu-dtn-data",
        "address add 10.1.0.12/24 dev mu-dtn-data",
        "link set dev mu-dtn-data up",
    )
    assert plan.addresses[-1] == "route add 0.0.0.0/0 via 10.1.0.1"
    assert plan.limits == ()


def test_a_line_joins_its_ends_by_a_bridge_that_learns_nothing():
    plan = _plan("line")
    assert "link add name joined type bridge ageing_time 0 mcast_snooping 0" in plan.addresses
    assert sum("master joined" in line for line in plan.addresses) == 2
    assert [line.split()[3] for line in plan.limits if "root" in line] == ["line-t1", "line-t2"]


@pytest.mark.parametrize("host", TOPOLOGY.hosts, ids=lambda host: host.name)
def test_only_routers_forward_and_nobody_speaks_ipv6(host):
    settings = building.host_settings(host)
    assert settings["net/ipv4/ip_forward"] == ("1" if host.kind is Kind.ROUTER else "0")
    assert settings["net/ipv6/conf/default/disable_ipv6"] == "1"
    assert settings["net/ipv4/tcp_congestion_control"] == "reno"


@pytest.mark.parametrize(("emulated_by", "kind"), [(USER, "netdev"), (KERNEL, "system")])
def test_all_switches_are_one_transaction(emulated_by, kind):
    commands = " ".join(building.bridges(TOPOLOGY, emulated_by, 6653)).split("-- ")[1:]
    commands = [command.strip() for command in commands]
    assert commands[0] == "add-br mu-edge"
    assert commands[1] == (
        f"set bridge mu-edge datapath_type={kind} fail_mode=secure protocols=OpenFlow13 "
        "other_config:datapath-id=0000000000000a01 other_config:disable-in-band=true"
    )
    ports = [command for command in commands if command.startswith("add-port mu-edge")]
    assert ports == [
        "add-port mu-edge mu-edge-dtn vlan_mode=access tag=1",
        "add-port mu-edge mu-edge-rtr vlan_mode=access tag=1",
        "add-port mu-edge mu-edge-al2s vlan_mode=trunk trunks=1701",
    ]
    numbered = [command for command in commands if command.startswith("set interface mu-edge-")]
    assert [command.split("=")[-1] for command in numbered] == ["1", "2", "3"]
    assert "set-controller mu-edge tcp:127.0.0.1:6653" in commands
    assert not any(command.startswith("set-controller t1") for command in commands)


def test_routes_come_back_with_the_interface_that_leads_to_them():
    lan, wan = TOPOLOGY.interfaces("mu-rtr")
    assert list(building.taken(TOPOLOGY, wan, up=False)) == ["link set dev mu-rtr-wan down"]
    assert list(building.taken(TOPOLOGY, wan, up=True)) == [
        "link set dev mu-rtr-wan up",
        "route replace 0.0.0.0/0 via 203.0.113.2",
    ]
    assert list(building.taken(TOPOLOGY, lan, up=True)) == ["link set dev mu-rtr-lan up"]


def test_a_switchs_port_has_no_routes():
    port = TOPOLOGY.interfaces("t1")[0]
    assert list(building.taken(TOPOLOGY, port, up=True)) == ["link set dev t1-mu-edge up"]


def _plan(name: str, topology: Topology = TOPOLOGY) -> building.HostPlan:
    return building.host_plan(topology, topology.host(name), USER)
