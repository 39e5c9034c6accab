"""Values to keep: a plain one of each, and Hypothesis strategies for all of them."""

from __future__ import annotations

from hypothesis import strategies as st

from adon.broker.decision import Outcome, SiteCost
from adon.broker.diary import Diary
from adon.broker.flow import MAX_SIZE, Flow, FlowState, Quality
from adon.broker.outcomes import FlowOutcome, Forecast, Stay
from adon.flowvisor.rules.action import (
    Normal,
    Output,
    PopVlan,
    PushVlan,
    SetDscp,
    SetEthDst,
    SetEthSrc,
    SetQueue,
    SetVlan,
    ToController,
    ToGroup,
)
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import MaskedNumber, Match
from adon.flowvisor.rules.rule import Bucket, GroupEntry, MeterEntry, Rule
from adon.flowvisor.selection.assessment import CandidateRecord, MetricRecord, Verdict
from adon.flowvisor.topology.path import FiveTuple
from adon.templates_catalog.model import QSpec
from adon.values import FrozenMap
from tests.support.factories import make_decision, make_request

times = st.floats(0, 1e11)
texts = st.text(max_size=20)
numbers = st.integers(1, (1 << 36) - 1)
names = st.from_regex(r"[a-z0-9][a-z0-9._-]{0,8}", fullmatch=True)
macs = st.sampled_from(["02:00:00:00:0a:01", "02:00:00:00:0b:01"])
ports = st.integers(1, 65535)
durations = st.floats(1e-9, 1e9).map(lambda value: f"{value!r} s")


def an_outcome(flow: int = 1, **changes: object) -> FlowOutcome:
    fields: dict[str, object] = {
        "template": "soykb@1",
        "source": "mu-dtn",
        "destination": "osu-dtn",
        "state": "finished",
        "submitted_at": 1000.0,
        "ended_at": 1100.0,
        "requested_bytes": 10**9,
        "transferred_bytes": 10**9,
        "admitted_at": 1010.0,
        "throughput": 8e7,
        "measured_by": "the transfer's report",
        "stays": (Stay("al2s", 1010.0, 1100.0),),
        "quality": {"met": 80.0, "violated": 10.0},
        "conditions": {"throughput": 9e7, "rtt": 0.033},
        "promised": 9e7,
        "error": 0.125,
        "decision": "d-1",
    }
    return FlowOutcome(flow, **(fields | changes))  # type: ignore[arg-type]


def a_rule(number: int = 1, dpid: int = 0xA01, priority: int = 30_500, port: int = 5001) -> Rule:
    match = Match(in_port=1, eth_type=0x0800, ip_proto=6, ip_src="10.1.0.10", tp_dst=port)
    actions = (PushVlan(1701), Output(2))
    return Rule(dpid, priority, match, actions, cookie(Kind.FLOW_INGRESS, number), idle_timeout=60)


qspecs = st.builds(
    lambda low, streams, delay: QSpec.model_validate(
        {"throughput": {"min": f"{low!r} bps", "streams": streams}, "rtt": {"max": delay}}
    ),
    st.floats(1, 1e12),
    st.integers(1, 128),
    durations,
)

requests = st.builds(
    make_request,
    source=names,
    destination=names,
    size=st.integers(1, MAX_SIZE).map(lambda size: f"{size} B"),
    template=st.none() | names,
    ports=st.lists(ports, max_size=3).map(tuple),
    dscp=st.none() | st.integers(0, 63),
    weights=st.none() | st.fixed_dictionaries({"throughput": st.floats(0.01, 1e6), "loss": st.floats(0, 10)}),
    qspec=st.none() | qspecs,
    priority=st.none() | st.integers(0, 999),
    queue_patience=st.none() | durations,
    label=texts,
)

foretold = st.builds(
    Forecast,
    times,
    times,
    times,
    st.floats(0, 1),
    st.dictionaries(st.sampled_from(["network", "queue"]), times).map(FrozenMap),
)

diaries = st.builds(
    Diary,
    admitted_at=st.none() | times,
    decision=st.none() | texts,
    conditions=st.dictionaries(st.sampled_from(["throughput", "loss"]), times, max_size=2).map(FrozenMap),
    stays=st.lists(st.builds(Stay, path=names, since=times, until=times), max_size=3).map(tuple),
    quality=st.dictionaries(st.sampled_from(["met", "violated"]), times, max_size=2).map(FrozenMap),
    since=st.none() | times,
    promised=st.none() | times,
    forecast=st.none() | foretold,
)

flows = st.builds(
    Flow,
    number=numbers,
    request=requests,
    requester=texts,
    template=st.just("soykb@3"),
    submitted_at=times,
    state=st.sampled_from(FlowState),
    state_since=times,
    path=st.none() | names,
    path_since=st.none() | times,
    compute_site=st.none() | names,
    transfer_size=st.integers(0, MAX_SIZE),
    tuples=st.lists(st.builds(FiveTuple, st.sampled_from([6, 17]), ports, st.none() | ports), max_size=3).map(
        tuple
    ),
    quality=st.sampled_from(Quality),
    misses=st.integers(0, 9),
    reason=texts,
    decision=st.none() | texts,
    bytes_sent=st.integers(0, MAX_SIZE),
    bytes_reported=st.none() | st.integers(0, MAX_SIZE),
    started_at=st.none() | times,
    moves=st.integers(0, 9),
    diary=diaries,
    ends_by=st.none() | times,
)

maybe_infinite = st.floats(min_value=0, allow_nan=False, allow_infinity=True)

spreads = st.dictionaries(st.sampled_from(["total", "network"]), st.floats(0, 1e9), max_size=2)

site_costs = st.builds(
    SiteCost,
    site=names,
    deviations=spreads.map(FrozenMap),
    origins=st.just(FrozenMap({"queue": "as configured"})),
    local=st.booleans(),
    **dict.fromkeys(
        ("cost", "total", "queue", "compute", "network", "duplication", "theoretical", "available"),
        maybe_infinite,
    ),
    compute_size=st.integers(0, MAX_SIZE),
    transfer_size=st.integers(0, MAX_SIZE),
    nodes=st.integers(0, 100),
    node_rate=maybe_infinite,
    path=st.none() | names,
    why=texts | st.just("inf"),
)

metric_records = st.builds(
    MetricRecord,
    metric=st.sampled_from(["throughput", "loss"]),
    value=st.none() | maybe_infinite,
    observed_at=st.none() | times,
    source=texts,
    bound=st.none() | times,
    bound_met=st.none() | st.booleans(),
    score=st.none() | times,
)

candidates = st.builds(
    CandidateRecord,
    path=names,
    layer=st.sampled_from(["l2", "l3"]),
    verdict=st.sampled_from(Verdict),
    why=texts,
    q=st.none() | times,
    metrics=st.lists(metric_records, max_size=2).map(tuple),
)

decisions = st.builds(
    make_decision,
    id=texts,
    at=times,
    outcome=st.sampled_from(Outcome),
    path=st.none() | names,
    weights=st.dictionaries(names, times, max_size=2),
    candidates=st.lists(candidates, max_size=2).map(tuple),
    tables=st.none() | st.dictionaries(names, st.lists(times, max_size=2), max_size=2),
    compute=st.lists(site_costs, max_size=2).map(tuple),
    compute_site=st.none() | names,
    forecast=st.none() | foretold,
)

masked = st.builds(MaskedNumber, st.integers(0, (1 << 64) - 1), st.integers(0, (1 << 64) - 1))

matches = st.builds(
    Match,
    in_port=st.none() | ports,
    vlan=st.none() | st.integers(0, 4095),
    eth_type=st.sampled_from([None, 0x0800, 0x0806]),
    ip_proto=st.sampled_from([None, 0, 6, 17]),
    ip_src=st.sampled_from([None, "10.1.0.10"]),
    ip_dst=st.sampled_from([None, "10.2.0.10"]),
    tp_src=st.none() | ports,
    tp_dst=st.none() | ports,
    metadata=st.none() | masked,
    other=st.sampled_from(["", '{"ipv6_src": "::1"}']),
)

actions = st.one_of(
    st.builds(PushVlan, st.integers(1, 4094)),
    st.just(PopVlan()),
    st.builds(SetEthSrc, macs),
    st.builds(SetEthDst, macs),
    st.builds(Output, ports),
    st.builds(ToController, ports),
    st.builds(SetVlan, st.integers(1, 4094)),
    st.builds(SetDscp, st.integers(0, 63)),
    st.builds(SetQueue, ports),
    st.builds(ToGroup, ports),
    st.just(Normal()),
)


rules = st.builds(
    Rule,
    dpid=st.integers(0, (1 << 64) - 1),
    priority=st.integers(0, 65535),
    match=matches,
    actions=st.lists(actions, max_size=4).map(tuple),
    cookie=st.builds(cookie, st.sampled_from(Kind), st.integers(0, (1 << 36) - 1)),
    idle_timeout=st.integers(0, 65535),
    table=st.integers(0, 254),
    meter=st.none() | st.integers(1, (1 << 32) - 1),
    metadata=st.none() | masked,
    goto=st.none() | st.integers(0, 254),
    hard_timeout=st.integers(0, 65535),
)

entries = st.one_of(
    rules,
    st.builds(
        GroupEntry,
        dpid=st.integers(0, (1 << 64) - 1),
        number=st.integers(0, (1 << 32) - 1),
        kind=st.sampled_from(["all", "select", "indirect", "fast_failover"]),
        buckets=st.lists(
            st.builds(Bucket, st.lists(actions, max_size=3).map(tuple), st.none() | ports), max_size=3
        ).map(tuple),
    ),
    st.builds(
        MeterEntry,
        dpid=st.integers(0, (1 << 64) - 1),
        number=st.integers(1, (1 << 32) - 1),
        rate=st.integers(1, 10**12),
        burst=st.integers(0, 10**12),
        owner=st.none() | st.integers(0, (1 << 36) - 1),
    ),
)

stays = st.builds(Stay, path=names, since=times, until=times)

forecasts = st.builds(
    Forecast,
    expected=maybe_infinite,
    low=maybe_infinite,
    high=maybe_infinite,
    coverage=st.floats(0, 1),
    terms=st.dictionaries(names, maybe_infinite, max_size=2),
)

outcomes = st.builds(
    FlowOutcome,
    flow=numbers,
    template=st.just("soykb@3"),
    source=names,
    destination=names,
    state=st.sampled_from(["finished", "failed", "cancelled", "expired"]),
    submitted_at=times,
    ended_at=times,
    requested_bytes=st.integers(1, MAX_SIZE),
    transferred_bytes=st.integers(0, MAX_SIZE),
    admitted_at=st.none() | times,
    started_at=st.none() | times,
    throughput=st.none() | times,
    measured_by=texts,
    stays=st.lists(stays, max_size=3).map(tuple),
    quality=st.dictionaries(st.sampled_from(["met", "violated"]), times, max_size=2),
    conditions=st.dictionaries(st.sampled_from(["throughput", "loss"]), times, max_size=2),
    promised=st.none() | times,
    error=st.none() | st.floats(-1, 1e6),
    decision=st.none() | texts,
    compute_site=st.none() | names,
    forecast=st.none() | forecasts,
    slice=st.none() | names,
)
