"""What a path does to packets, and which flows it therefore cannot take (spec section 2, path attributes).

These are hard constraints beside the QSpec's bounds: no score outweighs them.  A *new* flow needs its
address family only: its connections begin on the path, so a firewall sees their first packets, and TCP
learns the MTU.  A *running* flow brings connections that began elsewhere:

- packets larger than the new path's MTU would be lost in switches, which send no ICMP (RFC 8899, 1.1);
- a stateful firewall drops a connection whose beginning it did not see;
- behind another address translation, or without the one it began behind, the far end sees another
  connection (RFC 3022).  So NAT on *either* path holds the flow, a firewall only on the *new* one.
"""

from __future__ import annotations

from dataclasses import dataclass

from adon.reasons import Reason


@dataclass(frozen=True, slots=True)
class Attributes:
    """What happens to packets on a path.

    :param mtu: bytes of the largest IP packet.
    :param firewall: a stateful firewall is on the path.
    :param nat: addresses are translated on the path.
    :param families: the IP versions that get through.
    """

    mtu: int = 1500
    firewall: bool = False
    nat: bool = False
    families: frozenset[int] = frozenset({4, 6})

    def then(self, other: Attributes) -> Attributes:
        """The attributes of two paths, one behind the other."""
        return Attributes(
            min(self.mtu, other.mtu),
            self.firewall or other.firewall,
            self.nat or other.nat,
            self.families & other.families,
        )


def obstacle(
    present_attributes: Attributes | None,
    new_attributes: Attributes,
    families_needed: frozenset[int],
    running: bool,
) -> Reason | None:
    """Why a flow cannot be put on a path; None if it can.

    Not to be asked about the path that a running flow is on already: staying is no move.

    :param present_attributes: of the path that the flow is on; None if it is on none, or on one that
        nothing is known of any more (then only what the new path needs is asked).
    :param families_needed: the IP versions of the flow's addresses.
    """
    missing = sorted(families_needed - new_attributes.families)
    if missing:
        return Reason("address-family", f"it does not carry IPv{missing[0]}, which the flow uses")
    if not running:
        return None
    if new_attributes.firewall:
        text = "a stateful firewall is on it, which did not see the flow's connections begin"
        return Reason("firewall", text)
    if new_attributes.nat:
        text = "it translates addresses: the far end would not know the flow's connections any more"
        return Reason("nat", text)
    if present_attributes is None:
        return None
    if present_attributes.nat:
        text = "the flow's connections began behind the address translation of its present path"
        return Reason("nat", text)
    if new_attributes.mtu < present_attributes.mtu:
        text = f"its MTU of {new_attributes.mtu} B is below the {present_attributes.mtu} B the flow has now"
        return Reason("mtu", text)
    return None
