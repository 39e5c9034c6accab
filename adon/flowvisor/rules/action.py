"""Actions of a rule or a group's bucket, as values and as text of ``ovs-ofctl -O OpenFlow13``.

The order of actions is the order of their execution.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Tag:
    vlan: int

    @property
    def vid(self) -> int:
        """Value of the field vlan_vid: the id with OFPVID_PRESENT (OpenFlow 1.3.5, 7.2.3.7)."""
        return self.vlan | 0x1000


@dataclass(frozen=True, slots=True)
class PushVlan(_Tag):
    """Addition of a VLAN tag with this id (push_vlan 0x8100 + set_field vlan_vid)."""


@dataclass(frozen=True, slots=True)
class PopVlan:
    """Removal of the VLAN tag."""


@dataclass(frozen=True, slots=True)
class SetVlan(_Tag):
    """Change of the id of the present VLAN tag."""


@dataclass(frozen=True, slots=True)
class SetEthSrc:
    """Rewrite of the source MAC address."""

    mac: str


@dataclass(frozen=True, slots=True)
class SetEthDst:
    """Rewrite of the destination MAC address."""

    mac: str


@dataclass(frozen=True, slots=True)
class SetDscp:
    """Rewrite of the six DSCP bits (RFC 2474); the match must name IPv4 or IPv6."""

    dscp: int


@dataclass(frozen=True, slots=True)
class SetQueue:
    """Queue of the output port for the packet; this action must precede the output (R12)."""

    queue: int


@dataclass(frozen=True, slots=True)
class ToGroup:
    """Output to a group of this switch."""

    group: int


@dataclass(frozen=True, slots=True)
class Output:
    """Output to a port, by its number."""

    port: int


@dataclass(frozen=True, slots=True)
class Normal:
    """Forwarding as by a switch without OpenFlow (OFPP_NORMAL)."""


@dataclass(frozen=True, slots=True)
class ToController:
    """Packet-in to the controller with the first ``max_len`` bytes."""

    max_len: int = 128


@dataclass(frozen=True, slots=True)
class UnknownAction:
    """Reported actions that ADON's rules never have: OpenFlow's bytes in hexadecimal.

    A rule with it is never desired, and differs from every desired rule.
    """

    octets: str


Action = (
    PushVlan
    | PopVlan
    | SetVlan
    | SetEthSrc
    | SetEthDst
    | SetDscp
    | SetQueue
    | ToGroup
    | Output
    | Normal
    | ToController
    | UnknownAction
)


_TEXTS: Mapping[type[Action], str] = {
    PushVlan: "push_vlan:0x8100,set_field:{0.vid}->vlan_vid",
    PopVlan: "pop_vlan",
    SetVlan: "set_field:{0.vid}->vlan_vid",
    SetEthSrc: "set_field:{0.mac}->eth_src",
    SetEthDst: "set_field:{0.mac}->eth_dst",
    SetDscp: "set_field:{0.dscp}->ip_dscp",
    SetQueue: "set_queue:{0.queue}",
    ToGroup: "group:{0.group}",
    Output: "output:{0.port}",
    Normal: "NORMAL",
    ToController: "CONTROLLER:{0.max_len}",
    UnknownAction: "unknown({0.octets})",
}


def actions_text(actions: tuple[Action, ...]) -> str:
    """Return a list of actions as ``ovs-ofctl -O OpenFlow13`` prints it, ``drop`` without actions."""
    return ",".join(_TEXTS[type(action)].format(action) for action in actions) or "drop"
