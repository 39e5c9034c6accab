"""Forecasts of flows that share a path."""

from __future__ import annotations

import pytest

from adon.broker.flow import Flow
from tests.support.network_factories import make_configuration
from tests.support.stage import Stage, know, make_stage

SIZE = 100_000_000


def without_sites() -> Stage:
    return make_stage(make_configuration().model_copy(update={"compute": {}}), internet=0)


def expected(flow: Flow) -> float:
    assert flow.diary.forecast is not None
    return flow.diary.forecast.expected


def test_those_beside_it_leave() -> None:
    """Twice as long as alone: the other one is as large and began at the same time."""
    stage = without_sites()
    first, second = stage.submit(), stage.submit()
    assert expected(second) == pytest.approx(2 * expected(first), rel=0.02)
    third = stage.submit()
    assert expected(third) == pytest.approx(3 * expected(first), rel=0.02)
    stage.report(first, "finished", SIZE)
    stage.report(third, "finished", SIZE)
    half = stage.submit(size="50 MB")
    assert expected(half) == pytest.approx(expected(first), rel=0.02), "both at half the rate"


def test_who_left_while_a_test_ran_was_beside_it() -> None:
    """A test of ten seconds beside one of ours: half of the path, and nobody else's."""
    stage = without_sites()
    alone = expected(stage.submit())
    stage.pass_time(20)
    stage.report(next(iter(stage.saved.flows.values())), "finished", SIZE)
    know(stage, al2s=29.0)
    later = stage.submit()
    assert expected(later) == pytest.approx(alone, rel=0.02)
