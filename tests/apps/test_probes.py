"""Questions to switches about themselves: several answers make one, and none may be waited for in vain."""

from __future__ import annotations

from apps.campus_edge.probes import TIMEOUT_S, WHOLE, Probes


def asked(*xids: int, whole: bool = True) -> tuple[Probes, object]:
    probes, switch = Probes(), object()
    assert probes.begin(switch, xids, 100.0, whole=whole)
    return probes, switch


def test_the_last_answer_completes_it() -> None:
    probes, switch = asked(1, 2, 3)
    assert probes.add_answer(switch, 2, b"b", more=True) is None
    assert probes.add_answer(switch, 1, b"a") is None
    assert probes.add_answer(switch, 2, b"c") is None
    done = probes.add_answer(switch, 3, None)  # an error: it has no such thing
    assert done is not None
    assert (done.replies, done.whole) == ([b"b", b"a", b"c"], True)
    assert probes.overdue(1e9) == ([], set())


def test_another_switch_cannot_answer_for_it() -> None:
    probes, switch = asked(1)
    assert probes.add_answer(object(), 1, b"x") is None
    assert probes.add_answer(switch, 7, b"x") is None
    assert probes.add_answer(switch, 1, b"a") is not None


def test_what_is_not_answered_in_time_is_not_waited_for() -> None:
    probes, switch = asked(1, 2)
    probes.add_answer(switch, 1, b"a")
    assert probes.overdue(100.0 + TIMEOUT_S - 0.1) == ([], {100.0 + TIMEOUT_S})
    (late,), _ = probes.overdue(100.0 + TIMEOUT_S)
    assert late.replies == [b"a"]
    assert probes.add_answer(switch, 2, b"b") is None


def test_a_switch_that_still_owes_an_answer_is_not_asked_again_but_for_everything() -> None:
    probes, switch = asked(1, whole=False)
    assert not probes.begin(switch, [2], 101.0, whole=False)
    assert probes.begin(object(), [3], 101.0, whole=False)
    assert probes.begin(switch, [4], 101.0, whole=True)


def test_nobody_answers_over_a_connection_that_is_gone() -> None:
    probes, switch = asked(1)
    probes.forget_connection(switch)
    assert probes.add_answer(switch, 1, b"a") is None
    assert len(WHOLE) == 5
