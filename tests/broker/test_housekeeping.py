from __future__ import annotations

import pytest

from adon.broker.effects import QuietPaths, ReadCounters, ReadRules, WakeAt
from adon.broker.events import SnapshotAsked, Tick
from adon.broker.housekeeping import CLOCK_SLACK_S, Housekeeping
from adon.broker.placing import Placing
from tests.broker.stage import MU_EDGE, OSU_EDGE, Stage, configuration, ready

SIX = {"qspec": {"throughput": {"min": "6 Mbps"}}}


def keeping(stage: Stage) -> Housekeeping:
    return Housekeeping(stage.broker.world, Placing(stage.broker.world))


def tick(at: float) -> Tick:
    return Tick("e9", at)


def read(
    housekeeping: Housekeeping, at: float, kind: type[ReadRules] | type[ReadCounters] = ReadRules
) -> list[int]:
    return [effect.dpid for effect in housekeeping.tick(tick(at)) if isinstance(effect, kind)]


def test_switches_are_compared_every_so_often_and_counters_read_between_while_a_flow_runs() -> None:
    both = [MU_EDGE, OSU_EDGE]
    for busy in (False, True):
        stage = ready()
        if busy:
            stage.submit()
        housekeeping, now = keeping(stage), stage.now
        assert read(housekeeping, now) == both
        assert read(housekeeping, now + 4.5, ReadCounters) == []
        assert read(housekeeping, now + 5.0, ReadCounters) == (both if busy else [])
        assert read(housekeeping, now + 59.5) == []
        assert read(housekeeping, now + 60.0) == both


def test_a_wake_is_asked_for_once_but_again_after_each_tick() -> None:
    stage = ready()
    housekeeping, now = keeping(stage), stage.now
    assert read(housekeeping, now) != []
    due = [WakeAt("e9", now + 60.0)]
    assert housekeeping.next_wake(tick(now)) == due
    assert housekeeping.next_wake(SnapshotAsked("e9", now, "c")) == []
    assert housekeeping.next_wake(tick(now)) == due


def test_the_end_of_a_hold_off_is_waited_for_and_then_forgotten() -> None:
    stage = ready(configuration(failed_path_holdoff=7.0))
    housekeeping, now, world = keeping(stage), stage.now, stage.broker.world
    read(housekeeping, now)
    world.shun("al2s", "table full", now)
    assert housekeeping.next_wake(tick(now)) == [WakeAt("e9", now + 7.0)]
    housekeeping.tick(tick(now + 6.5))
    assert "al2s" in world.shunned
    housekeeping.tick(tick(now + 7.0))
    assert world.shunned == {}


@pytest.mark.parametrize(("share", "expected"), [(0.5, {"internet"}), (0.9, set()), (None, set())])
def test_a_path_is_quiet_above_the_allowed_share(share: float | None, expected: set[str]) -> None:
    """6 of 6.8 Mbit/s are 88 %."""
    stage = ready(configuration(no_test_above_reserved=share), al2s=1.0)
    assert stage.submit(**SIX).path == "internet"
    assert stage.broker.quiet == expected
    stage.broker.world.quiet = frozenset()
    said = keeping(stage).quiet_paths(tick(stage.now))
    assert said == ([QuietPaths("e9", frozenset(expected))] if expected else [])


@pytest.mark.parametrize(("by", "shifted"), [(CLOCK_SLACK_S, 0.0), (CLOCK_SLACK_S + 1, CLOCK_SLACK_S + 1)])
def test_a_clock_set_back_shifts_what_waits_but_disorder_does_not(by: float, shifted: float) -> None:
    stage = ready()
    housekeeping, now, world = keeping(stage), stage.now, stage.broker.world
    housekeeping.mind_the_clock(now)
    world.shun("al2s", "table full", now)
    performance = world.performance
    housekeeping.mind_the_clock(now - by)
    assert world.shunned["al2s"][0] == now + 30.0 - shifted
    assert (world.performance is performance) == (shifted == 0.0)
