from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from mininet_topos.experiments.document import Moment, Phase
from mininet_topos.experiments.timeline import Action, News, Step, Timeline, advance


def after(of: str, what: Phase, wait: float = 0.0) -> Moment:
    return Moment.model_validate({"of": of, "what": what, "wait": f"{wait} s"})


FIGURE_18 = [
    Step("soykb", at=0.0),
    Step("neuroblastoma", after=after("soykb", Phase.ENDS, 1.0)),
    Step("soykb-2", after=after("neuroblastoma", Phase.TESTED)),
    Step("soykb-3", after=after("soykb-2", Phase.ENDS)),
]


def test_steps_of_figure_18_start_in_order():
    state = Timeline(tuple(FIGURE_18))
    state, done = advance(state, {}, 0.0)
    assert done == (Action("soykb"),)
    assert state.next_due == math.inf
    state, done = advance(state, {("soykb", Phase.ENDS): 14.0}, 14.1)
    assert (done, state.next_due) == ((), 15.0)
    state, done = advance(state, {}, 15.0)
    assert done == (Action("neuroblastoma"),)
    state, done = advance(state, {("neuroblastoma", Phase.TESTED): 40.0}, 40.2)
    assert done == (Action("soykb-2"),)
    state, done = advance(state, {("soykb-2", Phase.ENDS): 99.0}, 99.0)
    assert done == (Action("soykb-3"),)
    assert not state.waiting


def test_steps_that_wait_for_an_impossible_moment_are_skipped():
    state, _ = advance(Timeline(tuple(FIGURE_18)), {}, 0.0)
    state, done = advance(state, dict.fromkeys((("soykb", what) for what in Phase), "it was refused"), 3.0)
    assert [one.step for one in done] == ["neuroblastoma", "soykb-2", "soykb-3"]
    assert all(one.reason for one in done)
    assert not state.waiting


def test_first_time_of_a_moment_counts():
    state, _ = advance(Timeline((Step("a", at=0.0), Step("b", after=after("a", Phase.MOVED, 5)))), {}, 0)
    for at in (3.0, 4.0):
        state, _ = advance(state, {("a", Phase.MOVED): at}, at)
    assert state.next_due == 8.0


def test_due_steps_start_in_the_order_of_their_times():
    steps = [Step("b", at=2.0), Step("a", at=1.0), Step("c", at=2.0)]
    _, done = advance(Timeline(tuple(steps)), {}, 5.0)
    assert done == (Action("a"), Action("b"), Action("c"))


@st.composite
def trials(draw):
    """Return steps that wait for earlier ones, in any order."""
    count = draw(st.integers(1, 8))
    names = [f"s-{number}" for number in range(count)]
    steps = []
    for number, name in enumerate(names):
        before = names[:number]
        if not before or draw(st.booleans()):
            steps.append(Step(name, at=draw(st.floats(0, 50))))
        else:
            what, wait = draw(st.sampled_from(list(Phase))), draw(st.floats(0, 10))
            steps.append(Step(name, after=after(draw(st.sampled_from(before)), what, wait)))
    return draw(st.permutations(steps))


@given(trials(), st.data())
def test_every_step_starts_or_is_skipped_exactly_once(steps, data):
    state, now = Timeline(tuple(steps)), 0.0
    done: list[str] = []
    begun_at: dict[str, float] = {}
    open_moments: set[tuple[str, Phase]] = set()
    what: News = {}
    for _turn in range(1000):
        state, actions = advance(state, what, now)
        done += [action.step for action in actions]
        for action in actions:
            if not action.reason:
                begun_at[action.step] = now
                open_moments |= {(action.step, one) for one in Phase}
        if not state.waiting:
            break
        assert open_moments or state.next_due < math.inf, "deadlock"
        if open_moments and (state.next_due == math.inf or data.draw(st.booleans())):
            of, moment = data.draw(st.sampled_from(sorted(open_moments)))
            open_moments.discard((of, moment))
            came = data.draw(st.booleans())
            what = {(of, moment): now} if came else {(of, moment): "it did not"}
        else:
            what, now = {}, max(now, state.next_due)
    assert sorted(done) == sorted(step.name for step in steps)
    for step in steps:
        if step.name in begun_at:
            due = state.due(step)
            assert isinstance(due, float)
            assert begun_at[step.name] >= due
