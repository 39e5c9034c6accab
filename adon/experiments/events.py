"""What happens to the network and to the controller while flows run."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from adon.experiments.parts import Moment, Name, NodeName, Part
from adon.experiments.workload import Streams
from adon.units import Duration, Rate, Ratio


class Load(Part):
    """Traffic that nobody asked for: TCP streams that take what they get, or UDP at a rate.

    :param path: the transit path that it takes.
    :param rate: bits/s of UDP; without it it is ``streams`` TCP connections.
    :param lasts: seconds (``for``); until the trial's end if neither this nor ``until`` is said.
    :param origin: the site that sends (``from``); the path's first end if it is not said.
    """

    path: NodeName
    streams: Streams | None = None
    rate: Rate | None = None
    lasts: Duration | None = Field(default=None, alias="for")
    until: Moment | None = None
    origin: NodeName | None = Field(default=None, alias="from")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.streams is None) == (self.rate is None):
            raise ValueError("streams: say either how many TCP streams, or a rate of UDP (rate)")
        if self.rate == 0:
            raise ValueError("rate: must be above zero")
        _check_end(self)
        return self


class LinkChange(Part):
    """A link is cut, mended, or given another quality; what is not said stays.

    :param name: of a link; or
    :param path: of a transit path: its narrowest link is meant.
    :param lasts: seconds (``for``) after which it is as before; never if neither this nor ``until`` is said.
    """

    name: NodeName | None = None
    path: NodeName | None = None
    state: Literal["up", "down"] | None = None
    rate: Rate | None = None
    delay: Duration | None = None
    loss: Ratio | None = None
    lasts: Duration | None = Field(default=None, alias="for")
    until: Moment | None = None

    @field_validator("rate")
    @classmethod
    def _some(cls, value: float | None) -> float | None:
        if value == 0:
            raise ValueError("must be above zero; a link that carries nothing is down (state: down)")
        return value

    @model_validator(mode="after")
    def _changes(self) -> Self:
        if (self.name is None) == (self.path is None):
            raise ValueError("name: say either a link (name), or a path (path) whose narrowest link is meant")
        if self.state is None and self.rate is None and self.delay is None and self.loss is None:
            raise ValueError("state: nothing changes; say state, rate, delay or loss")
        _check_end(self)
        return self


def _check_end(part: Load | LinkChange) -> None:
    if part.lasts == 0:
        raise ValueError("for: must be above zero")
    if part.lasts is not None and part.until is not None:
        raise ValueError("until: there is an end already: for")


class Controller(StrEnum):
    """What is done to ADON's processes."""

    STOP = "stop"
    START = "start"
    KILL = "kill"


class Move(Part):
    """An order by hand: this flow takes that path."""

    flow: Name
    to: NodeName


class Event(Part):
    """Something that happens at a time; exactly one of load, link, controller and move.

    :param event: its name.
    :param at: seconds after the trial's beginning.
    """

    event: Name
    at: Duration | None = None
    after: Moment | None = None
    load: Load | None = None
    link: LinkChange | None = None
    controller: Controller | None = None
    move: Move | None = None
    absent: bool = False

    @property
    def name(self) -> str:
        """Its name."""
        return self.event

    @property
    def kind(self) -> str:
        """Which of the four it is."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def lasts(self) -> float | None:
        """Seconds until it is over; None if it is not over before the trial is."""
        part = self.load or self.link
        return None if part is None else part.lasts

    @property
    def until(self) -> Moment | None:
        """The moment at which it is over, if it is one."""
        part = self.load or self.link
        return None if part is None else part.until

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.at is None) == (self.after is None):
            raise ValueError("at: say either a time (at), or what it comes after (after)")
        given = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(given) != 1:
            raise ValueError(f"event: is exactly one of {', '.join(KINDS)}; this one has {len(given)}")
        return self


KINDS = ("load", "link", "controller", "move")


class LinkSetting(Part):
    """What a link, or a path's narrowest link, is like from the trial's beginning on; for ``links:``.

    What is not said is the network's.
    """

    rate: Rate | None = None
    delay: Duration | None = None
    loss: Ratio | None = None
