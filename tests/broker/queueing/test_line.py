from __future__ import annotations

from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from adon.broker.queueing.line import Line
from adon.broker.queueing.turns import Phase, Rules, Waiter, phase, turn
from tests.broker.queueing.waiting import waiter, waiters
from tests.depth import DEPTH

RULES = Rules(aging=60.0, hurry=240, slack=0.25)


class Lines(RuleBasedStateMachine):
    """The line that is kept is the line that sorting everybody anew would give."""

    def __init__(self) -> None:
        super().__init__()
        self.line = Line(RULES)
        self.there: dict[int, Waiter] = {}
        self.now = 0.0

    @rule(one=waiters(), number=st.integers(1, 12))
    def comes(self, one: Waiter, number: int) -> None:
        self.there[number] = replace(one, number=number)
        self.line.put(self.there[number], self.now)

    @rule(number=st.integers(1, 12))
    def goes(self, number: int) -> None:
        self.there.pop(number, None)
        self.line.drop(number)

    @rule(seconds=st.floats(0, 5e3))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        self.line.advance(self.now)

    @invariant()
    def as_if_sorted(self) -> None:
        phases = {number: phase(one, self.now, RULES) for number, one in self.there.items()}
        assert {number: self.line.phase(number) for number in self.there} == phases

        def those(how: Phase) -> list[Waiter]:
            return [one for number, one in self.there.items() if phases[number] is how]

        due = sorted((one.begins, one.number) for one in those(Phase.DUE))
        asleep = sorted((one.not_before, one.number) for one in those(Phase.ASLEEP))
        waiting = [*those(Phase.CALM), *those(Phase.HURRIED)]
        middle = sorted(turn(one, phases[one.number], RULES) for one in waiting)
        found = self.line.first()
        assert found == [number for _, number in (*due, *middle, *asleep)]
        assert [self.line.before(number) for _, number in middle] == list(range(len(middle)))
        assert self.line.front(3) == [n for n in found if phases[n] is not Phase.ASLEEP][:3]

    @invariant()
    def who_is_alike_stands_together(self) -> None:
        together = [those for kinds in self.line.directions().values() for those in kinds.values()]
        numbers = [number for those in together for _, number in those.positions]
        calm = [n for n in self.there if self.line.phase(n) in (Phase.CALM, Phase.HURRIED)]
        assert sorted(numbers) == sorted(calm)
        for those in together:
            assert those.positions == sorted(those.positions)
            kinds = {
                (self.there[n].alike, self.line.phase(n), self.there[n].ends) for _, n in those.positions
            }
            assert len(kinds) == 1
        assert all(self.line.position(n) in self.line.alike(n).positions for n in calm)  # type: ignore[union-attr]


TestLines = Lines.TestCase
TestLines.settings = settings(max_examples=15 * DEPTH)


def test_priority_decides_among_flows_of_one_age() -> None:
    line = Line(RULES)
    for number in range(1, 6):
        line.put(waiter(number, priority=100 * number), 0.0)
    assert line.first() == [5, 4, 3, 2, 1]
    assert line.first(2) == [5, 4]
    assert [line.before(number) for number in (5, 1)] == [0, 4]
