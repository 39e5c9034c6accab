from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from measurement.scheduling import (
    Admitted,
    Agreement,
    Execution,
    Horizon,
    Refused,
    Request,
    Schedule,
    admit,
    excesses,
    overlaps,
    schedule,
)
from tests.measurement.scheduling.sets import agreements, task, tasks
from tests.support.refusals import refused

EPOCH = 1_795_267_200.0


def plan(*known: object, agreement: Agreement | None = None) -> Horizon:
    found = schedule(known, agreement or Agreement())  # type: ignore[arg-type]
    assert isinstance(found, Schedule)
    return Horizon(found, EPOCH)


def request(
    name: str = "now",
    duration: float = 10.0,
    *,
    over: float | None = None,
    points: str = "ab",
    loads: bool = True,
    load: dict[str, float] | None = None,
) -> Request:
    """``over``: seconds after the epoch."""
    deadline = None if over is None else EPOCH + over
    return Request(
        name,
        points[0],
        points[-1],
        "iperf3",
        duration,
        deadline,
        frozenset(points),
        frozenset(),
        loads,
        load=load or {},
    )


def admitted(answer: Admitted | Refused) -> Admitted:
    assert isinstance(answer, Admitted), answer
    return answer


def starts(horizon: Horizon, until: float) -> list[tuple[str, float]]:
    return [(start.task, round(start.at - EPOCH, 3)) for start in horizon.starts(EPOCH, EPOCH + until)]


def test_it_starts_at_once_where_nothing_is_in_its_way() -> None:
    answer = admitted(admit(plan(task("a", 60, 10, points="cd")), request(), EPOCH + 3))
    assert answer.start == ("now", 0, EPOCH + 3)
    assert answer.moved == 0
    assert starts(answer.horizon, 61) == [("a", 0), ("now", 3), ("a", 60)]


def test_it_starts_in_the_first_gap_that_is_long_enough() -> None:
    horizon = plan(task("a", 20, 12), task("b", 60, 2))  # a 0-12 20-32 40-52; b 12-14
    assert admitted(admit(horizon, request(duration=6), EPOCH)).start.at == EPOCH + 14
    assert admitted(admit(horizon, request(duration=7), EPOCH)).start.at == EPOCH + 32
    assert admitted(admit(horizon, request(duration=8), EPOCH + 41)).start.at == EPOCH + 52  # over the edge


def test_a_light_test_does_not_mind_light_tests() -> None:
    horizon = plan(task("ping", 20, 18, loads=False))
    assert admitted(admit(horizon, request(loads=False), EPOCH + 1)).start.at == EPOCH + 1


def test_the_agreement_is_kept_with_what_is_planned() -> None:
    horizon = plan(task("a", 60, 20, points="cd", load={"core": 6e8}), agreement=Agreement({"core": 1e9}))
    answer = admitted(admit(horizon, request(load={"core": 5e8}), EPOCH))
    assert answer.start.at == EPOCH + 20
    refused = admit(horizon, request(load={"core": 2e9}), EPOCH)
    assert isinstance(refused, Refused)
    assert refused.earliest is None
    assert "1000000000" in refused.reason


def test_a_run_moves_within_its_deadline_where_the_request_cannot_wait() -> None:
    horizon = plan(task("a", 60, 10), task("b", 60, 20))  # a 0-10, b 10-30
    answer = admitted(admit(horizon, request(duration=15, over=26), EPOCH + 5))
    assert answer.start.at == EPOCH + 10
    assert answer.moved == 1
    assert starts(answer.horizon, 130) == [
        ("a", 0),
        ("now", 10),
        ("b", 25),
        ("a", 60),
        ("b", 70),
        ("a", 120),
    ]


def test_nothing_moves_where_a_gap_is_early_enough() -> None:
    horizon = plan(task("a", 60, 10), task("b", 60, 20))
    answer = admitted(admit(horizon, request(duration=15, over=60), EPOCH + 5))
    assert (answer.start.at, answer.moved) == (EPOCH + 30, 0)


def test_what_would_make_a_run_late_is_refused_with_a_time_that_is_possible() -> None:
    horizon = plan(task("a", 20, 12, deadline=13))
    answer = admit(horizon, request(duration=6, over=10), EPOCH + 1)
    assert isinstance(answer, Refused)
    assert (answer.earliest, answer.deadline) == (EPOCH + 12, EPOCH + 18)


def test_what_never_fits_is_refused_without_a_time() -> None:
    answer = admit(plan(task("a", 20, 12)), request(duration=17, over=100), EPOCH)
    assert isinstance(answer, Refused)
    assert answer.earliest is None


def test_the_time_told_on_refusal_holds_when_asked_for() -> None:
    # With some later deadline the request ends at 11 s, but with one at 11 s another run would be late.
    horizon = plan(
        task("t0", 8, 4, points="c"),
        task("t1", 6, 2, points="ac"),
        task("t2", 8, 3, points="ab"),
        task("t3", 8, 1, points="bc"),
        task("t4", 12, 3, points="b"),
    )
    refused = admit(horizon, request(duration=2, over=4), EPOCH + 2)
    assert isinstance(refused, Refused)
    assert refused.earliest is not None
    again = replace(request(duration=2), deadline=refused.deadline)
    assert admitted(admit(horizon, again, EPOCH + 2)).start.at == refused.earliest


def test_requests_do_not_push_each_other() -> None:
    horizon = plan(task("a", 60, 10))
    first = admitted(admit(horizon, request("first", 30), EPOCH + 1)).horizon
    second = admitted(admit(first, request("second", 10), EPOCH + 1))
    assert starts(second.horizon, 60) == [("a", 0), ("first", 10), ("second", 40)]
    assert isinstance(admit(first, request("urgent", 10, over=35), EPOCH + 1), Refused)


def test_a_test_longer_than_the_round_needs_a_place_where_nothing_of_its_own_runs() -> None:
    horizon = plan(task("a", 10, 2, points="cd"))
    answer = admitted(admit(horizon, request(duration=25), EPOCH + 3))
    assert answer.start.at == EPOCH + 3


def test_an_id_is_used_once() -> None:
    horizon = plan(task("a", 60, 10))
    with refused(ValueError):
        admit(horizon, request("a"), EPOCH)
    once = admitted(admit(horizon, request("once"), EPOCH)).horizon
    with refused(ValueError):
        admit(once, request("once"), EPOCH)
    assert isinstance(admit(once.after(EPOCH + 30), request("once"), EPOCH + 30), Admitted)


def test_what_is_over_is_forgotten() -> None:
    horizon = plan(task("a", 60, 10), task("b", 60, 20))
    moved = admitted(admit(horizon, request(duration=15, over=26), EPOCH + 5)).horizon
    assert moved.after(EPOCH + 20) == moved
    assert moved.after(EPOCH + 61) == horizon


REQUESTS = st.lists(
    st.tuples(
        st.floats(0, 60),  # asked so long after the one before
        st.integers(1, 12_000),  # lasts, ms
        st.none() | st.floats(0, 40),  # patience beyond its duration
        st.sets(st.sampled_from("abcde"), min_size=1, max_size=2),
        st.booleans(),
    ),
    max_size=5,
)


@given(tasks(6), agreements, REQUESTS)
def test_no_admitted_run_is_ever_late_lost_or_disturbed(
    known: list[object], agreement: Agreement, asked: list[tuple[float, int, float | None, set[str], bool]]
) -> None:
    found = schedule(known, agreement, explain=False)  # type: ignore[arg-type]
    if not isinstance(found, Schedule):
        return
    horizon, now = Horizon(found, EPOCH), EPOCH - 10
    requests = []
    for number, (later, lasts, patience, points, loads) in enumerate(asked):
        now += later
        wish = request(f"r{number}", lasts / 1000, points="".join(sorted(points)), loads=loads)
        wish = replace(wish, load={"domain": 5.0} if loads else {})
        if patience is not None:
            wish = replace(wish, deadline=max(now, EPOCH) + lasts / 1000 + patience)
        before = horizon.starts(EPOCH - 20, now)
        answer = admit(horizon, wish, now)
        if isinstance(answer, Refused):
            if answer.earliest is not None:
                again = replace(wish, deadline=answer.deadline)
                assert admitted(admit(horizon, again, now)).start.at == answer.earliest
            continue
        assert answer.horizon.starts(EPOCH - 20, now) == before  # the past does not change
        assert answer.start.at >= now
        assert wish.deadline is None or answer.start.at + wish.duration <= wish.deadline + 1e-6
        horizon = answer.horizon
        requests.append(wish)
    until = max([now, *(horizon.wall(each.finish) for each in horizon.on_demand)])
    until += 2 * found.hyperperiod / 1000
    _all_is_well(horizon, requests, until)


def _all_is_well(horizon: Horizon, requests: list[Request], until: float) -> None:
    tests = [*horizon.schedule.tasks.values(), *requests]
    lasts = {test.id: test.execution_time / 1000 for test in tests}
    ran = [
        Execution(task, number, at, at, at + lasts[task], "done")
        for task, number, at in horizon.starts(EPOCH, until)
    ]
    for run in ran:
        if run.task in horizon.schedule.tasks:
            own = horizon.schedule.tasks[run.task]
            release = EPOCH + run.number * own.period
            assert run.started is not None
            assert run.started >= release - 1e-6
            assert run.started + lasts[run.task] <= release + own.relative_deadline / 1000 + 1e-6
    for name, own in horizon.schedule.tasks.items():
        numbers = sorted(run.number for run in ran if run.task == name)
        assert numbers == list(range(len(numbers)))
        assert len(numbers) >= int((until - EPOCH) // own.period)
    assert [clash for clash in overlaps(ran, tests) if clash.seconds > 1e-6] == []
    assert excesses([_shorter(run) for run in ran], tests, horizon.schedule.agreement) == []


def _shorter(run: Execution) -> Execution:
    assert run.ended is not None
    return replace(
        run, ended=run.ended - 1e-4
    )  # wall times are floats: one may end a hair after the next begins
