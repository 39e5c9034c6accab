"""Waiters as values, for tests of the order alone."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from adon.broker.queueing.turns import Waiter

ENDS = ("mu", "osu")


def waiter(number: int, **fields: Any) -> Waiter:
    """A flow that waits; what is not said does not matter."""
    plain: dict[str, Any] = {
        "priority": 500,
        "arrived": 0.0,
        "lasts": 10.0,
        "bounded": 10.0,
        "alike": "a kind",
        "ends": ENDS,
    }
    return Waiter(number, **{**plain, **fields})


@st.composite
def waiters(draw: st.DrawFn, number: int = 1) -> Waiter:
    """Any flow that waits, with or without a deadline, an earliest begin, a reservation."""
    begins = draw(st.just(math.inf) | st.floats(0, 1e4))
    return waiter(
        number,
        priority=draw(st.integers(0, 999)),
        arrived=draw(st.floats(0, 1e4)),
        lasts=draw(st.just(math.inf) | st.floats(0, 1e4)),
        alike=draw(st.sampled_from("xyz")),
        ends=draw(st.sampled_from([ENDS, ENDS[::-1]])),
        not_before=draw(st.just(-math.inf) | st.floats(0, 1e4)),
        deadline=draw(st.just(math.inf) | st.floats(0, 3e4)),
        begins=begins,
        until=begins + draw(st.floats(0, 1e4)),
    )
