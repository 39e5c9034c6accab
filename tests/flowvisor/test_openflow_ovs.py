"""Our messages against Open vSwitch itself: a private instance with its dummy data path.

No root, no interface, no port: both daemons run in a folder of the test, speak over Unix sockets, and are
ended by their own process handles.  Packets are traced with ``ofproto/trace``.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from os_ken.ofproto import ofproto_v1_3 as ofp

from adon.flowvisor.openflow import capabilities, decode, encode, messages
from adon.flowvisor.openflow.wire import message
from adon.flowvisor.rules.action import Normal, Output, SetDscp, SetQueue, SetVlan, ToController
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import ETH_TYPE_IPV4, ETH_TYPE_IPV6, ETH_TYPE_LLDP, MaskedNumber, Match
from adon.flowvisor.rules.pipeline import METER_FIRST, Pipeline, group_number, pipeline_rules
from adon.flowvisor.rules.reconcile import compare_entries, order_changes
from adon.flowvisor.rules.rule import (
    Bucket,
    Change,
    Entry,
    GroupEntry,
    MeterEntry,
    Op,
    Rule,
    rule_text,
)
from adon.flowvisor.rules.rule_compiler import RuleInputs, Treatment, flow_rules, learn_rules, path_rules
from adon.flowvisor.rules.switch_features import entry_needs, find_missing_features
from adon.flowvisor.topology.path import FiveTuple
from tests.flowvisor.network import AL2S, MU, PATHS, ROUTED, SOURCE, TARGET
from tests.flowvisor.osken import VERSIONS
from tests.support.private_switch import OpenFlowClient, PrivateSwitch

pytestmark = pytest.mark.integration

SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")


@pytest.fixture(scope="module")
def switch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateSwitch]:
    for tool in ("ovsdb-server", "ovsdb-tool", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl", "ovs-appctl"):
        assert shutil.which(tool), f"{tool} is not installed: install openvswitch-switch"
    private = PrivateSwitch(tmp_path_factory.mktemp("ovs"))
    database, control = private.folder / "conf.db", f"unix:{private.folder}/db.sock"
    private.run("ovsdb-tool", "create", str(database), str(SCHEMA))
    with ExitStack() as stack:
        server = ("ovsdb-server", str(database), f"--remote=p{control}")
        stack.enter_context(private.daemon(*server, f"--unixctl={private.folder}/db.ctl", ready="db.sock"))
        private.run("ovs-vsctl", f"--db={control}", "--no-wait", "init")
        daemon = ("ovs-vswitchd", control, "--enable-dummy", "--disable-system")
        stack.enter_context(private.daemon(*daemon, f"--unixctl={private.folder}/vs.ctl", ready="vs.ctl"))
        port = "-- add-port br0 p{0} -- set Interface p{0} type=dummy ofport_request={0}"
        ports = [word for number in range(1, 5) for word in port.format(number).split()]
        bridge = "add-br br0 -- set Bridge br0 datapath_type=dummy fail_mode=secure"
        bridge += " protocols=OpenFlow13,OpenFlow14"
        private.run("ovs-vsctl", f"--db={control}", *bridge.split(), *ports)
        yield private


@pytest.fixture(params=VERSIONS, ids=["OpenFlow 1.3", "OpenFlow 1.4"])
def client(switch: PrivateSwitch, request: pytest.FixtureRequest) -> Iterator[OpenFlowClient]:
    with switch.client(request.param) as connected:
        connected.clear()
        yield connected


def rules(path: Any) -> list[Rule]:
    tuples = (FiveTuple(6, 5001), FiveTuple(17, 5002, 4000))
    flow = flow_rules(RuleInputs(17, SOURCE, TARGET, path, PATHS), tuples, 500, 60)
    return [
        rule
        for rule in (*flow, *learn_rules(RuleInputs(18, SOURCE, TARGET, path, PATHS), 6))
        if rule.dpid == MU
    ]


def everything(plan: Iterable[Any]) -> list[Change]:
    return [change for phase in plan for batch in phase.batches.values() for change in batch]


def foreign_rule(client: OpenFlowClient) -> bytes:
    parser = client.datapath.ofproto_parser
    mod = parser.OFPFlowMod(client.datapath, cookie=5, priority=7, match=parser.OFPMatch(in_port=9))
    mod.serialize()
    return bytes(mod.buf)


def test_install_move_and_remove_leave_the_switch_as_desired(client: OpenFlowClient) -> None:
    client.tell(foreign_rule(client))
    for desired in (rules(AL2S), rules(ROUTED), []):
        reported, others = client.report()
        assert len(others) == 1
        changes = everything(order_changes(compare_entries(desired, reported, foreign=frozenset(others))))
        assert client.apply(changes) == []
        reported, others = client.report()
        assert {item.rule for item in reported} == set(desired)
        assert len(others) == 1


def test_a_delete_with_another_owners_cookie_does_nothing(client: OpenFlowClient) -> None:
    first = rules(AL2S)[0]
    client.apply([Change(Op.ADD, first)])
    stranger = Rule(first.dpid, first.priority, first.match, first.actions, first.cookie + 1)
    assert client.apply([Change(Op.DELETE, stranger)]) == []
    assert [item.rule for item in client.report()[0]] == [first]


def test_the_switch_tells_that_an_ingress_rule_was_removed(client: OpenFlowClient) -> None:
    ingress = next(rule for rule in rules(AL2S) if rule.idle_timeout)
    # On its management socket Open vSwitch volunteers nothing until this is set.
    client.tell(message(client.version, ofp.OFPT_SET_CONFIG, b"\0\0\0\x80"))
    client.apply([Change(Op.ADD, ingress)])
    client.tell(encode.encode_change(Change(Op.DELETE, ingress), client.version))
    gone = decode.parse_flow_removed(MU, client.receive().buf)
    assert gone is not None
    assert (gone.reason, gone.packets, gone.bytes) == ("delete", 0, 0)
    assert (gone.rule.slot, gone.rule.cookie) == (ingress.slot, ingress.cookie)
    assert gone.rule.idle_timeout == ingress.idle_timeout


def test_rules_read_as_ovs_ofctl_prints_them(switch: PrivateSwitch, client: OpenFlowClient) -> None:
    wanted = rules(AL2S)
    client.apply([Change(Op.ADD, rule) for rule in wanted])
    target = f"unix:{switch.folder}/br0.mgmt"
    printed = switch.run("ovs-ofctl", "-O", "OpenFlow13", "--no-stats", "--no-names", "dump-flows", target)
    lines = {" ".join(line.replace("send_flow_rem ", "").split()) for line in printed.splitlines()}
    assert {rule_text(rule).replace(", table=0,", ",").replace(", ", " ") for rule in wanted} == {
        line.replace("table=0, ", "").replace(", ", " ") for line in lines if "cookie=0xad" in line
    }


def test_a_refused_rule_is_an_error_with_a_name(client: OpenFlowClient) -> None:
    ports_without_protocol = rules(AL2S)[0]
    packed = encode.encode_change(Change(Op.ADD, ports_without_protocol), client.version)
    client.tell(packed[:24] + b"\xff" + packed[25:])
    (error,) = client.barrier()
    assert messages.error_text(error).startswith("OFPET_FLOW_MOD_FAILED(5) OFPFMFC_BAD_TABLE_ID")


def test_a_packet_leaves_by_the_path_addressed_to_the_far_dtn(
    switch: PrivateSwitch, client: OpenFlowClient
) -> None:
    client.apply([Change(Op.ADD, rule) for rule in rules(AL2S)])
    packet = (
        f"in_port=1,tcp,dl_src={SOURCE.mac},dl_dst={SOURCE.gateway_mac},nw_src={SOURCE.address},"
        f"nw_dst={TARGET.address},nw_ttl=64,tp_src=40000,tp_dst=5001"
    )
    trace = switch.run("ovs-appctl", "-t", f"{switch.folder}/vs.ctl", "ofproto/trace", "br0", packet)
    final = next(line for line in trace.splitlines() if line.startswith("Datapath actions"))
    assert f"dst={TARGET.mac}" in final
    assert "push_vlan(vid=100" in final


def test_ports_are_known_by_name_and_number(client: OpenFlowClient) -> None:
    asked = client.datapath.ofproto_parser.OFPPortDescStatsRequest(client.datapath)
    asked.serialize()
    client.tell(bytes(asked.buf))
    found = messages.ports(client.receive().body)
    assert {name: port.number for name, port in found.items()} == {f"p{n}": n for n in range(1, 5)}


# -- every form of our entries, there and back ---------------------------------------------------------------

STAGED = Pipeline(staged=True, table_offset=2)
TWO = {MU: STAGED, TARGET.dpid: STAGED}
METER = MeterEntry(MU, METER_FIRST, 5_000_000, 500_000)
TREATED = Treatment(tenant=3, dscp=46, queues=((MU, 1),), meters=(METER,))


def staged(path: Any) -> list[Entry]:
    """All that one switch gets for one flow in the staged pipeline, with a fast-failover group."""
    both = (replace(SOURCE, address6="2001:db8:a::10"), replace(TARGET, address6="2001:db8:b::10"))
    flow = RuleInputs(17, *both, path, PATHS, TREATED, TWO)
    entries: list[Entry] = [
        *flow_rules(flow, (FiveTuple(6, 5001), FiveTuple(17, 5002, 4000)), 500, 60),
        *pipeline_rules(MU, 0, STAGED, "normal"),
    ]
    for one, other in ((AL2S, ROUTED), (ROUTED, AL2S)):
        entries += path_rules(one, TWO, {MU: other})
    return list(dict.fromkeys(entry for entry in entries if entry.dpid == MU))


def added(entries: Iterable[Entry]) -> list[Change]:
    return everything(order_changes(compare_entries(entries, [])))


def test_a_staged_pipeline_is_reported_as_it_was_asked_for(client: OpenFlowClient) -> None:
    for path in (AL2S, ROUTED):
        wanted = staged(path)
        kinds = {type(entry) for entry in wanted}
        assert kinds == {Rule, GroupEntry, MeterEntry}
        present = client.report()[0], client.equipment()
        changes = everything(order_changes(compare_entries(wanted, [*present[0], *present[1]])))
        assert client.apply(changes) == []
        assert client.everything() == set(wanted)
        assert compare_entries(wanted, client.everything()).is_settled
    present = client.report()[0], client.equipment()
    assert client.apply(everything(order_changes(compare_entries([], [*present[0], *present[1]])))) == []
    assert client.everything() == set()


def ours(number: int, match: Match, *actions: Any, **fields: Any) -> Rule:
    return Rule(MU, 30_000 + number, match, actions, cookie(Kind.FLOW_DELIVERY, number), **fields)


V4, V6 = ETH_TYPE_IPV4, ETH_TYPE_IPV6
FORMS = [
    ours(1, Match()),
    ours(2, Match(in_port=1), Normal()),
    ours(3, Match(eth_type=V4, ip_src="10.1.0.0/24", ip_dst="10.2.0.0/31"), Output(2)),
    ours(4, Match(eth_type=V6, ip_src="2001:db8::/64", ip_proto=6, tp_dst=5001), Output(2)),
    ours(5, Match(eth_type=V6, ip_dst="2001:db8::1", ip_proto=58), SetDscp(10), Output(2)),
    ours(6, Match(eth_type=V4, ip_proto=132, tp_src=9), SetDscp(46), SetQueue(1), Output(2)),
    ours(7, Match(vlan=100), SetVlan(200), Output(2)),
    ours(8, Match(eth_type=ETH_TYPE_LLDP), ToController(0xFFFF)),
    ours(9, Match(metadata=MaskedNumber(5, 0xFF)), table=3, goto=4),
    ours(10, Match(metadata=MaskedNumber(5, 2**64 - 1)), Output(3), metadata=MaskedNumber(1, 3), goto=2),
    ours(11, Match(in_port=2), Output(3), idle_timeout=7, hard_timeout=9),
    ours(12, Match(in_port=3), Output(1), meter=METER_FIRST, metadata=MaskedNumber(2**63, 2**63), goto=7),
    ours(13, Match(in_port=4), meter=METER_FIRST),
]


@pytest.mark.parametrize("rule", FORMS, ids=rule_text)
def test_every_form_of_a_rule_is_reported_as_it_was_asked_for(client: OpenFlowClient, rule: Rule) -> None:
    assert client.apply([Change(Op.ADD, METER), Change(Op.ADD, rule)]) == []
    assert client.everything() == {METER, rule}
    assert client.apply([Change(Op.MODIFY, rule), Change(Op.DELETE, rule)]) == []
    assert client.everything() == {METER}


GROUPS = [
    GroupEntry(MU, group_number(1), "all", (Bucket((Output(1),)), Bucket((SetVlan(5), Output(2))))),
    GroupEntry(MU, group_number(2), "select", (Bucket((Output(1),)), Bucket((Output(2),)))),
    GroupEntry(MU, group_number(3), "indirect", (Bucket((Output(1),)),)),
    GroupEntry(MU, group_number(4), "fast_failover", (Bucket((Output(1),), 1), Bucket((Output(2),), 2))),
]


def test_groups_and_meters_are_added_changed_and_removed(client: OpenFlowClient) -> None:
    assert client.apply(added([*GROUPS, METER])) == []
    assert client.everything() == {*GROUPS, METER}
    turned = [replace(group, buckets=group.buckets[::-1]) for group in GROUPS]
    slower = replace(METER, rate=1_000_000)
    changes = [Change(Op.MODIFY, entry) for entry in (*turned, slower)]
    assert client.apply(changes) == []
    assert client.everything() == {*turned, slower}
    assert client.apply([Change(Op.DELETE, entry) for entry in (*turned, slower)]) == []
    assert client.everything() == set()


def test_a_meter_number_that_is_taken_is_an_error_with_a_name(client: OpenFlowClient) -> None:
    (error,) = client.apply([Change(Op.ADD, METER), Change(Op.ADD, METER)])
    assert messages.error_text(error).startswith("OFPET_METER_MOD_FAILED")


@pytest.mark.parametrize(
    "what", ["actions=set_field:10.9.9.9->nw_src,output:1", "actions=output:3", "actions=drop"]
)
def test_what_somebody_does_to_a_rule_of_ours_is_seen_and_put_right(
    switch: PrivateSwitch, client: OpenFlowClient, what: str
) -> None:
    """Also a rule that should drop and now does something that we could not even write."""
    wanted = [ours(1, Match(eth_type=V4)), ours(2, Match(eth_type=V4), Output(2))]
    client.apply(added(wanted))
    target = f"unix:{switch.folder}/br0.mgmt"
    switch.run("ovs-ofctl", "-O", "OpenFlow13", "mod-flows", target, f"ip,{what}")
    found = compare_entries(wanted, client.report()[0])
    assert found.wrong
    assert client.apply(everything(order_changes(found))) == []
    assert client.everything() == set(wanted)


def test_a_packet_of_ours_leaves_by_the_port(client: OpenFlowClient) -> None:
    client.tell(encode.encode_packet_out((Output(1),), bytes(60), client.version))
    client.tell(encode.encode_packet_out((ToController(),), bytes(60), client.version, in_port=2))
    assert [each for each in client.barrier() if each.msg_type == ofp.OFPT_ERROR] == []


def test_a_stale_generation_is_refused(client: OpenFlowClient) -> None:
    client.tell(encode.encode_role_request(2, 2**40 + client.version, client.version))
    reply = client.receive()
    assert (reply.msg_type, reply.role) == (ofp.OFPT_ROLE_REPLY, 2)
    client.tell(encode.encode_role_request(2, 5, client.version))
    assert messages.error_text(client.receive()).startswith("OFPET_ROLE_REQUEST_FAILED(11) OFPRRFC_STALE")


def test_a_report_of_many_parts(client: OpenFlowClient) -> None:
    hosts = (f"10.3.{number // 250}.{number % 250}" for number in range(2000))
    many = [ours(1, Match(eth_type=V4, ip_src=host), Output(1)) for host in hosts]
    assert client.apply(Change(Op.ADD, rule) for rule in many) == []
    assert client.everything() == set(many)
    assert len(client.ask(encode.encode_request("rules", client.version))) > 1


def test_what_the_switch_can_do(client: OpenFlowClient) -> None:
    client.apply(added([ours(1, Match(in_port=1)), ours(2, Match(in_port=2))]))
    replies: list[bytes] = []
    wanted: tuple[encode.Request, ...] = ("tables", "table features", "group features", "meter features")
    for request in wanted:
        replies += client.ask(encode.encode_request(request, client.version))
    client.tell(encode.encode_request("queues", client.version))
    replies.append(client.receive().buf)
    found = capabilities.read_features(client.version, 254, replies)
    assert found.groups is not None
    assert found.meters is not None
    assert (found.tables[0].active, found.tables[1].active) == (2, 0)
    assert found.tables[0].fields == found.tables[4].fields
    assert found.tables[0].fields == {
        *("in_port", "vlan", "eth_type", "ip_proto", "ip_src", "ip_dst", "tp_src", "tp_dst", "metadata")
    }
    assert set(found.groups) == {"all", "select", "indirect", "fast_failover"}
    assert found.meters > 1000
    # The queue is chosen before the port is, so any port would do; this switch has none.
    (lack,) = find_missing_features(STAGED, found, entry_needs(staged(AL2S)))
    assert lack.startswith("queues: ")
