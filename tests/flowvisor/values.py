"""Hypothesis strategies for entries of ours: everything that may be asked for."""

from __future__ import annotations

from hypothesis import strategies as st

from adon.flowvisor.rules import action as acts
from adon.flowvisor.rules.cookie import COOKIE_PREFIX
from adon.flowvisor.rules.match import ETH_TYPE_IPV4, ETH_TYPE_IPV6, MaskedNumber, Match
from adon.flowvisor.rules.pipeline import GROUP_PREFIX, METER_COUNT, METER_FIRST
from adon.flowvisor.rules.rule import Bucket, Change, GroupEntry, MeterEntry, Op, Rule

DPID = 0xA01

numbers = st.integers(0, 2**32 - 1)
shorts = st.integers(0, 2**16 - 1)
ports = st.integers(1, 0xFFFF_FF00)
macs = st.binary(min_size=6, max_size=6).map(lambda octets: octets.hex(":"))
vlans = st.integers(0, 4095)

masked = st.tuples(st.integers(0, 2**64 - 1), st.integers(1, 2**64 - 1) | st.just(2**64 - 1)).map(
    lambda pair: MaskedNumber(pair[0] & pair[1], pair[1])
)

actions = st.one_of(
    st.builds(acts.PushVlan, vlans),
    st.just(acts.PopVlan()),
    st.builds(acts.SetVlan, vlans),
    st.builds(acts.SetEthSrc, macs),
    st.builds(acts.SetEthDst, macs),
    st.builds(acts.SetDscp, st.integers(0, 63)),
    st.builds(acts.SetQueue, numbers),
    st.builds(acts.ToGroup, numbers),
    st.builds(acts.Output, ports),
    st.just(acts.Normal()),
    st.builds(acts.ToController, shorts),
)
action_lists = st.lists(actions, max_size=4).map(tuple)


def _networks(version: int, bits: int) -> st.SearchStrategy[str]:
    hosts = st.ip_addresses(v=version)  # type: ignore[arg-type]
    nets = st.tuples(hosts, st.integers(1, bits - 1)).map(
        lambda pair: str(type(pair[0])(int(pair[0]) >> bits - pair[1] << bits - pair[1])) + f"/{pair[1]}"
    )
    return hosts.map(str) | nets


@st.composite
def matches(draw: st.DrawFn) -> Match:
    """A match that OpenFlow can say, in the canonical way."""
    eth_type = draw(st.sampled_from([None, ETH_TYPE_IPV4, ETH_TYPE_IPV6, 0x88CC]))
    addresses = {ETH_TYPE_IPV4: _networks(4, 32), ETH_TYPE_IPV6: _networks(6, 128)}.get(eth_type or 0)
    protocol = None if addresses is None else draw(st.sampled_from([None, 1, 6, 17, 58, 132]))
    with_ports = protocol in (6, 17, 132)
    return Match(
        in_port=draw(st.none() | ports),
        vlan=draw(st.none() | vlans),
        eth_type=eth_type,
        ip_proto=protocol,
        ip_src=None if addresses is None else draw(st.none() | addresses),
        ip_dst=None if addresses is None else draw(st.none() | addresses),
        tp_src=draw(st.none() | shorts) if with_ports else None,
        tp_dst=draw(st.none() | shorts) if with_ports else None,
        metadata=draw(st.none() | masked),
    )


rules = st.builds(
    Rule,
    dpid=st.just(DPID),
    priority=shorts,
    match=matches(),
    actions=action_lists,
    cookie=st.integers(0, 2**56 - 1).map(lambda number: COOKIE_PREFIX | number),
    idle_timeout=shorts,
    table=st.integers(0, 254),
    meter=st.none() | st.integers(1, 0xFFFF),
    metadata=st.none() | masked,
    goto=st.none() | st.integers(1, 254),
    hard_timeout=shorts,
)

buckets = st.builds(Bucket, actions=action_lists, watch_port=st.none() | ports)
groups = st.builds(
    GroupEntry,
    dpid=st.just(DPID),
    number=st.integers(0, 2**24 - 1).map(lambda number: GROUP_PREFIX | number),
    kind=st.sampled_from(["all", "select", "indirect", "fast_failover"]),
    buckets=st.lists(buckets, max_size=3).map(tuple),
)

thousands = st.integers(0, 2**32 - 1).map(lambda number: number * 1000)
meters = st.builds(
    MeterEntry,
    dpid=st.just(DPID),
    number=st.integers(METER_FIRST, METER_FIRST + METER_COUNT - 1),
    rate=thousands,
    burst=thousands,
)

entries = rules | groups | meters
changes = st.builds(Change, op=st.sampled_from(Op), rule=entries)
