"""The section ``access``: each mistake is named with its line."""

from __future__ import annotations

import pytest

from adon.access.policy import Role
from adon.config import Access
from adon.errors import InvalidInput
from adon.yamlfile import dump, parse_model
from tests.support.refusals import refused

WHOLE = """\
public_url: https://adon.example.edu
openid:
  cilogon:
    title: CILogon
    issuer: https://cilogon.org
    client_id: cilogon:/client_id/1
    client_secret_file: /etc/adon/cilogon.secret
    may_assert: ["*"]
  campus:
    title: Missouri
    issuer: https://login.missouri.edu/
    client_id: adon
    client_secret_variable: ADON_CAMPUS_SECRET
    may_assert: [Missouri.edu]
shibboleth:
  proxies: [127.0.0.1, "::1", 10.0.0.0/24, unix]
  secret_file: /etc/adon/proxy.secret
  headers: {principal: X-Eppn}
rules:
  - when: {issuer: https://login.missouri.edu/, entitlement: "urn:mace:missouri.edu:adon:*"}
    roles: [performance_engineer]
  - when: {affiliation: ["*@missouri.edu", faculty@osu.edu]}
    roles: [researcher]
    groups: [mu]
"""


def test_the_whole_section() -> None:
    access = parse_model(WHOLE, Access)
    assert access.openid["campus"].may_assert == ("missouri.edu",)
    assert access.openid["campus"].issuer == "https://login.missouri.edu/"  # exactly as written
    assert access.shibboleth is not None
    assert access.shibboleth.proxies == ("127.0.0.1/32", "::1/128", "10.0.0.0/24", "unix")
    assert access.rules[0].when.entitlement == ("urn:mace:missouri.edu:adon:*",)
    assert access.rules[1].roles == (Role.RESEARCHER,)
    assert parse_model(dump(access), Access) == access


def test_nothing_is_configured_by_default() -> None:
    assert parse_model("{}", Access) == Access()


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("https://cilogon.org", "http://cilogon.org", "7?openid.cilogon.issuer: must be https"),
        (
            "https://cilogon.org",
            "https://u:p@cilogon.org",
            "openid.cilogon.issuer: must not hold a user name",
        ),
        ("https://cilogon.org", "https://login.missouri.edu", "two providers have this issuer"),
        (
            "    client_secret_file: /etc/adon/cilogon.secret",
            "    client_secret: x",
            "client_secret: is not a known key",
        ),
        (
            "    client_secret_variable: ADON_CAMPUS_SECRET",
            "    client_secret_variable: A\n    client_secret_file: f",
            "the secret is in client_secret_file already",
        ),
        ("public_url: https://adon.example.edu\n", "", "public_url: is needed"),
        ("  campus:", "  shibboleth:", "this name is taken"),
        ("[Missouri.edu]", "[missouri_edu]", "is not a domain such as missouri.edu"),
        ("[127.0.0.1,", "[localhost,", "is neither an address, a network, nor 'unix'"),
        ('[127.0.0.1, "::1", 10.0.0.0/24, unix]', "[]", "shibboleth.proxies"),
        (
            "adon:*",
            "*:adon",
            "rules.0.when.entitlement: 'urn:mace:missouri.edu:*:adon': a * stands for the rest",
        ),
        ("faculty@osu.edu", "faculty", "rules.1.when.affiliation.1: 'faculty' is not an affiliation"),
        ("[researcher]", "[reseacher]", "rules.1.roles.0: Input should be"),
        ('{affiliation: ["*@missouri.edu", faculty@osu.edu]}', "{}", "rules.1.when: names nothing"),
        ("    roles: [researcher]\n    groups: [mu]\n", "", "rules.1.roles: the rule gives nothing"),
        ("groups: [mu]", "keep_groups: true", "rules.1.keep_groups: the condition names no group"),
        ("{issuer: https://login.missouri.edu/, ", "{", None),
        ("rules:", "default_roles: [admin]\nrules:", "default_roles: admin is not for everybody"),
    ],
)
def test_each_mistake_is_named(before: str, after: str, problem: str | None) -> None:
    assert before in WHOLE
    text = WHOLE.replace(before, after, 1)
    if problem is None:
        parse_model(text, Access, "net.yaml")
        return
    with pytest.raises(InvalidInput) as caught:
        parse_model(text, Access, "net.yaml")
    told = [str(each) for each in caught.value.problems]
    assert any(problem.removeprefix("7?") in one for one in told), told
    assert all(one.startswith("net.yaml:") for one in told)


def test_the_line_of_a_mistake_is_told() -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_model(WHOLE.replace("[performance_engineer]", "[performer]"), Access, "net.yaml")
    problem = caught.value.problems[0]
    assert (problem.file, problem.line, problem.field) == ("net.yaml", 21, "rules.0.roles.0")


def test_without_a_rule_nobody_could_come_in() -> None:
    with refused(InvalidInput, field="rules"):
        parse_model(WHOLE.partition("rules:")[0], Access)


def test_admin_by_an_entitlement_needs_a_named_issuer_where_there_are_several() -> None:
    text = WHOLE.replace("{issuer: https://login.missouri.edu/, ", "{").replace(
        "[performance_engineer]", "[admin]"
    )
    with refused(InvalidInput, field="rules.0.when"):
        parse_model(text, Access)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
def test_plain_http_is_for_loopback_only(host: str) -> None:
    parse_model(WHOLE.replace("https://cilogon.org", f"http://{host}:9000"), Access)
