from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.access.identity import Token
from adon.access.users import User, check_name, name_key, name_problem, unique_name
from adon.errors import InvalidInput
from tests.support.refusals import refused

IDP = "https://idp.example.edu/oidc"


@pytest.mark.parametrize(
    "name",
    [
        "ann",
        "ann@missouri.edu",
        "Ann-Marie.O",
        "анна@mu.edu",
        "安娜",
        "आनन्द",
        "zoë",
        "ann+x",
        "_svc",
        "7",
        "a" * 200,
    ],
)
def test_names_that_are_fine(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "200"),
        ("a" * 201, "200"),
        (" ann", "U+0020"),
        ("an\u00a0n", "U+00A0"),
        ("ann\u200d", "U+200D"),
        ("ann\u00ad", "U+00AD"),
        ("\u2066ann", "U+2066"),
        ("ann\ufe0f", "U+FE0F"),
        ("a\u034fnn", "U+034F"),
        ("ﬁona", "compatibility"),
        ("ａnn", "compatibility"),
        ("e\u0301va", "compatibility"),
        ("pаypal", "Cyrillic"),
        ("-rf", "begin"),
        ("@ann", "begin"),
        ("a/b", "'/'"),
        ("a%2f", "'%'"),
        ("a<b", "'<'"),
        ("a\ud800", "control"),
        ("a\U0001f600", "U+1F600"),
        ("ME", "reserved"),
    ],
)
def test_names_that_are_refused(name: str, why: str) -> None:
    with refused(InvalidInput, "name") as caught:
        check_name(name)
    assert why in str(caught.error)


@given(st.text(max_size=30))
def test_a_name_that_is_fine_stays_itself(text: str) -> None:
    if name_problem(text) is None:
        assert name_key(text) == name_key(name_key(text))
        assert text.isprintable()


@pytest.mark.parametrize(
    ("wanted", "taken", "name"),
    [
        ("ann@mu.edu", [], "ann@mu.edu"),
        ("Ann@mu.edu", ["ann@mu.edu"], "Ann@mu.edu-2"),
        ("ann@mu.edu", ["ann@mu.edu", "ann@mu.edu-2"], "ann@mu.edu-3"),
        ("ann smith/x@mu.edu", [], "ann-smith-x@mu.edu"),
    ],
)
def test_new_user_gets_a_name_that_no_other_user_has(wanted: str, taken: list[str], name: str) -> None:
    assert unique_name(wanted, frozenset(taken)) == name


@pytest.mark.parametrize("wanted", ["me", "a\u200bnn"])
def test_new_user_with_a_misleading_name_is_refused(wanted: str) -> None:
    with refused(InvalidInput, "name"):
        unique_name(wanted, frozenset())


def test_the_local_word_wins() -> None:
    user = User("ann", IDP, "1", by_rules=frozenset("ab"), granted=frozenset("c"), removed=frozenset("bc"))
    assert user.roles == frozenset("a")
    token = Token("1", "ann", "", 0.0, roles=frozenset("bc"))
    assert user.actor("token", token=token).roles == frozenset()
