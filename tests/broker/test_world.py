from __future__ import annotations

import pytest

from adon.broker.world import MIN_HOLDOFF_S
from tests.broker.stage import configuration, ready


@pytest.mark.parametrize(("holdoff", "expected"), [(30.0, 30.0), (0.0, MIN_HOLDOFF_S)])
def test_a_path_is_shunned_for_the_hold_off_but_never_for_no_time(holdoff: float, expected: float) -> None:
    world = ready(configuration(failed_path_holdoff=holdoff)).broker.world
    world.shun("al2s", "table full", 100.0)
    until, why = world.shunned["al2s"]
    assert until == 100.0 + expected
    assert why.endswith(": table full")


def test_what_had_no_path_leaves_none_to_shun() -> None:
    world = ready().broker.world
    world.shun(None, "table full", 100.0)
    assert world.shunned == {}


def test_the_queue_holds_who_waits_and_nobody_else() -> None:
    stage = ready(al2s=0.5, internet=6.5)
    running = stage.submit(qspec={"throughput": {"min": "6 Mbps"}})
    low, high = stage.submit(priority=1), stage.submit(priority=9)
    assert running.path == "internet"
    assert [flow.number for flow in stage.broker.world.queue()] == [high.number, low.number]
