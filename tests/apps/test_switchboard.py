"""The os-ken application without a socket: what it keeps track of, and what it makes of messages."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import pytest
from os_ken.controller.handler import DEAD_DISPATCHER, MAIN_DISPATCHER
from os_ken.ofproto import ofproto_parser
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_3_parser as parser
from os_ken.ofproto.ofproto_protocol import ProtocolDesc

from adon.broker.effects import ReadRules, SendBatch
from adon.broker.events import BatchFailed, Event, PortChanged, RuleRemoved, RulesReported
from adon.flowvisor.action import Output
from adon.flowvisor.cookie import Kind, cookie
from adon.flowvisor.match import Match
from adon.flowvisor.pipeline import METER_FIRST, group_number
from adon.flowvisor.rule import Bucket, Change, GroupEntry, MeterEntry, Op, ReportedRule, Rule
from apps.campus_edge import connections, switchboard
from apps.campus_edge.loop import Stamps
from apps.campus_edge.switchboard import Switchboard, guarded
from tests.flowvisor.reports import (
    flow_removed,
    flow_stats,
    group_descriptions,
    meter_configurations,
    report,
)

DPID = 0xA01
RULE = Rule(DPID, 30_500, Match(in_port=1), (Output(2),), cookie(Kind.FLOW_INGRESS, 7))


class Connection(ProtocolDesc):
    """A connection that keeps what is sent, as messages."""

    def __init__(self, dpid: int | None = DPID) -> None:
        super().__init__(version=ofp.OFP_VERSION)
        self.id, self.address = dpid, ("127.0.0.1", 1)
        self.ports: dict[int, Any] = {}
        self.sent: list[tuple[int, int]] = []
        self.closed = False

    def send(self, data: bytes, close_socket: bool = False) -> bool:
        while data:
            _, kind, length, xid = struct.unpack_from("!BBHI", data)
            self.sent.append((kind, xid))
            data = data[length:]
        return True

    def close(self) -> None:
        self.closed = True

    def xid(self, kind: int) -> int:
        return [xid for sent, xid in self.sent if sent == kind][-1]


class Told:
    def __init__(self, connection: Connection, **fields: Any) -> None:
        self.datapath = connection
        self.__dict__.update(fields)


class FromSwitch:
    """An os-ken event."""

    def __init__(self, connection: Connection, **fields: Any) -> None:
        self.datapath, self.msg = connection, Told(connection, **fields)
        self.state = fields.get("state")


class World:
    def __init__(self) -> None:
        self.now = 1000.0
        self.events: list[Event] = []
        self.board = Switchboard(frozenset({DPID, 0xA02}), self.events.append, Stamps(lambda: self.now))

    def connect(self, dpid: int = DPID) -> Connection:
        connection = Connection(dpid)
        self.board.on_state(FromSwitch(connection, state=MAIN_DISPATCHER))
        return connection

    def kinds(self) -> list[str]:
        return [type(event).__name__ for event in self.events]

    def send(self, batch: str = "f-7/1", changes: int = 2) -> None:
        self.board.send_batch(SendBatch("e-1", DPID, batch, (Change(Op.ADD, RULE),) * changes))


@pytest.fixture
def world() -> World:
    connections.configure()
    return World()


def test_a_switch_comes_and_goes(world: World) -> None:
    connection = world.connect()
    assert world.board.connected == (DPID,)
    world.board.on_state(FromSwitch(connection, state=DEAD_DISPATCHER))
    world.board.on_state(FromSwitch(connection, state=DEAD_DISPATCHER))
    assert world.board.connected == ()
    assert world.kinds() == ["SwitchUp", "SwitchDown"]


def test_a_switch_that_did_not_say_who_it_is_is_nobody(world: World) -> None:
    world.board.on_state(FromSwitch(Connection(None), state=DEAD_DISPATCHER))
    assert world.events == []


def test_an_unknown_switch_is_refused_with_one_line(world: World, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        assert world.connect(0xBEEF).closed
    assert [r.levelname for r in caplog.records if "000000000000beef" in r.getMessage()].count("ERROR") == 1
    assert world.events == []


def test_a_second_connection_takes_over_and_the_first_counts_no_more(world: World) -> None:
    first = world.connect()
    world.send()
    second = world.connect()
    assert first.closed
    assert world.kinds() == ["SwitchUp", "SwitchDown", "SwitchUp"]
    world.board.on_state(FromSwitch(first, state=DEAD_DISPATCHER))
    world.board.on_barrier(FromSwitch(first, xid=first.xid(ofp.OFPT_BARRIER_REQUEST)))
    world.board.on_port(FromSwitch(first, reason=ofp.OFPPR_MODIFY, desc=None))
    assert len(world.events) == 3
    world.board.read_rules(ReadRules("e-1", DPID))
    assert second.sent


def test_a_batch_is_its_flow_mods_and_a_barrier_and_is_confirmed_by_its_reply(world: World) -> None:
    connection = world.connect()
    world.send()
    assert [kind for kind, _ in connection.sent] == [
        ofp.OFPT_FLOW_MOD,
        ofp.OFPT_FLOW_MOD,
        ofp.OFPT_BARRIER_REQUEST,
    ]
    xids = [xid for _, xid in connection.sent]
    assert len(set(xids)) == 3
    world.board.on_barrier(FromSwitch(connection, xid=xids[0]))
    assert world.kinds() == ["SwitchUp"]
    world.board.on_barrier(FromSwitch(connection, xid=xids[2]))
    world.board.on_barrier(FromSwitch(connection, xid=xids[2]))
    assert world.kinds() == ["SwitchUp", "BatchConfirmed"]
    assert world.board.tally.read()["flow_mods"] == 2


def test_an_error_fails_its_batch_and_the_barrier_that_follows_does_not_confirm_it(world: World) -> None:
    connection = world.connect()
    world.send()
    xids = [xid for _, xid in connection.sent]
    refusal = {"xid": xids[1], "type": ofp.OFPET_FLOW_MOD_FAILED, "code": ofp.OFPFMFC_TABLE_FULL, "data": b""}
    world.board.on_error(FromSwitch(connection, **refusal))
    world.board.on_error(FromSwitch(connection, **{**refusal, "xid": xids[0]}))
    world.board.on_barrier(FromSwitch(connection, xid=xids[2]))
    (failed,) = world.events[1:]
    assert isinstance(failed, BatchFailed)
    assert failed.batch == "f-7/1"
    assert "OFPFMFC_TABLE_FULL" in failed.error
    assert world.board.tally.read()["errors"] == {"OFPET_FLOW_MOD_FAILED(5) OFPFMFC_TABLE_FULL(1)": 2}


def test_another_switch_cannot_answer_for_it(world: World) -> None:
    connection, other = world.connect(), world.connect(0xA02)
    world.send()
    xids = [xid for _, xid in connection.sent]
    world.board.on_barrier(FromSwitch(other, xid=xids[-1]))
    world.board.on_error(FromSwitch(other, xid=xids[0], type=1, code=1, data=b""))
    assert world.kinds() == ["SwitchUp", "SwitchUp"]


def test_a_batch_to_a_switch_that_is_away_fails_at_once(world: World) -> None:
    world.send()
    (failed,) = world.events
    assert isinstance(failed, BatchFailed)
    assert failed.error == "the switch is not connected"


def test_a_barrier_that_is_not_answered_in_time_fails_the_batch_once(world: World) -> None:
    connection = world.connect()
    world.send()
    assert world.board.overdue(1004.9) == ([], 1005.0)
    (late,), again = world.board.overdue(1005.0)
    assert isinstance(late, BatchFailed)
    assert again is None
    world.board.on_barrier(FromSwitch(connection, xid=connection.xid(ofp.OFPT_BARRIER_REQUEST)))
    assert world.kinds() == ["SwitchUp"]
    assert world.board.overdue(2000.0) == ([], None)


def test_what_was_under_way_is_forgotten_with_the_connection(world: World) -> None:
    connection = world.connect()
    world.send()
    world.board.read_rules(ReadRules("e-1", DPID))
    world.board.on_state(FromSwitch(connection, state=DEAD_DISPATCHER))
    assert world.board.overdue(5000.0) == ([], None)


def stats(connection: Connection, xid: int, numbers: list[int], *, more: bool) -> FromSwitch:
    reported = [
        ReportedRule(replace(RULE, priority=number, cookie=RULE.cookie if number % 2 else 5), 0, 0, 1.0)
        for number in numbers
    ]
    return FromSwitch(connection, xid=xid, buf=report(ofp.OFPMP_FLOW, flow_stats(reported), more=more))


def none(connection: Connection, xid: int, kind: int = ofp.OFPMP_GROUP_DESC) -> FromSwitch:
    return FromSwitch(connection, xid=xid, buf=report(kind, b""))


def test_the_parts_of_two_reports_are_not_mixed(world: World) -> None:
    connection = world.connect()
    world.board.read_rules(ReadRules("e-1", DPID))
    world.board.read_rules(ReadRules("e-2", DPID))
    (first, *of_first), (second, *of_second) = (
        [xid for _, xid in sent] for sent in (connection.sent[:3], connection.sent[3:])
    )
    for xid in (*of_first, *of_second):
        world.board.on_rules(none(connection, xid))
    world.board.on_rules(stats(connection, first, [1, 2], more=True))
    world.board.on_rules(stats(connection, second, [9], more=False))
    world.board.on_rules(stats(connection, first, [3, 4], more=False))
    world.board.on_rules(stats(connection, 77, [5], more=False))
    reports = [event for event in world.events if isinstance(event, RulesReported)]
    assert [[item.rule.priority for item in report.rules] for report in reports] == [[9], [1, 3]]
    assert [sorted(slot[2] for slot in report.foreign) for report in reports] == [[], [2, 4]]


@pytest.mark.parametrize("how", ["late", "refused"])
def test_a_switch_that_does_not_report_its_rules_is_disconnected(world: World, how: str) -> None:
    connection = world.connect()
    world.board.read_rules(ReadRules("e-1", DPID))
    if how == "late":
        assert world.board.overdue(1014.0) == ([], 1015.0)
        assert world.board.overdue(1015.0) == ([], None)
    else:
        xid = connection.sent[0][1]
        world.board.on_error(FromSwitch(connection, xid=xid, type=1, code=2, data=b""))
    assert connection.closed


def test_a_report_has_the_groups_and_meters_of_ours_and_comes_when_all_is_there(world: World) -> None:
    connection = world.connect()
    world.board.read_rules(ReadRules("e-1", DPID))
    rules, groups, meters = (xid for _, xid in connection.sent)
    ours = GroupEntry(DPID, group_number(0), "fast_failover", (Bucket((Output(2),), 2),))
    theirs = replace(ours, number=7)
    metered = MeterEntry(DPID, METER_FIRST, 5_000_000, 500_000)
    world.board.on_rules(stats(connection, rules, [1], more=False))
    body = group_descriptions([ours, theirs])
    world.board.on_rules(FromSwitch(connection, xid=groups, buf=report(ofp.OFPMP_GROUP_DESC, body)))
    assert world.kinds() == ["SwitchUp"]
    body = meter_configurations([metered])
    world.board.on_rules(FromSwitch(connection, xid=meters, buf=report(ofp.OFPMP_METER_CONFIG, body)))
    (told,) = world.events[1:]
    assert isinstance(told, RulesReported)
    assert told.equipment == (ours, metered)
    assert len(told.rules) == 1
    assert world.board.overdue(5000.0) == ([], None)


def test_a_switch_without_meters_reports_the_rest(world: World) -> None:
    connection = world.connect()
    world.board.read_rules(ReadRules("e-1", DPID))
    rules, groups, meters = (xid for _, xid in connection.sent)
    world.board.on_rules(none(connection, groups))
    world.board.on_error(FromSwitch(connection, xid=meters, type=1, code=2, data=b""))
    world.board.on_rules(stats(connection, rules, [1], more=False))
    assert world.kinds() == ["SwitchUp", "RulesReported"]
    assert not connection.closed


def test_a_report_or_a_removal_that_makes_no_sense_ends_the_connection_and_not_the_process(
    world: World,
) -> None:
    connection = world.connect()
    world.board.read_rules(ReadRules("e-1", DPID))
    xid = connection.sent[0][1]
    world.board.on_rules(FromSwitch(connection, xid=xid, buf=report(ofp.OFPMP_FLOW, b"\0" * 60)))
    assert connection.closed
    connection.closed = False
    world.board.on_removed(FromSwitch(connection, buf=b"\4\x0b\0\x10" + b"\0" * 12))
    assert connection.closed


def test_a_rule_that_openflow_cannot_say_fails_its_batch_only(world: World) -> None:
    connection = world.connect()
    broken = Change(Op.ADD, replace(RULE, match=Match(vlan=5000)))
    world.board.send_batch(SendBatch("e-1", DPID, "f-7/1", (Change(Op.ADD, RULE), broken)))
    (failed,) = world.events[1:]
    assert isinstance(failed, BatchFailed)
    assert "VLAN id 5000" in failed.error
    assert connection.sent == []


def test_a_removed_rule_is_told(world: World) -> None:
    connection = world.connect()
    data = flow_removed(ReportedRule(RULE, 7, 9_000, 3.5), ofp.OFPRR_IDLE_TIMEOUT)
    world.board.on_removed(FromSwitch(connection, buf=data))
    (told,) = world.events[1:]
    assert isinstance(told, RuleRemoved)
    assert (told.rule, told.reason, told.packets, told.bytes) == (replace(RULE, actions=()), "idle", 7, 9_000)


def test_ports_that_change_and_go(world: World) -> None:
    connection = world.connect()
    port = parser.OFPPort(3, "02:00:00:00:00:03", b"mu-edge-rtr", 0, ofp.OFPPS_LINK_DOWN, 0, 0, 0, 0, 0, 0)
    world.board.on_port(FromSwitch(connection, reason=ofp.OFPPR_MODIFY, desc=port))
    world.board.on_port(FromSwitch(connection, reason=ofp.OFPPR_DELETE, desc=port))
    changed, gone = world.events[1:]
    assert isinstance(changed, PortChanged)
    assert isinstance(gone, PortChanged)
    assert changed.state is not None
    assert not changed.state.live
    assert (gone.name, gone.state) == ("mu-edge-rtr", None)


def test_a_handler_that_raises_stops_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    monkeypatch.setattr(switchboard, "die", ended.append)

    @guarded
    def on_something() -> None:
        raise RuntimeError("a bug")

    on_something()
    assert ended == ["handler on_something"]


def test_every_handler_is_guarded() -> None:
    handlers = [member for member in vars(Switchboard).values() if hasattr(member, "callers")]
    assert len(handlers) == 7
    assert all(hasattr(handler, "__wrapped__") for handler in handlers)


@pytest.mark.parametrize(
    "body",
    [
        struct.pack("!HH", 1, 0) + bytes(4),
        struct.pack("!HH", 1, 3) + bytes(4),
        struct.pack("!HH", 7, 64) + bytes(4),
        b"\x00\x01\x00",
    ],
    ids=["length 0", "shorter than its header", "longer than the message", "half a header"],
)
def test_a_hello_that_would_be_parsed_for_ever_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match="HELLO element"):
        connections._check_hello(body)


@pytest.mark.parametrize("body", [b"", struct.pack("!HHI", 1, 8, 1 << 4), struct.pack("!HHI", 99, 8, 0) * 2])
def test_a_hello_that_adds_up_is_taken(body: bytes) -> None:
    connections._check_hello(body)
    data = struct.pack("!BBHI", 4, 0, 8 + len(body), 1) + body
    assert ofproto_parser.msg(ProtocolDesc(version=4), 4, 0, len(data), 1, data) is not None
