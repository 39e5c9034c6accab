from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.experiments.parts import Moment, What
from adon.experiments.timeline import ALL, Begin, Heard, Never, Passed, Skip, Step, advance, timeline
from tests.support.refusals import refused


def after(of: str, what: What, wait: float = 0.0) -> Moment:
    return Moment.model_validate({"of": of, "what": what, "wait": f"{wait} s"})


FIGURE_18 = [
    Step("soykb", at=0.0),
    Step("neuroblastoma", after=after("soykb", What.ENDS, 1.0)),
    Step("soykb-2", after=after("neuroblastoma", What.TESTED)),
    Step("soykb-3", after=after("soykb-2", What.ENDS)),
]


def test_figure_18_as_a_timeline():
    state = timeline(FIGURE_18)
    state, done = advance(state, Passed(), 0.0)
    assert done == (Begin("soykb"),)
    assert state.wake is None
    assert state.awaited == {
        ("soykb", What.ENDS),
        ("neuroblastoma", What.TESTED),
        ("soykb-2", What.ENDS),
    }
    state, done = advance(state, Heard("soykb", What.ENDS, 14.0), 14.1)
    assert (done, state.wake) == ((), 15.0)
    state, done = advance(state, Passed(), 15.0)
    assert done == (Begin("neuroblastoma"),)
    state, done = advance(state, Heard("neuroblastoma", What.TESTED, 40.0), 40.2)
    assert done == (Begin("soykb-2"),)
    state, done = advance(state, Heard("soykb-2", What.ENDS, 99.0), 99.0)
    assert done == (Begin("soykb-3"),)
    assert state.over


def test_what_waits_for_a_moment_that_never_comes_is_left_out_and_what_waits_for_that():
    state, _ = advance(timeline(FIGURE_18), Passed(), 0.0)
    state, done = advance(state, Never("soykb", ALL, "it was refused"), 3.0)
    assert [(type(one), one.step) for one in done] == [
        (Skip, step) for step in ("neuroblastoma", "soykb-2", "soykb-3")
    ]
    assert state.over


def test_the_first_time_counts():
    state, _ = advance(timeline([Step("a", at=0.0), Step("b", after=after("a", What.MOVED, 5))]), Passed(), 0)
    for at in (3.0, 4.0):
        state, _ = advance(state, Heard("a", What.MOVED, at), at)
    assert state.wake == 8.0


def test_what_is_due_together_begins_in_the_order_of_its_times():
    steps = [Step("b", at=2.0), Step("a", at=1.0), Step("c", at=2.0)]
    _, done = advance(timeline(steps), Passed(), 5.0)
    assert done == (Begin("a"), Begin("b"), Begin("c"))


@pytest.mark.parametrize(
    "steps",
    [
        [Step("a", at=0), Step("a", at=1)],
        [Step("a", after=after("b", What.ENDS))],
        [Step("a", after=after("a", What.ENDS))],
        [Step("a", after=after("b", What.ENDS)), Step("b", after=after("a", What.ENDS))],
    ],
)
def test_what_could_never_begin_is_refused_at_once(steps):
    with refused(ValueError, "a"):
        timeline(steps)


@pytest.mark.parametrize("times", [{}, {"at": 1.0, "after": Moment(of="b", what=What.ENDS)}])
def test_a_step_begins_in_one_way(times):
    with refused(ValueError, "a"):
        Step("a", **times)


@st.composite
def trials(draw):
    """Steps that wait for earlier ones, in any order of the file."""
    count = draw(st.integers(1, 8))
    names = [f"s-{number}" for number in range(count)]
    steps = []
    for number, name in enumerate(names):
        before = names[:number]
        if not before or draw(st.booleans()):
            steps.append(Step(name, at=draw(st.floats(0, 50))))
        else:
            what, wait = draw(st.sampled_from(list(What))), draw(st.floats(0, 10))
            steps.append(Step(name, after=after(draw(st.sampled_from(before)), what, wait)))
    return draw(st.permutations(steps))


@given(trials(), st.data())
def test_every_step_is_begun_or_left_out_exactly_once_whatever_happens(steps, data):
    """Whoever tells, sooner or later, of each moment that it came or never will, comes to an end."""
    state, now = timeline(steps), 0.0
    done: list[str] = []
    begun_at: dict[str, float] = {}
    open_moments: set[tuple[str, What]] = set()
    what = Passed()
    for _turn in range(1000):
        state, actions = advance(state, what, now)
        done += [action.step for action in actions]
        for action in actions:
            if isinstance(action, Begin):
                begun_at[action.step] = now
                open_moments |= {(action.step, one) for one in What}
        if state.over:
            break
        assert open_moments or state.wake is not None, "deadlock"
        if open_moments and (state.wake is None or data.draw(st.booleans())):
            of, moment = data.draw(st.sampled_from(sorted(open_moments)))
            open_moments.discard((of, moment))
            came = data.draw(st.booleans())
            what = Heard(of, moment, now) if came else Never(of, frozenset({moment}), "it did not")
        else:
            assert state.wake is not None
            what, now = Passed(), max(now, state.wake)
    assert sorted(done) == sorted(step.name for step in steps)
    for step in steps:
        if step.name in begun_at:
            due = state.due(step)
            assert due is not None
            assert begun_at[step.name] >= due
