"""What triggers did to a flow: part of the flow, saved and restored with it."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Fired:
    """The last time a trigger fired.

    :param count: how often it fired for this flow.
    :param on: its condition was not over since.
    :param text: what was seen and what was done, in words.
    """

    trigger: str
    at: float
    value: float
    count: int = 1
    on: bool = True
    text: str = ""


@dataclass(frozen=True, slots=True)
class Knob:
    """Something that triggers turn up and down.

    :param way: the way it was turned last, 1 or -1.
    :param rest: seconds after ``turned_at`` in which it is not turned back.
    """

    name: str
    way: int
    turned_at: float
    rest: float


@dataclass(frozen=True, slots=True)
class Triggered:
    """All of one flow.

    :param priority: added to the priority that was asked.
    """

    fired: tuple[Fired, ...] = ()
    knobs: tuple[Knob, ...] = ()
    priority: int = 0

    def last(self, trigger: str) -> Fired | None:
        """The last time that a trigger fired; None if it never did."""
        return next((one for one in self.fired if one.trigger == trigger), None)

    def knob(self, name: str) -> Knob | None:
        """A knob as it was turned last; None if it never was."""
        return next((one for one in self.knobs if one.name == name), None)

    def noting(self, fired: Fired) -> Triggered:
        """With a trigger's record in the place of the one before."""
        others = tuple(one for one in self.fired if one.trigger != fired.trigger)
        return replace(self, fired=(*others, fired))

    def turning(self, knob: Knob) -> Triggered:
        """With a knob as it stands now."""
        return replace(self, knobs=(*(one for one in self.knobs if one.name != knob.name), knob))


NOTHING = Triggered()
"""No trigger has fired."""
