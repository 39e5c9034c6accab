"""The os-ken application without a socket: what it keeps track of, and what it makes of messages."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from os_ken.controller.handler import DEAD_DISPATCHER, MAIN_DISPATCHER
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_3_parser as parser
from os_ken.ofproto.ofproto_protocol import ProtocolDesc

from adon.broker.effects import ReadFeatures, ReadRules, SendBatch, SendPacket
from adon.broker.events import (
    BatchFailed,
    Event,
    FeaturesReported,
    LldpReceived,
    PortChanged,
    RuleRemoved,
    RulesReported,
    SwitchDown,
)
from adon.flowvisor import controller_roles
from adon.flowvisor.rules.action import Output
from adon.flowvisor.rules.cookie import Kind, cookie
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.pipeline import METER_FIRST, group_number
from adon.flowvisor.rules.rule import Bucket, Change, GroupEntry, MeterEntry, Op, ReportedRule, Rule
from apps.campus_edge import connections, switchboard
from apps.campus_edge.limits import Claim
from apps.campus_edge.loop import OFFERS_LIMIT, Inbox, Stamps
from apps.campus_edge.roles import RoleDesk
from apps.campus_edge.switchboard import Switchboard, end_process_on_error
from tests.flowvisor.openflow_samples import PACKET, packet_in
from tests.flowvisor.reports import (
    flow_removed,
    flow_stats,
    group_descriptions,
    meter_configurations,
    report,
)

DPID = 0xA01
LLDP = bytes.fromhex("0180c200000e02000000000188cc0000")
RULE = Rule(DPID, 30_500, Match(in_port=1), (Output(2),), cookie(Kind.FLOW_INGRESS, 7))


class Connection(ProtocolDesc):
    """A connection that keeps what is sent, as messages."""

    def __init__(self, dpid: int | None = DPID) -> None:
        super().__init__(version=ofp.OFP_VERSION)
        self.id, self.address = dpid, ("127.0.0.1", 1)
        self.ports: dict[int, Any] = {}
        self.n_tables = 254
        self.sent: list[tuple[int, int]] = []
        self.closed = False
        self.writes = True
        self.tell_sent: list[Callable[[], None]] = []
        self.claim = Claim("127.0.0.1", proven=False, silent_s=0.0)
        self.patience_s = 7.5

    def send(self, data: bytes, close_socket: bool = False, sent: Callable[[], None] | None = None) -> bool:
        if sent is not None:
            self.tell_sent.append(sent)
            if self.writes:
                sent()
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
    assert dict(failed.refused) == {1: failed.error, 0: failed.error}
    assert world.board.tally.read()["errors"] == {"OFPET_FLOW_MOD_FAILED(5) OFPFMFC_TABLE_FULL(1)": 2}


def test_a_refusal_names_the_change_and_tells_when_the_rest_is_done(world: World) -> None:
    connection = world.connect()
    world.send(changes=4)
    xids = [xid for _, xid in connection.sent]
    world.board.on_error(FromSwitch(connection, xid=xids[2], type=12, code=10, data=b""))
    assert world.kinds() == ["SwitchUp"], "what comes after it is not known yet"
    world.board.on_barrier(FromSwitch(connection, xid=xids[4]))
    (failed,) = world.events[1:]
    assert isinstance(failed, BatchFailed)
    ((place, words),) = failed.refused
    assert (place, words) == (2, failed.error)
    assert "OUT_OF_METERS" in words


def test_a_barrier_that_is_refused_or_never_comes_says_nothing_of_single_changes(world: World) -> None:
    connection = world.connect()
    world.send("f-7/1")
    world.board.on_error(FromSwitch(connection, xid=connection.sent[-1][1], type=1, code=1, data=b""))
    world.send("f-7/2")
    first = connection.sent[-3][1]
    world.board.on_error(FromSwitch(connection, xid=first, type=5, code=1, data=b""))
    world.now += 6.0
    late, _ = world.board.overdue(world.now)
    failed = [event for event in (*world.events, *late) if isinstance(event, BatchFailed)]
    assert [(one.batch, one.refused) for one in failed] == [("f-7/1", ()), ("f-7/2", ())]
    assert "TABLE_FULL" in failed[1].error


def answers(connection: Connection) -> dict[int, int]:
    """The transaction ids of the questions that were asked, by their type in the multipart request."""
    return dict(zip(WHOLE_TYPES, [xid for _, xid in connection.sent[-len(WHOLE_TYPES) :]], strict=True))


WHOLE_TYPES = (
    ofp.OFPMP_TABLE,
    0,
    ofp.OFPMP_GROUP_FEATURES,
    ofp.OFPMP_METER_FEATURES,
    ofp.OFPMP_TABLE_FEATURES,
)
"""Of the questions about everything, in order; queues have a message of their own."""


def test_what_a_switch_says_it_can_do_is_one_event(world: World) -> None:
    connection = world.connect()
    connection.n_tables = 3
    world.board.read_features(ReadFeatures("e-1", DPID))
    asked = answers(connection)
    meters = report(ofp.OFPMP_METER_FEATURES, struct.pack("!IIIBB2x", 9, 2, 1, 1, 1))
    world.board.on_features(FromSwitch(connection, xid=asked[ofp.OFPMP_METER_FEATURES], flags=0, buf=meters))
    for kind in (ofp.OFPMP_TABLE, ofp.OFPMP_GROUP_FEATURES):
        world.board.on_error(FromSwitch(connection, xid=asked[kind], type=1, code=2, data=b""))
    assert world.kinds() == ["SwitchUp"]
    world.now += 16.0  # it says nothing of queues
    (told,), _ = world.board.overdue(world.now)
    assert isinstance(told, FeaturesReported)
    assert (told.features.n_tables, told.features.meters, told.features.groups) == (3, 9, None)
    assert told.whole


def test_what_makes_no_sense_tells_nothing(world: World, caplog: pytest.LogCaptureFixture) -> None:
    connection = world.connect()
    connection.n_tables = 3
    world.board.read_features(ReadFeatures("e-1", DPID))
    asked = answers(connection)
    short = report(ofp.OFPMP_METER_FEATURES, b"\0")
    for kind, xid in asked.items():
        buf = short if kind == ofp.OFPMP_METER_FEATURES else b""
        world.board.on_features(FromSwitch(connection, xid=xid, flags=0, buf=buf))
    assert world.kinds() == ["SwitchUp"]
    assert "event=of.malformed" in caplog.text


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
    assert "connected" in failed.error


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
    assert "5000" in failed.error
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


def test_a_packet_goes_to_its_switch_and_nowhere_if_that_is_away(world: World) -> None:
    world.board.send_packet(SendPacket("e-1", DPID, 2, b"frame"))
    connection = world.connect()
    world.board.send_packet(SendPacket("e-1", DPID, 2, b"frame"))
    assert [kind for kind, _ in connection.sent] == [ofp.OFPT_PACKET_OUT]


@pytest.mark.parametrize(
    ("number", "data", "heard"),
    [
        (cookie(Kind.DISCOVERY, 0), LLDP, True),
        (cookie(Kind.FLOW_LEARN, 7), LLDP, False),
        (0, LLDP, False),
        ((1 << 64) - 1, LLDP, False),
        (cookie(Kind.DISCOVERY, 0), bytes(60), False),
        (cookie(Kind.DISCOVERY, 0), b"", False),
    ],
)
def test_lldp_is_taken_from_the_discovery_rule_only(
    world: World, number: int, data: bytes, heard: bool
) -> None:
    connection = world.connect()
    world.board.on_packet(FromSwitch(connection, buf=packet_in(number, data, 3)))
    assert [(e.dpid, e.port, e.data) for e in world.events if isinstance(e, LldpReceived)] == (
        [(DPID, 3, LLDP)] if heard else []
    )


def test_lldp_from_a_connection_that_was_replaced_counts_no_more(world: World) -> None:
    old = world.connect()
    world.connect()
    world.board.on_packet(FromSwitch(old, buf=packet_in(cookie(Kind.DISCOVERY, 0), LLDP, 3)))
    assert "LldpReceived" not in world.kinds()


def test_a_handler_that_raises_stops_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    monkeypatch.setattr(switchboard, "die", ended.append)

    @end_process_on_error
    def on_something() -> None:
        raise RuntimeError("a bug")

    on_something()
    assert ended == ["handler on_something"]


def test_every_handler_is_guarded() -> None:
    handlers = [member for member in vars(Switchboard).values() if hasattr(member, "callers")]
    assert len(handlers) == 11
    assert all(hasattr(handler, "__wrapped__") for handler in handlers)


def test_the_time_for_a_barrier_runs_from_the_last_byte_of_its_batch(world: World) -> None:
    connection = world.connect()
    connection.writes = False
    world.send()
    (sent,) = connection.tell_sent
    # It waits for its turn at a slow switch: that is not the switch's silence.
    assert world.board.overdue(1005.0) == ([], 1010.0)
    world.now = 1008.0
    sent()
    assert world.board.overdue(1010.0) == ([], 1013.0)
    (late,), _ = world.board.overdue(1013.0)
    assert isinstance(late, BatchFailed)


def test_a_second_connection_from_elsewhere_is_refused_while_the_first_answers(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    first = world.connect()
    for _ in range(3):
        impostor = Connection()
        impostor.claim = Claim("192.0.2.66", proven=False, silent_s=0.0)
        world.board.on_state(FromSwitch(impostor, state=MAIN_DISPATCHER))
        assert impostor.closed
        world.board.on_state(FromSwitch(impostor, state=DEAD_DISPATCHER))
    assert not first.closed
    assert world.kinds() == ["SwitchUp"]
    assert world.board.tally.read()["connections_refused"] == {"duplicate": 3}
    assert caplog.text.count("event=switch.refused") == 1
    first.claim = Claim("127.0.0.1", proven=False, silent_s=8.0)
    world.board.on_state(FromSwitch(impostor, state=MAIN_DISPATCHER))
    assert first.closed
    assert world.kinds() == ["SwitchUp", "SwitchDown", "SwitchUp"]


def test_an_error_that_repeats_is_counted_each_time_and_logged_once(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    connection = world.connect()
    for xid in range(1000):
        world.board.on_error(FromSwitch(connection, xid=xid, type=5, code=1, data=b""))
    assert caplog.text.count("event=of.error") == 1
    assert sum(world.board.tally.read()["errors"].values()) == 1000


def test_packet_ins_never_pile_up_before_a_decision() -> None:
    inbox = Inbox()
    connections.configure()
    board = Switchboard(frozenset({DPID}), inbox.put, Stamps(lambda: 0.0), (), inbox.offer)
    connection = Connection()
    board.on_state(FromSwitch(connection, state=MAIN_DISPATCHER))
    packet = packet_in(cookie(Kind.FLOW_LEARN, 1), PACKET)
    for _ in range(10_000):
        board.on_packet(FromSwitch(connection, buf=packet))
    decision = BatchFailed("e-1", 0.0, DPID, "f-1/1", "what the flood must not delay")
    inbox.put(decision)
    waiting = list(iter(lambda: inbox.get(timeout=1), decision))
    assert len(waiting) == OFFERS_LIMIT
    assert board.tally.read()["packet_ins"] == {
        "taken": OFFERS_LIMIT - 1,
        "inbox": 10_000 - (OFFERS_LIMIT - 1),
    }


def test_a_packet_in_of_another_rule_is_not_wanted(world: World) -> None:
    connection = world.connect()
    world.board.on_packet(FromSwitch(connection, buf=packet_in(5, PACKET)))
    assert world.kinds() == ["SwitchUp"]
    assert world.board.tally.read()["packet_ins"] == {"unwanted": 1}


# -- roles -------------------------------------------------------------------------------------------------

MADE_SLAVE = {"experimenter": 0x4F4E4600, "exp_type": 1911, "data": struct.pack("!IB3xQ", 3, 0, 9)}


class RoleWorld(World):
    """A world whose switches must grant a role before they are used."""

    def __init__(self) -> None:
        super().__init__()
        self.desk = RoleDesk(controller_roles.single_controller({DPID: "exclusive"}, 7), lambda: self.now)
        stamps = Stamps(lambda: self.now)
        self.board = Switchboard(frozenset({DPID}), self.events.append, stamps, (), roles=self.desk)
        self.desk.serve(self.board)
        self.desk.feed(controller_roles.StateLoaded())

    def granted(self) -> Connection:
        connection = self.connect()
        xid = connection.xid(ofp.OFPT_ROLE_REQUEST)
        self.board.on_role(FromSwitch(connection, xid=xid, role=ofp.OFPCR_ROLE_MASTER))
        return connection


@pytest.fixture
def with_roles() -> RoleWorld:
    connections.configure()
    return RoleWorld()


def test_nothing_is_told_or_sent_before_a_switch_has_granted_our_role(with_roles: RoleWorld) -> None:
    connection = with_roles.connect()
    with_roles.board.on_port(FromSwitch(connection, reason=ofp.OFPPR_MODIFY, desc=None))
    with_roles.send()
    assert with_roles.kinds() == ["BatchFailed"]
    assert [kind for kind, _ in connection.sent] == [ofp.OFPT_ROLE_REQUEST]
    with_roles.board.on_state(FromSwitch(connection, state=DEAD_DISPATCHER))
    assert with_roles.kinds() == ["BatchFailed"]  # what was never up does not go down
    connection = with_roles.granted()
    assert with_roles.kinds()[1:] == ["SwitchUp"]
    with_roles.send()
    assert ofp.OFPT_FLOW_MOD in [kind for kind, _ in connection.sent]


def test_a_switch_with_another_master_is_left_and_the_broker_hears_why_once(with_roles: RoleWorld) -> None:
    connection = with_roles.granted()
    with_roles.board.on_experimenter(FromSwitch(connection, **MADE_SLAVE))
    down = with_roles.events[-1]
    assert isinstance(down, SwitchDown)
    assert down.why
    assert connection.closed
    for _ in range(2):  # it comes back, and refuses us
        again = with_roles.connect()
        stale = {"type": ofp.OFPET_ROLE_REQUEST_FAILED, "code": ofp.OFPRRFC_STALE}
        xid = again.xid(ofp.OFPT_ROLE_REQUEST)
        with_roles.board.on_error(FromSwitch(again, xid=xid, **stale))
        assert again.closed
    assert with_roles.kinds() == ["SwitchUp", "SwitchDown"]


def test_a_switch_that_never_answers_about_its_role_is_left(with_roles: RoleWorld) -> None:
    connection = with_roles.connect()
    assert with_roles.board.overdue(with_roles.now)[1] == with_roles.now + 15
    with_roles.now += 15
    with_roles.board.overdue(with_roles.now)
    assert connection.closed
