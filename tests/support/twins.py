"""Two brokers side by side: one as it is, one that remembers nothing and looks at every flow.

Both are given every event and must want the very same: shortcuts change no decision, no record, no order.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from adon.broker.broker import Broker
from adon.broker.effects import Answer, Effect
from adon.broker.events import Event
from adon.broker.flow import Flow
from adon.broker.memo import Memo
from adon.broker.queueing.line import FIRST
from adon.broker.queueing.queue_round import Serving
from adon.broker.queueing.refusal import Refusal
from adon.broker.queueing.trial_order import Turns
from adon.broker.register import Ends
from adon.broker.watch import Watch
from adon.errors import AdonError
from measurement.model import PathKey


class Forgetful(Memo):
    """Works everything out anew."""

    def survey(self, *about: Any) -> Any:
        self._kept.clear()
        return super().survey(*about)


class Thorough(Watch):
    """Thinks every flow uneasy."""

    def uneasy(self, ends: Ends, now: float, measured: PathKey | None) -> Iterator[Flow]:
        yield from self._world.flows.going(ends)

    def look_ahead(self, now: float) -> None:
        """There is nothing to prepare."""


class EveryTurn(Turns):
    """Thinks that no refusal holds: every flow is tried, and looked at again before it is told anything."""

    def holds(self, refusal: Refusal, ends: Ends) -> bool:
        return False


class Tireless(Serving):
    """Tries everybody in line."""

    def turns(self, event: Event) -> Turns:
        cursor = FIRST if self._cursor is None else self._cursor
        return EveryTurn(self._world, event, cursor, {})


class Twins:
    """Takes the place of a broker; whatever else is asked, the one under test answers."""

    def __init__(self, *about: Any, **more: Any) -> None:
        self.one, self.other = Broker(*about, **more), Broker(*about, **more)
        self.other.world.memo = Forgetful()
        self.other._watch = Thorough(self.other.world)
        placing = self.other._placing
        placing._serving = Tireless(self.other.world, placing._attempt, placing._look, placing._enqueue)

    @property
    def both(self) -> tuple[Broker, Broker]:
        """The two brokers."""
        return self.one, self.other

    def __getattr__(self, name: str) -> Any:
        return getattr(self.one, name)

    def handle(self, event: Event) -> list[Effect]:
        effects, expected = self.one.handle(event), self.other.handle(event)
        if [_comparable(effect) for effect in effects] != [_comparable(effect) for effect in expected]:
            raise AssertionError(f"{event}: {_difference(effects, expected)}")
        return effects


def _comparable(effect: Effect) -> object:
    """Two exceptions are never equal, whatever they say."""
    if isinstance(effect, Answer) and isinstance(effect.value, AdonError):
        return effect.cause, effect.command, str(effect.value)
    return effect


def _difference(effects: list[Effect], expected: list[Effect]) -> str:
    wanted, known = (
        [f"{type(effect).__name__} {getattr(effect, 'text', '')}" for effect in found]
        for found in (effects, expected)
    )
    return "\n".join(difflib.unified_diff(known, wanted, "without shortcuts", "with them", n=0))
