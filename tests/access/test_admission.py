"""Rules: who gets which roles and groups, and whom nobody lets in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adon.access.admission import AdmittedUser, admit
from adon.access.assertion import Assertion
from adon.access.user_names import PRINCIPALS, UserIdentity
from adon.config.access import AccessRule
from adon.errors import Forbidden
from adon.values import Role
from adon.yamlfile import check_model

CAMPUS = "https://login.missouri.edu"
SOY = "urn:geant:missouri.edu:group:soybean"
ANN = Assertion(
    CAMPUS,
    "1",
    "ann@missouri.edu",
    "urn:mace:incommon:missouri.edu",
    None,
    frozenset({"urn:mace:missouri.edu:adon:user", f"{SOY}:lab:role=manager#idp.missouri.edu"}),
    frozenset({"faculty@missouri.edu", "faculty@osu.edu"}),
    frozenset({"soy-lab", f"{SOY}:field"}),
)


NAMED = UserIdentity("ann@missouri.edu", PRINCIPALS, "ann@missouri.edu")


def rule(when: dict[str, Any], roles: tuple[str, ...] = ("researcher",), **more: Any) -> AccessRule:
    return check_model({"when": when, "roles": list(roles), **more}, AccessRule)


def admitted(*rules: AccessRule, who: Assertion = ANN, default: tuple[Role, ...] = ()) -> AdmittedUser:
    return admit(who, ("missouri.edu",), rules, default)


@pytest.mark.parametrize(
    ("when", "holds"),
    [
        ({"entitlement": "urn:mace:missouri.edu:adon:user"}, True),
        ({"entitlement": "urn:mace:missouri.edu:adon"}, False),
        ({"entitlement": "urn:mace:missouri.edu:adon:*"}, True),
        ({"entitlement": "URN:mace:missouri.edu:adon:user"}, False),
        ({"entitlement": ["urn:x", "urn:mace:missouri.edu:adon:user"]}, True),
        ({"entitlement": "soy-lab"}, False),  # a group is no entitlement
        ({"group": "soy-lab"}, True),
        ({"group": "soy-*"}, True),
        ({"group": "soy"}, False),
        ({"group": SOY}, True),
        ({"group": f"{SOY}:lab"}, True),
        ({"group": f"{SOY}:lab:role=manager"}, True),
        ({"group": f"{SOY}:role=manager"}, False),
        ({"group": f"{SOY}:field#idp.missouri.edu"}, False),  # nobody answers for that one
        ({"group": f"{SOY}:lab#idp.missouri.edu"}, True),
        ({"group": "urn:geant:osu.edu:group:soybean"}, False),
        ({"group": f"{SOY}:fie*"}, True),
        ({"issuer": CAMPUS}, True),
        ({"issuer": CAMPUS + "/"}, False),
        ({"issuer": CAMPUS, "entitlement": "urn:x"}, False),  # all that is named
        ({"home": "urn:mace:incommon:missouri.edu"}, True),
        ({"home": "urn:mace:incommon:*"}, False),
        ({"name": "ann@missouri.edu"}, True),
        ({"name": "ann@*"}, True),
        ({"name": "Ann@missouri.edu"}, False),
        ({"affiliation": "faculty@missouri.edu"}, True),
        ({"affiliation": "Faculty@Missouri.edu"}, True),
        ({"affiliation": "*@missouri.edu"}, True),
        ({"affiliation": "faculty@*"}, True),
        ({"affiliation": "student@missouri.edu"}, False),
        ({"affiliation": "faculty@osu.edu"}, False),  # which the campus may not assert
    ],
)
def test_which_condition_holds(when: dict[str, Any], holds: bool) -> None:
    if holds:
        assert admitted(rule(when)) == AdmittedUser(NAMED, frozenset({Role.RESEARCHER}), frozenset(), (0,))
    else:
        with pytest.raises(Forbidden):
            admitted(rule(when))


def test_rules_add_up() -> None:
    found = admitted(
        rule({"group": "soy-lab"}, (), groups=["soybean"]),
        rule({"issuer": "https://other.edu"}, ("admin",)),
        rule({"group": SOY}, ("researcher", "operator"), keep_groups=True),
    )
    assert found.roles == {Role.RESEARCHER, Role.OPERATOR}
    assert found.groups == {"soybean", f"{SOY}:field", f"{SOY}:lab:role=manager#idp.missouri.edu"}
    assert found.rules == (0, 2)


def test_asserted_groups_are_groups_here_only_if_a_rule_says_so() -> None:
    assert admitted(rule({"group": "soy-lab"})).groups == frozenset()


def test_default_roles_are_for_those_without_a_role_of_a_rule() -> None:
    grouping = rule({"group": "soy-lab"}, (), groups=["soybean"])
    assert admitted(grouping, default=(Role.AUDITOR,)).roles == {Role.AUDITOR}
    assert admitted(grouping, default=(Role.AUDITOR,)).groups == {"soybean"}
    assert admitted(rule({"issuer": CAMPUS}), default=(Role.AUDITOR,)).roles == {Role.RESEARCHER}


def test_who_has_no_home_fulfils_no_condition_about_it() -> None:
    with pytest.raises(Forbidden):
        admitted(rule({"home": "x"}), who=replace(ANN, home=None))


texts = st.text(max_size=30) | st.sampled_from([*ANN.entitlements, *ANN.groups, "soy-*", "*"])
some = st.frozensets(texts, max_size=4)


@given(some, some, some)
def test_saying_more_never_takes_a_role_away_and_a_stranger_gets_none(
    entitlements: frozenset[str], groups: frozenset[str], affiliations: frozenset[str]
) -> None:
    rules = (rule({"group": SOY}), rule({"entitlement": "urn:mace:missouri.edu:adon:*"}, ("operator",)))
    more = replace(
        ANN,
        entitlements=ANN.entitlements | entitlements,
        groups=ANN.groups | groups,
        affiliations=affiliations,
    )
    assert admitted(*rules, who=more).roles == {Role.RESEARCHER, Role.OPERATOR}
    bound = rule({"issuer": "https://other.edu", "group": "*"}, ("admin",))
    assert Role.ADMIN not in admitted(bound, who=more, default=(Role.RESEARCHER,)).roles
