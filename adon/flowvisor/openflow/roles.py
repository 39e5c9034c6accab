"""OpenFlow 1.3's messages about roles (7.3.9, 7.4.4), and what switches answer.

OpenFlow 1.3 has no word for "another controller became master"; 1.4 has OFPT_ROLE_STATUS (7.4.4 there), which
the Open Networking Foundation's extension 191 carries back into 1.3 as an experimenter message.
Open vSwitch sends it.  Where a switch does not, the first flow-mod that it refuses (OFPBRC_IS_SLAVE) tells.
"""

from __future__ import annotations

import struct
from typing import Any

from os_ken.ofproto import ofproto_v1_3 as ofp

from adon.flowvisor.roles import ControllerRole
from adon.flowvisor.wellformed import ONF, ONF_ROLE_STATUS

ROLE_STATUS = "!IB3xQ"
"""struct ofp_role_status without its header: role, reason, generation_id."""


def granted(message: Any) -> ControllerRole | None:
    """The role that an OFPRoleReply grants; None for one that does not exist."""
    return _role(message.role)


def taken(message: Any) -> bool:
    """Whether an experimenter message says that another controller made us slave."""
    if (message.experimenter, message.exp_type) != (ONF, ONF_ROLE_STATUS):
        return False
    if len(message.data) < struct.calcsize(ROLE_STATUS):
        return False
    role, _, _ = struct.unpack_from(ROLE_STATUS, message.data)
    return _role(role) is ControllerRole.SLAVE


def is_stale(message: Any) -> bool:
    """Whether an OFPErrorMsg refuses a role because the switch has seen a later generation."""
    return (message.type, message.code) == (ofp.OFPET_ROLE_REQUEST_FAILED, ofp.OFPRRFC_STALE)


def is_slave(message: Any) -> bool:
    """Whether an OFPErrorMsg refuses a change because we are slave."""
    return (message.type, message.code) == (ofp.OFPET_BAD_REQUEST, ofp.OFPBRC_IS_SLAVE)


def _role(number: int) -> ControllerRole | None:
    try:
        return ControllerRole(number)
    except ValueError:
        return None
