"""An OpenFlow rule as a value, and the conventions all our rules obey.

Cookies (R1).  ``0xAD`` in the top byte says a rule is ours; nothing without it is ever modified or
deleted.  The next byte is the kind, the lower 48 bits the number of the owner (a flow's number, or a
path's index for measurement rules)::

    63      56 55      48 47                                              0
    +---------+----------+------------------------------------------------+
    |  0xAD   |   kind   |                 owner number                   |
    +---------+----------+------------------------------------------------+

Priority bands (R7), with room between them; the campus's own forwarding stays below all of them::

    40000          measurement: a test address is pinned to one path, whatever else is installed
    30000 + 0..999 flows: the template's (or the request's) priority orders them
    20000          learning: the first packets of a flow that did not declare its ports
        0          table miss and everything of the campus: not ours

``policy.priority_offset`` shifts all three bands together, where a switch's other tenants need the room.

Rules are written as ``ovs-ofctl -O OpenFlow13`` writes them, datapath ids as 16 hex digits (R24).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum, StrEnum

COOKIE_PREFIX = 0xAD << 56
COOKIE_MASK = 0xFF << 56

MEASUREMENT_PRIORITY = 40_000
FLOW_PRIORITY = 30_000
LEARN_PRIORITY = 20_000


class Kind(IntEnum):
    """The kind byte of a cookie: what the rule is for."""

    MEASUREMENT = 0x01
    DISCOVERY = 0x04
    FLOW_INGRESS = 0x10
    FLOW_DELIVERY = 0x11
    FLOW_LEARN = 0x12


def cookie(kind: Kind, number: int) -> int:
    """The cookie of one kind and owner.

    :raises ValueError: if the owner's number does not fit 48 bits.
    """
    if not 0 <= number < 1 << 48:
        raise ValueError(f"owner number {number} does not fit 48 bits")
    return COOKIE_PREFIX | kind << 48 | number


def is_ours(value: int) -> bool:
    """Whether a rule with this cookie is ours to touch."""
    return value & COOKIE_MASK == COOKIE_PREFIX


def cookie_owner(value: int) -> tuple[Kind, int]:
    """Kind and owner number of one of our cookies.

    :raises ValueError: for a cookie that is not ours or of a kind this version does not know.
    """
    if not is_ours(value):
        raise ValueError(f"cookie 0x{value:x} is not ours")
    return Kind(value >> 48 & 0xFF), value & (1 << 48) - 1


def dpid_text(dpid: int) -> str:
    """A datapath id as 16 hex digits."""
    return f"{dpid:016x}"


@dataclass(frozen=True, slots=True, order=True)
class Match:
    """The fields we match on; None matches anything.

    Addresses are dotted quads without mask, MAC addresses lower case with colons.  ``vlan`` None means
    *untagged or any* is not asked; our delivery rules always name it for layer-2 paths.  ``other`` is empty
    in every rule we make: it keeps, as JSON text, what a switch reports beyond these fields (masks, IPv6),
    so that such a rule is not mistaken for one of ours and can still be addressed strictly.
    """

    in_port: int | None = None
    vlan: int | None = None
    eth_type: int | None = None
    ip_proto: int | None = None
    ipv4_src: str | None = None
    ipv4_dst: str | None = None
    tp_src: int | None = None
    tp_dst: int | None = None
    other: str = ""


@dataclass(frozen=True, slots=True)
class PushVlan:
    """Tag the frame with this VLAN id (push_vlan 0x8100 + set_field vlan_vid)."""

    vlan: int


@dataclass(frozen=True, slots=True)
class PopVlan:
    """Remove the VLAN tag."""


@dataclass(frozen=True, slots=True)
class SetEthSrc:
    """Rewrite the source MAC address."""

    mac: str


@dataclass(frozen=True, slots=True)
class SetEthDst:
    """Rewrite the destination MAC address."""

    mac: str


@dataclass(frozen=True, slots=True)
class Output:
    """Send out of this port number."""

    port: int


@dataclass(frozen=True, slots=True)
class ToController:
    """Send the first ``max_len`` bytes to the controller as a packet-in."""

    max_len: int = 128


Action = PushVlan | PopVlan | SetEthSrc | SetEthDst | Output | ToController


Slot = tuple[int, int, int, Match]
"""Datapath, table, priority and match: what a switch identifies a rule by."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule that should be, or is, in one switch's flow table.

    Its identity in the switch (OpenFlow 1.3, 6.4) is :attr:`slot`: an add with the same slot replaces.
    """

    dpid: int
    priority: int
    match: Match
    actions: tuple[Action, ...]
    cookie: int
    idle_timeout: int = 0
    table: int = 0

    @property
    def slot(self) -> Slot:
        """Datapath, table, priority and match: what OFPFC_*_STRICT addresses."""
        return (self.dpid, self.table, self.priority, self.match)


@dataclass(frozen=True, slots=True)
class ReportedRule:
    """A rule as the switch reports it, with its counters; ``duration`` in seconds."""

    rule: Rule
    packets: int
    bytes: int
    duration: float


class Op(StrEnum):
    """What to do with a rule in a switch; all strict, all limited to our cookie."""

    ADD = "add"
    MODIFY = "modify"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Change:
    """One flow-mod."""

    op: Op
    rule: Rule


def _match_text(match: Match) -> str:
    parts = []
    if match.eth_type == 0x0800:
        parts.append(
            {None: "ip", 1: "icmp", 6: "tcp", 17: "udp"}.get(match.ip_proto, f"ip,nw_proto={match.ip_proto}")
        )
    elif match.eth_type is not None:
        parts.append(f"dl_type=0x{match.eth_type:04x}")
    if match.in_port is not None:
        parts.append(f"in_port={match.in_port}")
    if match.vlan is not None:
        parts.append(f"dl_vlan={match.vlan}")
    names = {"ipv4_src": "nw_src", "ipv4_dst": "nw_dst", "tp_src": "tp_src", "tp_dst": "tp_dst"}
    for field in fields(match):
        value = getattr(match, field.name)
        if field.name in names and value is not None:
            parts.append(f"{names[field.name]}={value}")
    if match.other:
        parts.append(match.other)
    return ",".join(parts)


def action_text(action: Action) -> str:
    """One action as ``ovs-ofctl -O OpenFlow13`` prints it."""
    match action:
        case PushVlan(vlan):
            return f"push_vlan:0x8100,set_field:{vlan | 0x1000}->vlan_vid"
        case PopVlan():
            return "pop_vlan"
        case SetEthSrc(mac):
            return f"set_field:{mac}->eth_src"
        case SetEthDst(mac):
            return f"set_field:{mac}->eth_dst"
        case Output(port):
            return f"output:{port}"
        case ToController(max_len):
            return f"CONTROLLER:{max_len}"


def rule_text(rule: Rule) -> str:
    """A rule as ``ovs-ofctl -O OpenFlow13 dump-flows`` prints it, counters left out."""
    timeout = f"idle_timeout={rule.idle_timeout}, " if rule.idle_timeout else ""
    match = _match_text(rule.match)
    actions = ",".join(action_text(action) for action in rule.actions) or "drop"
    return (
        f"cookie=0x{rule.cookie:x}, table={rule.table}, {timeout}"
        f"priority={rule.priority}{',' + match if match else ''} actions={actions}"
    )
