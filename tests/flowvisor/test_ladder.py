"""The queue ladder: what it promises, and the journal version's scenario as a transcript (spec 10b)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.flowvisor.rules.queue_ladder import Claim, EnforcementMeans, Ladder, choose_enforcement

SHARES = (0.6, 0.3, 0.1)
GBPS = 1e9
EMPTY = Ladder(GBPS, SHARES)

RATES = st.integers(0, 70).map(lambda tens: tens * 1e7)
CLAIMS = st.builds(Claim, st.integers(1, 9), st.integers(0, 3), RATES, RATES)


def with_claim(ladder: Ladder, claim: Claim) -> Ladder:
    assert ladder.refusal(claim) == ""
    return Ladder.of(ladder.capacity, ladder.shares, (*ladder.release(claim.number).claims, claim))


def admitted(claims: list[Claim]) -> Ladder:
    """The ladder after these came, those that are refused left out."""
    ladder = EMPTY
    for claim in claims:
        if not ladder.refusal(claim):
            ladder = with_claim(ladder, claim)
    return ladder


LADDERS = st.lists(CLAIMS, max_size=8).map(admitted)


@given(LADDERS)
def test_never_more_is_granted_than_there_is(ladder: Ladder) -> None:
    grants = ladder.grants()
    for rung, share in enumerate(SHARES):
        assert sum(g.guaranteed for g in grants.values() if g.rung == rung) <= share * GBPS + 1
    assert sum(grant.ceiling for grant in grants.values()) <= GBPS + 1


@given(LADDERS)
def test_whoever_was_admitted_keeps_the_bound(ladder: Ladder) -> None:
    grants = ladder.grants()
    assert {claim.number: claim.bound for claim in ladder.claims} == {
        n: g.guaranteed for n, g in grants.items()
    }


@given(LADDERS)
def test_a_higher_priority_is_never_worse_off_for_the_same_request(ladder: Ladder) -> None:
    grants = ladder.grants()
    for one in ladder.claims:
        for other in ladder.claims:
            if one.priority > other.priority and (one.bound, one.target) == (other.bound, other.target):
                assert grants[one.number].rung <= grants[other.number].rung
                assert grants[one.number].ceiling >= grants[other.number].ceiling - 1


@given(LADDERS, CLAIMS)
def test_a_newcomer_takes_nothing_from_a_higher_priority(ladder: Ladder, newcomer: Claim) -> None:
    ladder = ladder.release(newcomer.number)
    if ladder.refusal(newcomer):
        return
    before, after = ladder.grants(), with_claim(ladder, newcomer).grants()
    for claim in ladder.claims:
        if claim.priority > newcomer.priority:
            was, now = before[claim.number], after[claim.number]
            assert now.rung <= was.rung
            assert now.guaranteed + now.lent >= was.guaranteed + was.lent - 1


@given(LADDERS, CLAIMS)
def test_a_release_restores_what_was(ladder: Ladder, newcomer: Claim) -> None:
    ladder = ladder.release(newcomer.number)
    if not ladder.refusal(newcomer):
        assert with_claim(ladder, newcomer).release(newcomer.number).grants() == ladder.grants()


@given(LADDERS, st.randoms())
def test_a_restart_restores_the_ladder_from_the_flows_in_any_order(ladder: Ladder, chance: object) -> None:
    claims = list(ladder.claims)
    chance.shuffle(claims)  # type: ignore[attr-defined]
    assert Ladder.of(GBPS, SHARES, claims) == ladder


def test_a_flow_steps_down_when_a_more_urgent_one_comes_and_up_again_when_it_goes() -> None:
    alone = with_claim(EMPTY, Claim(1, 500, 200e6))
    both = with_claim(alone, Claim(2, 800, 500e6))
    assert [alone.grants()[1].rung, both.grants()[1].rung, both.release(2).grants()[1].rung] == [0, 1, 0]


def test_a_flow_without_a_bound_is_on_the_lowest_rung() -> None:
    found = with_claim(EMPTY, Claim(1, 999, 0.0)).grants()[1]
    assert (found.rung, found.guaranteed, found.lent) == (2, 0.0, 0.0)
    assert found.ceiling == pytest.approx(GBPS)


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (Claim(9, 500, 601e6), "no rung of the queue ladder has 601 Mbps left"),
        (Claim(9, 800, 600e6), "600 Mbps would leave no rung of the queue ladder for f-1"),
    ],
)
def test_a_refusal_says_what_is_in_the_way(claim: Claim, words: str) -> None:
    ladder = with_claim(EMPTY, Claim(1, 500, 400e6))
    assert words in ladder.refusal(claim)


def test_a_smaller_ladder_after_a_restart_leaves_the_least_urgent_without_a_grant() -> None:
    claims = (Claim(2, 800, 500e6), Claim(1, 500, 200e6))
    assert set(Ladder.of(GBPS, (0.6, 0.1), claims).grants()) == {2}


def test_the_journal_scenario() -> None:
    """A 1 Gbps layer-2 port and a layer-3 port, t1 to t6.

    The classroom is thirty students at 1 Mbps.  Parallel TCP makes good use of all there is, so the images'
    target is the port: they are granted 600 Mbps, and lent the 360 that the two others do not need.
    """
    rivvir = Claim(1, 500, 10e6)
    eldercare = Claim(2, 700, 100e6)
    classroom = Claim(3, 500, 30e6)
    images = Claim(4, 800, 600e6, GBPS)
    l2, l3 = EMPTY, EMPTY
    story = []

    def told(moment: str) -> None:
        grants = {**l2.grants(), **l3.grants()}
        story.append(
            (moment, {n: (g.rung, round(g.guaranteed / 1e6), round(g.lent / 1e6)) for n, g in grants.items()})
        )

    l2 = with_claim(l2, rivvir)
    told("t1")
    l3 = with_claim(l3, eldercare)  # a deterministic layer-3 path
    told("t2")
    l2 = with_claim(l2, classroom)
    told("t3")
    l2 = with_claim(l2, images)
    told("t4")
    l2 = l2.release(classroom.number)
    told("t5")
    why = l2.refusal(Claim(6, 500, 10e6))
    assert story == [
        ("t1", {1: (0, 10, 0)}),
        ("t2", {1: (0, 10, 0), 2: (0, 100, 0)}),
        ("t3", {1: (0, 10, 0), 2: (0, 100, 0), 3: (0, 30, 0)}),
        ("t4", {1: (1, 10, 0), 2: (0, 100, 0), 3: (1, 30, 0), 4: (0, 600, 360)}),
        ("t5", {1: (1, 10, 0), 2: (0, 100, 0), 4: (0, 600, 390)}),
    ]
    assert why  # t6


@pytest.mark.parametrize(
    ("mode", "means", "expected"),
    [
        ("queues", None, "queue"),
        ("meters", None, "meter"),
        ("auto", EnforcementMeans({3: frozenset({1})}), "queue"),
        ("auto", EnforcementMeans({3: frozenset({2})}, meters=True), "meter"),
        ("auto", EnforcementMeans({4: frozenset({1})}), "nothing"),
        ("auto", None, "nothing"),
    ],
)
def test_what_holds_a_flow_to_its_grant_is_said(
    mode: str, means: EnforcementMeans | None, expected: str
) -> None:
    by, why = choose_enforcement(mode, means, 3, 1)
    assert by == expected
    assert why
