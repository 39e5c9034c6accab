"""What the web side is told of flows and decisions: each change once, and never too much at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from adon.broker.decision import Outcome
from adon.broker.effects import Effect, SaveDecision, SaveFlow
from adon.broker.events import Tick
from adon.broker.flow import Flow, FlowState, Quality
from apps.campus_edge.changes import MOST_TOGETHER, Changes
from apps.link import MAX_LINE, encode
from tests.store.values import a_decision, a_flow

EVENT = Tick("e-7", 12.5)


def told(changes: Changes, *saved: Flow | Effect) -> list[dict[str, Any]]:
    effects = [SaveFlow("e-7", one) if isinstance(one, Flow) else one for one in saved]
    return [dict(message) for message in changes.of(EVENT, effects)]


def test_one_event_is_one_message_of_all_that_changed() -> None:
    decision = a_decision("d-1", flow="f-1", outcome=Outcome.ADMIT, path="al2s")
    (message,) = told(Changes(), a_flow(1), SaveDecision("e-7", decision), a_flow(2))
    assert (message["at"], message["cause"]) == (12.5, "e-7")
    assert [flow["flow"] for flow in message["flows"]] == ["f-1", "f-2"]
    assert message["flows"][0].keys() == {"flow", "requester", "state", "path", "quality"}
    assert message["decisions"] == [{"decision": "d-1", "flow": "f-1", "outcome": "admit", "path": "al2s"}]


def test_an_event_that_changes_nothing_tells_nothing() -> None:
    assert told(Changes()) == []


@pytest.mark.parametrize(
    "change",
    [
        {"state": FlowState.QUEUED},
        {"path": "internet"},
        {"quality": Quality.DEGRADED},
        {"reason": "another"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_people_see_of_a_flow_is_told_when_it_changes(change: dict[str, Any]) -> None:
    changes, before = Changes(), a_flow(1)
    told(changes, before)
    assert told(changes, before) == []
    (message,) = told(changes, replace(before, **change))
    (flow,) = message["flows"]
    assert all(flow[name] == value for name, value in change.items() if name in flow)


def test_a_counter_that_was_read_is_no_change() -> None:
    changes, before = Changes(), a_flow(1)
    told(changes, before)
    assert told(changes, replace(before, bytes_reported=5)) == []


def test_a_flow_that_has_ended_is_forgotten() -> None:
    changes = Changes()
    for number in range(3):
        told(changes, a_flow(number + 1), replace(a_flow(number + 1), state=FlowState.FINISHED))
    assert changes._told == {}


def test_many_changes_go_in_pieces_that_the_link_takes() -> None:
    flows = [a_flow(number) for number in range(1, 2 * MOST_TOGETHER + 2)]
    decisions = [SaveDecision("e-7", a_decision(f"d-{number}")) for number in range(MOST_TOGETHER + 1)]
    messages = told(Changes(), *flows, *decisions)
    assert [len(one["flows"]) for one in messages] == [MOST_TOGETHER, MOST_TOGETHER, 1]
    assert [len(one["decisions"]) for one in messages] == [MOST_TOGETHER, 1, 0]
    assert all(len(encode("changed", one)) < MAX_LINE / 4 for one in messages)
    assert [flow["flow"] for one in messages for flow in one["flows"]] == [flow.id for flow in flows]
