"""Batches under way: what was refused of them, when they are over, and when they are late."""

import pytest

from apps.campus_edge.batches import BARRIER_TIMEOUT_S, FIRST_XID, LAST_XID, Batch, Batches

DPID, OTHER = 1, 2


def batch(*xids: int, dpid: int = DPID, sent_at: float | None = 100.0) -> Batch:
    return Batch("b-1", dpid, xids or (11, 12, 13), 100.0 + BARRIER_TIMEOUT_S, 100.0, sent_at)


@pytest.fixture
def batches() -> Batches:
    return Batches()


def test_a_batch_is_over_when_its_barrier_is_answered_and_only_once(batches: Batches) -> None:
    one = batch()
    batches.begin(one)
    assert batches.pop_answered(12, DPID) is None, "not its barrier"
    assert batches.pop_answered(13, DPID) is one
    assert batches.pop_answered(13, DPID) is None
    assert batches.record_refusal(11, DPID, "late") is None, "a word about what is over changes nothing"
    assert one.refused == {}


def test_another_switch_can_neither_confirm_nor_refuse_it(batches: Batches) -> None:
    one = batch()
    batches.begin(one)
    assert batches.pop_answered(13, OTHER) is None
    assert batches.record_refusal(11, OTHER, "mine") is None
    assert batches.record_refusal(13, None, "nobody's") is None
    assert batches.pop_answered(13, DPID) is one
    assert one.refused == {}


def test_refusals_are_noted_by_place_and_end_the_batch_only_at_its_barrier(batches: Batches) -> None:
    one = batch()
    batches.begin(one)
    assert batches.record_refusal(12, DPID, "TABLE_FULL") is None
    assert one.refused == {1: "TABLE_FULL"}
    assert batches.record_refusal(13, DPID, "BAD_TYPE") is one
    assert batches.pop_answered(13, DPID) is None


def test_places_are_right_where_transaction_ids_start_over(batches: Batches) -> None:
    one = batch(LAST_XID - 2, LAST_XID - 1, FIRST_XID, FIRST_XID + 1)
    batches.begin(one)
    for place, xid in enumerate(one.xids[:-1]):
        batches.record_refusal(xid, DPID, f"{place}")
    assert one.refused == {0: "0", 1: "1", 2: "2"}


def test_it_is_late_so_long_after_its_last_byte_and_not_before(batches: Batches) -> None:
    one, waiting = batch(), batch(21, 22, sent_at=None)
    one.sent_at = 103.0
    batches.begin(one)
    batches.begin(waiting)
    due = 100.0 + BARRIER_TIMEOUT_S
    late, others = batches.overdue(due)
    assert late == []
    assert sorted(others) == [103.0 + BARRIER_TIMEOUT_S, due + BARRIER_TIMEOUT_S], "one not sent waits anew"
    late, others = batches.overdue(103.0 + BARRIER_TIMEOUT_S)
    assert late == [one]
    assert batches.pop_answered(13, DPID) is None, "its time is over"
    assert len(others) == 1


def test_a_late_batch_fails_with_the_first_refusal_or_for_want_of_an_answer() -> None:
    one = batch()
    assert "barrier" in one.why_late()
    one.refused[1] = "TABLE_FULL"
    assert one.why_late() == "TABLE_FULL"


def test_what_could_not_be_sent_is_forgotten_unless_it_is_over(batches: Batches) -> None:
    one = batch()
    batches.begin(one)
    assert batches.abandon(one)
    assert not batches.abandon(one)
    assert batches.pop_answered(13, DPID) is None


def test_with_a_switch_go_its_batches_and_nobody_elses(batches: Batches) -> None:
    mine, others = batch(), batch(21, 22, dpid=OTHER)
    batches.begin(mine)
    batches.begin(others)
    batches.forget(DPID)
    assert batches.pop_answered(13, DPID) is None
    assert batches.pop_answered(22, OTHER) is others
