"""Completion times: the paper's matrices written down a second time, and cases by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given

from adon.placement.completion import assume_hoses, place_at
from adon.placement.model import LinkKind, Method, NoPlacement, PlacementProblem
from measurement.health.model import Pair
from measurement.snapshot.model import Bottleneck
from tests.placement.problems import application, list_placements, machines, network, problems
from tests.support.refusals import refused

STAR = {f"{one}>{other}": 8e6 for one in "abc" for other in "abc" if one != other}
"""One megabyte per second between any two."""


def written_down(problem: PlacementProblem, placed: dict[str, str], shared: np.ndarray) -> float:
    """max E / R over paths that carry something, E = D S; the paper's appendix, with its loops.

    :param shared: M^2 x M^2, the matrix S.
    """
    names = [machine.name for machine in problem.machines]
    tasks = [task.name for task in problem.application.tasks]
    x = np.array([[placed[task] == name for name in names] for task in tasks], float)
    b = np.array([[problem.application.sent.get((i, j), 0) for j in tasks] for i in tasks], float)
    d = (x.T @ b @ x).ravel()
    rates = np.array([[problem.snapshot.rates.get(Pair(m, n), np.inf) for n in names] for m in names]).ravel()
    between = np.array([m != n for m in names for n in names])
    d[~between] = 0.0
    e = shared @ d
    return max((8 * e[k] / rates[k] for k in range(len(d)) if d[k] > 0), default=0.0)


@given(problems(tasks=4, count=3, plain=True))
def test_pipe_model_is_the_identity(problem: PlacementProblem) -> None:
    for seconds, placed in list_placements(problem):
        size = len(problem.machines) ** 2
        assert seconds == pytest.approx(written_down(problem, placed, np.eye(size)))


@given(problems(tasks=4, count=3, plain=True))
def test_hose_model_where_all_paths_of_a_machine_have_one_rate(problem: PlacementProblem) -> None:
    first = {one: 1e6 * (number + 1) for number, one in enumerate(problem.snapshot.instances)}
    rates = {pair: first[pair.source] for pair in problem.snapshot.rates}
    hose = replace(problem, snapshot=assume_hoses(replace(problem.snapshot, rates=rates)))
    names = [machine.name for machine in problem.machines]
    size = len(names)
    shared = np.kron(np.eye(size), np.ones((size, size)))
    for seconds, placed in list_placements(hose):
        assert seconds == pytest.approx(written_down(hose, placed, shared))


def test_hose_without_measurement_is_the_fastest_path_with_cross_traffic() -> None:
    rates = {"a>b": 4e6, "a>c": 9e6, "b>a": 5e6, "b>c": 3e6, "c>a": 0.0}
    found = assume_hoses(network(rates, hoses={"b": 1e6}, crossing={Pair("a", "c"): 2.0}))
    assert found.hoses == {"a": 4e6, "b": 1e6}


@given(problems())
def test_adding_bytes_never_makes_it_faster(problem: PlacementProblem) -> None:
    assume(problem.application.sent)
    more = replace(
        problem.application, sent={pair: count + 1000 for pair, count in problem.application.sent.items()}
    )
    later = {
        tuple(placed.items()): seconds
        for seconds, placed in list_placements(replace(problem, application=more))
    }
    for seconds, placed in list_placements(problem):
        assert later.get(tuple(placed.items()), np.inf) >= seconds * (1 - 1e-12)


class TestByHand:
    APP = application({"i>j": 4_000_000, "i>k": 6_000_000})
    PLACED = {"i": "a", "j": "b", "k": "c"}  # noqa: RUF012

    def limit(self, problem: PlacementProblem) -> tuple[LinkKind, float]:
        found = place_at(problem, self.PLACED, Method.GREEDY)
        assert found.limit is not None
        assert found.limit.seconds == found.completion_time_s
        return found.limit.kind, found.completion_time_s

    def test_pipe(self) -> None:
        problem = PlacementProblem(self.APP, machines("abc"), network(STAR))
        assert self.limit(problem) == (LinkKind.PATH, pytest.approx(6.0))

    def test_hose(self) -> None:
        problem = PlacementProblem(self.APP, machines("abc"), network(STAR, hoses={"a": 8e6}))
        assert self.limit(problem) == (LinkKind.HOSE, pytest.approx(10.0))

    def test_hose_of_a_machine_that_only_receives_does_not_count(self) -> None:
        problem = PlacementProblem(self.APP, machines("abc"), network(STAR, hoses={"b": 1.0}))
        assert self.limit(problem) == (LinkKind.PATH, pytest.approx(6.0))

    def test_shared_bottleneck(self) -> None:
        shared = Bottleneck(frozenset({Pair("a", "b"), Pair("a", "c"), Pair("c", "b")}), 4e6)
        problem = PlacementProblem(self.APP, machines("abc"), network(STAR, bottlenecks=(shared,)))
        assert self.limit(problem) == (LinkKind.SHARED, pytest.approx(20.0))

    def test_two_connections_of_others_leave_a_third(self) -> None:
        problem = PlacementProblem(self.APP, machines("abc"), network(STAR, crossing={Pair("a", "c"): 2.0}))
        assert self.limit(problem) == (LinkKind.PATH, pytest.approx(18.0))

    def test_what_others_still_send_comes_first_but_only_where_we_send(self) -> None:
        load = {Pair("a", "b"): 3_000_000.0, Pair("b", "c"): 9e9}
        problem = PlacementProblem(self.APP, machines("abc"), network(STAR), load)
        assert self.limit(problem) == (LinkKind.PATH, pytest.approx(7.0))

    def test_on_one_machine_it_takes_no_time(self) -> None:
        problem = PlacementProblem(self.APP, machines("abc", 3.0), network(STAR))
        found = place_at(problem, dict.fromkeys("ijk", "a"), Method.GREEDY)
        assert (found.completion_time_s, found.limit) == (0.0, None)

    def test_an_unknown_path_is_none(self) -> None:
        problem = PlacementProblem(self.APP, machines("abc"), network({**STAR, "a>c": 0.0}))
        with refused(NoPlacement, "sent"):
            place_at(problem, self.PLACED, Method.GREEDY)
