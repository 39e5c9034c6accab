from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement.sources import body
from tests.support.refusals import refused

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
    "data",
    [
        b"",
        b'{"a": 1',
        b"<html>",
        b'{"a": NaN}',
        b'{"a": -Infinity}',
        b'{"a": 1e999}',
        b'{"a": "\\u0000"}',
        b'{"\\ud800": 1}',
        b'["\\uDFFF"]',
        b"\xff\xfe",
        b"[" * 100_000,
        b"9" * 5000,
    ],
)
def test_what_cannot_be_kept_is_refused(data: bytes) -> None:
    with refused(ValueError):
        body.parse(data)


def test_a_whole_surrogate_pair_and_an_escaped_backslash_are_text() -> None:
    assert body.parse(b'["\\ud83d\\ude00", "\\\\u0000"]') == ["\U0001f600", "\\u0000"]


def test_a_body_is_bounded() -> None:
    assert body.parse(b'"' + b"x" * 8 + b'"', most=10) == "x" * 8
    with refused(ValueError):
        body.parse(b'"' + b"x" * 9 + b'"', most=10)
