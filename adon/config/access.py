"""How people sign in, and which roles what they bring along gives them (docs/sign-in.md)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_network
from typing import Annotated, Literal, Self, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from adon.config.types import Section, Span, is_loopback
from adon.values import Frozen, FrozenMap, Name, Role

Attribute = Literal[
    "issuer", "principal", "subject", "persistent", "entitlement", "affiliation", "groups", "name"
]
"""What mod_shib tells, each in a header of its own."""
UNIX = "unix"
"""How a Unix socket is written where addresses of proxies are."""
SHIBBOLETH = "shibboleth"
"""The place of Shibboleth among the ways to sign in: ``/sign-in/shibboleth``."""
RESERVED = (SHIBBOLETH, "static")
"""What no OpenID provider can be named."""
_DOMAIN = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*")


def safe_url(text: str) -> str:
    """A URL that secrets may be sent to, as it is written.

    :raises ValueError: if it is none.
    """
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ValueError("is not a URL such as https://login.example.edu")
    if url.scheme == "http" and not is_loopback(url.hostname):
        raise ValueError("must be https: what is sent there would be readable on the way")
    if url.username is not None or url.password is not None or url.query or url.fragment:
        raise ValueError("must not hold a user name, a password, a query or a fragment")
    return text


def _domain(text: str) -> str:
    if text != "*" and not _DOMAIN.fullmatch(text.lower()):
        raise ValueError(f"{text!r} is not a domain such as missouri.edu, or * for every domain")
    return text.lower()


def _proxy(text: str) -> str:
    if text == UNIX:
        return text
    try:
        return str(ip_network(text))
    except ValueError as error:
        raise ValueError(f"{text!r} is neither an address, a network, nor {UNIX!r}") from error


def _pattern(text: str) -> str:
    if "*" in text[:-1]:
        raise ValueError(f"{text!r}: a * stands for the rest, at the end only")
    return text


def _affiliation(text: str) -> str:
    if not re.fullmatch(r"(\*|[a-z-]+)@(\*|[a-z0-9.-]+)", text.lower()):
        raise ValueError(f"{text!r} is not an affiliation such as faculty@missouri.edu, or *@missouri.edu")
    return text.lower()


def _many(value: object) -> object:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list) else value


SafeUrl = Annotated[str, AfterValidator(safe_url)]
Domain = Annotated[str, AfterValidator(_domain)]
Proxy = Annotated[str, AfterValidator(_proxy)]
Text = Annotated[str, Field(min_length=1, max_length=500)]
Pattern = Annotated[Text, AfterValidator(_pattern)]
Affiliation = Annotated[Text, AfterValidator(_affiliation)]
T = TypeVar("T")
OneOrMore = Annotated[tuple[T, ...], BeforeValidator(_many)]
"""A list, or its only value."""


class OpenIdProvider(Section):
    """An OpenID Connect provider: CILogon, a campus's own.

    :param title: what the sign-in page calls it.
    :param issuer: exactly as its discovery document writes it.
    :param client_secret_file: file with the client secret; a public client, known by PKCE alone, has none.
    :param client_secret_variable: environment variable with the client secret, instead of the file.
    :param scopes: what is asked for beside ``openid``.
    :param may_assert: the domains for whose people it speaks: scopes of eduPersonPrincipalName and
        affiliations; ``*`` for a hub of many. Without any, neither is regarded.
    :param verify: ``system`` (the system's CAs), or a PEM file.
    :param leeway: by so much its clock may differ from ours.
    :param client_id: identifier that the provider gave to this installation.
    """

    title: Annotated[str, Field(min_length=1, max_length=80)]
    issuer: SafeUrl
    client_id: Text
    client_secret_file: str | None = None
    client_secret_variable: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    scopes: tuple[Annotated[str, Field(pattern=r"^[!#-\[\]-~]+$")], ...] = ("profile", "email")
    may_assert: tuple[Domain, ...] = ()
    verify: str = "system"
    leeway: Annotated[Span, Field(le=300)] = 30.0

    def _problems(self) -> Iterator[str]:
        if self.client_secret_file is not None and self.client_secret_variable is not None:
            yield "client_secret_variable: the secret is in client_secret_file already"


class Shibboleth(Section):
    """A web server with mod_shib in front of us, which tells by headers who signed in.

    :param proxies: from where it comes: addresses, networks, or ``unix`` for a Unix socket.
    :param secret_file: holds what it sends in the header ``Adon-Proxy-Secret``.
    :param may_assert: as of an OpenID provider; by default all, as mod_shib has compared scopes with the
        federation's metadata.
    :param headers: names of headers that differ from the usual ones, by attribute.
    :param title: what the sign-in page calls it.
    """

    title: Annotated[str, Field(min_length=1, max_length=80)] = "your institution"
    proxies: Annotated[tuple[Proxy, ...], Field(min_length=1)]
    secret_file: str
    may_assert: tuple[Domain, ...] = ("*",)
    headers: Frozen[Attribute, Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]] = FrozenMap()


class Condition(Section):
    """What somebody must bring along for a rule to hold: all that is named; of several values one suffices.

    :param issuer: OpenID issuers, or entity IDs of SAML identity providers.
    :param home: the home institution that a hub names (CILogon's claim ``idp``).
    :param name: user names as they are here.
    :param entitlement: values, or their beginnings (``urn:mace:example.edu:*``).
    :param affiliation: ``faculty@missouri.edu``, ``*@missouri.edu``, ``faculty@*``.
    :param group: AARC-G069 groups, or names and beginnings of names of groups.
    """

    issuer: OneOrMore[Text] = ()
    home: OneOrMore[Text] = ()
    name: OneOrMore[Pattern] = ()
    entitlement: OneOrMore[Pattern] = ()
    affiliation: OneOrMore[Affiliation] = ()
    group: OneOrMore[Pattern] = ()

    @model_validator(mode="after")
    def _narrow(self) -> Self:
        if self == Condition.model_construct():
            raise ValueError("names nothing, so it would hold for everybody; see default_roles")
        return self


class AccessRule(Section):
    """Roles and groups for those whom a condition describes.

    :param groups: names of groups here.
    :param keep_groups: whether the asserted values that fulfilled ``group`` become groups here too.
    :param when: the people that the rule is about.
    :param roles: the roles that they get.
    """

    when: Condition
    roles: tuple[Role, ...] = ()
    groups: tuple[Text, ...] = ()
    keep_groups: bool = False

    def _problems(self) -> Iterator[str]:
        if not self.roles and not self.groups and not self.keep_groups:
            yield "roles: the rule gives nothing; name roles or groups"
        if self.keep_groups and not self.when.group:
            yield "keep_groups: the condition names no group"


class Access(Section):
    """The section ``access``.

    :param public_url: under which browsers reach us; where providers send them back to.
    :param default_roles: of those for whom no rule gives a role; without any they are refused.
    :param openid: OpenID Connect providers, by name.
    :param shibboleth: the web server with mod_shib that signs people in.
    :param rules: which roles and groups people get, by what their institution asserts.
    """

    public_url: SafeUrl | None = None
    openid: Frozen[Name, OpenIdProvider] = FrozenMap()
    shibboleth: Shibboleth | None = None
    rules: tuple[AccessRule, ...] = ()
    default_roles: tuple[Role, ...] = ()

    def _problems(self) -> Iterator[str]:
        if self.openid and self.public_url is None:
            yield "public_url: is needed: providers send browsers back to it"
        for name in RESERVED:
            if name in self.openid:
                yield f"openid.{name}: this name is taken: /sign-in/{name} is something else"
        yield from _ambiguous(self.openid)
        if (
            (self.openid or self.shibboleth)
            and not any(r.roles for r in self.rules)
            and not self.default_roles
        ):
            yield "rules: nobody would get a role; write rules, or default_roles"
        if Role.ADMIN in self.default_roles:
            yield "default_roles: admin is not for everybody"
        yield from _unbound(self.rules, len(self.openid) + (self.shibboleth is not None))


def _ambiguous(providers: Mapping[str, OpenIdProvider]) -> Iterator[str]:
    often = Counter(provider.issuer.rstrip("/") for provider in providers.values())
    for name, provider in providers.items():
        if often[provider.issuer.rstrip("/")] > 1:
            yield f"openid.{name}.issuer: two providers have this issuer"


def _unbound(rules: Sequence[AccessRule], parties: int) -> Iterator[str]:
    # Scopes bind names and affiliations to who may assert them; entitlements and groups anybody can claim.
    for number, rule in enumerate(rules):
        bound = rule.when.issuer or rule.when.name or rule.when.affiliation
        if parties > 1 and Role.ADMIN in rule.roles and not bound:
            yield f"rules.{number}.when: whoever becomes admin by it must come from a named issuer"
