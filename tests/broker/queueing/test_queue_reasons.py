from __future__ import annotations

from typing import Any

from adon.broker.events import WaitingAsked
from adon.errors import Conflict
from tests.broker.queueing.scenes import full, why
from tests.support.refusals import refused
from tests.support.stage import know


def test_a_queued_flow_shows_its_place_and_what_is_in_the_way() -> None:
    stage, _, waiting = full()
    told = why(stage, waiting)
    assert (told["id"], told["before"], told["waiting"]) == (waiting.id, 0, 1)
    assert [one.partition(":")[0] for one in told["waits_for"]] == ["al2s", "internet"]


def test_asking_changes_nothing() -> None:
    stage, _, waiting = full()
    before = (dict(stage.saved.flows), stage.holders(), stage.queue_order(), stage.memory_of(waiting))
    for _ in range(3):
        why(stage, waiting)
    assert before == (stage.saved.flows, stage.holders(), stage.queue_order(), stage.memory_of(waiting))


def test_the_answer_to_a_question_and_who_does_not_wait() -> None:
    stage, running, waiting = full()
    answer: Any = stage.command(WaitingAsked, waiting.number)
    assert answer["id"] == waiting.id
    with refused(Conflict, field="state"):
        stage.command(WaitingAsked, running.number)


def test_who_waits_long_enough_says_that_its_path_is_kept() -> None:
    stage, _, waiting = full()
    stage.measure("al2s", 5.1)
    assert not why(stage, waiting)["claims"]
    stage.pass_time(200)
    for _ in range(3):
        stage.pass_time(200)
        know(stage, al2s=5.0, internet=6.5)
    assert why(stage, waiting)["claims"]
