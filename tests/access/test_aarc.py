"""AARC-G069 groups: which texts are some, what they mean, and which fulfils which."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.access.admission import Group, parse_group

GEANT = "urn:geant:example.edu"


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("urn:geant:example.edu:group:soybean", Group(GEANT, ("soybean",))),
        ("urn:geant:example.edu:group:soybean#idp.edu", Group(GEANT, ("soybean",), None, "idp.edu")),
        ("urn:geant:example.edu:group:soybean:lab", Group(GEANT, ("soybean", "lab"))),
        (
            "urn:geant:example.edu:group:soybean:lab:role=manager#idp.edu",
            Group(GEANT, ("soybean", "lab"), "manager", "idp.edu"),
        ),
        ("URN:GEANT:example.edu:group:soybean", Group(GEANT, ("soybean",))),
        ("urn:geant:example.edu:group:soy%20bean", Group(GEANT, ("soy bean",))),
        ("urn:geant:example.edu:group:a%3Ab", Group(GEANT, ("a:b",))),
        ("urn:mace:x:group:group:y", Group("urn:mace:x", ("group", "y"))),
        ("urn:mace:a:b:c:group:y#", Group("urn:mace:a:b:c", ("y",))),
        ("urn:geant:Example.edu:group:soybean", Group("urn:geant:Example.edu", ("soybean",))),
    ],
)
def test_a_group_is_read(text: str, group: Group) -> None:
    assert parse_group(text) == group


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soybean",
        "urn:geant:example.edu:soybean",
        "urn:geant:group:soybean",  # no namespace behind the identifier
        "urn:geant:example.edu:group:",
        "urn:geant:example.edu:group:a::b",
        "urn:geant:example.edu:group:role=manager",  # a role of no group
        "urn:geant:example.edu:group:a:role=",
        "urn:geant:example.edu:group:a:role=x:b",
        "urn:geant:example.edu:group:a:role=x:role=y",
        "urn:geant:example.edu:group:a b",
        "urn:geant:example.edu:group:ä",
        "urn:geant:example.edu:group:a%2",
        "urn:geant:example.edu:group:a\n",
        "http://geant:example.edu:group:a",
    ],
)
def test_what_is_no_group(text: str) -> None:
    assert parse_group(text) is None


@pytest.mark.parametrize(
    ("held", "asked", "fulfilled"),
    [
        ("group:a", "group:a", True),
        ("group:a:b", "group:a", True),  # a subgroup's members are the group's
        ("group:a", "group:a:b", False),
        ("group:ab", "group:a", False),  # no prefix of text
        ("group:a#x", "group:a", True),
        ("group:a", "group:a#x", False),
        ("group:a#x", "group:a#x", True),
        ("group:a#y", "group:a#x", False),
        ("group:a:role=r", "group:a", True),
        ("group:a", "group:a:role=r", False),
        ("group:a:role=r", "group:a:role=r", True),
        ("group:a:b:role=r", "group:a:role=r", False),  # its manager is not the manager of all
        ("group:a:role=r", "group:a:role=R", False),
        ("group:a:b:c:role=r#x", "group:a:b", True),
    ],
)
def test_which_membership_fulfils_what_is_asked(held: str, asked: str, fulfilled: bool) -> None:
    one, other = parse_group(f"{GEANT}:{held}"), parse_group(f"{GEANT}:{asked}")
    assert one is not None
    assert other is not None
    assert one.fulfils(other) is fulfilled
    elsewhere = parse_group(f"urn:geant:example.org:{asked}")
    assert elsewhere is not None
    assert not one.fulfils(elsewhere)


names = st.text(min_size=1, max_size=8).filter(lambda name: not name.startswith("role="))


@given(st.lists(names, min_size=1, max_size=4), st.none() | names, st.none() | names)
def test_every_group_survives_being_written(path: list[str], role: str | None, authority: str | None) -> None:
    parts = [GEANT, "group", *(quote(name, safe="") for name in path)]
    parts += [f"role={quote(role, safe='')}"] if role is not None else []
    text = ":".join(parts) + (f"#{quote(authority, safe='')}" if authority is not None else "")
    group = Group(GEANT, tuple(path), role, authority)
    assert parse_group(text) == group
    assert group.fulfils(group)
    assert group.fulfils(Group(GEANT, tuple(path[:1])))


@given(st.text(max_size=60))
def test_no_text_breaks_the_reading(text: str) -> None:
    parse_group(text)
    parse_group(f"{GEANT}:group:{text}")
