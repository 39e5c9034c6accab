"""Who shares a path with a newcomer, as a decision sees it; and what it makes of the forecast."""

from __future__ import annotations

import pytest

from adon.broker.company import MOST, company_of
from adon.broker.flow import Flow, FlowState
from adon.broker.forecasting.sharing import Beside, Coming, Company
from measurement.model import PathKey
from tests.broker.stage import Stage, configuration, know, ready

KEY = PathKey("al2s", "mu", "osu")
SIZE = 100_000_000


def without_sites() -> Stage:
    return ready(configuration().model_copy(update={"compute": {}}), internet=0)


def company(stage: Stage, flow: Flow) -> Company:
    world = stage.broker.world
    return company_of(world, flow, world.flows.need(flow), KEY, stage.now)


def expected(flow: Flow) -> float:
    assert flow.diary.forecast is not None
    return flow.diary.forecast.expected


def test_who_runs_there_and_what_was_left_when_it_was_counted() -> None:
    stage = without_sites()
    first = stage.submit()
    second = stage.submit()
    admitted = stage.now
    assert first.path == second.path == "al2s"
    stage.pass_time(3)
    (beside,) = company(stage, second).beside
    assert (beside.bits, beside.streams, beside.since) == (SIZE * 8.0, 1, admitted)
    assert beside.ago == pytest.approx(stage.now - admitted)


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
    stage.report(next(iter(stage.flows.values())), "finished", SIZE)
    know(stage, al2s=29.0)
    later = stage.submit()
    assert expected(later) == pytest.approx(alone, rel=0.02)


def test_who_waits_for_room_there_is_about_to_come() -> None:
    stage = without_sites()
    first = stage.submit(qspec={"throughput": {"min": "40 Mbps"}})
    waits = stage.submit(qspec={"throughput": {"min": "40 Mbps"}})
    assert (first.state, waits.state) == (FlowState.ACTIVE, FlowState.QUEUED)
    stage.pass_time(3)
    know(stage, al2s=29.0)
    assert company(stage, first).coming == (Coming(SIZE * 8.0, 1, 1, 40e6),)
    assert company(stage, waits).coming == ()


def test_of_a_crowd_the_later_ones_are_told_as_one() -> None:
    stage = without_sites()
    some = [stage.submit(size=f"{10 + n} MB", qspec={"throughput": {"min": "1 kbps"}}) for n in range(40)]
    found = company(stage, some[0]).beside
    assert len(found) == MOST
    assert sum(one.streams for one in found) == 39
    assert sum(one.bits for one in found) == pytest.approx(sum((10 + n) * 8e6 for n in range(1, 40)))
    assert isinstance(found[-1], Beside)


def test_a_path_that_is_too_full_to_be_tested_is_not_said_to_be() -> None:
    """The policy's half of 60.6 Mbps may be reserved, and is tested all the same."""
    stage = without_sites()
    small = stage.submit(qspec={"throughput": {"min": "20 Mbps"}})
    assert company(stage, small).busy == pytest.approx(5 / 240)
    large = stage.submit(qspec={"throughput": {"min": "20 Mbps"}})
    assert company(stage, large).busy == 0.0
