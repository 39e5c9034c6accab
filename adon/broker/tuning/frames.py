"""The MTU: jumbo frames only if the whole path and both hosts carry them.

Larger segments raise Mathis' limit in proportion and spare the processor (ESnet fasterdata, MTU).
A frame that is too large is lost without a word inside a layer-2 path; so the MTU is the least of the path's,
both interfaces' limits and 9000, the same at both ends, with packetisation-layer discovery as a net below
(``tcp_mtu_probing``).
"""

from __future__ import annotations

from collections.abc import Iterable

from adon.broker.tuning.facts import MTU_RANGE, HostFacts, PathFacts
from adon.broker.tuning.item import Compare, Confidence, Gap, Item, Piece, Setting

JUMBO = 9000
ETHERNET = 1500
HEADERS = 40
"""Of IPv4 and TCP without options, as :data:`adon.broker.cost.MSS` counts them."""

PROBING = Setting(
    "sysctl",
    "net.ipv4.tcp_mtu_probing",
    "1",
    Compare.AT_LEAST,
    "finds a smaller MTU where ICMP is filtered (RFC 4821)",
)


def segment(mtu: int | None) -> int:
    """The largest TCP segment in bytes, of an Ethernet where the MTU is not known."""
    return (ETHERNET if mtu is None else mtu) - HEADERS


def common_mtu(path: PathFacts, sender: HostFacts, receiver: HostFacts) -> int | None:
    """What both hosts should have; None if the path's MTU is not known."""
    if path.mtu is None:
        return None
    limits = [host.interface.largest_mtu for host in (sender, receiver) if host.interface is not None]
    return min([path.mtu, JUMBO, *_possible(limits)])


def present_mtu(path: PathFacts, sender: HostFacts, receiver: HostFacts) -> int | None:
    """What packets have now: the least of what is known."""
    return min(_possible((path.mtu, sender.mtu, receiver.mtu)), default=None)


def _possible(mtus: Iterable[int | None]) -> list[int]:
    return [mtu for mtu in mtus if mtu is not None and mtu >= MTU_RANGE[0]]


def frames(path: PathFacts, sender: HostFacts, receiver: HostFacts) -> Piece:
    """The MTU of both ends."""
    mtu = common_mtu(path, sender, receiver)
    if mtu is None:
        what = "the interfaces' MTU stays as it is"
        return Piece(
            gaps=(Gap("MTU of the path", what, "tracepath, or ping -M do -s 8972, between the hosts"),)
        )
    unknown = [host.name for host in (sender, receiver) if host.mtu is None]
    differs = [host.name for host in (sender, receiver) if host.mtu not in (None, mtu)]
    reason, confidence = _why(path, mtu, differs, unknown)
    formula = f"min(path {path.mtu} B, {JUMBO} B, what both interfaces allow) = {mtu} B"
    setting = Setting(
        "interface", "mtu", str(mtu), Compare.EQUAL, "the same on the whole path and at both ends"
    )
    both = (setting, PROBING) if mtu > ETHERNET else (setting,)
    return Piece(Item("mtu", f"{mtu} B", reason, formula, confidence), sender=both, receiver=both)


def _why(path: PathFacts, mtu: int, differs: list[str], unknown: list[str]) -> tuple[str, Confidence]:
    if mtu <= ETHERNET and path.mtu is not None and path.mtu > ETHERNET:
        return "an interface does not carry jumbo frames, so neither end may send them", Confidence.HIGH
    if not differs and not unknown:
        return "both ends have it already", Confidence.HIGH
    if mtu > ETHERNET:
        whom = ", ".join(differs or unknown)
        text = f"the whole path carries jumbo frames; to be set on {whom}, and on every host of its segment"
        return f"{text} together", Confidence.MEDIUM
    if differs:
        return f"{', '.join(differs)}: a larger frame is lost without a word on this path", Confidence.HIGH
    return "the path carries no larger frames", Confidence.MEDIUM
