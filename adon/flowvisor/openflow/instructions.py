"""OpenFlow instructions and actions of rules and buckets, to bytes and back (1.3.5, 7.2.4 and 7.2.5).

The decoder is strict: an instruction or action that ADON's rules never have makes the whole rule
:class:`~adon.flowvisor.rules.action.UnknownAction`, so that reconciliation corrects it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from os_ken.ofproto import ofproto_v1_3 as ofp

from adon.flowvisor.openflow.oxm import vlan_bytes
from adon.flowvisor.openflow.wire import entries, pad_length
from adon.flowvisor.rules.action import (
    Action,
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
    UnknownAction,
)
from adon.flowvisor.rules.match import ETH_TYPE_VLAN, MaskedNumber
from adon.flowvisor.rules.rule import Rule

_ACTION = struct.Struct("!HH4x")
_NUMBER = struct.Struct("!HHI")
_OUTPUT = struct.Struct("!HHIH6x")
_PUSH = struct.Struct("!HHH2x")
_METADATA = struct.Struct("!HH4xQQ")
_GOTO = struct.Struct("!HHB3x")


# -- to bytes ----------------------------------------------------------------------------------------------


def _set_field(field: bytes) -> bytes:
    length = pad_length(4 + len(field))
    return struct.pack(f"!HH{length - 4}s", ofp.OFPAT_SET_FIELD, length, field)


def _set_mac(header: int, mac: str) -> bytes:
    octets = bytes.fromhex(mac.replace(":", ""))
    if len(octets) != 6:
        raise ValueError(f"{mac} is no MAC address")
    return _set_field(header.to_bytes(4) + octets)


def _set_dscp(action: Any) -> bytes:
    if not 0 <= action.dscp < 64:
        raise ValueError(f"DSCP {action.dscp} is not between 0 and 63")
    return _set_field(ofp.OXM_OF_IP_DSCP.to_bytes(4) + bytes([action.dscp]))


def _output_bytes(port: int, max_len: int = 0) -> bytes:
    return _OUTPUT.pack(ofp.OFPAT_OUTPUT, _OUTPUT.size, port, max_len)


def _refuse_unknown(action: Any) -> bytes:
    raise ValueError(f"{action} cannot be encoded: only switches report it")


_NORMAL = _output_bytes(ofp.OFPP_NORMAL)
_POP_VLAN = _ACTION.pack(ofp.OFPAT_POP_VLAN, _ACTION.size)
_PUSH_VLAN = _PUSH.pack(ofp.OFPAT_PUSH_VLAN, _PUSH.size, ETH_TYPE_VLAN)

_WRITERS: Mapping[type[Action], Callable[[Any], bytes]] = {
    PushVlan: lambda action: _PUSH_VLAN + _set_field(vlan_bytes(action.vlan)),
    PopVlan: lambda _: _POP_VLAN,
    SetVlan: lambda action: _set_field(vlan_bytes(action.vlan)),
    SetEthSrc: lambda action: _set_mac(ofp.OXM_OF_ETH_SRC, action.mac),
    SetEthDst: lambda action: _set_mac(ofp.OXM_OF_ETH_DST, action.mac),
    SetDscp: _set_dscp,
    SetQueue: lambda action: _NUMBER.pack(ofp.OFPAT_SET_QUEUE, _NUMBER.size, action.queue),
    ToGroup: lambda action: _NUMBER.pack(ofp.OFPAT_GROUP, _NUMBER.size, action.group),
    Output: lambda action: _output_bytes(action.port),
    Normal: lambda _: _NORMAL,
    ToController: lambda action: _output_bytes(ofp.OFPP_CONTROLLER, action.max_len),
    UnknownAction: _refuse_unknown,
}


def actions_bytes(actions: tuple[Action, ...]) -> bytes:
    """Return a list of actions as bytes.

    :raises ValueError: for an action that OpenFlow cannot encode.
    """
    return b"".join([_WRITERS[type(action)](action) for action in actions])


def instructions_bytes(rule: Rule) -> bytes:
    """Return the instructions of a rule as bytes, in the order of their execution.

    :raises ValueError: for an action or metadata that OpenFlow cannot encode.
    """
    found = b"" if rule.meter is None else _NUMBER.pack(ofp.OFPIT_METER, _NUMBER.size, rule.meter)
    found += _apply_bytes(rule.actions)
    if rule.metadata is not None:
        value, mask = rule.metadata.value, rule.metadata.mask
        if not mask or value & ~mask:
            raise ValueError(f"metadata {rule.metadata}: bits outside the mask")
        found += _METADATA.pack(ofp.OFPIT_WRITE_METADATA, _METADATA.size, value, mask)
    if rule.goto is not None:
        found += _GOTO.pack(ofp.OFPIT_GOTO_TABLE, _GOTO.size, rule.goto)
    return found


@lru_cache(maxsize=4_096)
def _apply_bytes(actions: tuple[Action, ...]) -> bytes:
    """Return the apply-actions instruction as bytes; empty without actions."""
    packed = actions_bytes(actions)
    return packed and _ACTION.pack(ofp.OFPIT_APPLY_ACTIONS, _ACTION.size + len(packed)) + packed


# -- from bytes --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Instructions:
    """Instructions of a reported rule; see :class:`~adon.flowvisor.rules.rule.Rule`."""

    actions: tuple[Action, ...] = ()
    meter: int | None = None
    metadata: MaskedNumber | None = None
    goto: int | None = None


@lru_cache(maxsize=4_096)
def read_instructions(data: bytes) -> Instructions:
    """Return the instructions of a rule; a rule with a foreign instruction is unknown as a whole.

    :raises ValueError: if the lengths do not add up.
    """
    known: dict[str, Any] = {}
    for start, end in entries(data, 0, len(data), at=2):
        name, value = _instruction(data[start:end])
        if name is None or name in known:
            return Instructions((UnknownAction(data.hex()),))
        known[name] = value
    return Instructions(**known)


def _instruction(data: bytes) -> tuple[str | None, Any]:
    """Return the field of :class:`Instructions` that an instruction sets, and its value; None if unused."""
    kind, size = int.from_bytes(data[:2]), len(data)
    if kind == ofp.OFPIT_GOTO_TABLE:
        return "goto", data[4]
    if kind == ofp.OFPIT_WRITE_METADATA and size == _METADATA.size:
        value, mask = int.from_bytes(data[8:16]), int.from_bytes(data[16:])
        return ("metadata", MaskedNumber(value, mask)) if mask and not value & ~mask else (None, None)
    if kind == ofp.OFPIT_METER:
        return "meter", int.from_bytes(data[4:8])
    if kind == ofp.OFPIT_APPLY_ACTIONS:
        actions = read_actions(data[_ACTION.size :])
        return (None, None) if actions is None else ("actions", actions)
    return None, None


def read_actions(data: bytes) -> tuple[Action, ...] | None:
    """Return a list of actions; None if ADON's rules never have one of them.

    :raises ValueError: if the lengths do not add up.
    """
    actions: list[Action] = []
    pushed = False
    for start, end in entries(data, 0, len(data), at=2):
        action = _action(data[start:end])
        if pushed:
            action = PushVlan(action.vlan) if isinstance(action, SetVlan) else None
            pushed = False
        elif data[start:end] == _PUSH_VLAN:
            pushed = True
            continue
        if action is None:
            return None
        actions.append(action)
    return None if pushed else tuple(actions)


def _action(data: bytes) -> Action | None:
    kind = int.from_bytes(data[:2])
    if kind == ofp.OFPAT_OUTPUT and len(data) == _OUTPUT.size:
        return _read_output(int.from_bytes(data[4:8]), int.from_bytes(data[8:10]))
    if kind == ofp.OFPAT_SET_FIELD:
        return _read_set_field(data)
    if data == _POP_VLAN:
        return PopVlan()
    if kind == ofp.OFPAT_SET_QUEUE:
        return SetQueue(int.from_bytes(data[4:8]))
    if kind == ofp.OFPAT_GROUP:
        return ToGroup(int.from_bytes(data[4:8]))
    return None


def _read_output(port: int, max_len: int) -> Action:
    if port == ofp.OFPP_CONTROLLER:
        return ToController(max_len)
    return Normal() if port == ofp.OFPP_NORMAL else Output(port)


def _read_set_field(data: bytes) -> Action | None:
    header, value = int.from_bytes(data[4:8]), data[8:]
    if header == ofp.OXM_OF_VLAN_VID:
        tag = int.from_bytes(value[:2])
        return SetVlan(tag & 0xFFF) if tag >> 12 == 1 else None
    if header == ofp.OXM_OF_ETH_SRC and len(value) == 8:
        return SetEthSrc(value[:6].hex(":"))
    if header == ofp.OXM_OF_ETH_DST and len(value) == 8:
        return SetEthDst(value[:6].hex(":"))
    return SetDscp(value[0]) if header == ofp.OXM_OF_IP_DSCP and len(value) == 8 else None
