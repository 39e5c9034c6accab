"""Names: stable, and nobody else's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.access.assertion import Assertion
from adon.access.user_names import own_affiliations, party_address, user_name
from adon.errors import Forbidden
from tests.support.refusals import refused

CAMPUS, HUB = "https://login.missouri.edu", "https://cilogon.org"
MISSOURI = ("missouri.edu",)


@pytest.mark.parametrize(
    ("issuer", "subject", "principal", "may_assert", "name"),
    [
        (CAMPUS, "1", "ann@missouri.edu", MISSOURI, "ann@missouri.edu"),
        (CAMPUS, "1", "Ann@Missouri.EDU", MISSOURI, "ann@missouri.edu"),
        (CAMPUS, "1", "ann@missouri.edu", ("*",), "ann@missouri.edu"),
        (CAMPUS, "1", "ann@missouri.edu", (), "1@login.missouri.edu"),
        (CAMPUS, "1", None, MISSOURI, "1@login.missouri.edu"),
        (CAMPUS + "/", "1", None, (), "1@login.missouri.edu"),
        (CAMPUS, "Ab", None, (), "Ab@login.missouri.edu"),  # identifiers differ by case
        ("https://KC.edu:8443/realms/One", "1", None, (), "1@kc.edu:8443/realms/One"),
        ("urn:mace:incommon:missouri.edu", "1", None, (), "1@urn:mace:incommon:missouri.edu"),
        (CAMPUS, "a@missouri.edu", None, MISSOURI, "a@missouri.edu@login.missouri.edu"),
    ],
)
def test_names(
    issuer: str, subject: str, principal: str | None, may_assert: tuple[str, ...], name: str
) -> None:
    assert user_name(Assertion(issuer, subject, principal), may_assert).name == name


@pytest.mark.parametrize(
    ("principal", "subject", "code"),
    [
        ("ann@osu.edu", "1", "forbidden"),
        ("ann@missouri.edu.evil.org", "1", "forbidden"),
        ("ann", "1", "malformed"),
        ("@missouri.edu", "1", "malformed"),
        ("ann@osu.edu@missouri.edu", "1", "malformed"),
        ("an n@missouri.edu", "1", "malformed"),
        ("аnn@missouri.edu", "1", "malformed"),  # the first letter is Cyrillic
        ("ann@missouri.edu\n", "1", "malformed"),
        (None, "", "missing"),
        (None, "a b", "missing"),
        (None, "a\x00", "missing"),
        (None, "x" * 256, "missing"),
    ],
)
def test_whom_nobody_can_be_sure_of(principal: str | None, subject: str, code: str) -> None:
    with refused(code):
        user_name(Assertion(CAMPUS, subject, principal), MISSOURI)


def test_a_hub_cannot_assert_names_at_the_address_of_another_party() -> None:
    asserted = Assertion(HUB, "1", "1@login.missouri.edu")
    assert user_name(asserted, ("*",)).name == "1@login.missouri.edu"
    with pytest.raises(Forbidden):
        user_name(asserted, ("*",), {CAMPUS, HUB})


def test_a_party_whose_address_could_split_a_name_is_refused() -> None:
    with pytest.raises(Forbidden):
        user_name(Assertion("https://evil@missouri.edu", "ann"), ())


def test_whoever_vouches_for_it_a_principal_name_is_one_person() -> None:
    by_campus = user_name(Assertion(CAMPUS, "1", "ann@missouri.edu"), MISSOURI)
    assert by_campus == user_name(Assertion(HUB, "77", "Ann@Missouri.edu"), ("*",))
    assert user_name(Assertion(CAMPUS, "1"), ()).issuer == CAMPUS


subjects = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), min_size=1, max_size=20)
parties = st.sampled_from([CAMPUS, HUB, "https://kc.edu/realms/a", "https://kc.edu/realms/A", "urn:mace:x"])
people = st.tuples(parties, subjects)


@given(people, people)
def test_two_people_never_share_a_name(one: tuple[str, str], other: tuple[str, str]) -> None:
    names = [user_name(Assertion(*person), ()).name for person in (one, other)]
    assert (names[0] == names[1]) is (one == other)


@given(people, st.from_regex(r"[a-z]{1,5}@(missouri\.edu|login\.missouri\.edu|cilogon\.org)", fullmatch=True))
def test_an_asserted_name_is_never_that_of_somebody_elses_identifier(
    person: tuple[str, str], eppn: str
) -> None:
    known = {CAMPUS, HUB, "https://kc.edu/realms/a"}
    try:
        asserted = user_name(Assertion(HUB, "1", eppn), ("*",), known).name
    except Forbidden:
        return
    assert asserted != user_name(Assertion(*person), (), known).name


def test_affiliations_of_other_scopes_are_left_out() -> None:
    said = frozenset({"Faculty@missouri.edu", "faculty@osu.edu", "member", "a@b@missouri.edu"})
    asserted = Assertion(CAMPUS, "1", affiliations=said)
    assert own_affiliations(asserted, MISSOURI) == {"faculty@missouri.edu"}
    assert own_affiliations(asserted, ("*",)) == {"faculty@missouri.edu", "faculty@osu.edu"}
    assert own_affiliations(asserted, ()) == frozenset()


def test_addresses() -> None:
    assert party_address("https://Login.EDU/") == "login.edu"
    assert party_address("urn:mace:X") == "urn:mace:X"
