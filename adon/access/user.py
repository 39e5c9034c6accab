"""Who has been here, and what each may do: rules and the local administrator's word put together.  Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from adon.access.external import ExternalIdentity
from adon.access.identity import Actor
from adon.access.names import LONGEST, PUNCTUATION, name_key, name_problem
from adon.errors import InvalidInput

LOCAL = "local"
"""The issuer of those whom an administrator of this machine named."""

_PLAIN = {
    chr(code): "-" for code in range(0x20, 0x7F) if not (chr(code).isalnum() or chr(code) in PUNCTUATION)
}
"""Spaces and signs of ASCII that are no trick, only not for names."""


@dataclass(frozen=True, slots=True)
class User:
    """Somebody known here; times in seconds since the epoch.

    :param name: who owns what they ask for; never changes, never given to another.
    :param by_rules: the roles that the rules gave at the last sign-in.
    :param granted: roles that a local administrator gave.
    :param removed: roles that a local administrator took away, whatever the rules say.
    :param disabled: since when nothing of theirs opens anything; None if it does.
    :param last_seen: when they last asked for something, by a browser or with a token, to the minute;
        None for never.
    """

    name: str
    issuer: str
    subject: str
    display: str | None = None
    mail: str | None = None
    groups: frozenset[str] = frozenset()
    by_rules: frozenset[str] = frozenset()
    granted: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    disabled: float | None = None
    first_seen: float = 0.0
    last_seen: float | None = None

    @property
    def roles(self) -> frozenset[str]:
        """The roles in force: the local administrator's word wins."""
        return (self.by_rules | self.granted) - self.removed

    def actor(
        self,
        via: str,
        proof: str = "",
        limited_to: frozenset[str] | None = None,
        scope: frozenset[str] | None = None,
        until: float | None = None,
    ) -> Actor:
        """The user as somebody who asks.

        :param proof: the id of the token or session.
        :param limited_to: the roles that this proof is good for; None for all.
        :param scope: the actions that this proof is good for; None for all.
        :param until: when the token expires behind it.
        """
        roles = self.roles if limited_to is None else self.roles & limited_to
        return Actor(self.name, roles, self.groups, via, scope, proof, until)


def suggested_name(identity: ExternalIdentity, taken: Collection[str]) -> str:
    """The name of somebody who signs in for the first time.

    What the provider suggests; if another has it, with the provider's host after it, then with a number.

    :param taken: the keys (:func:`~adon.access.names.name_key`) of the names in use.
    :raises InvalidInput: for a name that cannot be told from another (:mod:`adon.access.names`).
    """
    wanted = identity.name or identity.subject
    plain = "".join(_PLAIN.get(character, character) for character in wanted)
    problem = name_problem(plain)
    if problem is not None and identity.name is not None:
        raise InvalidInput.of("name", f"the name that {identity.issuer} gives {problem}")
    if problem is not None:
        plain = "user"  # a subject may be any text: it is not meant to be read
    host = urlsplit(identity.issuer).hostname or ""
    there = f"{plain}@{host}"
    longer = there if host and "@" not in plain and name_problem(there) is None else plain
    name, number = plain, 1
    while name_key(name) in taken:
        name = longer if number == 1 else f"{longer[: LONGEST - 12]}-{number}"
        number += 1
    return name
