"""Messages that os-ken parses: ports, errors and roles; and os-ken's objects around other messages.

OpenFlow 1.3 has no message for "another controller became master" (7.3.9, 7.4.4).  OpenFlow 1.4 has
OFPT_ROLE_STATUS (7.4.4 there), which the Open Networking Foundation's extension 191 adds to 1.3 as an
experimenter message.  Open vSwitch sends it.  Other switches refuse the next flow-mod (OFPBRC_IS_SLAVE).
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

from os_ken.ofproto import ofproto_v1_3 as ofp
from os_ken.ofproto import ofproto_v1_4 as ofp14

from adon.flowvisor.controller_roles import ControllerRole
from adon.flowvisor.openflow.wire import BODY, HEADER, MULTIPART
from adon.flowvisor.topology.network_graph import PortState

ONF, ONF_ROLE_STATUS = 0x4F4E4600, 1911
"""The Open Networking Foundation as experimenter, and its role status for OpenFlow 1.3 (extension 191)."""

REPORTS: Mapping[int, str] = {
    ofp.OFPMP_FLOW: "OFPFlowStatsReply",
    ofp.OFPMP_GROUP_DESC: "OFPGroupDescStatsReply",
    ofp.OFPMP_METER_CONFIG: "OFPMeterConfigStatsReply",
    ofp.OFPMP_TABLE: "OFPTableStatsReply",
    ofp.OFPMP_GROUP_FEATURES: "OFPGroupFeaturesStatsReply",
    ofp.OFPMP_METER_FEATURES: "OFPMeterFeaturesStatsReply",
    ofp.OFPMP_TABLE_FEATURES: "OFPTableFeaturesStatsReply",
    ofp14.OFPMP_QUEUE_DESC: "OFPQueueDescStatsReply",
}
"""The classes of os-ken for multipart replies that this package reads from their bytes."""

_SINGLE: Mapping[int, str] = {
    ofp.OFPT_FLOW_REMOVED: "OFPFlowRemoved",
    ofp.OFPT_PACKET_IN: "OFPPacketIn",
    ofp.OFPT_QUEUE_GET_CONFIG_REPLY: "OFPQueueGetConfigReply",
}


def envelope(datapath: Any, version: int, kind: int, xid: int, data: bytes) -> Any:
    """Return os-ken's object around a message that this package decodes; None for other messages.

    The events of os-ken need an object of its class.  The content is ``buf``, the whole message, which
    :mod:`~adon.flowvisor.openflow.decode` and :mod:`~adon.flowvisor.openflow.capabilities` decode.
    """
    name = _SINGLE.get(kind)
    flags = 0
    if kind == ofp.OFPT_MULTIPART_REPLY and len(data) >= BODY:
        what, flags = MULTIPART.unpack_from(data, HEADER.size)
        name = REPORTS.get(what)
    cls = None if name is None else getattr(datapath.ofproto_parser, name, None)
    if cls is None:
        return None
    message = cls(datapath)
    message.set_headers(version, kind, len(data), xid)
    message.set_buf(data)
    message.flags = flags
    return message


def ports(descriptions: Iterable[Any]) -> dict[str, PortState]:
    """Return ports by name from OFPPort descriptions (7.2.1), without reserved ports."""
    return {port_name(port): port_state(port) for port in descriptions if port.port_no <= ofp.OFPP_MAX}


def port_name(port: Any) -> str:
    """Return a port's name as text, for any bytes; it ends at the first zero (7.2.1)."""
    name = port.name
    return name.partition(b"\0")[0].decode("utf-8", "replace") if isinstance(name, bytes) else str(name)


def port_state(port: Any) -> PortState:
    """Return a port's number, address and state."""
    admin = not port.config & ofp.OFPPC_PORT_DOWN
    oper = not port.state & ofp.OFPPS_LINK_DOWN
    mac = str(port.hw_addr).lower()
    return PortState(number=port.port_no, live=admin and oper, mac=mac, admin=admin, oper=oper)


def error_text(message: Any) -> str:
    """Return the names of an OFPErrorMsg: ``OFPET_FLOW_MOD_FAILED OFPFMFC_TABLE_FULL`` (7.4.4)."""
    protocol = message.datapath.ofproto
    kind = protocol.ofp_error_type_to_str(message.type)
    if message.code is None:
        return f"{kind} (experimenter)"
    return f"{kind} {protocol.ofp_error_code_to_str(message.type, message.code)}"


ROLE_STATUS = "!IB3xQ"
"""struct ofp_role_status without its header: role, reason, generation_id."""


def read_granted_role(message: Any) -> ControllerRole | None:
    """Return the role that an OFPRoleReply grants; None for an unknown role."""
    return _role(message.role)


def is_role_taken(message: Any) -> bool:
    """Return whether an experimenter message reports that this controller became slave."""
    if (message.experimenter, message.exp_type) != (ONF, ONF_ROLE_STATUS):
        return False
    if len(message.data) < struct.calcsize(ROLE_STATUS):
        return False
    role, _, _ = struct.unpack_from(ROLE_STATUS, message.data)
    return _role(role) is ControllerRole.SLAVE


def is_stale(message: Any) -> bool:
    """Return whether an OFPErrorMsg refuses a role because the switch knows a later generation."""
    return (message.type, message.code) == (ofp.OFPET_ROLE_REQUEST_FAILED, ofp.OFPRRFC_STALE)


def is_slave(message: Any) -> bool:
    """Return whether an OFPErrorMsg refuses a change because this controller is slave."""
    return (message.type, message.code) == (ofp.OFPET_BAD_REQUEST, ofp.OFPBRC_IS_SLAVE)


def _role(number: int) -> ControllerRole | None:
    try:
        return ControllerRole(number)
    except ValueError:
        return None
