"""Rate, delay, loss and queue of one direction of a link, and the lines for ``tc -batch`` that set them.

An interface first loses or delays a packet (netem), then queues it and sends it at the rate (HTB with one
class, and a tail-drop queue in it)::

    1: netem (delay, loss) -- 2: htb (rate) -- 3: pfifo (queue)      without netem: 2: htb -- 3: pfifo

With netem inside HTB's class, one limit would hold the frames that wait and the frames on the way.  A burst
brings more of the latter than rate times delay, so frames would be lost that a real queue accepts.  A
constant delay before the queue does not change the queue.  If the kernel has netem, an interface has it even
without a delay: the link can then get a delay while it runs, and loses no frame.

Sources: tc-htb(8), tc-netem(8), tc-pfifo(8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

MIN_RATE, MAX_RATE = 100_000.0, 1e9
"""Bits/s of a shaped link.  Below, one full frame takes more than 0.12 s; above, the userspace datapath on
two cores is the bottleneck."""

MAX_DELAY = 1.0
MAX_QUEUE = 10_000

MTU = 1500
"""Bytes of the longest IP packet; jumbo frames are not emulated."""

ETHERNET_HEADER = 18
"""Bytes of a tagged frame's header."""

BURST_FRAMES = 4
"""Frames that HTB may send at once, so that the rate holds over a millisecond."""

BURST_TIME = 0.001
"""Seconds at the rate that HTB may send at once, if that is more than the frames: the delay of a kernel timer
that costs no throughput."""

UNDER_WAY = 100_000
"""Frames that netem may hold: one second of full frames at 1 Gbit/s, so that only the queue loses frames."""

TRY_NETEM = ("qdisc add dev lo root netem delay 1ms", "qdisc del dev lo root")
"""Lines for ``tc -batch`` that fail where the kernel has no netem; for a network namespace of the testbed."""


@dataclass(frozen=True)
class LinkShape:
    """Limits of the packets that leave by an interface.

    :param rate: bits/s on the wire, with Ethernet headers, as Linux ``tc`` counts.
    :param queue: frames that may wait at the bottleneck (tail drop).
    :param delay: one-way propagation delay in seconds; only where the machine has netem.
    :param loss: share of packets lost at random, 0..1; only where the machine has netem.
    """

    rate: float
    queue: int
    delay: float = 0.0
    loss: float = 0.0

    def faults(self) -> Iterator[tuple[str, str]]:
        """Yield each attribute that cannot be built, with the cause."""
        if not MIN_RATE <= self.rate <= MAX_RATE:
            bounds = f"{MIN_RATE / 1e6:g} to {MAX_RATE / 1e6:g} Mbit/s"
            yield "rate", f"{self.rate / 1e6:.6g} Mbit/s as built is out of range; expected {bounds}"
        if not 1 <= self.queue <= MAX_QUEUE:
            yield "queue", f"{self.queue} frames is out of range; expected 1 to {MAX_QUEUE}"
        if not 0 <= self.delay <= MAX_DELAY:
            yield "delay", f"{self.delay:g} s is out of range; expected 0 to {MAX_DELAY:g} s"
        if not 0 <= self.loss < 1:
            yield "loss", f"{self.loss:g} is out of range; expected a ratio from 0 to below 1"


def tc_lines(interface: str, shape: LinkShape, *, netem: bool, change: bool = False) -> tuple[str, ...]:
    """Return the lines for ``tc -batch`` that give an interface its shape.

    :param netem: whether the kernel has netem; without it delay and loss are left out.
    :param change: whether the interface has a shape; no frame is lost by its change.
    """
    verb = "change" if change else "add"
    parent = "root" if change or not netem else "parent 1:1"
    rate, burst = round(shape.rate), max(BURST_FRAMES * MTU, round(BURST_TIME * shape.rate / 8))
    # With one class the quantum has no effect; without a quantum the kernel logs a warning.
    quantum = MTU + ETHERNET_HEADER
    htb = f"htb rate {rate}bit ceil {rate}bit burst {burst} cburst {burst} quantum {quantum}"
    return (
        *((f"qdisc {verb} dev {interface} root handle 1: {_netem(shape)}",) if netem else ()),
        *(() if change else (f"qdisc add dev {interface} {parent} handle 2: htb default 1",)),
        f"class {verb} dev {interface} parent 2: classid 2:1 {htb}",
        f"qdisc {verb} dev {interface} parent 2:1 handle 3: pfifo limit {shape.queue}",
    )


def _netem(shape: LinkShape) -> str:
    delay = f" delay {round(shape.delay * 1e6)}us" if shape.delay > 0 else ""
    loss = f" loss random {100 * shape.loss:.7f}%" if shape.loss > 0 else ""
    return f"netem limit {UNDER_WAY}{delay}{loss}"
