from __future__ import annotations

from adon.broker import lasting
from adon.broker.lasting import Lasting


def test_a_finding_is_kept_until_what_it_rests_on_or_time_is_different() -> None:
    kept, found = Lasting[int](), list[float]()

    def at(now: float, *rests_on: object) -> int:
        def find() -> tuple[int, float]:
            found.append(now)
            return len(found), now + 10.0

        return kept.get("key", rests_on, now, find)

    assert [at(0.0, "a"), at(9.9, "a"), at(10.0, "a"), at(10.5, "b"), at(10.5, "a")] == [1, 1, 2, 3, 4]
    assert at(10.4, "a") == 5, "a clock that went back"
    assert found == [0.0, 10.0, 10.5, 10.5, 10.4]


def test_they_do_not_become_more_and_more() -> None:
    kept = Lasting[int]()
    for number in range(lasting.MOST + 5):
        kept.get(number, (), 0.0, lambda: (0, 1.0))
    assert len(kept._found) <= lasting.MOST
