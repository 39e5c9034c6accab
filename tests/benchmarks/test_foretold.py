"""What is asked for on the testbed, and how what was told is compared with what came of it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adon.templates_catalog.model import Template
from benchmarks import foretold
from benchmarks.foretold_requests import KINDS, rates, requests, templates, two_campuses

BEGAN = 1_800_000_000.0


def at(seconds: float) -> str:
    return datetime.fromtimestamp(BEGAN + seconds, UTC).isoformat()


def flow(
    number: int,
    asked: float = 0.0,
    admitted: float | None = None,
    took: float = 20.0,
    told: tuple[float, float, float] = (20.0, 15.0, 25.0),
    **changes: Any,
) -> dict[str, Any]:
    """One flow as a round has it; it has 20 s of 8 Mbit/s and waits as long as ``admitted`` says."""
    begins = asked if admitted is None else admitted
    forecast = dict(zip(("expected_seconds", "low_seconds", "high_seconds"), told, strict=True))
    stays = [{"path": "al2s", "since": at(begins), "until": at(begins + took)}]
    return {
        "number": number,
        "kind": "bulk",
        "size": 20_000_000,
        "problem": "",
        "load": 1.5,
        "outcome": {"submitted_at": at(asked), "admitted_at": at(begins), "moves": 0, "stays": stays},
        "received": {"started_at": BEGAN + begins + 0.5, "seconds": took - 0.5},
        "admitted": [{"at": at(begins), "path": "al2s", "forecast": forecast, "throughput": {"value": 16e6}}],
        **changes,
    }


def compared(*flows: dict[str, Any]) -> list[dict[str, Any]]:
    return foretold.rows({"flows": list(flows)})


def results(*flows: dict[str, Any]) -> dict[str, Any]:
    found = {"flows": list(flows), "emulation": "emulated"}
    return {"rounds": [found], "flows": foretold.rows(found)}


def test_what_was_told_is_held_against_what_it_took() -> None:
    (row,) = compared(flow(1, took=25.0, told=(20.0, 15.0, 24.0)))
    assert row["took"] == pytest.approx(25.0)
    assert row["told"] == pytest.approx(20 / 25 - 1)
    assert row["alone"] == pytest.approx(20 / 24.5 - 1)
    assert row["decided"] == pytest.approx(10 / 25 - 1), "20 MB at 16 Mbit/s"
    assert (row["within"], row["queued"], row["undisturbed"]) == (False, False, True)


def test_who_was_not_carried_or_was_admitted_twice_is_not_compared() -> None:
    good = flow(1)
    assert [row["number"] for row in compared(good, flow(2, outcome=None), flow(3, received=None))] == [1]
    assert compared(flow(4, admitted=None) | {"admitted": [*good["admitted"], *good["admitted"]]}) == []


@pytest.mark.parametrize(
    ("story", "other", "undisturbed"),
    [
        ("it came before", flow(2, -5.0), True),
        ("it came meanwhile", flow(2, 5.0), False),
        ("it was asked for before, and began meanwhile", flow(2, -5.0, 5.0), False),
        ("it came afterwards", flow(2, 21.0), True),
    ],
)
def test_who_is_undisturbed(story: str, other: dict[str, Any], undisturbed: bool) -> None:
    assert compared(flow(1), other)[0]["undisturbed"] is undisturbed, story


def test_on_another_path_nobody_is_disturbed() -> None:
    other = flow(2, 5.0)
    other["outcome"]["stays"][0]["path"] = "internet"
    assert compared(flow(1), other)[0]["undisturbed"]


@pytest.mark.parametrize(
    ("at_once", "queued", "kept"), [(22.0, 22.0, True), (30.0, 22.0, False), (22.0, 30.0, False)]
)
def test_the_bound_is_asked_of_both_groups(at_once: float, queued: float, kept: bool) -> None:
    found = results(flow(1, told=(at_once, 15.0, 40.0)), flow(2, 1000.0, 1010.0, told=(queued, 15.0, 40.0)))
    assert foretold.passed(found) is kept
    assert ("kept" if kept else "MISSED") in foretold.report(found)
    assert "2 asked, 2 compared" in foretold.report(found)


def test_a_group_without_flows_keeps_nothing() -> None:
    assert not foretold.passed(results(flow(1)))
    assert "| queued first " in foretold.report(results(flow(1)))


def test_the_seed_decides_what_is_asked_for() -> None:
    network = two_campuses()
    assert requests(network, 1) == requests(network, 1)
    assert requests(network, 1) != requests(network, 2)
    asked = requests(network, 3, flows=400)
    assert [one.at for one in asked] == sorted(one.at for one in asked)
    assert asked[-1].at / 400 == pytest.approx(11.0, rel=0.2)
    assert {one.kind for one in asked} == {kind.name for kind in KINDS}
    for one in asked:
        kind = next(kind for kind in KINDS if kind.name == one.kind)
        alone = one.size * 8 / rates(network)[kind.path]
        assert kind.seconds[0] * 0.999 <= alone <= kind.seconds[1] * 1.001
    assert len({one.port for one in asked}) == 400


def test_each_kind_is_a_template_that_can_be_met_by_the_path_it_is_for() -> None:
    network = two_campuses()
    for kind, document in zip(KINDS, templates(network), strict=True):
        template = Template.model_validate(document)
        bound = template.qspec.throughput
        assert bound is not None
        assert bound.min == pytest.approx(kind.share * rates(network)[kind.path], rel=1e-3)
        assert template.streams == kind.streams
