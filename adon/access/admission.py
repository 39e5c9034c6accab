"""Admission: roles and groups of an asserted identity, by ``access.rules`` of the configuration.

Every rule whose condition holds adds its roles and groups.  A user without a role gets the
default roles, or is refused.  All keys of a condition must hold; one of several values of a key suffices:

- ``entitlement``: equal, or a prefix (``urn:mace:example.edu:*``);
- ``group``: an AARC-G069 value is compared by its meaning with entitlements and groups; another text is the
  name of a group, or its prefix;
- ``affiliation``: in the scopes that the party may assert;
- ``issuer``, ``home``: equal; ``name``: the user's name in ADON.

AARC-G069 writes groups as ``urn:geant:example.edu:group:soybean:lab:role=manager#idp.example.edu``.  After
the namespace and ``:group:`` come the group, its subgroups from the outermost inwards, at most one role in
the innermost, and after ``#`` the authority.  Parts are percent-encoded (RFC 8141); only ``urn`` and the
first part of the namespace ignore case.  A member of a subgroup is a member of the groups around it.  A role
is held in exactly the group where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import eq
from urllib.parse import unquote

from adon.access.assertion import Assertion
from adon.access.user_names import UserIdentity, own_affiliations, user_name
from adon.config.access import AccessRule, Condition
from adon.errors import Forbidden
from adon.values import Role

_VALUE = re.compile(
    r"(?P<namespace>urn:[a-z0-9][a-z0-9-]{0,31}(?::[^:#?]+)+?):group:(?P<path>[^#?]+?)(?:#(?P<authority>[^#]*))?",
    re.IGNORECASE,
)
_ENCODED = re.compile(r"(?:[!$&-.0-;=@A-Z_a-z~/]|%[0-9A-Fa-f]{2})+")
_ROLE = "role="


@dataclass(frozen=True, slots=True)
class Group:
    """Membership in a group.

    :param path: the group, then its subgroups inwards; never empty.
    :param role: the role in the innermost group; None for a plain member.
    :param authority: the authority of the statement; None for any.
    """

    namespace: str
    path: tuple[str, ...]
    role: str | None = None
    authority: str | None = None

    def fulfils(self, asked: Group) -> bool:
        """Return whether this membership implies another one."""
        if self.namespace != asked.namespace or asked.authority not in (None, self.authority):
            return False
        if asked.role is not None:
            return self.path == asked.path and self.role == asked.role
        return self.path[: len(asked.path)] == asked.path


def parse_group(text: str) -> Group | None:
    """Return the membership in a value; None for a value of another form."""
    found = _VALUE.fullmatch(text)
    if found is None or not _ENCODED.fullmatch(text.partition("#")[0]):
        return None
    *path, last = found["path"].split(":")
    role = None
    if last.startswith(_ROLE):
        role = _plain(last.removeprefix(_ROLE))
    else:
        path.append(last)
    names = tuple(_plain(name) for name in path)
    if not names or not all(names) or role == "" or any(name.startswith(_ROLE) for name in path):
        return None
    authority = found["authority"]
    return Group(_namespace(found["namespace"]), names, role, None if not authority else _plain(authority))


def _namespace(text: str) -> str:
    _, identifier, rest = text.split(":", 2)
    return f"urn:{identifier.lower()}:{_plain(rest)}"


def _plain(part: str) -> str:
    return unquote(part, errors="replace")


@dataclass(frozen=True, slots=True)
class AdmittedUser:
    """Name, roles and groups of an admitted user.

    :param rules: the positions of the matching rules, counted from 0; empty for the default roles.
    """

    named: UserIdentity
    roles: frozenset[Role]
    groups: frozenset[str]
    rules: tuple[int, ...]


def admit(
    assertion: Assertion,
    may_assert: Collection[str],
    rules: Sequence[AccessRule],
    default_roles: Collection[Role] = (),
    parties: Collection[str] = frozenset(),
) -> AdmittedUser:
    """Return the name, roles and groups of an asserted identity.

    :param may_assert: domains that the party speaks for; ``*`` for all.
    :param parties: the issuers of all parties that are configured.
    :raises Forbidden: if the party may not assert the name, or no rule gives a role.
    """
    named = user_name(assertion, may_assert, parties)
    allowed = replace(assertion, affiliations=own_affiliations(assertion, may_assert))
    held = tuple(number for number, rule in enumerate(rules) if _holds(rule.when, named.name, allowed))
    roles = frozenset(role for number in held for role in rules[number].roles) or frozenset(default_roles)
    if not roles:
        raise Forbidden(f"no rule gives {named.name} a role; ask an administrator, with this name")
    groups = frozenset(group for number in held for group in _collect_groups(rules[number], allowed))
    return AdmittedUser(named, roles, groups, held)


def _holds(when: Condition, name: str, assertion: Assertion) -> bool:
    """Return whether a user and an assertion meet all keys of a condition."""
    return (
        _any(when.issuer, {assertion.issuer}, eq)
        and _any(when.home, () if assertion.home is None else (assertion.home,), eq)
        and _any(when.name, {name}, _begins)
        and _any(when.entitlement, assertion.entitlements, _begins)
        and _any(when.affiliation, assertion.affiliations, _matches_affiliation)
        and (not when.group or bool(_members(when.group, assertion)))
    )


def _collect_groups(rule: AccessRule, assertion: Assertion) -> frozenset[str]:
    kept = _members(rule.when.group, assertion) if rule.keep_groups else frozenset()
    return frozenset(rule.groups) | kept


def _members(patterns: Iterable[str], assertion: Assertion) -> frozenset[str]:
    """Return the asserted groups and entitlements that are one of the asked groups."""
    found: set[str] = set()
    for pattern in patterns:
        asked = parse_group(pattern)
        if asked is None or pattern.endswith("*"):
            found |= {value for value in assertion.groups if _begins(pattern, value)}
            continue
        held = ((value, parse_group(value)) for value in assertion.groups | assertion.entitlements)
        found |= {value for value, group in held if group is not None and group.fulfils(asked)}
    return frozenset(found)


def _any(patterns: Sequence[str], values: Iterable[str], fits: Callable[[str, str], bool]) -> bool:
    return not patterns or any(fits(pattern, value) for pattern in patterns for value in values)


def _begins(pattern: str, value: str) -> bool:
    return value.startswith(pattern[:-1]) if pattern.endswith("*") else value == pattern


def _matches_affiliation(pattern: str, value: str) -> bool:
    asked, held = pattern.split("@"), value.split("@")
    return all(one in ("*", other) for one, other in zip(asked, held, strict=True))
