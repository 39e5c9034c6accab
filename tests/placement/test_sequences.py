"""One application after the other, moves, what they come to as fluids, and when not to place at all."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.placement import workloads
from adon.placement.abstaining import advice, unevenness
from adon.placement.baselines import random_placement, round_robin
from adon.placement.completion import timed
from adon.placement.exact import exact
from adon.placement.fluid import Again, Arrival, run
from adon.placement.greedy import greedy
from adon.placement.methods import Method
from adon.placement.model import Application, Impossible, Machine, Placement, Problem, Task
from adon.placement.sequences import MigrationCost, Running, beside, reconsidered
from measurement.health.model import Pair
from measurement.instances import Instance
from tests.placement.problems import application, machines, network, problems
from tests.support.refusals import refused

RATES = {f"{one}>{other}": 8e6 for one in "abcd" for other in "abcd" if one != other}
"""One megabyte per second between any two."""
NET = network(RATES)
FOUR = machines("abcd", 2.0)
APART = application({"i>j": 4_000_000}, apart=(frozenset("ij"),))


class TestBeside:
    RUNS = Running(APART, {"i": "a", "j": "b"}, {("i", "j"): 3_000_000.0})

    def test_what_runs_takes_cores_and_goes_first(self) -> None:
        problem = beside(APART, FOUR, NET, [self.RUNS, self.RUNS])
        assert {one.name: one.cores for one in problem.machines} == {"a": 0.0, "b": 0.0, "c": 2.0, "d": 2.0}
        assert problem.load == {Pair("a", "b"): 6_000_000.0}

    def test_a_snapshot_measured_beside_it_knows_its_load_already(self) -> None:
        problem = beside(APART, FOUR, NET, [self.RUNS], measured_beside=True)
        assert problem.load == {}
        assert problem.machines[0].cores == 1.0

    def test_more_than_there_is(self) -> None:
        with refused(Impossible, "machines"):
            beside(APART, FOUR, NET, [self.RUNS] * 3)


class TestReconsidered:
    """4 MB over a path of 1 MB/s; c > d is eight times as fast, and a and b slowed down."""

    RUNS = Running(APART, {"i": "a", "j": "b"}, {("i", "j"): 4_000_000.0})
    NOW = network({**RATES, "a>b": 4e6, "c>d": 64e6})

    @pytest.mark.parametrize(("pause", "moves"), [(0.0, True), (7.4, True), (7.5, False), (60.0, False)])
    def test_moves_only_if_it_gains_more_than_it_costs(self, pause: float, moves: bool) -> None:
        found = reconsidered(self.RUNS, [], FOUR, self.NOW, exact, MigrationCost(pause))
        assert (found is not None) == moves
        if found is not None:
            assert found.placement.machines == {"i": "c", "j": "d"}
            assert (found.gain, found.cost) == (pytest.approx(7.5), pytest.approx(pause))

    def test_state_travels_over_the_network_too(self) -> None:
        cost = MigrationCost(1.0, {"i": 2_000_000, "j": 1_000_000})
        found = reconsidered(self.RUNS, [], FOUR, self.NOW, exact, cost)
        assert found is not None
        assert found.cost == pytest.approx(3.0)

    def test_away_from_a_machine_that_is_gone_at_any_price(self) -> None:
        left = [machine for machine in FOUR if machine.name != "b"]
        found = reconsidered(self.RUNS, [], left, NET, exact, MigrationCost(1e6))
        assert found is not None
        assert found.gain == math.inf

    @given(problems(tasks=4, count=3, plain=True), st.floats(0, 100))
    def test_never_at_a_loss(self, problem: Problem, pause: float) -> None:
        try:
            now = random_placement(problem, 1)
        except Impossible:
            return
        runs = Running(problem.application, now.machines, problem.application.sent)
        move = reconsidered(runs, [], problem.machines, problem.snapshot, exact, MigrationCost(pause))
        if move is not None:
            assert move.placement.seconds + move.cost < now.seconds
            assert move.cost >= pause


class TestFluid:
    def test_by_hand_two_on_one_path(self) -> None:
        """8 and 4 MB share 1 MB/s: the short one needs 8 s, the long one 12."""
        long, short = replace(APART, name="long", sent={("i", "j"): 8_000_000}), replace(APART, name="short")
        found = run(
            NET, FOUR, [Arrival(0, long), Arrival(0, short)], lambda p: timed(p, PLACE, Method.GREEDY)
        )
        assert [(one.name, round(one.seconds, 6)) for one in found] == [("long", 12.0), ("short", 8.0)]

    def test_who_finds_no_room_waits(self) -> None:
        whole = Application("a", (Task("i", 2.0, 0, "a"), Task("j", 2.0, 0, "b")), {("i", "j"): 4_000_000})
        found = run(NET, FOUR, [Arrival(0, whole), Arrival(1, replace(whole, name="b"))], greedy)
        assert [(one.placed, one.ended) for one in found] == [
            (0.0, pytest.approx(4)),
            (pytest.approx(4), pytest.approx(8)),
        ]

    def test_nobody_waits_for_what_is_never_there(self) -> None:
        with pytest.raises(Impossible, match="big"):
            run(NET, FOUR, [Arrival(0, Application("x", (Task("big", 9.0),)))], greedy)

    def test_a_look_again_moves_what_was_in_each_others_way(self) -> None:
        """Both are put onto a > b; the first look moves one of them away, after a pause of half a second."""
        arrivals = [Arrival(0, replace(APART, name=name)) for name in ("one", "two")]
        first = [True, True]

        def place(problem: Problem) -> Placement:
            if first:
                first.pop()
                return timed(problem, PLACE, Method.GREEDY)
            return exact(problem)

        found = run(NET, FOUR, arrivals, place, Again(1.0, MigrationCost(0.5)))
        assert sorted(one.moves for one in found) == [0, 1]
        assert max(one.ended for one in found) < 8.0

    def test_who_waits_for_what_sends_nothing_comes_at_once(self) -> None:
        quiet = Application("quiet", (Task("i", 2.0, 0, "a"),))
        tasks = (Task("i", 2.0, 0, "a"), Task("j", 2.0, 0, "b"))
        loud = Application("loud", tasks, {("i", "j"): 4_000_000})
        found = run(NET, FOUR, [Arrival(1, quiet), Arrival(1, loud)], greedy)
        assert [(one.name, one.placed, one.ended) for one in found] == [("loud", 1, 5), ("quiet", 1, 1)]

    def test_nobody_is_tried_again_before_anything_has_changed(self) -> None:
        """The four transfers that end one after the other make no room."""
        tasks = tuple(Task(name, 2.0, 0, name) for name in "abcd")
        sent = {("a", "b"): 1_000_000, ("b", "c"): 2_000_000, ("c", "d"): 3_000_000, ("d", "a"): 4_000_000}
        tried = list[str]()

        def place(problem: Problem) -> Placement:
            tried.append(problem.application.name)
            return greedy(problem)

        whole = Application("whole", tasks, sent)
        found = run(NET, FOUR, [Arrival(0, whole), Arrival(0, replace(whole, name="later"))], place)
        assert [one.ended for one in found] == [pytest.approx(8), pytest.approx(4)]
        assert tried == ["whole", "later", "later"]

    @pytest.mark.parametrize(("pause", "ended"), [(0.0, 1.0), (0.7, 1.7)])
    def test_what_moves_together_is_done_when_it_has_arrived(self, pause: float, ended: float) -> None:
        """An eight-second transfer is over after a second, by a move; a short one ends while that lasts."""
        free = [True, True]

        def place(problem: Problem) -> Placement:
            if free:
                free.pop()
                return (
                    greedy(problem)
                    if problem.application.name == "short"
                    else timed(problem, PLACE, Method.GREEDY)
                )
            return exact(problem)

        long = Application("long", (Task("i", 1.0), Task("j", 1.0)), {("i", "j"): 8_000_000})
        short = Application(
            "short", (Task("x", 2.0, 0, "c"), Task("y", 2.0, 0, "d")), {("x", "y"): 1_500_000}
        )
        arrivals = [Arrival(0, long), Arrival(0, short)]
        found = run(NET, FOUR, arrivals, place, Again(1.0, MigrationCost(pause)))
        assert [(one.name, one.ended, one.moves) for one in found] == [
            ("long", pytest.approx(ended), 1),
            ("short", pytest.approx(1.5), 0),
        ]

    @given(st.integers(0, 10_000), st.sampled_from(workloads.Cloud))
    def test_never_shorter_than_predicted_nor_than_all_transfers_in_turn_is_long(
        self, seed: int, cloud: workloads.Cloud
    ) -> None:
        chance = random.Random(seed)
        four = workloads.machines(5)
        snapshot = workloads.snapshot(cloud, [one.name for one in four], chance)
        app = workloads.application("app", 5, workloads.Transfers.HEAVY_TAILED, chance)
        app = replace(app, tasks=tuple(replace(task, cores=1.0) for task in app.tasks))
        placed = round_robin(Problem(app, four, snapshot))
        (ran,) = run(snapshot, four, [Arrival(0.0, app)], lambda _: placed)
        assert ran.seconds >= placed.seconds * (1 - 1e-6)
        if placed.limit is not None:
            alone = max(count * 8 / min(snapshot.rates.values()) for count in app.sent.values())
            assert ran.seconds <= alone * len(app.sent)


PLACE = {"i": "a", "j": "b"}


class TestAdvice:
    def said(self, now: float, then: float, sent: dict[str, int]) -> tuple[bool, str]:
        app = application(sent)
        fast, slow = (Placement({}, seconds, None, Method.EXACT) for seconds in (then, now))
        found = advice(app, fast, [slow])
        return found.pays, found.why

    UNEVEN = {"i>j": 100, "j>i": 1}  # noqa: RUF012
    EVEN = {"i>j": 100, "j>i": 99}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("now", "then", "sent", "pays", "why"),
        [
            (3600.0, 1800.0, UNEVEN, True, "30 min"),
            (300.0, 150.0, UNEVEN, False, "too short:"),
            (36000.0, 34000.0, EVEN, False, "its tasks"),
            (36000.0, 34000.0, UNEVEN, False, "the places"),
            (360.0, 180.0, UNEVEN, False, "too short:"),
            (36000.0, 32760.0, UNEVEN, False, "the places"),
            (100.0, 120.0, UNEVEN, False, "the places"),
            (0.0, 0.0, UNEVEN, False, "nothing"),
        ],
    )
    def test_says_why(self, now: float, then: float, sent: dict[str, int], pays: bool, why: str) -> None:
        found = self.said(now, then, sent)
        assert found[0] == pays
        assert found[1].startswith(why)

    def test_the_usual_is_the_median_of_the_others(self) -> None:
        others = [Placement({}, seconds, None, Method.RANDOM) for seconds in (9000.0, 1000.0, 2000.0)]
        found = advice(application(self.UNEVEN), Placement({}, 500.0, None, Method.EXACT), others)
        assert (found.pays, found.saved, found.share) == (True, 1500.0, 0.75)
        with pytest.raises(ValueError, match="otherwise"):
            advice(application(self.UNEVEN), others[0], [])

    def test_unevenness_by_hand(self) -> None:
        assert unevenness(application({"i>j": 30, "j>i": 10})) == pytest.approx(0.5)
        assert unevenness(Application("one", (Task("t", 1.0),))) == 0.0


def test_a_machine_of_an_instance_needs_cores() -> None:
    assert Machine.of(Instance("a", "10.0.0.1", cores=4, memory=8)) == Machine("a", 4, 8)
    with refused(ValueError, "cores"):
        Machine.of(Instance("a", "10.0.0.1"))
