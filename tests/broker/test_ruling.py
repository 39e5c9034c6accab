"""Rules that decisions and their recomputation share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.choice import Choice, Need
from adon.broker.decision import Outcome
from adon.broker.preemption import Holder, Rivals
from adon.broker.ruling import FASTER, SOONER_S, holder_to_go, sooner, stopped
from adon.broker.triggers.record import Triggered
from adon.flowvisor.assessment import CandidateRecord, MetricRecord, Verdict
from adon.flowvisor.selection import Selection
from tests.broker.test_preemption import record
from tests.store.values import a_flow, a_request, a_template

QSPEC = {"throughput": {"min": "7 Mbps"}}


@pytest.mark.parametrize(
    ("asked", "turned", "goes"),
    [
        (None, 0, False),  # 500, the template's: equal is not lower
        (501, 0, True),
        (None, 1, True),  # triggers turned it up
        (501, -1, False),
        (0, -500, False),  # below 0 there is nothing
    ],
)
def test_a_newcomer_has_the_priority_that_triggers_made_of_it(
    asked: int | None, turned: int, goes: bool
) -> None:
    template = a_template(qspec=QSPEC, priority=500)
    flow = a_flow(2, request=a_request(priority=asked), triggered=Triggered(priority=turned))
    holder = Holder(1, 500, "al2s", 6e6)
    rivals = Rivals(None, (holder,), {"al2s": 58e6})
    choice = Choice(Selection(None, (record(),), "full"), {}, {})
    found = holder_to_go(flow, Need.of(template, flow.request), choice, rivals)
    assert found == (holder if goes else None)


GB = 1e9


def at(path: str, rate: float | None, verdict: Verdict = Verdict.QUALIFIED) -> CandidateRecord:
    """What is found of a path that gives so much."""
    found = MetricRecord("throughput", rate, unknown="" if rate is not None else "never measured")
    return CandidateRecord(path, "layer2", verdict, "", rate, (found,))


def between(own: float | None, other: float | None, best: str | None = "other") -> Choice:
    return Choice(Selection(best, (at("own", own), at("other", other)), "because"), {}, {})


@pytest.mark.parametrize(
    ("own", "other", "best", "left", "least", "goes"),
    [
        (1e9, 2e9, "other", 10 * GB, 2.0, True),  # 80 s or 40 s
        (1e9, 2e9, "own", 10 * GB, 2.0, False),  # by Q its own is the best
        (1e9, 2e9, None, 10 * GB, 2.0, False),
        (1e9, 1.1e9, "other", 1000 * GB, 2.0, False),  # a little faster is no reason, however much is left
        (1e9, 2e9, "other", 0.4 * GB, 2.0, False),  # it is nearly over: 3.2 s or 1.6 s
        (1e9, 2e9, "other", 10 * GB, 64.0, False),  # it has changed often of late
        (None, 2e9, "other", 10 * GB, 2.0, False),
        (0.0, 2e9, "other", 10 * GB, 2.0, False),
        (1e9, None, "other", 10 * GB, 2.0, False),
    ],
)
def test_who_changes_its_path_for_speed(
    own: float | None, other: float | None, best: str | None, left: float, least: float, goes: bool
) -> None:
    found = sooner(a_flow(1, path="own"), between(own, other, best), left, least)
    assert (found is not None) is goes
    if found is not None:
        assert (found.outcome, found.path) == (Outcome.MOVE, "other")
        assert found.reason == "other brings it home 40 s sooner than own"


@given(
    own=st.floats(1e6, 1e11),
    other=st.floats(1e6, 1e11),
    left=st.floats(0, 1e15),
    least=st.floats(SOONER_S, 1e4),
)
def test_a_change_for_speed_gains_what_it_has_to(own: float, other: float, left: float, least: float) -> None:
    found = sooner(a_flow(1, path="own"), between(own, other), left, least)
    gains = other >= FASTER * own and left * 8 / own - left * 8 / other >= least
    assert (found is not None) is gains


@pytest.mark.parametrize(("path", "outcome"), [("other", Outcome.MOVE), (None, Outcome.QUEUE)])
def test_who_lets_others_go_first_takes_another_path_or_waits(path: str | None, outcome: Outcome) -> None:
    found = stopped(between(1e9, 1e9, path), "lets f-2 go first")
    assert (found.outcome, found.path) == (outcome, path)
    assert "lets f-2 go first" in found.reason
