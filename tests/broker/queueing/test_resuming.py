"""A flow that was displaced comes back when there is room, with what is left of it."""

from __future__ import annotations

from typing import Any

from adon.broker.flow import FlowState
from tests.support.network_factories import make_configuration
from tests.support.stage import Stage, know, make_stage

BOUND: dict[str, Any] = {"qspec": {"throughput": {"min": "6 Mbps"}}}
SEVEN: dict[str, Any] = {"qspec": {"throughput": {"min": "7 Mbps"}}}


def displaced(**policy: Any) -> tuple[Stage, Any, Any]:
    """A low flow of 1 GB has moved 400 MB when a high one takes its place, and finds no other path."""
    stage = make_stage(make_configuration(**policy), internet=2.0)
    low = stage.submit("neuroblastoma", priority=100, streams=12, size="1 GB", **BOUND)
    stage.report(low, "progress", 400_000_000)
    stage.pass_time(20)
    know(stage, al2s=4.5, internet=2.0)
    high = stage.submit("neuroblastoma", priority=900, size="100 MB", **SEVEN)
    return stage, stage.flow(low), stage.flow(high)


def test_it_waits_with_what_is_left_and_comes_back_with_it() -> None:
    stage, low, high = displaced()
    assert (low.state, low.path, high.path) == (FlowState.QUEUED, None, "al2s")
    assert low.left == 600_000_000
    stage.report(high)
    stage.pass_time(5)
    know(stage, al2s=58.0)
    back = stage.flow(low)
    assert (back.state, back.path, back.left) == (FlowState.ACTIVE, "al2s", 600_000_000)


def test_it_keeps_its_place_among_those_of_its_priority() -> None:
    stage, low, _ = displaced()
    later = stage.submit(priority=100, **BOUND)
    assert later.state is FlowState.QUEUED
    assert stage.queue_order() == [low.number, later.number]


def test_what_was_moved_before_a_restart_counts_after_it() -> None:
    stage, low, _ = displaced()
    stage.restart()
    assert stage.flow(low).left == 600_000_000


def test_who_has_been_there_long_enough_does_not_lose_its_place_any_more() -> None:
    """One step of priority is worth one aging: nobody is displaced again and again by ever newer flows."""
    stage = make_stage(make_configuration(aging=1.0), internet=2.0)
    low = stage.submit(priority=890, streams=12, size="1 GB", **BOUND)
    stage.pass_time(20)
    know(stage, al2s=4.5, internet=2.0)
    high = stage.submit(priority=900)
    assert stage.flow(low).path == "al2s"
    assert high.state is FlowState.QUEUED
    assert stage.submit(priority=920).path == "al2s"
    assert stage.flow(low).state is FlowState.QUEUED
