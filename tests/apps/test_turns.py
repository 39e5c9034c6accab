from __future__ import annotations

from adon.broker.events import Event, Tick
from apps.campus_edge.turns import Turns


def question(number: int) -> Event:
    return Tick(f"q-{number}", 0.0)


def test_of_each_kind_one_at_a_time_is_before_what_happens() -> None:
    line: list[Event] = []
    turns = Turns(line.append, most=3)
    assert [turns.ask("what-if", question(n)) for n in range(5)] == [True, True, True, False, False]
    assert turns.ask("snapshot", question(10))
    assert [one.id for one in line] == ["q-0", "q-10"]
    turns.answered("what-if")
    assert [one.id for one in line] == ["q-0", "q-10", "q-1"]
    assert turns.ask("what-if", question(5)), "there is room again"
    for _ in range(3):
        turns.answered("what-if")
    assert [one.id for one in line] == ["q-0", "q-10", "q-1", "q-2", "q-5"]
    assert turns.ask("what-if", question(6))
    assert line[-1].id == "q-6", "nobody waits: at once"
