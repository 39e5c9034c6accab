from __future__ import annotations

from mininet_topos.laps import Laps


def test_each_part_has_what_has_passed_since_the_one_before():
    times = iter([10.0, 10.5, 13.0])
    laps = Laps(lambda: next(times))
    laps.lap("first")
    laps.lap("second")
    assert list(laps.took.items()) == [("first", 0.5), ("second", 2.5)]
