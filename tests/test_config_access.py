"""The section ``access``: each mistake is named with its line."""

from __future__ import annotations

import pytest

from adon.config.access import Access
from adon.errors import InvalidInput
from adon.values import Role
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
    assert [str(one) for one in access.shibboleth.proxies] == [
        "127.0.0.1/32",
        "::1/128",
        "10.0.0.0/24",
        "unix",
    ]
    assert access.rules[0].when.entitlement == ("urn:mace:missouri.edu:adon:*",)
    assert access.rules[1].roles == (Role.RESEARCHER,)
    assert parse_model(dump(access), Access) == access


def test_nothing_is_configured_by_default() -> None:
    assert parse_model("{}", Access) == Access()


@pytest.mark.parametrize(
    ("before", "after", "code", "field"),
    [
        ("https://cilogon.org", "http://cilogon.org", "invalid", "openid.cilogon.issuer"),
        ("https://cilogon.org", "https://u:p@cilogon.org", "invalid", "openid.cilogon.issuer"),
        ("https://cilogon.org", "https://login.missouri.edu", "invalid", "openid.campus.issuer"),
        (
            "    client_secret_file: /etc/adon/cilogon.secret",
            "    client_secret: x",
            "unknown-key",
            "openid.cilogon.client_secret",
        ),
        (
            "    client_secret_variable: ADON_CAMPUS_SECRET",
            "    client_secret_variable: A\n    client_secret_file: f",
            "invalid",
            "openid.campus.client_secret_variable",
        ),
        ("public_url: https://adon.example.edu\n", "", "invalid", "public_url"),
        ("  campus:", "  shibboleth:", "invalid", "openid.shibboleth"),
        ("[Missouri.edu]", "[missouri_edu]", "malformed", "openid.campus.may_assert.0"),
        ("[127.0.0.1,", "[localhost,", "malformed", "shibboleth.proxies.0"),
        ('[127.0.0.1, "::1", 10.0.0.0/24, unix]', "[]", "wrong-length", "shibboleth.proxies"),
        ("adon:*", "*:adon", "invalid", "rules.0.when.entitlement"),
        ("faculty@osu.edu", "faculty", "malformed", "rules.1.when.affiliation.1"),
        ("[researcher]", "[reseacher]", "unknown-value", "rules.1.roles.0"),
        ('{affiliation: ["*@missouri.edu", faculty@osu.edu]}', "{}", "invalid", "rules.1.when"),
        ("    roles: [researcher]\n    groups: [mu]\n", "", "invalid", "rules.1.roles"),
        ("groups: [mu]", "keep_groups: true", "invalid", "rules.1.keep_groups"),
        ("{issuer: https://login.missouri.edu/, ", "{", None, None),
        ("rules:", "default_roles: [admin]\nrules:", "invalid", "default_roles"),
    ],
)
def test_each_mistake_is_named(before: str, after: str, code: str | None, field: str | None) -> None:
    assert before in WHOLE
    text = WHOLE.replace(before, after, 1)
    if code is None:
        parse_model(text, Access, "net.yaml")
        return
    with refused(code, field):
        parse_model(text, Access, "net.yaml")


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
