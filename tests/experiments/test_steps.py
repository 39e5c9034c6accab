from __future__ import annotations

from adon.experiments.parts import What
from adon.experiments.steps import course, end_of, ended_by
from adon.experiments.timeline import Begin, Heard, Passed, Skip, advance
from tests.apps.experiments.loopback import file, trials

FLOW = "template: soykb, from: mu, to: osu"


def test_what_lasts_ends_after_its_time_and_what_waits_for_its_end_comes_then():
    text = file(
        f"[{{flow: a, {FLOW}, lasts: 5 s}}, {{flow: b, {FLOW}, size: 10 MB, after: [cut, ends]}}]",
        "[{event: cut, after: [a, begins, 1 s], link: {path: al2s, state: down, until: [a, ends]}}]",
    )
    state = course(trials(text)[0])
    state, done = advance(state, Passed(), 0.0)
    assert done == (Begin("a"),)
    state, done = advance(state, Heard("a", What.BEGINS, 0.5), 0.5)
    assert (done, state.wake) == ((), 1.5)
    state, done = advance(state, Passed(), 1.5)
    assert done == (Begin("cut"),)
    state, done = advance(state, Passed(), 5.5)
    assert done == (Begin(end_of("a")),)
    state, done = advance(state, Heard("a", What.ENDS, 5.6), 5.6)
    assert done == (Begin(end_of("cut")),)
    assert ended_by("cut/end") == "cut"
    assert ended_by("cut") is None
    state, done = advance(state, Heard("cut", What.ENDS, 5.7), 5.7)
    assert done == (Begin("b"),)
    assert state.over


def test_what_is_absent_has_happened_already():
    text = file(
        f"[{{flow: a, {FLOW}, size: 10 MB, absent: true}},"
        f" {{flow: b, {FLOW}, size: 10 MB, after: [a, ends, 2 s]}}]"
    )
    state = course(trials(text)[0])
    assert state.wake == 2.0


def test_a_drawn_group_is_waited_for_to_its_last():
    drawn = (
        "{draw: g, template: soykb, between: [[mu, osu]], arrivals: {listed: [0 s, 1 s]},"
        " sizes: {chosen: {sizes: [10 MB]}}, lasts: 5 s}"
    )
    state = course(trials(file(f"[{drawn}, {{flow: late, {FLOW}, size: 10 MB, after: [g, ends]}}]"))[0])
    assert state.groups == {"g": ("g-1", "g-2")}
    state, _ = advance(state, Passed(), 1.0)
    state, done = advance(state, Heard("g-1", What.ENDS, 2.0), 2.0)
    assert done == ()
    _, done = advance(state, Heard("g-2", What.ENDS, 3.0), 3.0)
    assert done == (Begin("late"),)
    assert Skip not in {type(one) for one in done}
