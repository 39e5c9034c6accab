"""Where a browser may be sent after signing in."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.rest.identity.ways import HOME, local_path

BASE = "https://adon.example.edu/sign-in/campus/callback"


@pytest.mark.parametrize("wanted", ["/", "/flows", "/flows/f-1?tab=path&x=%20", "/a//b", "/?next=https://x"])
def test_paths_of_ours_are_kept(wanted: str) -> None:
    assert local_path(wanted) == wanted


@pytest.mark.parametrize(
    "wanted",
    [
        None,
        "",
        "flows",
        "//evil.org",
        "///evil.org",
        "/\\evil.org",
        "\\\\evil.org",
        "https://evil.org",
        "https:/evil.org",
        "javascript:alert(1)",
        "/\t/evil.org",
        "\n//evil.org",
        "/ /evil.org",
        "/fl\r\nSet-Cookie: a=b",
        "/ö",
        "/sign-in",
        "/sign-in/campus?next=/",
        "/sign-out",
        "/" + "a" * 3000,
        "//[",
    ],
)
def test_everything_else_leads_to_the_first_page(wanted: str | None) -> None:
    assert local_path(wanted) == HOME


tricks = st.text(st.sampled_from("/\\.:@?#%[]ab \t\n"), max_size=12)


@given(st.text(max_size=20) | tricks | tricks.map(lambda rest: "/" + rest))
def test_no_text_leads_away(wanted: str) -> None:
    target = local_path(wanted)
    reached = urlsplit(urljoin(BASE, target.replace("\\", "/")))
    assert (reached.scheme, reached.netloc) == ("https", "adon.example.edu")
    assert target.startswith("/")
