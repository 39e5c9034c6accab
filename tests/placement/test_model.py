"""Values of placement refuse contradictions by field; placements are written and read as JSON."""

from __future__ import annotations

from typing import Any

import pytest

from adon.errors import InvalidInput
from adon.placement.model import (
    Application,
    DecidingLink,
    LinkKind,
    Machine,
    Method,
    Placement,
    PlacementProblem,
    Task,
    combine_applications,
    placement_from_json,
    placement_to_json,
)
from measurement.health.model import Pair
from measurement.instances import Instance
from tests.placement.problems import application, machines, network
from tests.support.refusals import refused

NET = network({"a>b": 1.0, "b>a": 1.0})
LINK = DecidingLink(LinkKind.HOSE, (Pair("a", "b"),), 1e9, 5.0, 8e8)
PLACED = Placement("sort", 1.7e9, Method.EXACT, {"i": "a", "j": "b"}, 10.0, LINK, True, 10.0)


@pytest.mark.parametrize(
    ("build", "field"),
    [
        (lambda: Task("a b", 1.0), "name"),
        (lambda: Task("i", -1.0), "cores"),
        (lambda: Machine("a", 1.0, -1), "memory"),
        (lambda: Machine.of(Instance("a", "10.0.0.1")), "cores"),
        (lambda: Application("app", ()), "tasks"),
        (lambda: Application("app", (Task("i", 1.0), Task("i", 1.0))), "tasks"),
        (lambda: Application("app", (Task("i", 1.0),), {("i", "k"): 1}), "sent"),
        (lambda: Application("app", (Task("i", 1.0),), within={("i", "i"): 1.0}), "within"),
        (lambda: application({"i>j": 1}, apart=(frozenset("ik"),)), "apart"),
        (lambda: combine_applications([application({"i>j": 1})] * 2), "applications"),
        (lambda: PlacementProblem(application({"i>j": 1}), machines("ac"), NET), "machines"),
        (
            lambda: PlacementProblem(Application("app", (Task("i", 1, 0, "z"),)), machines("a"), NET),
            "tasks",
        ),
        (lambda: PlacementProblem(Application("app", (Task("i", 1, 5),)), machines("a"), NET), "machines"),
        (
            lambda: PlacementProblem(application({"i>j": 1}), machines("a"), NET, {Pair("a", "b"): -1.0}),
            "load",
        ),
    ],
)
def test_contradiction_is_refused_by_field(build: Any, field: str) -> None:
    with refused(ValueError, field):
        build()


def test_machine_has_the_cores_and_memory_of_its_instance() -> None:
    assert Machine.of(Instance("a", "10.0.0.1", cores=4, memory=8)) == Machine("a", 4, 8)


def test_placement_is_read_as_it_was_written() -> None:
    document = placement_to_json(PLACED)
    assert placement_from_json(document) == PLACED
    assert document["limit"]["pairs"] == [["a", "b"]]
    assert {"version", "method", "completion_time_s", "lower_bound_s", "snapshot_at"} <= document.keys()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"lower_bound_s": 11.0}, "lower_bound_s"),
        ({"limit": None}, "limit"),
        ({"machines": {}}, "machines"),
        ({"method": "guess"}, "method"),
        ({"version": 2}, "version"),
        ({"completion_time_s": "10"}, "completion_time_s"),
        ({"limit": {**placement_to_json(PLACED)["limit"], "rate_bps": -1.0}}, "limit.rate_bps"),
    ],
)
def test_wrong_document_is_refused_by_field(change: dict[str, Any], field: str) -> None:
    with refused(InvalidInput, field):
        placement_from_json({**placement_to_json(PLACED), **change})
