"""Rate, delay, loss and queue of one direction of a link, and the lines for ``tc -batch`` that set them.

What leaves by an interface is lost or delayed first (netem), then queued and sent at the rate (HTB with one
class, and a tail-drop queue in it)::

    1: netem (delay, loss) -- 2: htb (rate) -- 3: pfifo (queue)      without netem: 2: htb -- 3: pfifo

The other way round, with netem in HTB's class, its one limit would hold both the frames that wait and those
that are under way, and of these a burst brings more than rate times delay: frames would be lost that a real
queue takes.  A delay that is the same for all does not change what a queue sees, so that it comes first makes
no other difference.  netem is there wherever the kernel has it, even without a delay, so that a link can get
one while it runs and loses nothing by that.

Sources: tc-htb(8), tc-netem(8), tc-pfifo(8).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

MIN_RATE, MAX_RATE = 100_000.0, 1e9
"""Bits/s that a shaped link may have.  Below, one full frame takes more than 0.12 s; above, the userspace
datapath and two cores are the bottleneck and not the link."""

MAX_BUCKET = 1e9
MAX_DELAY = 1.0
MAX_QUEUE = 10_000

MTU = 1500
"""Bytes of the longest IP packet; jumbo frames are not emulated."""

ETHERNET_HEADER = 18
"""Bytes of a tagged frame's header."""

BURST_FRAMES = 4
"""Frames that HTB may send at once, so that the rate holds over a millisecond."""

BURST_TIME = 0.001
"""Seconds at the rate that HTB may send at once, where that is more: a kernel's timer that is late by so much
costs nothing."""

UNDER_WAY = 100_000
"""Frames that netem may hold: a second of full ones at 1 Gbit/s.  The queue, not the delay, loses frames."""

TRY_NETEM = ("qdisc add dev lo root netem delay 1ms", "qdisc del dev lo root")
"""Lines for ``tc -batch`` that fail where the kernel has no netem; for a network namespace of the testbed."""


@dataclass(frozen=True)
class LinkShape:
    """What may leave by an interface.

    :param rate: bits/s on the wire, with Ethernet headers, as Linux ``tc`` counts.
    :param queue: frames that may wait at the bottleneck (tail drop).
    :param delay: one-way propagation delay in seconds; only where the machine has netem.
    :param loss: share of packets lost at random, 0..1; only where the machine has netem.
    :param peak: bits/s while the token bucket is not empty; None if as fast as ``rate``.
    :param bucket: bytes that the token bucket holds above ``rate``.
    """

    rate: float
    queue: int
    delay: float = 0.0
    loss: float = 0.0
    peak: float | None = None
    bucket: float = 0.0

    def faults(self) -> Iterator[tuple[str, str]]:
        """Each attribute that cannot be built, with the cause."""
        if not MIN_RATE <= self.rate <= MAX_RATE:
            bounds = f"{MIN_RATE / 1e6:g} to {MAX_RATE / 1e6:g} Mbit/s"
            yield "rate", f"{self.rate / 1e6:.6g} Mbit/s as built is out of range; expected {bounds}"
        if self.peak is not None and not self.rate < self.peak <= MAX_RATE:
            yield "peak", f"{self.peak / 1e6:.6g} Mbit/s is out of range; expected more than the rate"
        if (self.peak is None) != (self.bucket == 0) or not 0 <= self.bucket <= MAX_BUCKET:
            yield "bucket", f"{self.bucket:g} bytes; expected up to {MAX_BUCKET:g} with a peak, else 0"
        if not 1 <= self.queue <= MAX_QUEUE:
            yield "queue", f"{self.queue} frames is out of range; expected 1 to {MAX_QUEUE}"
        if not 0 <= self.delay <= MAX_DELAY:
            yield "delay", f"{self.delay:g} s is out of range; expected 0 to {MAX_DELAY:g} s"
        if not 0 <= self.loss < 1:
            yield "loss", f"{self.loss:g} is out of range; expected a ratio from 0 to below 1"


def tc_lines(interface: str, shape: LinkShape, *, netem: bool, change: bool = False) -> tuple[str, ...]:
    """Lines for ``tc -batch`` that give an interface its shape.

    :param netem: whether the kernel has netem; without it delay and loss are left out.
    :param change: whether the interface has a shape; no frame is lost by its change.
    """
    verb = "change" if change else "add"
    parent = "root" if change or not netem else "parent 1:1"
    peak = shape.peak or shape.rate
    burst, peak_burst = (max(BURST_FRAMES * MTU, round(BURST_TIME * rate / 8)) for rate in (shape.rate, peak))
    # With one class the quantum decides nothing; without one the kernel complains of its own guess.
    quantum = MTU + ETHERNET_HEADER
    bursts = f"burst {max(burst, round(shape.bucket))} cburst {peak_burst}"
    htb = f"htb rate {round(shape.rate)}bit ceil {round(peak)}bit {bursts} quantum {quantum}"
    return (
        *((f"qdisc {verb} dev {interface} root handle 1: {_netem(shape)}",) if netem else ()),
        *(() if change else (f"qdisc add dev {interface} {parent} handle 2: htb default 1",)),
        f"class {verb} dev {interface} parent 2: classid 2:1 {htb}",
        f"qdisc {verb} dev {interface} parent 2:1 handle 3: pfifo limit {shape.queue}",
    )


def _netem(shape: LinkShape) -> str:
    words = f"netem limit {UNDER_WAY}"
    if shape.delay > 0:
        words += f" delay {round(shape.delay * 1e6)}us"
    if shape.loss > 0:
        words += f" loss random {100 * shape.loss:.7f}%"
    return words
