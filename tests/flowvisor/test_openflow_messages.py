"""Ports, errors, and messages in os-ken's classes; no network."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from os_ken.controller import ofp_event
from os_ken.ofproto import ofproto_parser
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_3_parser as parser

from adon.flowvisor.openflow import messages
from adon.flowvisor.openflow.wire import V13, V14, message
from adon.flowvisor.topology.network_graph import PortState
from tests.flowvisor.osken import DATAPATHS, VERSIONS
from tests.flowvisor.reports import report
from tests.support.private_switch import parse

DATAPATH = DATAPATHS[V13]


def read_back(message: Any) -> Any:
    """The message as the other side of the connection sees it."""
    message.serialize()
    version, kind, length, xid = ofproto_parser.header(message.buf)
    return ofproto_parser.msg(DATAPATH, version, kind, length, xid, bytes(message.buf))


def test_ports_by_name_without_the_reserved_ones() -> None:
    def port(number: int, name: bytes, config: int = 0, state: int = 0) -> Any:
        return parser.OFPPort(number, "02:00:00:00:00:AA", name, config, state, 0, 0, 0, 0, 0, 0)

    descriptions = [
        port(1, b"up"),
        port(2, b"blocked", state=ofp.OFPPS_BLOCKED),
        port(3, b"switched-off", config=ofp.OFPPC_PORT_DOWN),
        port(4, b"no-link", state=ofp.OFPPS_LINK_DOWN),
        port(5, b"not \xff text\0\0"),
        port(6, b"a zero\0and more"),
        port(7, '"caf\u00e9" \u2192 \x1b[2J'.encode()[:16]),
        port(8, b"sixteen-bytes-16"),
        port(ofp.OFPP_LOCAL, b"local"),
    ]
    mac = "02:00:00:00:00:aa"
    assert messages.ports(descriptions) == {
        "up": PortState(1, True, mac),
        "blocked": PortState(2, True, mac),
        "switched-off": PortState(3, False, mac, admin=False),
        "no-link": PortState(4, False, mac, oper=False),
        "not \ufffd text": PortState(5, True, mac),
        "a zero": PortState(6, True, mac),
        '"caf\u00e9" \u2192 \x1b[2J': PortState(7, True, mac),
        "sixteen-bytes-16": PortState(8, True, mac),
    }


@pytest.mark.parametrize(
    ("kind", "code", "text"),
    [
        (ofp.OFPET_FLOW_MOD_FAILED, ofp.OFPFMFC_TABLE_FULL, "OFPET_FLOW_MOD_FAILED(5) OFPFMFC_TABLE_FULL(1)"),
        (ofp.OFPET_BAD_MATCH, ofp.OFPBMC_BAD_PREREQ, "OFPET_BAD_MATCH(4) OFPBMC_BAD_PREREQ(9)"),
        (999, 7, "Unknown(999) Unknown(7)"),
    ],
)
def test_errors_by_their_names(kind: int, code: int, text: str) -> None:
    message = read_back(parser.OFPErrorMsg(DATAPATH, kind, code, b"\0" * 8))
    assert messages.error_text(message) == text


def test_an_experimenters_error_has_no_code() -> None:
    message = parser.OFPErrorMsg(DATAPATH, ofp.OFPET_EXPERIMENTER, exp_type=1, experimenter=2, data=b"")
    assert messages.error_text(read_back(message)) == "OFPET_EXPERIMENTER(65535) (experimenter)"


def test_ports_of_1_4_have_properties() -> None:
    """OFPPDPT_ETHERNET and an experimenter's (1.4.1, 7.2.1.1)."""
    ethernet = struct.pack("!HH4xIIIIII", 0, 32, *[0] * 6)
    strange = struct.pack("!HHII", 0xFFFF, 12, 0x4F4E4600, 1) + bytes(4)
    body = b""
    for number, name, state in ((1, b"p1", 0), (2, b"p2", 1)):
        length = 40 + len(ethernet) + len(strange)
        mac = bytes([2, 0, 0, 0, 0, number])
        body += struct.pack("!IH2x6s2x16sII", number, length, mac, name, 0, state) + ethernet + strange
    data = report(ofp.OFPMP_PORT_DESC, body, version=V14)
    reply = parse(DATAPATHS[V14], V14, ofp.OFPT_MULTIPART_REPLY, 1, data)
    assert messages.ports(reply.body) == {
        "p1": PortState(1, True, "02:00:00:00:00:01"),
        "p2": PortState(2, False, "02:00:00:00:00:02", oper=False),
    }


EVENTS = {
    ofp.OFPMP_FLOW: "EventOFPFlowStatsReply",
    ofp.OFPMP_GROUP_DESC: "EventOFPGroupDescStatsReply",
    ofp.OFPMP_METER_CONFIG: "EventOFPMeterConfigStatsReply",
}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", EVENTS)
def test_a_report_is_an_event_with_its_bytes(version: int, kind: int) -> None:
    """Whatever the bytes: os-ken would go through a body of entries of length 0 for ever."""
    data = report(kind, bytes(64), version=version, more=True)
    got = parse(DATAPATHS[version], version, ofp.OFPT_MULTIPART_REPLY, 9, data)
    assert (got.buf, got.xid, got.flags) == (data, 9, ofp.OFPMPF_REPLY_MORE)
    assert type(ofp_event.ofp_msg_to_ev(got)).__name__ == EVENTS[kind]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_removed_rule_is_an_event_with_its_bytes(version: int) -> None:
    data = message(version, ofp.OFPT_FLOW_REMOVED, b"", 9)
    got = parse(DATAPATHS[version], version, ofp.OFPT_FLOW_REMOVED, 9, data)
    assert got.buf == data
    assert type(ofp_event.ofp_msg_to_ev(got)).__name__ == "EventOFPFlowRemoved"


def test_other_messages_are_os_kens() -> None:
    data = message(V13, ofp.OFPT_ECHO_REQUEST, b"hello", 9)
    got = parse(DATAPATH, V13, ofp.OFPT_ECHO_REQUEST, 9, data)
    assert (got.data, got.xid) == (b"hello", 9)
    short = message(V13, ofp.OFPT_MULTIPART_REPLY, b"")
    assert parse(DATAPATH, V13, ofp.OFPT_MULTIPART_REPLY, 0, short) is None


@pytest.mark.parametrize(("config", "state"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_switched_off_and_without_carrier_are_two_things(config: int, state: int) -> None:
    port = parser.OFPPort(1, "02:00:00:00:00:AA", b"up", config, state, 0, 0, 0, 0, 0, 0)
    found = messages.port_state(port)
    assert (found.admin, found.oper) == (not config, not state)
    assert found.live == (found.admin and found.oper)
