from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given

from measurement.scheduling import (
    Agreement,
    ConflictGraph,
    Job,
    NoSchedule,
    Proof,
    Schedule,
    Task,
    harmonise_periods,
    hyperperiod,
    schedule,
)
from measurement.scheduling.proofs import infeasible
from tests.measurement.scheduling.sets import agreements, task, tasks, wrong
from tests.reference.schedules import exact, one_processor
from tests.support.refusals import refused


def starts(found: Schedule | NoSchedule) -> list[tuple[str, int, float]]:
    assert isinstance(found, Schedule)
    assert list(wrong(found)) == []
    return [(job.task, job.number, job.start / 1000) for job in found.jobs]


def fails(found: Schedule | NoSchedule) -> NoSchedule:
    assert isinstance(found, NoSchedule)
    return found


def test_conflicting_tests_follow_one_another_in_edf_order_and_others_run_beside_them() -> None:
    found = schedule([task("slow", 60, 10), task("quick", 30, 5), task("far", 60, 20, points="cd")])
    assert starts(found) == [("quick", 0, 0), ("far", 0, 0), ("slow", 0, 5), ("quick", 1, 30)]


@pytest.mark.parametrize(
    ("known", "first"),
    [
        ([task("b", 60), task("a", 60)], "a"),  # equal deadlines and periods: by id
        ([task("a", 60, deadline=30), task("b", 30)], "b"),  # equal deadlines: by period
        ([task("a", 30), task("b", 60, deadline=25)], "b"),  # by deadline before all
    ],
)
def test_ties_are_decided_by_deadline_then_period_then_id(known: list[Task], first: str) -> None:
    assert starts(schedule(known))[0] == (first, 0, 0)


def test_a_job_under_way_is_not_preempted() -> None:
    known = [task("long", 60, 20, points="ab"), task("short", 20, 3, points="bc", deadline=20)]
    assert starts(schedule(known)) == [("short", 0, 0), ("long", 0, 3), ("short", 1, 23), ("short", 2, 40)]


def test_light_tests_run_together_beside_each_other_but_not_beside_a_load() -> None:
    known = [task("load", 60, 10), task("ping", 30, 2, loads=False), task("owd", 30, 5, loads=False)]
    assert starts(schedule(known)) == [
        ("owd", 0, 0),
        ("ping", 0, 0),
        ("load", 0, 5),
        ("owd", 1, 30),
        ("ping", 1, 30),
    ]


def test_the_agreement_holds_tests_apart_that_do_not_conflict() -> None:
    known = [task(name, 60, 10, points=name, load={"core": 4e8}) for name in "abc"]
    assert [start for _, _, start in starts(schedule(known))] == [0, 0, 0]
    limited = schedule(known, Agreement({"core": 9e8}))
    assert starts(limited) == [("a", 0, 0), ("b", 0, 0), ("c", 0, 10)]
    assert isinstance(limited, Schedule)
    spend = limited.spend()["core"]
    assert (spend.peak, spend.steps) == (800_000_000, ((0, 800_000_000), (10_000, 400_000_000), (20_000, 0)))
    assert spend.mean == pytest.approx(4e8 * 30 / 60)


def test_what_fills_an_allowance_to_the_bit_fits() -> None:
    known = [task(name, 60, 10, points=name, load={"core": 0.1}) for name in "abc"]
    assert [start for _, _, start in starts(schedule(known, Agreement({"core": 3.0})))] == [0, 0, 0]


def test_releases_at_the_hyperperiod_belong_to_the_next_round() -> None:
    found = schedule([task("a", 20, 5), task("b", 30, 5, points="cd")])
    assert isinstance(found, Schedule)
    assert found.hyperperiod == 60_000
    assert [job.release for job in found.jobs if job.task == "a"] == [0, 20_000, 40_000]
    assert all(job.deadline <= found.hyperperiod for job in found.jobs)


def test_a_job_that_never_gets_to_start_is_a_miss_too() -> None:
    # The printed algorithm checks only jobs that start: "late" never does, and it would end without an error.
    known = [task("early", 10, 6), task("late", 10, 6)]
    miss = fails(schedule(known))
    assert (miss.task, miss.number, miss.instant, miss.blocked_until) == ("late", 0, 0, 6_000)
    assert miss.conflicting == ("early",)
    assert miss.deadline == 10_000
    assert miss.infeasible is not None
    assert miss.infeasible.tasks == ("early", "late")
    assert "120.0%" in miss.infeasible.text
    assert miss.smallest_period is None  # early alone fills too much of any round of 10 s
    assert miss.infeasible.text in miss.text


def test_a_miss_without_a_proof_is_not_called_infeasible_and_names_a_period_that_fits() -> None:
    # "long" takes more than the pause between two runs of "short", but no clique is overfull.
    known = [task("long", 40, 12), task("short", 10, 2, deadline=3), task("other", 20, 1, points="cd")]
    miss = fails(schedule(known))
    assert (miss.task, miss.number, miss.release, miss.instant) == ("short", 1, 10_000, 10_000)
    assert miss.blocked_until == 14_000
    assert miss.conflicting == ("long",)
    assert miss.infeasible is None
    assert "infeasible" not in miss.text
    assert miss.smallest_period == 20.0
    fitting = [replace(each, period=20.0) if each.id == "short" else each for each in known]
    starts(schedule(fitting))


def test_a_period_below_twice_the_asked_one_is_found_and_only_who_was_in_the_way_is_named() -> None:
    known = [task("big", 60, 36), task("small", 20, 5), task("brief", 60, 1, deadline=3)]
    miss = fails(schedule(known))
    assert (miss.task, miss.number, miss.smallest_period) == ("small", 1, 30.0)
    assert miss.conflicting == ("big",)  # "brief" was over before the run was released


@given(tasks(5), agreements)
def test_the_smallest_period_is_the_first_longer_divisor_of_the_round_that_fits(
    known: list[Task], agreement: Agreement
) -> None:
    miss = schedule(known, agreement)
    if isinstance(miss, Schedule):
        return
    length = hyperperiod(known)
    (late,) = (each for each in known if each.id == miss.task)
    longer = [
        length / k / 1000 for k in range(length, 0, -1) if length % k == 0 and length / k > late.interval
    ]
    fitting = (
        period
        for period in longer
        if isinstance(
            schedule(
                [replace(e, period=period) if e is late else e for e in known], agreement, explain=False
            ),
            Schedule,
        )
    )
    assert miss.smallest_period == next(fitting, None)


@pytest.mark.parametrize(
    ("known", "agreement", "proof"),
    [
        ([task("a", load={"p": 2e9})], {"p": 1e9}, "a offers 2000000000 bit/s to p"),
        (
            [task(name, 20, 10, points=name, load={"p": 6.0}) for name in "abcd"],
            {"p": 11.0},
            "on average 12 bit/s are offered to p, where the agreement allows 11",
        ),
    ],
)
def test_an_agreement_that_cannot_be_kept_is_a_proof(
    known: list[Task], agreement: dict[str, float], proof: str
) -> None:
    found = fails(schedule(known, Agreement(agreement))).infeasible
    assert found is not None
    assert proof in found.text


@pytest.mark.parametrize(
    "known",
    [
        [task(name, 20, 10, points=name, load={"p": 6.0}) for name in "abcd"],  # 12 bit/s on average
        [task("a", 20, 10), task("b", 30, 10), task("c", 60, 10)],  # a clique that fills all the time
    ],
)
def test_what_fits_to_the_last_bit_and_instant_is_not_called_infeasible(known: list[Task]) -> None:
    agreement = Agreement({"p": 12.0})
    assert infeasible(known, agreement, ConflictGraph.of(known)) is None
    starts(schedule(known, agreement))


def test_a_hyperperiod_beyond_the_cap_is_refused_unless_periods_may_be_harmonised() -> None:
    known = [task("a", 59.0, 1), task("b", 61.0, 1), task("c", 47.0, 1, points="cd")]
    with refused("round-too-long"):
        schedule(known)
    found = schedule(known, harmonise=True)
    starts(found)
    assert isinstance(found, Schedule)
    assert found.hyperperiod <= 86_400_000
    for before in known:
        assert 0.85 * before.period <= found.tasks[before.id].period <= before.period


def test_harmonising_leaves_what_goes_together_already() -> None:
    known = [task("a", 60), task("b", 90)]
    found = schedule(known, harmonise=True)
    assert isinstance(found, Schedule)
    assert list(found.tasks.values()) == known


def test_periods_that_are_divisors_already_are_not_shortened() -> None:
    known = [task("a", 60), task("b", 90)]
    assert harmonise_periods(known) == known


def test_too_many_runs_and_too_long_periods_are_refused() -> None:
    with refused("round-too-long"):
        hyperperiod([task("a", 600.0, 1), task("b", 0.1, 0.01)], most_jobs=6000)
    with refused("round-too-long"):
        harmonise_periods([task("a", 172_800.0)])


def test_an_explicit_deadline_survives_harmonising_if_it_can() -> None:
    (kept,) = harmonise_periods([task("a", 61.0, 1, deadline=20)])
    (cut,) = harmonise_periods([task("a", 61.0, 1, deadline=61)])
    assert kept.deadline == 20
    assert cut.deadline == cut.period < 61


def test_two_tasks_of_one_id_are_refused() -> None:
    with refused(ValueError):
        schedule([task("a"), task("a", points="cd")])


def test_nothing_to_schedule_is_a_schedule() -> None:
    found = schedule([])
    assert isinstance(found, Schedule)
    assert found.jobs == ()


@given(tasks(), agreements)
def test_what_is_called_a_schedule_is_one(known: list[Task], agreement: Agreement) -> None:
    found = schedule(known, agreement, explain=False)
    if isinstance(found, Schedule):
        assert list(wrong(found)) == []
    else:
        assert found.deadline - found.release >= 1


@given(tasks(), agreements)
def test_the_order_in_which_tasks_are_named_changes_nothing(known: list[Task], agreement: Agreement) -> None:
    other = list(known)
    random.Random(1).shuffle(other)
    assert schedule(known, agreement, explain=False) == schedule(other, agreement, explain=False)


@given(tasks(5), agreements)
def test_the_indexed_walk_decides_as_the_printed_algorithm(known: list[Task], agreement: Agreement) -> None:
    found = schedule(known, agreement, explain=False)
    assert (found.jobs if isinstance(found, Schedule) else None) == by_the_listing(known, agreement)


def by_the_listing(known: list[Task], agreement: Agreement) -> tuple[Job, ...] | None:
    """[ADON] algorithm 1 as printed, every pending job tried at every point; None for a miss."""
    length = hyperperiod(known)
    by_id = {each.id: each for each in known}
    pending = [
        (number * each.interval + each.relative_deadline, each.interval, each.id, number)
        for each in known
        for number in range(length // each.interval)
    ]
    points = {number * each.interval for each in known for number in range(length // each.interval)}
    jobs: list[Job] = []
    while points:
        now = min(points)
        points.remove(now)
        for entry in sorted(pending):
            deadline, interval, name, number = entry
            mine = by_id[name]
            if number * interval > now:
                continue
            if now + mine.execution_time > deadline:
                return None
            running = [by_id[job.task] for job in jobs if job.finish > now]
            if not any(_clash(mine, other) for other in running) and _affordable([*running, mine], agreement):
                jobs.append(Job(name, number, number * interval, now, now + mine.execution_time, deadline))
                points.add(now + mine.execution_time)
                pending.remove(entry)
    return None if pending else tuple(jobs)


def _clash(a: Task, b: Task) -> bool:
    together = bool(a.points & b.points) or bool(a.links & b.links)
    return together and (a.loads or b.loads or a.exclusive or b.exclusive)


def _affordable(running: list[Task], agreement: Agreement) -> bool:
    loads = [agreement.count_limited(each.load) for each in running]
    return all(sum(load.get(where, 0) for load in loads) <= most for where, most in agreement.limits.items())


@given(tasks(4), agreements)
def test_the_exact_solver_is_never_worse_and_no_proof_is_wrong(
    known: list[Task], agreement: Agreement
) -> None:
    by_edf = schedule(known, agreement)
    by_all = exact(known, agreement)
    assert by_all is not None
    if isinstance(by_all, Schedule):
        assert list(wrong(by_all)) == []
        assert isinstance(by_edf, Schedule) or by_edf.infeasible is None
    else:
        assert isinstance(by_edf, NoSchedule)


def test_the_exact_solver_finds_what_edf_misses_and_proves_what_nobody_finds() -> None:
    # EDF begins "mid" at 8 s, though "short" comes at 10 s with a second of patience.
    known = [task("long", 40, 6), task("mid", 40, 4), task("short", 10, 2, deadline=3)]
    assert fails(schedule(known)).task == "short"
    found = exact(known)
    assert isinstance(found, Schedule)
    assert list(wrong(found)) == []
    assert isinstance(exact([task("a", 10, 6), task("b", 10, 6)]), Proof)


def test_the_exact_solver_keeps_the_agreement() -> None:
    known = [task(name, 60, 16, points=name, load={"p": 6.0}) for name in "abcd"]  # one at a time: 64 s
    assert isinstance(exact(known, Agreement({"p": 12.0})), Schedule)
    answer = exact(known, Agreement({"p": 11.0}))
    assert isinstance(answer, Proof)
    assert "exhaustive search" in answer.text


def test_where_everything_conflicts_one_processor_is_what_the_network_is() -> None:
    known = [task("a", 60, 20), task("b", 30, 5), task("c", 60, 10)]
    whole = one_processor(known)
    assert whole is not None
    assert starts(whole) == starts(schedule(known))


def test_as_one_processor_nothing_runs_beside_anything() -> None:
    known = [task("a", 60, 20, points="ab"), task("b", 60, 20, points="cd"), task("c", 60, 20, points="e")]
    assert [start for _, _, start in starts(schedule(known))] == [0, 0, 0]
    whole = one_processor(known)
    assert whole is not None
    assert [start for _, _, start in starts(whole)] == [0, 20, 40]
    known.append(task("d", 60, 20, points="f"))
    assert one_processor(known) is None
    starts(schedule(known))
