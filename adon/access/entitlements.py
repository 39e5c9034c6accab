"""From what a party asserts to who somebody is here: rules of the configuration, ``access.rules``.

Every rule whose condition holds gives its roles and groups; they add up.  Who gets no role gets the default
roles, or is refused.  What a condition names must all hold; of several values of one key one suffices:

- ``entitlement``: as written, or beginning so (``urn:mace:example.edu:*``);
- ``group``: an AARC-G069 value has its meaning (:mod:`adon.access.aarc`) among entitlements and groups; any
  other text is a name of a group, or its beginning;
- ``affiliation``: of the scopes that the party may assert;
- ``issuer``, ``home``: as written; ``name``: the user's name here.

Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from adon.access.aarc import parse_group
from adon.access.assertion import Assertion
from adon.access.policy import Role
from adon.access.user_names import Named, own_affiliations, user_name
from adon.config.access import AccessRule, Condition
from adon.errors import Forbidden


@dataclass(frozen=True, slots=True)
class Admitted:
    """Somebody who may come in.

    :param rules: the positions of the rules that held, counted from 0; none for the default roles.
    """

    named: Named
    roles: frozenset[Role]
    groups: frozenset[str]
    rules: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bringing:
    """What is compared with conditions: an assertion, less what its party may not assert."""

    name: str
    issuer: str
    home: str | None
    entitlements: frozenset[str]
    affiliations: frozenset[str]
    groups: frozenset[str]


def admit(
    assertion: Assertion,
    may_assert: Collection[str],
    rules: Sequence[AccessRule],
    default_roles: Collection[Role] = (),
    parties: Collection[str] = frozenset(),
) -> Admitted:
    """Who somebody is here.

    :param may_assert: domains that the party speaks for; ``*`` for all.
    :param parties: the issuers of all parties that are configured.
    :raises Forbidden: if the name is not the party's to assert, or no role comes of it.
    """
    named = user_name(assertion, may_assert, parties)
    brought = Bringing(
        named.name,
        assertion.issuer,
        assertion.home,
        assertion.entitlements,
        own_affiliations(assertion, may_assert),
        assertion.groups,
    )
    held = tuple(number for number, rule in enumerate(rules) if holds(rule.when, brought))
    roles = frozenset(role for number in held for role in rules[number].roles) or frozenset(default_roles)
    if not roles:
        raise Forbidden(
            f"{brought.name} is known now, but no rule gives a role here; "
            "ask who runs this network, and tell them this name"
        )
    groups = frozenset(group for number in held for group in _given(rules[number], brought))
    return Admitted(named, roles, groups, held)


def holds(when: Condition, brought: Bringing) -> bool:
    """Whether somebody brings along all that a condition names."""
    return (
        _any(when.issuer, {brought.issuer}, _same)
        and _any(when.home, () if brought.home is None else (brought.home,), _same)
        and _any(when.name, {brought.name}, _begins)
        and _any(when.entitlement, brought.entitlements, _begins)
        and _any(when.affiliation, brought.affiliations, _affiliated)
        and (not when.group or bool(members(when.group, brought)))
    )


def members(asked: Iterable[str], brought: Bringing) -> frozenset[str]:
    """Of the groups and entitlements that somebody brings along, those that are one of the asked groups."""
    return frozenset(value for pattern in asked for value in _members(pattern, brought))


def _given(rule: AccessRule, brought: Bringing) -> frozenset[str]:
    kept = members(rule.when.group, brought) if rule.keep_groups else frozenset()
    return frozenset(rule.groups) | kept


def _members(pattern: str, brought: Bringing) -> set[str]:
    asked = parse_group(pattern)
    if asked is None or pattern.endswith("*"):
        return {value for value in brought.groups if _begins(pattern, value)}
    held = ((value, parse_group(value)) for value in brought.groups | brought.entitlements)
    return {value for value, group in held if group is not None and group.fulfils(asked)}


def _any(patterns: Sequence[str], values: Iterable[str], fits: Callable[[str, str], bool]) -> bool:
    return not patterns or any(fits(pattern, value) for pattern in patterns for value in values)


def _same(pattern: str, value: str) -> bool:
    return pattern == value


def _begins(pattern: str, value: str) -> bool:
    return value.startswith(pattern[:-1]) if pattern.endswith("*") else value == pattern


def _affiliated(pattern: str, value: str) -> bool:
    asked, held = pattern.split("@"), value.split("@")
    return all(one in ("*", other) for one, other in zip(asked, held, strict=True))
