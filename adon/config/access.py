"""Sign-in of users, and the rules for their roles (docs/sign-in.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field

from adon.config.types import File, Network, Section, Span, check_url, is_loopback
from adon.values import Frozen, FrozenMap, Name, Role

Attribute = Literal[
    "issuer", "principal", "subject", "persistent", "entitlement", "affiliation", "groups", "name"
]
"""Attributes of mod_shib, one header each."""
UNIX = "unix"
"""Text of a Unix socket among the addresses of proxies."""
SHIBBOLETH = "shibboleth"
"""The place of Shibboleth among the ways to sign in: ``/sign-in/shibboleth``."""
RESERVED = (SHIBBOLETH, "static")
"""Reserved names of OpenID providers."""


def _safe(text: str) -> str:
    url = urlsplit(check_url(text))
    if url.scheme == "http" and not is_loopback(url.hostname or ""):
        raise ValueError("would receive secrets without TLS")
    if url.query or url.fragment:
        raise ValueError("has a query or a fragment")
    return text


def _pattern(text: str) -> str:
    if "*" in text[:-1]:
        raise ValueError(f"{text!r} has a * before its end")
    return text


def _many(value: object) -> object:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


SafeUrl = Annotated[str, AfterValidator(_safe), Field(examples=["https://login.example.edu"])]
"""A URL that may receive secrets, as written."""
_DOMAIN = Field(pattern=r"^(\*|[A-Za-z0-9]+([.-]+[A-Za-z0-9]+)*)$", examples=["missouri.edu"])
Domain = Annotated[str, _DOMAIN, AfterValidator(str.lower)]
"""``missouri.edu``, or ``*`` for every domain."""
Proxy = Network | Literal["unix"]
Text = Annotated[str, Field(min_length=1, max_length=500)]
Pattern = Annotated[Text, AfterValidator(_pattern), Field(examples=["urn:mace:example.edu:*"])]
_SCOPED = Field(pattern=r"^(\*|[A-Za-z-]+)@(\*|[A-Za-z0-9.-]+)$", examples=["faculty@missouri.edu"])
Affiliation = Annotated[Text, _SCOPED, AfterValidator(str.lower)]
T = TypeVar("T")
OneOrMore = Annotated[tuple[T, ...], BeforeValidator(_many)]
"""List, or its only value."""


class OpenIdProvider(Section):
    """OpenID Connect provider, such as CILogon or that of a campus.

    :param title: its name on the sign-in page.
    :param issuer: exactly as in its discovery document.
    :param client_secret_file: file with the client secret; a public client, known by PKCE alone, has none.
    :param client_secret_variable: environment variable with the client secret, instead of the file.
    :param scopes: requested scopes in addition to ``openid``.
    :param may_assert: domains whose users it may assert: scopes of eduPersonPrincipalName and affiliations;
        ``*`` for a hub of many. Without any, both are ignored.
    :param verify: ``system`` (the system's CAs), or a PEM file.
    :param leeway: permitted difference of its clock.
    :param client_id: identifier that the provider gave to this installation.
    """

    title: Annotated[str, Field(min_length=1, max_length=80)]
    issuer: SafeUrl
    client_id: Text
    client_secret_file: File | None = None
    client_secret_variable: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    scopes: tuple[Annotated[str, Field(pattern=r"^[!#-\[\]-~]+$")], ...] = ("profile", "email")
    may_assert: tuple[Domain, ...] = ()
    verify: File = "system"
    leeway: Annotated[Span, Field(le=300)] = 30.0

    def _problems(self) -> Iterator[str]:
        if self.client_secret_file is not None and self.client_secret_variable is not None:
            yield "client_secret_variable: the secret is in client_secret_file; write only one of both"


class Shibboleth(Section):
    """Web server with mod_shib in front of ADON, which names the signed-in user in headers.

    :param proxies: its addresses, networks, or ``unix`` for a Unix socket.
    :param secret_file: file with the value of its header ``Adon-Proxy-Secret``.
    :param may_assert: as for an OpenID provider; by default all, because mod_shib checks scopes against the
        federation's metadata.
    :param headers: names of headers that differ from the defaults, by attribute.
    :param title: its name on the sign-in page.
    """

    title: Annotated[str, Field(min_length=1, max_length=80)] = "your institution"
    proxies: Annotated[tuple[Proxy, ...], Field(min_length=1)]
    secret_file: File
    may_assert: tuple[Domain, ...] = ("*",)
    headers: Frozen[Attribute, Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]] = FrozenMap()


class Condition(Section):
    """Condition of a rule: every given key must match, each by one of its values.

    :param issuer: OpenID issuers, or entity IDs of SAML identity providers.
    :param home: home institution that a hub asserts (CILogon's claim ``idp``).
    :param name: names of users.
    :param entitlement: values, or prefixes (``urn:mace:example.edu:*``).
    :param affiliation: ``faculty@missouri.edu``, ``*@missouri.edu``, ``faculty@*``.
    :param group: AARC-G069 groups, names of groups, or prefixes of names.
    """

    issuer: OneOrMore[Text] = ()
    home: OneOrMore[Text] = ()
    name: OneOrMore[Pattern] = ()
    entitlement: OneOrMore[Pattern] = ()
    affiliation: OneOrMore[Affiliation] = ()
    group: OneOrMore[Pattern] = ()

    def _problems(self) -> Iterator[str]:
        if self == Condition.model_construct():
            example = "write default_roles, or for example {affiliation: '*@missouri.edu'}"
            yield f"is empty, so it would match all users; {example}"


class AccessRule(Section):
    """Rule that gives roles and groups to the users of a condition.

    :param groups: names of groups.
    :param keep_groups: whether the asserted values that matched ``group`` become groups, too.
    :param when: condition of the rule.
    :param roles: roles of these users.
    """

    when: Condition
    roles: tuple[Role, ...] = ()
    groups: tuple[Text, ...] = ()
    keep_groups: bool = False

    def _problems(self) -> Iterator[str]:
        if not self.roles and not self.groups and not self.keep_groups:
            yield "roles: the rule gives nothing; for example [researcher], or groups"
        if self.keep_groups and not self.when.group:
            yield "keep_groups: the condition names no group; for example when: {group: 'soykb:*'}"


class Access(Section):
    """Section ``access``.

    :param public_url: URL of ADON for browsers, to which identity providers redirect.
    :param default_roles: roles of users without a role by rules; without default roles they are refused.
    :param openid: OpenID Connect providers, by name.
    :param shibboleth: web server with mod_shib.
    :param rules: rules that give roles and groups by the assertions of institutions.
    """

    public_url: SafeUrl | None = None
    openid: Frozen[Name, OpenIdProvider] = FrozenMap()
    shibboleth: Shibboleth | None = None
    rules: tuple[AccessRule, ...] = ()
    default_roles: tuple[Role, ...] = ()

    def _problems(self) -> Iterator[str]:
        if self.openid and self.public_url is None:
            yield "public_url: is required with openid; for example https://adon.example.edu"
        issuers: dict[str, str] = {}
        for name, provider in self.openid.items():
            if name in RESERVED:
                yield f"openid.{name}: /sign-in/{name} is another page; for example campus is a free name"
            first = issuers.setdefault(provider.issuer.rstrip("/"), name)
            if first != name:
                yield f"openid.{name}.issuer: openid.{first} has the same issuer; write each issuer once"
        parties = len(self.openid) + (self.shibboleth is not None)
        if parties and not self.default_roles and not any(rule.roles for rule in self.rules):
            example = "for example [{when: {affiliation: '*@missouri.edu'}, roles: [researcher]}]"
            yield f"rules: no user would get a role; write rules or default_roles, {example}"
        if Role.ADMIN in self.default_roles:
            yield "default_roles: admin must not be a default role; for example [researcher]"
        for number, rule in enumerate(self.rules):
            # Scopes bind names and affiliations to parties; any party can assert entitlements and groups.
            bound = rule.when.issuer or rule.when.name or rule.when.affiliation
            if parties > 1 and Role.ADMIN in rule.roles and not bound:
                cause = "any user of any provider could get the role admin"
                yield f"rules.{number}.when: {cause}; for example issuer: https://login.example.edu"
