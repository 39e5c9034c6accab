from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.sources import body

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(JSON)
def test_what_can_be_kept_is_read_as_it_is(value: Any) -> None:
    text = json.dumps(value)
    kept = "\\u0000" not in text
    if kept:
        assert body.parse(text.encode()) == value


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"", "not JSON"),
        (b'{"a": 1', "not JSON"),
        (b"<html>", "not JSON"),
        (b'{"a": NaN}', "NaN is no number"),
        (b'{"a": -Infinity}', "-Infinity is no number"),
        (b'{"a": 1e999}', "too large"),
        (b'{"a": "\\u0000"}', "U+0000"),
        (b'{"\\ud800": 1}', "surrogate"),
        (b'["\\uDFFF"]', "surrogate"),
        (b"\xff\xfe", "UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b"9" * 5000, "digits"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_named(data: bytes, cause: str) -> None:
    with pytest.raises(ValueError, match=cause.replace("+", r"\+")):
        body.parse(data)


def test_a_whole_surrogate_pair_and_an_escaped_backslash_are_text() -> None:
    assert body.parse(b'["\\ud83d\\ude00", "\\\\u0000"]') == ["\U0001f600", "\\u0000"]


def test_a_body_is_bounded() -> None:
    assert body.parse(b'"' + b"x" * 8 + b'"', most=10) == "x" * 8
    with pytest.raises(ValueError, match="11 bytes, allowed are 10"):
        body.parse(b'"' + b"x" * 9 + b'"', most=10)
