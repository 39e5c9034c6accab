from __future__ import annotations

import json

import pytest

from mininet_topos.demo.record import Check, Plan, Record, Transfer
from tests.mininet_topos.records import HOSTILE, MB, small_plan, small_record


@pytest.mark.parametrize(
    ("held", "passed"), [([], False), ([True], True), ([True, True], True), ([True, False], False)]
)
def test_it_passes_if_something_was_checked_and_everything_held(held, passed):
    record = Record(0.0, 1, 100.0, checks=[Check("c", one, "") for one in held])
    assert record.passed is passed


def test_the_scene_after_it_must_have_held_too():
    record = Record(0.0, 1, 100.0, checks=[Check("c", True, "")])
    record.sequel = Record(0.0, 1, 100.0, checks=[Check("d", False, "")])
    assert [check.text for check in record.every_check] == ["c", "d"]
    assert not record.passed
    record.sequel.checks = []
    assert record.passed


def test_decisions_are_compared_by_flow_outcome_path_and_site_and_those_that_change_nothing_are_left_out():
    assert small_record().decided() == [
        (HOSTILE, "admit", "al2s", "osu-hpc"),
        ("SoyKB-2", "queue", None, "osu-hpc"),
    ]


def test_the_file_holds_everything(tmp_path):
    record = small_record()
    record.plan, record.sequel = small_plan(), Record(1.0, 18, 100.0)
    record.save(tmp_path / "record.json")
    read = json.loads((tmp_path / "record.json").read_text())
    assert set(read) == set(Record.__slots__)
    assert read["transfers"][1]["received"] == 7 * MB
    assert Transfer(**read["transfers"][0]) == record.transfers[0]
    assert read["decisions"] == record.decisions
    assert Plan(**read["plan"]) == record.plan
    assert read["sequel"]["began_at"] == 1.0


def test_a_transfer_s_rate():
    assert small_record().transfers[0].rate == 40e6
    assert Transfer("f", "f-1", "al2s", 0, 1, 0, 5.0, 5.0).rate == 0.0


def test_a_flow_that_still_waits_is_no_turn() -> None:
    record = Record(0.0, 1, 100.0, names={"f-1": "SoyKB"})
    steps = [("queue", None), ("stay", None), ("queue", None), ("admit", "al2s"), ("move", "internet")]
    record.decisions = [
        {"flow": "f-1", "outcome": outcome, "path": path, "compute_site": None} for outcome, path in steps
    ]
    assert [(outcome, path) for _, outcome, path, _ in record.decided()] == [
        ("queue", None),
        ("admit", "al2s"),
        ("move", "internet"),
    ]
