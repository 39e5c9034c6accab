"""Validation of a message from a switch, before a parser sees it.

The parsers of os-ken trust the lengths inside a message.  An element of length 0 keeps them in a loop for
ever, and a length beyond the message lets them read the next message.  This module lets only those messages
through that a controller may receive, and walks through the lists that os-ken parses: the ports.  Reports
that :mod:`~adon.flowvisor.openflow.decode` and :mod:`~adon.flowvisor.openflow.capabilities` read are checked
there.  Layouts are those of the OpenFlow Switch Specifications 1.3.5 and 1.4.1, section 7.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_4 as ofp14

from adon.flowvisor.openflow.messages import ONF, ONF_ROLE_STATUS, REPORTS
from adon.flowvisor.openflow.wire import BODY, V13, V14, entries

_SMALLEST: Mapping[int, int] = {
    ofp.OFPT_ERROR: 12,
    ofp.OFPT_ECHO_REQUEST: 8,
    ofp.OFPT_ECHO_REPLY: 8,
    ofp.OFPT_EXPERIMENTER: 16,
    ofp.OFPT_FEATURES_REPLY: 32,
    ofp.OFPT_GET_CONFIG_REPLY: 12,
    ofp.OFPT_PACKET_IN: 32,
    ofp.OFPT_FLOW_REMOVED: 32,
    ofp.OFPT_PORT_STATUS: 16,
    ofp.OFPT_MULTIPART_REPLY: 16,
    ofp.OFPT_BARRIER_REPLY: 8,
    ofp.OFPT_QUEUE_GET_CONFIG_REPLY: 16,
    ofp.OFPT_ROLE_REPLY: 24,
    ofp14.OFPT_ROLE_STATUS: 24,
}
"""The messages that a switch may send after the HELLO, each with its least length in bytes."""

_ONE_VERSION = {ofp.OFPT_QUEUE_GET_CONFIG_REPLY: V13, ofp14.OFPT_ROLE_STATUS: V14}
"""Messages that only one version has."""

_PORT_SIZE = {V13: 64, V14: 40}


def validate_message(version: int, kind: int, data: bytes) -> None:
    """Check a message.

    :param data: the whole message, with its header.
    :raises ValueError: if a parser must not see it; the text says why.
    """
    least = _SMALLEST.get(kind)
    if least is None or _ONE_VERSION.get(kind, version) != version:
        raise ValueError(f"a message of type {kind}, which is not expected")
    if len(data) < least:
        raise ValueError(f"a message of type {kind} and length {len(data)}")
    if kind == ofp.OFPT_EXPERIMENTER:
        _check_experimenter(data)
    elif kind == ofp.OFPT_PORT_STATUS:
        _check_ports(version, data)
    elif kind == ofp.OFPT_MULTIPART_REPLY:
        report = int.from_bytes(data[8:10])
        if report == ofp.OFPMP_PORT_DESC:
            _check_ports(version, data)
        elif report not in REPORTS:
            raise ValueError(f"a report of type {report}, which is not requested")


def _check_experimenter(data: bytes) -> None:
    experimenter, kind = struct.unpack_from("!II", data, 8)
    if (experimenter, kind) != (ONF, ONF_ROLE_STATUS):
        raise ValueError(f"a message of type {kind} of experimenter 0x{experimenter:08x}, not expected")


def _check_ports(version: int, data: bytes) -> None:
    """Check the ports: of fixed size in 1.3 (7.2.1), with length and properties in 1.4 (1.4.1, 7.2.1)."""
    size = _PORT_SIZE[version]
    if version == V13:
        if (len(data) - BODY) % size:
            raise ValueError(f"{len(data) - BODY} bytes of ports, of which each has {size}")
        return
    for start, end in entries(data, BODY, len(data), at=4, least=size):
        for _ in entries(data, start + size, end, at=2, least=4, aligned=True):
            pass
