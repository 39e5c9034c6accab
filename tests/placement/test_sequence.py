"""Simulated applications that arrive one after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given

from adon.placement.baselines import place_round_robin
from adon.placement.completion import place_at
from adon.placement.exact_search import place_exactly
from adon.placement.greedy import place_greedily
from adon.placement.model import Application, Method, NoPlacement, Placement, PlacementProblem, Task
from adon.placement.sequence import ApplicationRun, SequenceSimulation
from tests.placement.problems import application, machines, network, problems
from tests.support.refusals import refused

RATES = {f"{one}>{other}": 8e6 for one in "abcd" for other in "abcd" if one != other}
"""One megabyte per second between any two."""
APART = application({"i>j": 4_000_000}, apart=(frozenset("ij"),))
PINNED = (Task("i", 2.0, 0, "a"), Task("j", 2.0, 0, "b"))
WHOLE = Application("whole", PINNED, {("i", "j"): 4_000_000})


def simulate(
    place: Callable[[PlacementProblem], Placement], *arrivals: tuple[float, Application], **more: float
) -> list[ApplicationRun]:
    return SequenceSimulation(network(RATES), machines("abcd", 2.0), place, **more).run(arrivals)


def first_on_one_path(problem: PlacementProblem) -> Placement:
    return place_at(problem, {"i": "a", "j": "b"}, Method.GREEDY)


def spread_later(count: int) -> Callable[[PlacementProblem], Placement]:
    """The first placements of applications with tasks i and j are on one path; the others are the fastest."""
    left = [first_on_one_path] * count

    def place(problem: PlacementProblem) -> Placement:
        return left.pop()(problem) if left else place_exactly(problem)

    return place


def test_two_applications_share_a_path() -> None:
    """8 and 4 MB share 1 MB/s: the short one needs 8 s, the long one 12 s."""
    long = replace(APART, name="long", sent={("i", "j"): 8_000_000})
    found = simulate(first_on_one_path, (0, long), (0, replace(APART, name="short")))
    assert [run.ended_at for run in found] == [pytest.approx(12.0), pytest.approx(8.0)]


def test_application_without_room_waits() -> None:
    found = simulate(place_greedily, (0, WHOLE), (1, replace(WHOLE, name="b")))
    spans = [(run.placements[0][0], run.ended_at) for run in found]
    assert spans == [(0.0, pytest.approx(4)), (pytest.approx(4), pytest.approx(8))]


def test_application_that_never_fits_is_refused() -> None:
    with refused(NoPlacement, "tasks.big"):
        simulate(place_greedily, (0, Application("x", (Task("big", 9.0),))))


def test_evaluation_separates_applications_on_one_path() -> None:
    """The first evaluation moves one of two applications; it pauses for half a second."""
    arrivals = [(0, replace(APART, name=name)) for name in ("one", "two")]
    found = simulate(spread_later(2), *arrivals, interval=1.0, pause=0.5)
    assert sorted(len(run.placements) for run in found) == [1, 2]
    assert max(run.ended_at for run in found) < 8.0


@pytest.mark.parametrize(("pause", "ended"), [(0.0, 1.0), (0.7, 1.7)])
def test_tasks_that_move_to_one_machine_end_after_the_pause(pause: float, ended: float) -> None:
    long = Application("long", (Task("i", 1.0), Task("j", 1.0)), {("i", "j"): 8_000_000})
    found = simulate(spread_later(1), (0, long), interval=1.0, pause=pause)
    assert [(run.ended_at, len(run.placements)) for run in found] == [(pytest.approx(ended), 2)]


def test_application_without_transfers_waits_for_room_and_ends_at_once() -> None:
    quiet = Application("quiet", (Task("i", 2.0, 0, "a"),))
    found = simulate(place_greedily, (1, WHOLE), (1, quiet))
    assert [(run.placements[0][0], run.ended_at) for run in found] == [(1, 5), (5, 5)]


def test_waiting_application_is_tried_again_only_after_another_ends() -> None:
    """The four transfers that end one after the other make no room."""
    sent = {("a", "b"): 1_000_000, ("b", "c"): 2_000_000, ("c", "d"): 3_000_000, ("d", "a"): 4_000_000}
    whole = Application("whole", tuple(Task(name, 2.0, 0, name) for name in "abcd"), sent)
    tried = list[str]()

    def place(problem: PlacementProblem) -> Placement:
        tried.append(problem.application.name)
        return place_greedily(problem)

    found = simulate(place, (0, whole), (0, replace(whole, name="later")))
    assert [run.ended_at for run in found] == [pytest.approx(4), pytest.approx(8)]
    assert tried == ["whole", "later", "later"]


@given(problems(plain=True))
def test_run_takes_at_least_the_predicted_time(problem: PlacementProblem) -> None:
    """It takes at most the time of all transfers in turn."""
    try:
        placed = place_round_robin(problem)
    except NoPlacement:
        return
    simulation = SequenceSimulation(problem.snapshot, problem.machines, lambda _: placed)
    (run,) = simulation.run([(0.0, problem.application)])
    assert run.ended_at >= placed.completion_time_s * (1 - 1e-6)
    rates = problem.snapshot.rates.values()
    total = sum(problem.application.sent.values())
    assert run.ended_at <= (8 * total / min(rates) if placed.completion_time_s else 0.0)
