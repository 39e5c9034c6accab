"""What was answered: a model that reads each answer, and refuses those that contradict each other.

A contradiction names both answers; which of them is wrong only the person can say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from adon.errors import InvalidFields
from adon.templates_catalog.model import Name, Ports, Value
from adon.templates_catalog.questionnaire.words import (
    ANY,
    COUNTS,
    LOSS,
    MOVES,
    RESPONSE,
    STEADINESS,
    URGENCY,
)
from adon.units import Duration, Rate, Ratio, Size, format_duration, format_rate, format_size

HEADROOM = 0.05
"""No transfer begins at its full rate: so much more is asked than amount over time (spec section 11)."""

Counts = Annotated[str, BeforeValidator(COUNTS.read)]


def _ranking(value: object) -> object:
    # One that stands alone is a group of one; tuples, since pydantic's strict mode takes no list for one.
    if not isinstance(value, list | tuple):
        return value
    return tuple(tuple(place) if isinstance(place, list | tuple) else (place,) for place in value)


Ranking = Annotated[
    tuple[Annotated[tuple[Counts, ...], Field(min_length=1)], ...],
    BeforeValidator(_ranking),
    Field(min_length=1),
]
"""What counts, the most important first; what counts the same stands together."""


class Answers(Value):
    """One filled-in survey; what was left out was not asked for.

    :param kind: ``transfer``, an amount that is to be there in a time, or ``session``, a rate while it lasts.
    :param rate: what one transfer or session needs by its own account.
    :param fastest: the most that its hosts can send, receive or store.
    :param sessions: how many there are at once.
    :param parallel: streams that its tool opens for one transfer.
    :param analysed: whether jobs work on the data that ADON may place.
    :param result_share: size of the result over that of the raw data.
    :param result_home: whether the result must come back to where the data was.
    :param waits: how long a request may stand in the queue.
    """

    application: Name
    title: Annotated[str, Field(max_length=200)] = ""
    purpose: Annotated[str, Field(max_length=2000)] = ""
    kind: Literal["transfer", "session"]
    amount: Size | None = None
    within: Duration | None = None
    rate: Rate | None = None
    fastest: Rate | None = None
    sessions: int = Field(default=1, ge=1, le=100_000)
    loss: Annotated[str, BeforeValidator(LOSS.read)] = ANY
    response: Annotated[str, BeforeValidator(RESPONSE.read)] = ANY
    steadiness: Annotated[str, BeforeValidator(STEADINESS.read)] = ANY
    counts: Ranking
    urgency: Annotated[str, BeforeValidator(URGENCY.read)] = "normal"
    moves: Annotated[str, BeforeValidator(MOVES.read)] = "any time"
    waits: Duration | None = None
    transport: Literal["tcp", "udp"] = "tcp"
    parallel: int = Field(default=1, ge=1, le=128)
    ports: Ports = ()
    dscp: Annotated[int, Field(ge=0, le=63)] | None = None
    analysed: bool = False
    nodes: int | None = Field(default=None, ge=1, le=100_000)
    cores: int | None = Field(default=None, ge=1, le=1_000_000)
    memory: Size | None = None
    saves: Literal["time", "money", "both"] | None = None
    result_share: Ratio | None = None
    result_home: bool | None = None
    storage: Size | None = None
    software: tuple[Annotated[str, StringConstraints(pattern=r"^[ -~]{1,200}$")], ...] = ()
    sites: tuple[Name, ...] = ()

    @model_validator(mode="after")
    def _complete(self) -> Self:
        # What is missing comes first: without it there is nothing yet that could contradict.
        wrong = list(_missing(self)) or list(_contradictions(self))
        if wrong:
            raise InvalidFields(wrong)
        return self

    @property
    def pace(self) -> float | None:
        """Bits/s that amount and time come to; None unless both are answered."""
        if self.amount is None or self.within is None:
            return None
        return self.amount * 8 / self.within

    @property
    def needed(self) -> float:
        """Bits/s that one transfer or session needs."""
        if self.rate is not None:
            return self.rate
        return rounded_up((self.pace or 0.0) * (1 + HEADROOM))


def rounded_up(rate: float) -> float:
    """The next rate with two digits that is not below: 667 becomes 670.

    :param rate: above zero.
    """
    digits = len(str(int(rate)))
    step = 10.0 ** max(0, digits - 2)
    whole = -(-rate // step)
    # A hair above a round number is that number: 25 GB in 300 s and 5 % are 700 Mbps.
    return float((whole - 1) * step if rate - (whole - 1) * step < 1e-9 * rate else whole * step)


def _missing(a: Answers) -> Iterator[str]:
    if a.kind == "session" and a.rate is None:
        yield "rate: how much does one session send? (kind: session)"
    if a.kind == "transfer" and a.rate is None:
        for name in ("amount", "within"):
            if getattr(a, name) is None:
                yield f"{name}: how much must be there within which time, or which rate? (kind: transfer)"
    for name in ("amount", "within", "rate", "fastest"):
        value = getattr(a, name)
        if value is not None and value <= 0:
            yield f"{name}: must be above zero"


def _contradictions(a: Answers) -> Iterator[str]:
    yield from _of_rates(a)
    yield from _of_ranking(a)
    yield from _of_analysis(a)
    if a.transport == "udp" and a.parallel > 1:
        yield f"parallel: {a.parallel} streams contradict transport: udp, whose sessions have one"
    if a.urgency == "deadline" and a.waits is not None and a.within is not None and a.waits > a.within:
        yield (
            f"waits: {format_duration(a.waits)} in the queue contradict within: the data must be there in "
            f"{format_duration(a.within)}, and urgency says that there is a deadline"
        )


def _of_rates(a: Answers) -> Iterator[str]:
    pace = a.pace
    if a.kind == "session" and a.within is not None:
        yield "within: contradicts kind: a session goes on, nothing of it has to be there by a time"
    elif pace is not None and a.rate is not None and a.rate < pace:
        yield (
            f"rate: {format_rate(a.rate)} contradicts within: {format_size(a.amount or 0)} in "
            f"{format_duration(a.within or 0)} need {format_rate(pace)}"
        )
    if a.fastest is not None and a.needed > a.fastest:
        other, more = ("within", ", headroom included") if a.rate is None else ("rate", "")
        needed = format_rate(a.needed)
        yield f"fastest: {format_rate(a.fastest)} contradicts {other}, which needs {needed}{more}"


_BOUNDED_BY = {"no loss": "loss", "prompt answers": "response", "steadiness": "steadiness"}


def _of_ranking(a: Answers) -> Iterator[str]:
    ranked = [name for place in a.counts for name in place]
    for name in sorted({name for name in ranked if ranked.count(name) > 1}):
        yield f"counts: names {name!r} twice"
    for name, question in _BOUNDED_BY.items():
        if name in ranked and getattr(a, question) == ANY:
            yield f"counts: {name!r} contradicts {question}: {ANY}, which says that it does not matter"


def _of_analysis(a: Answers) -> Iterator[str]:
    if a.analysed:
        return
    for name in ("nodes", "cores", "memory", "saves", "result_share", "result_home"):
        if getattr(a, name) is not None:
            yield f"{name}: contradicts analysed: no job works on the data, so there is none that needs it"
