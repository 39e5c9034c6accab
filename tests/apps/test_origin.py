from __future__ import annotations

import pytest

from apps.rest.request_origin import is_foreign


@pytest.mark.parametrize(
    ("fetch_site", "origin", "expected"),
    [
        ("same-origin", None, False),
        ("same-origin", "null", False),
        ("same-site", "http://adon.test", True),
        ("cross-site", "http://adon.test", True),
        ("none", None, True),
        ("nonsense", None, True),
        (None, None, False),
        (None, "http://adon.test", False),
        (None, "null", True),
        (None, "http://adon.test:81", True),
        (None, "http://adon.test.evil.example", True),
        (None, "http://adon.test@evil.example", True),
        (None, "http://[", True),
        (None, "", True),
    ],
)
def test_where_a_request_comes_from(fetch_site: str | None, origin: str | None, expected: bool) -> None:
    assert is_foreign(fetch_site, origin, "adon.test") is expected


def test_what_was_typed_comes_from_nowhere_else() -> None:
    assert not is_foreign("none", None, "adon.test", typed=True)
    assert is_foreign("cross-site", None, "adon.test", typed=True)
