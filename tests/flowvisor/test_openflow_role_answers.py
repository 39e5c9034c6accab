from __future__ import annotations

import struct
from types import SimpleNamespace

import pytest
from os_ken.ofproto import ofproto_parser
from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto.ofproto_protocol import ProtocolDesc

from adon.flowvisor.controller_roles import ControllerRole
from adon.flowvisor.openflow import messages

DATAPATH = ProtocolDesc(version=ofp.OFP_VERSION)


def test_the_role_in_a_reply() -> None:
    assert messages.read_granted_role(SimpleNamespace(role=ofp.OFPCR_ROLE_MASTER)) is ControllerRole.MASTER
    assert messages.read_granted_role(SimpleNamespace(role=77)) is None


STATUS = struct.pack("!IB3xQ", ofp.OFPCR_ROLE_SLAVE, 0, 7)


@pytest.mark.parametrize(
    ("experimenter", "kind", "body", "taken"),
    [
        (0x4F4E4600, 1911, STATUS, True),
        (0x4F4E4600, 1911, struct.pack("!IB3xQ", ofp.OFPCR_ROLE_MASTER, 0, 7), False),
        (0x4F4E4600, 1911, struct.pack("!IB3xQ", 99, 0, 7), False),
        (0x4F4E4600, 1911, STATUS[:-1], False),
        (0x4F4E4600, 1911, b"", False),
        (0x4F4E4600, 1910, STATUS, False),
        (0x00002320, 1911, STATUS, False),
    ],
)
def test_made_slave(experimenter: int, kind: int, body: bytes, taken: bool) -> None:
    data = struct.pack("!BBHIII", 4, ofp.OFPT_EXPERIMENTER, 16 + len(body), 0, experimenter, kind) + body
    message = ofproto_parser.msg(DATAPATH, 4, ofp.OFPT_EXPERIMENTER, len(data), 0, data)
    assert messages.is_role_taken(message) is taken


def test_what_errors_say() -> None:
    stale = SimpleNamespace(type=ofp.OFPET_ROLE_REQUEST_FAILED, code=ofp.OFPRRFC_STALE)
    slave = SimpleNamespace(type=ofp.OFPET_BAD_REQUEST, code=ofp.OFPBRC_IS_SLAVE)
    assert (messages.is_stale(stale), messages.is_slave(stale)) == (True, False)
    assert (messages.is_stale(slave), messages.is_slave(slave)) == (False, True)
