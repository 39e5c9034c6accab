"""Changes of a link that runs."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from adon.errors import InvalidInput, Problem
from mininet_topos.link_shape import LinkShape


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

    def of(self, shape: LinkShape, where: str) -> LinkShape:
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
        problems = [Problem(f"{where}.{attribute}", cause) for attribute, cause in changed.faults()]
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
