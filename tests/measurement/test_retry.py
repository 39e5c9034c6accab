from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.errors import (
    AnswerTooLarge,
    BadAnswer,
    PointError,
    PointRefused,
    PointTimeout,
    PointUnavailable,
    PointUntrusted,
    Rejected,
    RunFailed,
)
from measurement.pscheduler.retry import LONGEST_WAIT, Advice, advice, before_next


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (PointRefused("h", "x"), Advice.SOON),
        (PointTimeout("h", "x"), Advice.SOON),
        (PointUnavailable("h", "HTTP 503"), Advice.SOON),
        (PointUntrusted("h", "x"), Advice.NEVER),
        (BadAnswer("h", "expected JSON"), Advice.ONCE),
        (AnswerTooLarge("h", "x"), Advice.NEVER),
        (RunFailed("h", "x"), Advice.NEVER),
        (Rejected("h", 400, "At /: is not valid"), Advice.NEVER),
        (Rejected("h", 403, "Task forbidden by limits:"), Advice.ADMINISTRATOR),
        (Rejected("h", 404, "Resource not found."), Advice.NEVER),
        (Rejected("h", 422, "Unable to complete request: no tools in common"), Advice.NEVER),
        (Rejected("h", 422, "Limit processor is not initialized"), Advice.SLOWLY),
        (Rejected("h", 500, "Error getting tools from b.example.net: ..."), Advice.SOON),
        (Rejected("h", 500, "Traceback (most recent call last)"), Advice.ONCE),
        (Rejected("h", 501, "API level"), Advice.NEVER),
    ],
)
def test_each_kind_of_error_has_its_own_advice(error: PointError, expected: Advice) -> None:
    assert advice(error) is expected


@given(st.integers(1, 10_000), st.floats(0, 1, exclude_max=True))
def test_waits_double_with_jitter_and_have_an_end(failures: int, chance: float) -> None:
    wait = before_next(PointRefused("h", "x"), failures, chance)
    assert wait is not None
    assert min(LONGEST_WAIT, 2.0 ** min(failures - 1, 9)) * 0.5 <= wait <= LONGEST_WAIT * 1.5


def test_once_is_once_and_never_is_never() -> None:
    assert before_next(BadAnswer("h", "x"), 1, 0.5) is not None
    assert before_next(BadAnswer("h", "x"), 2, 0.5) is None
    assert before_next(Rejected("h", 400, "x"), 1, 0.5) is None
