from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.point.trust import Presented, Trust
from measurement.sources.senders import Bucket, Rate, read_tokens


def digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def test_a_sender_is_recognised_by_any_of_its_tokens_and_by_no_other() -> None:
    text = f"# points\n\ncampus {digest('old')}\n  campus\t{digest('new').upper()}\nremote {digest('r')}\n"
    trust = Trust(read_tokens(text))
    found = {token: trust.who(Presented(token)) for token in ("old", "new", "r", "", digest("r"))}
    assert {token: None if known is None else known.name for token, known in found.items()} == {
        "old": "campus", "new": "campus", "r": "remote", "": None, digest("r"): None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("campus", "line 1"),
        ("campus the-token-itself", "line 1"),
        (f"\nca/mpus {'0' * 64}", "line 2"),
        (f"a {'0' * 64}\nb {'0' * 64}", "line 2: b has the token of a"),
        (f"a {'0' * 63}", "64 hex digits"),
    ],
)
def test_a_wrong_line_is_named_and_not_shown(text: str, shown: str) -> None:
    with pytest.raises(ValueError, match=shown) as caught:
        read_tokens(text)
    assert "the-token-itself" not in str(caught.value)


@given(st.lists(st.floats(0, 10), max_size=60), st.floats(0.1, 10), st.integers(1, 10))
def test_no_more_is_let_in_than_the_rate_allows(gaps: list[float], per_second: float, burst: int) -> None:
    rate, bucket, now, let_in = Rate(per_second, float(burst)), None, 100.0, 0
    for gap in gaps:
        now += gap
        bucket, wait = rate.take(bucket, now)
        let_in += wait == 0
        if wait:
            assert rate.take(bucket, now + wait + 1e-6)[1] == 0
    assert let_in <= burst + (now - 100.0) * per_second + 1e-6


def test_a_clock_that_steps_back_gives_nothing_and_takes_nothing() -> None:
    rate = Rate(1.0, 2.0)
    assert rate.take(Bucket(1.5, 100.0), 50.0) == (Bucket(0.5, 50.0), 0.0)
