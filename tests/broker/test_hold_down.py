from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.flow import FlowState
from adon.broker.hold_down import ATTEMPTS, CALM_S, CAP_S, Damping, Repeated, count_repetition
from adon.templates_catalog.catalog import Catalog
from tests.support.factories import make_template
from tests.support.stage import MU_EDGE, OSU_EDGE, Stage, know, make_stage


@pytest.mark.parametrize(
    ("count", "base", "seconds"),
    [
        (1, 30.0, 30.0),
        (2, 30.0, 60.0),
        (4, 30.0, 240.0),
        (8, 30.0, CAP_S),
        (99, 1.0, CAP_S),
        (9, 0.0, 0.0),
        (3, 2 * CAP_S, 2 * CAP_S),
    ],
)
def test_a_hold_off_doubles_up_to_its_cap(count: int, base: float, seconds: float) -> None:
    assert Repeated(count, 0.0).hold_off(base) == seconds


@given(st.lists(st.floats(0, 8000), max_size=20), st.floats(0.1, 100))
def test_hold_offs_grow_until_there_is_calm(pauses: list[float], base: float) -> None:
    now, last = 0.0, count_repetition(None, 0.0, base)
    for pause in pauses:
        now += pause
        was, last = last, last.again(now, base)
        calm = pause > was.hold_off(base) + CALM_S
        assert last.count == (1 if calm else was.count + 1)
        assert base <= last.hold_off(base) <= CAP_S


def test_failures_while_a_path_is_shunned_are_one() -> None:
    damping = Damping()
    assert damping.record_path_failure("a", 0.0, 30.0, shunned=False) == 30.0
    assert damping.record_path_failure("a", 1.0, 30.0, shunned=True) == 30.0
    assert damping.record_path_failure("a", 31.0, 30.0, shunned=False) == 60.0
    assert damping.record_path_failure("b", 31.0, 30.0, shunned=False) == 30.0
    damping.record_path_success("a")
    assert damping.record_path_failure("a", 100.0, 30.0, shunned=False) == 30.0


def test_a_path_is_given_up_after_so_many_refusals_in_a_row() -> None:
    damping = Damping()
    for _ in range(ATTEMPTS - 1):
        damping.record_refusal(1, "a")
    assert damping.given_up(1) == {}
    damping.record_acceptance(1, "a")
    for _ in range(ATTEMPTS):
        damping.record_refusal(1, "a")
    assert list(damping.given_up(1)) == ["a"]
    assert damping.given_up(2) == {}
    damping.forget(1)
    assert damping.given_up(1) == {}


def test_a_flow_that_every_path_refuses_fails_in_the_end_and_says_so() -> None:
    stage = make_stage()
    stage.refuse(MU_EDGE, "BAD_ACTION")
    stage.refuse(OSU_EDGE, "BAD_ACTION")
    flow = stage.submit(qspec={"throughput": {"min": "1 Mbps"}}, queue_patience="30 d")
    for _ in range(60):
        if stage.saved.flows[flow.number].state.final:
            break
        stage.pass_time(120)
        know(stage, al2s=58.0, internet=6.5)
    ended = stage.saved.flows[flow.number]
    assert ended.state is FlowState.FAILED
    admitted = [d.path for d in stage.saved.decisions if d.outcome == "admit"]
    assert (admitted.count("al2s"), admitted.count("internet")) == (ATTEMPTS, ATTEMPTS)


@pytest.mark.parametrize(("min_dwell", "least", "most"), [("30 s", 4, 7), ("0 s", 40, 50)])
def test_a_flow_that_is_moved_again_and_again_moves_ever_more_rarely(
    min_dwell: str, least: int, most: int
) -> None:
    """Every 40 s the other path is the better one; a template may ask not to be held."""
    selection = {"patience": 1, "min_dwell": min_dwell, "switch_margin": 0}
    eager = make_template(name="eager", qspec={"throughput": {"min": "1 bps"}}, selection=selection)
    stage = Stage(catalog=Catalog.of([eager]))
    stage.connect()
    know(stage, al2s=58.0, internet=6.5)
    flow = stage.submit("eager")
    for number in range(50):
        know(stage, al2s=0.5 if number % 2 == 0 else 58.0, internet=6.5)
        stage.carry(flow, 1_000)
        stage.pass_time(40)
        if stage.saved.flows[flow.number].state.final:
            break
    assert least <= stage.saved.flows[flow.number].moves <= most
