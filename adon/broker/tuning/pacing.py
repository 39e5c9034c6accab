"""Pacing, where a fast sender meets a slower path or receiver ("impedance mismatch" of [ESNET]).

A 40 Gbps interface sends its window in bursts at 40 Gbps; a 10 Gbps receiver, or the switch before it, must
hold the rest, and drops what it cannot.  ``fq`` spaces the packets of each connection: ``maxrate`` holds for
one connection, so what the bottleneck carries is divided by the streams.  A tenth is left for headers and for
what else is there (ESnet fasterdata, packet pacing: 80 to 90 %).
"""

from __future__ import annotations

from adon.broker.tuning.facts import HostFacts, PathFacts
from adon.broker.tuning.item import Compare, Confidence, Gap, Item, Piece, Setting
from adon.units import format_rate

PART = 0.9
MISMATCH = 1.05
"""The sender is faster if its rate is above this many times the bottleneck's."""


def bottleneck(path: PathFacts, receiver: HostFacts) -> float | None:
    """The slower of path and receiver, bits/s; None if neither is known."""
    return min((rate for rate in (path.rate, receiver.rate) if rate is not None), default=None)


def pacing(path: PathFacts, sender: HostFacts, receiver: HostFacts, streams: int) -> Piece:
    """How fast each connection may send; nothing to be said where the sender is no faster."""
    narrow = bottleneck(path, receiver)
    if sender.rate is None or narrow is None:
        what = "pacing: whether the sender is faster than path or receiver"
        return Piece(gaps=(Gap("speed of the sender's interface", what, "ethtool INTERFACE, or host.tcp"),))
    if sender.rate <= MISMATCH * narrow:
        return Piece()
    pace = PART * narrow / streams
    where = "the path" if narrow == path.rate else receiver.name
    reason = (
        f"{sender.name} sends bursts at {format_rate(sender.rate)} into {where} with {format_rate(narrow)}"
    )
    formula = f"{PART:g} · {format_rate(narrow)} / {streams} streams = {format_rate(pace)} for each"
    item = Item("pacing", f"fq maxrate {in_tc(pace)}", reason, formula, Confidence.MEDIUM)
    why = "spaces the packets of each connection, so that a slower hop need not hold bursts"
    setting = Setting("interface", "qdisc", f"fq maxrate {in_tc(pace)}", Compare.EQUAL, why)
    return Piece(item, sender=(setting,))


def in_tc(rate: float) -> str:
    """A rate as ``tc`` takes it: whole kbit/s, at least one."""
    return f"{max(1, round(rate / 1e3))}kbit"
