from __future__ import annotations

from typing import Any

import pytest

from adon.broker.events import WaitingAsked
from adon.broker.flow import FlowState
from adon.broker.resources.amounts import Limits
from adon.broker.resources.ledger import Ledger
from adon.errors import Conflict
from adon.templates_catalog.catalog import Catalog
from adon.templates_catalog.model import ComputeRequirement
from tests.broker.queueing.scenes import full, why
from tests.broker.stage import Stage, configuration, know, ready


def test_a_waiting_user_is_told_what_is_in_the_way_and_when_it_may_start() -> None:
    stage, running, waiting = full()
    told = why(stage, waiting)
    assert (told["id"], told["before"], told["waiting"]) == (waiting.id, 0, 1)
    assert any("al2s: throughput 5 Mbps is below 8 Mbps" in one for one in told["waits_for"])
    # 700 MB at 58 Mbit/s are 97 s, and 30 % are not known any better.
    start = told["start"]
    assert start["expected"] - stage.now == pytest.approx(running.left * 8 / 58e6)
    assert start["earliest"] < start["expected"] < start["latest"]
    assert told["start_why"] == "running on al2s: 1; waiting for the same, and before it: 0"


def test_what_has_arrived_already_is_not_expected_again() -> None:
    stage, running, waiting = full()
    before = why(stage, waiting)["start"]["expected"]
    stage.report(running, "progress", 600_000_000)
    assert why(stage, waiting)["start"]["expected"] - stage.now == pytest.approx(100_000_000 * 8 / 58e6)
    assert why(stage, waiting)["start"]["expected"] < before


def test_a_path_that_is_down_comes_back_nobody_knows_when() -> None:
    stage = Stage()
    waiting = stage.submit()
    told = why(stage, waiting)
    assert told["start"] is None
    assert told["start_why"] == "nobody can say when that changes"


def test_who_waits_for_nodes_may_start_when_they_come_back() -> None:
    soykb = ready().templates.get("soykb")
    rspec = soykb.rspec.model_copy(update={"compute": ComputeRequirement(worker_nodes=4)})
    stage = Stage(templates=Catalog.of([soykb.model_copy(update={"rspec": rspec})]))
    stage.connect()
    know(stage, al2s=58.0, internet=6.5)
    little: Any = {"qspec": {"throughput": {"min": "1 Mbps"}}, "size": "1 GB"}
    stage.submit(**little)
    ledger = stage.broker.world.ledger
    ((number, name),) = ledger.holders.items()
    held = ledger.book(name).holds[number]
    limits = {site: Limits(nodes=held.amounts.nodes + 3 if site == name else 0) for site in ledger.sites}
    stage.broker.world.ledger = Ledger.of(limits, (), 0).hold(number, name, held, stage.now)
    waiting = stage.submit(**little)
    assert "worker nodes free" in waiting.reason
    told = why(stage, waiting)
    assert told["start"] is not None
    assert told["start"]["expected"] > stage.now


def test_asking_changes_nothing() -> None:
    stage, _, waiting = full()
    before = (list(stage.broker.flows), stage.broker.world.ledger, len(stage.broker.world.line))
    kinds = set(stage.broker.flows._kinds)
    for _ in range(3):
        why(stage, waiting)
    assert before == (list(stage.broker.flows), stage.broker.world.ledger, len(stage.broker.world.line))
    assert set(stage.broker.flows._kinds) == kinds


def test_the_answer_to_a_question_and_who_does_not_wait() -> None:
    stage, running, waiting = full()
    answer: Any = stage.command(WaitingAsked, waiting.number)
    assert answer["id"] == waiting.id
    with pytest.raises(Conflict, match="does not wait"):
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


def test_where_there_should_be_room_the_next_test_will_tell() -> None:
    """Other people were there during the last test; nobody of ours is there any more."""
    stage = ready(configuration(no_test_above_reserved=None))
    stage.pass_time(1)
    know(stage, al2s=50.5, internet=2.0)
    waiting = stage.submit(qspec={"throughput": {"min": "52 Mbps"}})
    assert waiting.state is FlowState.QUEUED
    stage.pass_time(30)
    know(stage, internet=2.0)
    told = why(stage, waiting)
    assert told["start_why"] == "there should be room: the next throughput test will tell"
    start = told["start"]
    assert stage.now == start["earliest"] < start["expected"] < start["latest"]
    assert start["expected"] - stage.now <= 240, "the period of the tests"
