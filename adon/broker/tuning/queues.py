"""The length of the input queue ([ADON] 4.3: "length of the processor input queue") and of the output queue.

``net.core.netdev_max_backlog`` bounds the packets that wait for a processor.  ESnet's fasterdata has 30 000
for 10 Gbps; in between it is taken in proportion, since what counts is the time that the queue bridges.
Drivers that poll (NAPI) without packet steering pass it by: whether it overflows shows in the second column
of ``/proc/net/softnet_stat``.  ``txqueuelen`` bounds ``pfifo_fast`` only; ``fq`` and ``fq_codel`` bring their
own limit.
"""

from __future__ import annotations

from adon.broker.tuning.facts import HostFacts
from adon.broker.tuning.item import Compare, Confidence, Gap, Item, Piece, Setting
from adon.units import format_rate

KEY = "net.core.netdev_max_backlog"
REFERENCE = (30_000, 10e9)
LEAST, MOST = 1_000, 250_000
"""What the kernel starts with, and the most that fasterdata has (100 Gbps)."""

OUTPUT_PER_GBPS = 1_000
MOST_OUTPUT = 10_000


def queues(sender: HostFacts, receiver: HostFacts, target: float | None) -> Piece:
    """Input queues of both hosts, output queue of the sender."""
    rates = [rate for rate in (target, receiver.rate, sender.rate) if rate is not None]
    if not rates:
        gap = Gap(
            "speed of the interfaces", "queues stay as they are", "ethtool INTERFACE, or the metric host.tcp"
        )
        return Piece(gaps=(gap,))
    rate = rates[0]
    backlog = input_queue(rate)
    packets, at = REFERENCE
    formula = f"{packets} · {format_rate(rate)} / {format_rate(at)}, within {LEAST} to {MOST} = {backlog}"
    reason = (
        "packets must not be dropped while the processor is busy elsewhere; it helps only where the second "
        "column of /proc/net/softnet_stat counts"
    )
    both = Setting("sysctl", KEY, str(backlog), Compare.AT_LEAST, "input queue of the processor, packets")
    item = Item("queues", f"{backlog} packets", reason, formula, Confidence.MEDIUM)
    return Piece(item, sender=(both, *_output(sender, rate)), receiver=(both,))


def input_queue(rate: float) -> int:
    """Packets that may wait for a processor, at a rate in bits/s."""
    packets, at = REFERENCE
    return round(min(MOST, max(LEAST, packets * (rate / at))))


def _output(sender: HostFacts, rate: float) -> tuple[Setting, ...]:
    if sender.interface is None or not sender.interface.discipline.startswith("pfifo"):
        return ()
    packets = round(min(MOST_OUTPUT, max(LEAST, OUTPUT_PER_GBPS * (rate / 1e9))))
    return (
        Setting("interface", "queue", str(packets), Compare.AT_LEAST, "txqueuelen, which bounds pfifo_fast"),
    )
