"""Claims and attributes as they come, read into one value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.access.assertion import LONGEST, MOST_VALUES, Assertion, from_attributes, from_claims, is_incomplete

IDP = "https://idp.missouri.edu/idp/shibboleth"


def test_claims_of_a_campus_provider() -> None:
    claims = {
        "iss": "https://login.example.edu",
        "sub": "248289",
        "eduperson_principal_name": "ann@example.edu",
        "eduperson_entitlement": ["urn:a", "urn:b"],
        "eduperson_scoped_affiliation": ["faculty@example.edu"],
        "groups": ["soybean"],
        "isMemberOf": ["cn=x"],
        "name": "Ann",
    }
    assert from_claims(claims) == Assertion(
        "https://login.example.edu",
        "248289",
        "ann@example.edu",
        None,
        "Ann",
        frozenset({"urn:a", "urn:b"}),
        frozenset({"faculty@example.edu"}),
        frozenset({"soybean", "cn=x"}),
    )


def test_claims_of_cilogon() -> None:
    claims = {
        "iss": "https://cilogon.org",
        "sub": "http://cilogon.org/serverA/users/1",
        "eppn": "ann@missouri.edu",
        "idp": "urn:mace:incommon:missouri.edu",
        "affiliation": "faculty@missouri.edu;member@missouri.edu",
        "entitlement": "urn:a",
        "isMemberOf": ["CO:members:all"],
    }
    found = from_claims(claims)
    assert found.home == "urn:mace:incommon:missouri.edu"
    assert found.principal == "ann@missouri.edu"
    assert found.affiliations == {"faculty@missouri.edu", "member@missouri.edu"}
    assert found.entitlements == {"urn:a"}
    assert found.groups == {"CO:members:all"}


@pytest.mark.parametrize("wrong", [None, 3, True, {}, [], [[1]], {"a": 1}])
def test_claims_of_another_type_count_as_absent(wrong: object) -> None:
    names = ("iss", "sub", "eppn", "idp", "name", "entitlement", "affiliation", "groups", "isMemberOf")
    assert from_claims(dict.fromkeys(names, wrong)) == Assertion("", "")


def test_floods_are_cut() -> None:
    found = from_claims(
        {"groups": [f"g{n}" for n in range(5000)], "eppn": "a" * 2000, "entitlement": "x" * 2000}
    )
    assert len(found.groups) == MOST_VALUES
    assert found.principal is None
    assert found.entitlements == frozenset()
    assert len(from_attributes({"groups": ";".join(f"g{n}" for n in range(5000))}).groups) == MOST_VALUES
    assert not from_attributes({"entitlement": "x" * (LONGEST + 1)}).entitlements


def test_what_userinfo_is_asked_for() -> None:
    whole = {"eppn": "a@b", "entitlement": [], "groups": [], "affiliation": []}
    assert not is_incomplete(whole)
    assert all(
        is_incomplete({name: value for name, value in whole.items() if name != left}) for left in whole
    )


@pytest.mark.parametrize(
    ("attributes", "found"),
    [
        ({}, Assertion("", "")),
        ({"issuer": IDP, "principal": "ann@missouri.edu"}, Assertion(IDP, "", "ann@missouri.edu")),
        (
            {"issuer": IDP, "principal": "", "subject": "x7@missouri.edu"},
            Assertion(IDP, "", "x7@missouri.edu"),
        ),
        ({"principal": "ann@missouri.edu;bob@missouri.edu"}, Assertion("", "")),  # who of the two?
        (
            {"entitlement": r"urn:a;urn:b\;c;;urn:d"},
            Assertion("", "", entitlements=frozenset({"urn:a", "urn:b;c", "urn:d"})),
        ),
        ({"issuer": IDP, "persistent": f"{IDP}!https://adon!k3y"}, Assertion(IDP, "k3y")),
        ({"issuer": IDP, "persistent": "https://else!https://adon!k3y"}, Assertion(IDP, "")),
        ({"issuer": IDP, "persistent": "k3y"}, Assertion(IDP, "")),
    ],
)
def test_attributes_of_mod_shib(attributes: dict[str, str], found: Assertion) -> None:
    assert from_attributes(attributes) == found


values = st.lists(
    st.text(st.characters(exclude_characters="\\", categories=("L", "N", "P")), min_size=1), max_size=6
)


@given(values)
def test_escaped_values_come_back(several: list[str]) -> None:
    text = ";".join(value.replace(";", "\\;") for value in several)
    assert from_attributes({"entitlement": text}).entitlements == set(several)
