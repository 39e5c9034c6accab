"""What a link's shape is to ``tc``: lines for ``tc -batch``, as functions of the shape.

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

from dataclasses import dataclass, fields, replace

from adon.errors import InvalidInput
from mininet_topos.emulation import Emulation
from mininet_topos.topology import MAX_MTU, Shape

NETEM, HTB, QUEUE = "1:", "2:", "3:"
"""Handles of the three."""

CLASS = f"{HTB}1"
ETHERNET_HEADER = 18
"""Bytes of a tagged frame's header."""

BURST_FRAMES = 4
"""Frames that HTB may send at once, so that the rate holds over a millisecond."""

BURST_TIME = 0.001
"""Seconds at the rate that HTB may send at once, where that is more: a kernel's timer that is late by so much
costs nothing."""

UNDER_WAY = 100_000
"""Frames that netem may hold: a second of full ones at 1 Gbit/s.  The queue, not the delay, loses frames."""


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be different about a link that runs; None leaves it as it is.

    :param rate: bits/s on the wire.
    :param delay: seconds, one way.
    :param loss: share of the packets, 0..1.
    """

    up: bool | None = None
    rate: float | None = None
    delay: float | None = None
    loss: float | None = None

    def of(self, shape: Shape, where: str) -> Shape:
        """The shape as it is to be.

        :param where: what messages call it.
        :raises InvalidInput: if that cannot be built.
        """
        changed = replace(
            shape,
            rate=shape.rate if self.rate is None else self.rate,
            delay=shape.delay if self.delay is None else self.delay,
            loss=shape.loss if self.loss is None else self.loss,
        )
        problems = list(changed.problems(where))
        if problems:
            raise InvalidInput(problems)
        return changed

    @property
    def shapes(self) -> bool:
        """Whether anything but up or down is asked for."""
        return any(value is not None for value in (self.rate, self.delay, self.loss))

    def over(self, before: Change) -> Change:
        """What a link is like that was so before, and is changed by this."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        return replace(before, **{name: value for name, value in own.items() if value is not None})

    def undone(self, before: Change) -> Change:
        """What makes a link again what it was before it was changed by this."""
        same = {one.name: None for one in fields(self) if getattr(self, one.name) is None}
        return replace(before, **same)

    def unlike(self, before: Change) -> Change:
        """What of this is to be changed about a link that was so before; what it has already is left out."""
        names = (one.name for one in fields(self))
        same = {name: None for name in names if getattr(self, name) == getattr(before, name)}
        return replace(self, **same)

    def __str__(self) -> str:
        parts = [] if self.up is None else ["up" if self.up else "down"]
        parts += [] if self.rate is None else [f"{self.rate / 1e6:g} Mbit/s"]
        parts += [] if self.delay is None else [f"delay {self.delay * 1e3:g} ms"]
        parts += [] if self.loss is None else [f"loss {self.loss:.3%}"]
        return ", ".join(parts)


def built(interface: str, shape: Shape, emulated_by: Emulation) -> tuple[str, ...]:
    """The lines that give an interface its shape."""
    parent = f"parent {NETEM}1" if emulated_by.netem else "root"
    delayed = f"qdisc add dev {interface} root handle {NETEM} {_netem(shape)}"
    return (
        *((delayed,) if emulated_by.netem else ()),
        f"qdisc add dev {interface} {parent} handle {HTB} htb default 1",
        f"class add dev {interface} parent {HTB} classid {CLASS} {_htb(shape)}",
        f"qdisc add dev {interface} parent {CLASS} handle {QUEUE} pfifo limit {shape.queue}",
    )


def changed(interface: str, shape: Shape, emulated_by: Emulation) -> tuple[str, ...]:
    """The lines that give an interface, which has one, another shape; no frame is lost by that."""
    delayed = f"qdisc change dev {interface} root handle {NETEM} {_netem(shape)}"
    return (
        *((delayed,) if emulated_by.netem else ()),
        f"class change dev {interface} parent {HTB} classid {CLASS} {_htb(shape)}",
        f"qdisc change dev {interface} parent {CLASS} handle {QUEUE} pfifo limit {shape.queue}",
    )


def _netem(shape: Shape) -> str:
    words = f"netem limit {UNDER_WAY}"
    if shape.delay > 0:
        words += f" delay {round(shape.delay * 1e6)}us"
    if shape.loss > 0:
        words += f" loss random {100 * shape.loss:.7f}%"
    return words


def _htb(shape: Shape) -> str:
    rate = f"{round(shape.rate)}bit"
    burst = max(BURST_FRAMES * shape.mtu, round(BURST_TIME * shape.rate / 8))
    # With one class the quantum decides nothing; without one the kernel complains of its own guess.
    quantum = MAX_MTU + ETHERNET_HEADER
    return f"htb rate {rate} ceil {rate} burst {burst} cburst {burst} quantum {quantum}"
