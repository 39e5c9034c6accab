"""MTU, length of the packet queues, and pacing.

**MTU**: larger segments raise Mathis' limit in proportion and save processor time (ESnet fasterdata, MTU).  A
frame that is too large is dropped inside a layer-2 path without an error.  So the MTU is the least of that of
the path, the limits of both interfaces and 9000, the same at both ends, with packetisation-layer discovery
(``tcp_mtu_probing``) as a fallback.

**Input queue** ([ADON] 4.3: "length of the processor input queue"): ``net.core.netdev_max_backlog`` limits
the packets that wait for a processor.  ESnet's fasterdata has 30 000 for 10 Gbps; other rates are in
proportion, since the time that the queue bridges counts.  Drivers that poll (NAPI) without packet steering do
not use it; the second column of ``/proc/net/softnet_stat`` shows whether it overflows.

**Output queue**: ``txqueuelen`` limits only ``pfifo_fast``; ``fq`` and ``fq_codel`` have their own limit.

**Pacing**: a 40 Gbps interface sends its window in bursts at 40 Gbps.  A 10 Gbps receiver, or the switch
before it, must hold the rest, and drops what it cannot ("impedance mismatch" of [ESNET]).  ``fq`` spaces the
packets of each connection.  Its ``maxrate`` applies to one connection, so the rate of the bottleneck is
divided by the streams.  A tenth is left for headers and other traffic (ESnet fasterdata, packet pacing: 80
to 90 %).
"""

from __future__ import annotations

from adon.tcp_advice.facts import HostFacts
from adon.tcp_advice.parts import (
    ETHERNET_MTU,
    JUMBO_MTU,
    Compare,
    Confidence,
    Gap,
    Item,
    Part,
    Setting,
    Transfer,
)
from adon.units import format_rate

MTU_PROBING = Setting(
    "sysctl",
    "net.ipv4.tcp_mtu_probing",
    "1",
    Compare.AT_LEAST,
    "finds a smaller MTU where ICMP is filtered (RFC 4821)",
)
BACKLOG = "net.core.netdev_max_backlog"
BACKLOG_PER_BPS = 30_000 / 10e9
SHORTEST_QUEUE, LONGEST_BACKLOG = 1_000, 250_000
"""Packets: the kernel's default, and the most that fasterdata has (100 Gbps)."""

OUTPUT_PER_BPS = 1_000 / 1e9
LONGEST_OUTPUT = 10_000

PACED_SHARE = 0.9
FASTER = 1.05
"""The sender is faster if its rate is above this many times that of the bottleneck."""


def recommend_mtu(transfer: Transfer) -> Part:
    """MTU of both hosts."""
    mtu, path_mtu = transfer.mtu, transfer.path.mtu
    if mtu is None or path_mtu is None:
        how = "tracepath, or ping -M do -s 8972, between the hosts"
        return Part(gaps=(Gap("MTU of the path", "the MTU of the interfaces stays as it is", how),))
    hosts = (transfer.sender, transfer.receiver)
    unknown = [host.name for host in hosts if host.mtu is None]
    different = [host.name for host in hosts if host.mtu not in (None, mtu)]
    confidence = Confidence.HIGH
    if mtu <= ETHERNET_MTU < path_mtu:
        reason = "an interface does not carry jumbo frames, so neither host may send them"
    elif not different and not unknown:
        reason = "both hosts have it already"
    elif mtu > ETHERNET_MTU:
        names = ", ".join(different or unknown)
        reason = (
            f"the whole path carries jumbo frames; set it on {names} and all hosts of the segment at once"
        )
        confidence = Confidence.MEDIUM
    elif different:
        reason = f"{', '.join(different)}: this path drops a larger frame without an error"
    else:
        reason, confidence = "the path carries no larger frames", Confidence.MEDIUM
    formula = f"min(path {path_mtu} B, {JUMBO_MTU} B, limits of both interfaces) = {mtu} B"
    setting = Setting(
        "interface", "mtu", str(mtu), Compare.EQUAL, "the same on the whole path and at both ends"
    )
    both = (setting, MTU_PROBING) if mtu > ETHERNET_MTU else (setting,)
    return Part(Item("mtu", f"{mtu} B", reason, formula, confidence), sender=both, receiver=both)


def recommend_queues(transfer: Transfer) -> Part:
    """Input queues of both hosts, output queue of the sender."""
    rates = [
        rate for rate in (transfer.target, transfer.receiver.rate, transfer.sender.rate) if rate is not None
    ]
    if not rates:
        how = "ethtool INTERFACE, or the metric host.tcp"
        return Part(gaps=(Gap("speed of the interfaces", "queues stay as they are", how),))
    rate = rates[0]
    backlog = input_queue(rate)
    formula = (
        f"{BACKLOG_PER_BPS * 10e9:.0f} · {format_rate(rate)} / 10 Gbps, within {SHORTEST_QUEUE} to "
        f"{LONGEST_BACKLOG} = {backlog}"
    )
    reason = (
        "holds packets while the processor is busy; it has an effect only where the second column of "
        "/proc/net/softnet_stat rises"
    )
    both = Setting("sysctl", BACKLOG, str(backlog), Compare.AT_LEAST, "input queue of the processor, packets")
    item = Item("queues", f"{backlog} packets", reason, formula, Confidence.MEDIUM)
    return Part(item, sender=(both, *_output_queue(transfer.sender, rate)), receiver=(both,))


def input_queue(rate: float) -> int:
    """Packets that may wait for a processor, at a rate in bits/s."""
    return round(min(LONGEST_BACKLOG, max(SHORTEST_QUEUE, BACKLOG_PER_BPS * rate)))


def _output_queue(sender: HostFacts, rate: float) -> tuple[Setting, ...]:
    if sender.interface is None or not sender.interface.discipline.startswith("pfifo"):
        return ()
    packets = round(min(LONGEST_OUTPUT, max(SHORTEST_QUEUE, OUTPUT_PER_BPS * rate)))
    reason = "txqueuelen, which limits pfifo_fast"
    return (Setting("interface", "queue", str(packets), Compare.AT_LEAST, reason),)


def recommend_pacing(transfer: Transfer, streams: int) -> Part:
    """Maximum rate of each connection; nothing where the sender is no faster than path and receiver."""
    path, sender, receiver = transfer.path, transfer.sender, transfer.receiver
    bottleneck = min((rate for rate in (path.rate, receiver.rate) if rate is not None), default=None)
    if sender.rate is None or bottleneck is None:
        what = "pacing: whether the sender is faster than path or receiver"
        return Part(gaps=(Gap("speed of the sender's interface", what, "ethtool INTERFACE, or host.tcp"),))
    if sender.rate <= FASTER * bottleneck:
        return Part()
    pace = PACED_SHARE * bottleneck / streams
    target = "the path" if bottleneck == path.rate else receiver.name
    reason = (
        f"{sender.name} sends bursts at {format_rate(sender.rate)} to {target} with {format_rate(bottleneck)}"
    )
    formula = (
        f"{PACED_SHARE:g} · {format_rate(bottleneck)} / {streams} streams = {format_rate(pace)} for each"
    )
    discipline = f"fq maxrate {max(1, round(pace / 1e3))}kbit"
    setting = Setting(
        "interface",
        "qdisc",
        discipline,
        Compare.EQUAL,
        "spaces the packets of each connection, so that a slower hop need not hold bursts",
    )
    return Part(Item("pacing", discipline, reason, formula, Confidence.MEDIUM), sender=(setting,))
