"""The thesis's path and hosts, and what their commands print."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from adon.tcp_advice.facts import HostFacts, Interface, PathFacts, TestedRate
from adon.uncertain import Uncertain
from adon.values import FrozenMap

MIB = 2**20
GB = 10**9

AL2S = PathFacts("al2s", 10e9, Uncertain(0.033), Uncertain(0.0), 9000)
"""MU to OSU on layer 2: 10 Gbps; 33 ms is the RTT at which 16 MiB give the 4 Gbps of figure 23."""

DEFAULTS = {
    "net.ipv4.tcp_rmem": "4096 131072 6291456",
    "net.ipv4.tcp_wmem": "4096 16384 4194304",
    "net.ipv4.tcp_congestion_control": "cubic",
    "net.ipv4.tcp_available_congestion_control": "reno cubic",
    "net.ipv4.tcp_adv_win_scale": "1",
    "net.ipv4.tcp_moderate_rcvbuf": "1",
    "net.ipv4.tcp_window_scaling": "1",
    "net.ipv4.tcp_timestamps": "1",
    "net.ipv4.tcp_sack": "1",
    "net.ipv4.tcp_mtu_probing": "0",
    "net.core.rmem_max": "212992",
    "net.core.wmem_max": "212992",
    "net.core.netdev_max_backlog": "1000",
    "kernel.osrelease": "6.1.0-18-amd64",
}


def path(**changes: Any) -> PathFacts:
    return replace(AL2S, **changes)


def host(name: str = "mu-dtn", sysctl: dict[str, str] | None = None, **changes: Any) -> HostFacts:
    interface = Interface("eth0", 9000, 9702, 1000, "fq_codel", None, 10e9, True)
    made = HostFacts(name, FrozenMap(DEFAULTS | (sysctl or {})), interface, 64 * GB)
    return replace(made, **changes)


def unknown(name: str = "mu-dtn") -> HostFacts:
    return HostFacts(name)


def a_test_of(rate: float, streams: int = 1, deviation: float = 0.0) -> TestedRate:
    return TestedRate(Uncertain(rate, deviation), streams)


PRINTED = """\
abi.vsyscall32 = 1
kernel.osrelease = 6.1.0-18-amd64
net.core.default_qdisc = fq_codel
net.core.netdev_max_backlog = 1000
net.core.rmem_max = 212992
net.core.wmem_max = 212992
net.ipv4.tcp_adv_win_scale = 1
net.ipv4.tcp_available_congestion_control = reno cubic
net.ipv4.tcp_congestion_control = cubic
net.ipv4.tcp_rmem = 4096\t131072\t6291456
net.ipv4.tcp_wmem = 4096\t16384\t4194304
vm.swappiness = 60
1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000
    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00 promiscuity 0 minmtu 0 maxmtu 0 numtxqueues 1
2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc fq state UP mode DEFAULT group default qlen 1000
    link/ether 02:00:00:00:0a:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 9702 numtxqueues 8
3: eth1@if9: <BROADCAST,MULTICAST> mtu 9000 qdisc noop state DOWN mode DEFAULT group default qlen 5000
    link/ether 02:00:00:00:0a:02 brd ff:ff:ff:ff:ff:ff
qdisc noqueue 0: dev lo root refcnt 2
qdisc fq 8001: dev eth0 root refcnt 9 limit 10000p flow_limit 100p buckets 1024 quantum 3028b maxrate 900Mbit
Settings for eth0:
\tSupported ports: [ TP ]
\tSpeed: 10000Mb/s
\tDuplex: Full
State     Recv-Q Send-Q Local Address:Port    Peer Address:Port Process
ESTAB     0      2896      10.0.0.1:48042        10.0.0.2:5201
\t cubic wscale:9,9 rto:236 rtt:33.512/0.047 ato:40 mss:8948 pmtu:9000 rcvmss:536 cwnd:720 bytes_sent:9 \
busy:9999ms rwnd_limited:4000ms(40.0%) sndbuf_limited:500ms(5.0%) minrtt:33.1
ESTAB     0      0         [2001:db8::1]:22      [2001:db8::2]:5000
\t bbr wscale:7,7 rto:204 rtt:0.2/0.1 mss:1428 cwnd:10 minrtt:0.15
MemTotal:       65809384 kB
this line is of no command at all
"""
