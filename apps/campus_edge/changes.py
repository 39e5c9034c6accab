"""Flows that changed and decisions that were made, as the web side is told of them for its event stream.

Small messages of what is at hand, after everything else of an event: the switches have theirs by then.
All changes of one event go together, in pieces, since a peer may have only so many messages waiting.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adon.broker.effects import Effect, SaveDecision, SaveFlow
from adon.broker.events import Event
from adon.broker.flow import Flow

MOST_TOGETHER = 500
"""Changes in one message, which must stay far below the longest line of the link."""

Shown = tuple[str, str | None, str, str]


class Changes:
    """Remembers of each flow that has not ended what was told last: a counter that was read is no change."""

    def __init__(self) -> None:
        self._told: dict[int, Shown] = {}

    def of(self, event: Event, effects: Iterable[Effect]) -> Iterator[dict[str, object]]:
        """The messages about one event; none if nothing has changed."""
        flows: list[dict[str, object]] = []
        decisions: list[dict[str, object]] = []
        for effect in effects:
            if isinstance(effect, SaveFlow) and self._new(effect.flow):
                flows.append(_flow(effect.flow))
            elif isinstance(effect, SaveDecision):
                made = effect.decision
                told = {"decision": made.id, "flow": made.flow, "outcome": made.outcome.value}
                decisions.append({**told, "code": made.code, "path": made.path})
        for start in range(0, max(len(flows), len(decisions)), MOST_TOGETHER):
            piece = slice(start, start + MOST_TOGETHER)
            yield {
                "at": event.at,
                "cause": event.id,
                "flows": flows[piece],
                "decisions": decisions[piece],
            }

    def _new(self, flow: Flow) -> bool:
        shown = (flow.state.value, flow.path, flow.quality.value, flow.reason)
        if self._told.get(flow.number) == shown:
            return False
        if flow.state.final:
            self._told.pop(flow.number, None)
        else:
            self._told[flow.number] = shown
        return True


def _flow(flow: Flow) -> dict[str, object]:
    return {
        "flow": flow.id,
        "requester": flow.requester,
        "state": flow.state.value,
        "path": flow.path,
        "quality": flow.quality.value,
    }
