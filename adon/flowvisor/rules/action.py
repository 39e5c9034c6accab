"""What a rule or a group's bucket does with a packet, as values; in the order in which it is done.

Written as ``ovs-ofctl -O OpenFlow13`` writes them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PushVlan:
    """Tag the frame with this VLAN id (push_vlan 0x8100 + set_field vlan_vid)."""

    vlan: int


@dataclass(frozen=True, slots=True)
class PopVlan:
    """Remove the VLAN tag."""


@dataclass(frozen=True, slots=True)
class SetVlan:
    """Change the id of the VLAN tag that is there."""

    vlan: int


@dataclass(frozen=True, slots=True)
class SetEthSrc:
    """Rewrite the source MAC address."""

    mac: str


@dataclass(frozen=True, slots=True)
class SetEthDst:
    """Rewrite the destination MAC address."""

    mac: str


@dataclass(frozen=True, slots=True)
class SetDscp:
    """Write the six DSCP bits (RFC 2474); the match must name IPv4 or IPv6."""

    dscp: int


@dataclass(frozen=True, slots=True)
class SetQueue:
    """Choose the queue of the port that the packet leaves by; must come before the output (R12)."""

    queue: int


@dataclass(frozen=True, slots=True)
class ToGroup:
    """Hand the packet to a group of this switch."""

    group: int


@dataclass(frozen=True, slots=True)
class Output:
    """Send out of this port number."""

    port: int


@dataclass(frozen=True, slots=True)
class Normal:
    """Forward as the switch would without OpenFlow (OFPP_NORMAL)."""


@dataclass(frozen=True, slots=True)
class ToController:
    """Send the first ``max_len`` bytes to the controller as a packet-in."""

    max_len: int = 128


@dataclass(frozen=True, slots=True)
class Unknown:
    """What no rule of ours ever does, as a switch reports it: OpenFlow's bytes in hexadecimal.

    A rule with it is never asked for; it differs from every rule that is.
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
    | Unknown
)


def action_text(action: Action) -> str:
    """One action as ``ovs-ofctl -O OpenFlow13`` prints it."""
    match action:
        case PushVlan(vlan):
            return f"push_vlan:0x8100,set_field:{vlan | 0x1000}->vlan_vid"
        case PopVlan():
            return "pop_vlan"
        case SetVlan(vlan):
            return f"set_field:{vlan | 0x1000}->vlan_vid"
        case SetEthSrc(mac):
            return f"set_field:{mac}->eth_src"
        case SetEthDst(mac):
            return f"set_field:{mac}->eth_dst"
        case SetDscp(dscp):
            return f"set_field:{dscp}->ip_dscp"
        case SetQueue(queue):
            return f"set_queue:{queue}"
        case ToGroup(group):
            return f"group:{group}"
        case Output(port):
            return f"output:{port}"
        case Normal():
            return "NORMAL"
        case ToController(max_len):
            return f"CONTROLLER:{max_len}"
        case Unknown(octets):
            return f"unknown({octets})"


def actions_text(actions: tuple[Action, ...]) -> str:
    """A list of actions, ``drop`` if there is none."""
    return ",".join(action_text(action) for action in actions) or "drop"
