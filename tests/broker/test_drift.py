"""What somebody else changes in our switches: put right with patience, or only told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.broker.drift import (
    CALM_S,
    FREE,
    GATHER_S,
    LONGEST_PAUSE_S,
    Drift,
    Kind,
    Tampering,
    find_tampering,
    pause,
)
from adon.broker.events import DifferenceAsked
from adon.broker.flow import Flow
from adon.config import Configuration
from adon.flowvisor.rules.action import Output
from adon.flowvisor.rules.cookie import Kind as CookieKind
from adon.flowvisor.rules.cookie import cookie
from adon.flowvisor.rules.match import Match
from adon.flowvisor.rules.rule import Rule, Slot, rule_text
from tests.support.network_factories import make_configuration
from tests.support.stage import MU_EDGE, PORTS, Stage, make_stage

A = Rule(MU_EDGE, 30_000, Match(in_port=1), (Output(2),), cookie(CookieKind.FLOW_INGRESS, 1))
B = replace(A, match=Match(in_port=2))
OTHER_WAY = replace(A, actions=(Output(3),))
MISSING = Tampering(Kind.MISSING, A)


# -- functions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("times", "seconds"),
    [(1, 0), (3, 0), (4, 1), (5, 2), (6, 4), (9, 32), (10, 60), (11, 60), (5000, 60)],
)
def test_the_pause_doubles_up_to_a_minute(times: int, seconds: float) -> None:
    assert pause(times) == seconds


@pytest.mark.parametrize(
    ("wanted", "believed", "reported", "ours", "changes"),
    [
        ([A], [A], [A], (), []),
        ([A], [A], [], (), [Tampering(Kind.MISSING, A)]),
        ([A], [A], [OTHER_WAY], (), [Tampering(Kind.WRONG, A)]),
        ([A], [A], [A, B], (), [Tampering(Kind.EXTRA, B)]),
        ([A], [A], [], (A.slot,), []),  # we changed it a moment ago
        ([A], [], [], (), []),  # it was not there before either: that is nobody's doing
        ([A], [], [A], (), []),  # somebody put it back
        ([A], [OTHER_WAY], [OTHER_WAY], (), []),  # wrong as before
        ([], [A], [A], (), []),  # not wanted any more, and not removed yet
        ([], [A], [], (), []),  # removed by somebody, and not wanted
    ],
)
def test_tampered_is_what_is_neither_right_nor_as_it_was_nor_ours(
    wanted: list[Rule],
    believed: list[Rule],
    reported: list[Rule],
    ours: tuple[Slot, ...],
    changes: list[Tampering],
) -> None:
    assert list(find_tampering(wanted, believed, reported, ours.__contains__)) == changes


# -- what is kept --------------------------------------------------------------------------------------


def again(drift: Drift, now: float) -> bool:
    """Somebody removes the rule at this time; whether it is put back without a pause."""
    assert drift.note(MISSING, now)
    assert drift.ready() == ()
    drift.wake(now + GATHER_S)
    at_once = drift.ready() == (A.slot,)
    drift.settle_slot(A.slot)
    return at_once


def test_three_are_put_right_at_once_the_next_waits() -> None:
    drift = Drift()
    assert [again(drift, now) for now in (1.0, 2.0, 3.0, 4.0)] == [True, True, True, False]


def test_who_waits_is_ready_when_its_pause_is_over() -> None:
    drift = Drift()
    for now in (1.0, 2.0, 3.0):
        again(drift, now)
    drift.note(MISSING, 4.0)
    assert (drift.ready(), drift.untouchable(MU_EDGE), drift.next_wake()) == ((), {A.slot}, 5.0)
    drift.wake(5.0)
    assert (drift.ready(), drift.untouchable(MU_EDGE), drift.next_wake()) == ((A.slot,), set(), None)


@pytest.mark.parametrize(("calm", "at_once"), [(CALM_S, False), (CALM_S + 1, True)])
def test_a_calm_slot_has_a_clean_record(calm: float, at_once: bool) -> None:
    drift = Drift()
    for now in (1.0, 2.0, 3.0):
        again(drift, now)
    assert again(drift, 3.0 + calm) is at_once


def test_a_slot_that_is_not_right_yet_is_news_once() -> None:
    drift = Drift(frozenset({MU_EDGE}))
    assert [drift.note(MISSING, now) for now in (1.0, 2.0)] == [True, False]
    assert len(drift.news(MU_EDGE)) == 1
    assert drift.news(MU_EDGE) == []
    drift.record_comparison(MU_EDGE, frozenset({A.slot}))
    assert not drift.note(MISSING, 3.0)
    drift.record_comparison(MU_EDGE, frozenset())
    assert drift.note(MISSING, 4.0)


def test_what_is_told_names_what_was_done_how_often_and_what_follows() -> None:
    drift = Drift()
    drift.note(MISSING, 1.0)
    drift.note(Tampering(Kind.MISSING, B), 1.0)
    drift.note(Tampering(Kind.EXTRA, replace(A, dpid=7)), 1.0)
    (line,) = drift.news(MU_EDGE)
    assert rule_text(A) in line
    assert len(drift.news(7)) == 1
    for now in (2.0, 3.0, 4.0):
        drift.settle_slot(A.slot)
        drift.note(MISSING, now)
    assert drift.news(MU_EDGE)[-1].endswith("after 1 s")
    told = Drift(frozenset({MU_EDGE}))
    told.note(Tampering(Kind.WRONG, A), 1.0)
    assert "drift: report" in told.news(MU_EDGE)[0]


# -- in the network ------------------------------------------------------------------------------------


def telling() -> Configuration:
    """Both edges only report drift."""
    read = make_configuration()
    switches = {name: s.model_copy(update={"drift": "report"}) for name, s in read.switches.items()}
    return read.model_copy(update={"switches": switches})


def with_a_flow(read: Configuration | None = None) -> tuple[Stage, Flow]:
    stage = make_stage(read)
    flow = stage.submit()
    busy(stage, 5)
    return stage, flow


def busy(stage: Stage, seconds: float) -> None:
    """Time passes while packets of all flows do, both ways: no rule idles out."""
    end = stage.now + seconds
    while stage.now < end:
        for switch in stage.switches.values():
            for entry in switch.table.values():
                entry.used = stage.now
        stage.pass_time(min(5.0, end - stage.now))


def delete(stage: Stage, rule: Rule) -> None:
    stage.delete_by_hand(rule)


def delete_unheard(stage: Stage, rule: Rule) -> None:
    del stage.switches[rule.dpid].table[rule.slot]


def change(stage: Stage, rule: Rule) -> None:
    stage.switches[rule.dpid].table[rule.slot].rule = replace(rule, actions=(Output(9),))


def put_in(stage: Stage, rule: Rule) -> None:
    strange = replace(rule, match=Match(in_port=77), actions=(Output(9),))
    stage.put_in(strange)


WAYS = {"delete": delete, "delete unheard": delete_unheard, "change": change, "put in": put_in}


def a_rule(stage: Stage, which: int) -> Rule:
    """One of those that are there and should be."""
    right = sorted((r for r in stage.installed() & stage.desired() if isinstance(r, Rule)), key=repr)
    return right[which % len(right)]


@pytest.mark.parametrize("way", WAYS)
def test_healed_or_told_by_policy(way: str) -> None:
    """R4, R20."""
    for read, heals in ((None, True), (telling(), False)):
        stage, flow = with_a_flow(read)
        before, sent = stage.installed(), len(stage.batches)
        known = sum(stage.snapshot()["reconcile"].values())
        WAYS[way](stage, min(stage.rules_of(flow), key=repr))
        busy(stage, 130)
        assert (stage.installed() == before, len(stage.batches) > sent) == (heals, heals)
        assert sum(stage.snapshot()["reconcile"].values()) == known + 1, (
            "counted once, however often it is looked at"
        )
        assert len(stage.announcements("rules-changed")) == 1
        different = [
            item[kind]
            for item in stage.command(DifferenceAsked)["items"]
            for kind in ("missing", "wrong", "extra")
        ]
        assert (not any(different)) is heals
        stage.sync()
        busy(stage, 1)
        assert stage.installed() == before


def test_told_drift_is_put_right_when_the_switch_reconnects() -> None:
    stage, flow = with_a_flow(telling())
    before = stage.installed()
    delete(stage, min(stage.rules_of(flow), key=repr))
    for dpid in PORTS:
        stage.disconnect(dpid)
        stage.connect(dpid)
    assert stage.installed() == before


def test_what_a_decision_needs_is_written_even_where_drift_is_only_told() -> None:
    stage, flow = with_a_flow(telling())
    for rule in stage.rules_of(flow):
        change(stage, rule)
    busy(stage, 20)
    stage.cancel(flow)
    stage.pass_time(5)
    assert not stage.rules_of(flow)


def test_what_we_wrote_ourselves_since_is_news_when_it_is_removed_again() -> None:
    """Told once, then written by a decision of ours: what is done to it after that is another matter."""
    stage, flow = with_a_flow(telling())
    rule = min(stage.rules_of(flow), key=repr)
    for lines in (1, 2):
        delete(stage, rule)
        busy(stage, 5)
        assert len(stage.announcements("rules-changed")) == lines
        stage.sync()
        busy(stage, 5)


def test_two_that_fight_for_a_rule_do_so_with_growing_pauses() -> None:
    """Somebody removes it every half second for ten minutes."""
    stage, flow = with_a_flow()
    rule = min(stage.rules_of(flow), key=repr)
    sent = len(stage.batches)
    for _ in range(1200):
        if rule.slot in stage.switches[rule.dpid].table:
            delete(stage, rule)
        busy(stage, 0.5)
    added = len(stage.batches) - sent
    allowed = FREE + 6 + (600 - 63) / LONGEST_PAUSE_S + 1
    assert FREE + 6 <= added <= allowed
    assert stage.announcements("rules-changed")


TAMPERINGS = st.lists(
    st.tuples(
        st.sampled_from(sorted(WAYS)), st.integers(0, 20), st.sampled_from([0.0, 0.4, 2.5, 20.0, 70.0])
    ),
    max_size=12,
)


@given(TAMPERINGS, st.booleans())
def test_after_any_tampering_the_desired_is_installed_and_the_damping_was_kept(
    history: list[tuple[str, int, float]], heals: bool
) -> None:
    stage, _ = with_a_flow(None if heals else telling())
    sent, writes = len(stage.batches), list[tuple[float, Slot]]()
    for way, which, wait in history:
        WAYS[way](stage, a_rule(stage, which))
        busy(stage, wait)
        writes += [(stage.now, c.rule.slot) for batch in stage.batches[sent:] for c in batch.changes]
        sent = len(stage.batches)
    assert heals or not writes
    for at, slot in writes:
        assert sum(other == slot and at <= when < at + 60 for when, other in writes) <= FREE + 5
    busy(stage, 130)
    if not heals:
        stage.sync()
        busy(stage, 1)
    assert stage.installed() == stage.desired()


def test_who_has_all_repaired_is_told_the_names_of_the_switches_that_are_there() -> None:
    stage = make_stage()
    assert stage.sync() == {"switches": ["mu-edge", "osu-edge"]}
    stage.disconnect(MU_EDGE)
    assert stage.sync() == {"switches": ["osu-edge"]}
